"""Programs on this machine: what is said of one that fails or does not end, and which launches are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from logpost.collectors.workloads import build
from logpost.errors import InputError
from logpost.experiments.framework.context import Context
from logpost.experiments.support import launches
from logpost.experiments.support.launches import Program, Spread, run_here
from logpost.experiments.support.printed import printed_times

PROGRAM = Program("overlap", ("--repeat", "1"), 2)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shell script that stands for the launched program; each launch adds a line to `count` in its folder."""
    path = tmp_path / "program"
    monkeypatch.setattr(launches, "check", lambda: None)
    monkeypatch.setattr(launches, "launcher", lambda _ranks: ["sh"])
    monkeypatch.setattr(build, "build", lambda _program: path)
    return path


def test_the_least_and_the_median_of_the_launches_are_kept(script: Path, tmp_path: Path) -> None:
    # Launch 1, 2, 3 print 10, 20, 30: the least is 10, the median 20.
    script.write_text('echo x >> "$(dirname "$0")/count"; echo "mean_us $(wc -l < "$(dirname "$0")/count")0"\n')
    assert run_here(Context(tmp_path), "phase", [PROGRAM], 3) == [{"mean_us": Spread(10.0, 20.0)}]


def test_a_printed_time_is_a_name_with_its_unit_and_a_value() -> None:
    line = "em3d: total_s 1.5, stall_s 0.25, iteration_us 3, 12 messages, cycle-ns 50"
    assert printed_times(line) == {"total_s": 1.5, "stall_s": 0.25, "iteration_us": 3.0}


def test_a_program_that_fails_is_said_with_its_last_line(script: Path, tmp_path: Path) -> None:
    script.write_text("echo first >&2; echo 'the sum is wrong' >&2; exit 3\n")
    with pytest.raises(InputError, match=r"^overlap on 2 ranks .* 3: the sum is wrong$"):
        run_here(Context(tmp_path), "phase", [PROGRAM], 1)


def test_a_program_without_times_is_said(script: Path, tmp_path: Path) -> None:
    script.write_text("exit 0\n")
    with pytest.raises(InputError, match=r"^overlap on 2 ranks .*status 0: .* printed nothing$"):
        run_here(Context(tmp_path), "phase", [PROGRAM], 1)


def test_a_program_is_not_waited_for_forever(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "_PATIENCE_S", 0.2)
    script.write_text("exec sleep 20\n")
    with pytest.raises(InputError, match=r"^overlap on 2 ranks did not finish in 0 s$"):
        run_here(Context(tmp_path), "phase", [PROGRAM], 1)
