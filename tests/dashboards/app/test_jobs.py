"""Long work in the background: said how far it is, stopped, and begun again."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.said import facts

from logpost.dashboards.app.jobs import NICER, Job, Jobs, Report, StoppedError, WorkingError
from logpost.dashboards.app.pages.whatif import MOST_UNASKED, _price

AT_MOST_S = 30.0


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + AT_MOST_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


class Endless:
    """Work that runs until it is stopped, and counts its starts."""

    def __init__(self) -> None:
        self.began, self.entered, self.left = 0, threading.Event(), threading.Event()

    def __call__(self, report: Report) -> Any:
        self.began += 1
        self.entered.set()
        report("replaying", 2, 8)
        try:
            while True:
                time.sleep(0.001)
        except Exception:
            return "work must not take a stop for an error"
        finally:
            self.left.set()


def test_running_work_states_its_progress() -> None:
    jobs, work = Jobs(), Endless()
    with pytest.raises(WorkingError, match="replaying, 3 of 8"):
        until(lambda: jobs.result("a", work) is None)
    jobs.stop("a")
    assert work.left.wait(AT_MOST_S)


def test_running_work_states_its_duration_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(lambda report: report("replaying", 0, 0))
    job.ended.wait(AT_MOST_S)
    assert job.text == "replaying"
    job._began -= 12
    assert job.text == "replaying, 12 s so far"


def test_stopped_work_ends_and_starts_only_after_again() -> None:
    jobs, work = Jobs(), Endless()
    for number in range(2):
        with pytest.raises(WorkingError):
            jobs.result("a", work)
        assert work.entered.wait(AT_MOST_S)
        work.entered.clear()
        jobs.stop("a")
        assert work.left.wait(AT_MOST_S)
        work.left.clear()
        for _ in range(3):  # every chart that waits for it
            with pytest.raises(StoppedError):
                jobs.result("a", work)
        assert work.began == number + 1
        jobs.again("a")


def test_all_work_ends_with_the_server() -> None:
    jobs, works = Jobs(), (Endless(), Endless())
    for key, work in enumerate(works):
        with pytest.raises(WorkingError):
            jobs.result(key, work)
    assert jobs.close(AT_MOST_S)
    assert all(work.left.is_set() for work in works)


def test_what_has_ended_is_not_stopped() -> None:
    jobs = Jobs()
    assert jobs.result("a", lambda _report: 42, patience_s=None) == 42
    jobs.stop("a")
    jobs.again("a")
    assert jobs.result("a", lambda _report: 43, patience_s=None) == 42


def test_work_with_a_price_begins_when_somebody_wants_it() -> None:
    jobs = Jobs()
    for _ in range(2):
        with pytest.raises(StoppedError, match="it needs minutes"):
            jobs.result("a", lambda _report: 42, None, "it needs minutes")
    assert str(jobs.priced("a", "it needs minutes")) == "it needs minutes"
    assert jobs.priced("a", "") is None
    jobs.again("a")
    assert jobs.priced("a", "it needs minutes") is None
    assert jobs.result("a", lambda _report: 42, None, "it needs minutes") == 42


def test_the_price_of_a_replay_is_said_for_many_messages_alone() -> None:
    assert _price(MOST_UNASKED) == ""
    assert facts(_price(10_022_688)) == ["10,022,688", "8.40 GiB"]


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own here")
def test_work_is_nicer_than_its_caller() -> None:
    mine = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    job = Job(lambda _report: os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
    assert job.ended.wait(AT_MOST_S)
    assert job.result == min(19, mine + NICER)
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == mine
