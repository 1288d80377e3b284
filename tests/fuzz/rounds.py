"""Rounds: files changed under a seed, the commands run on them in a process that may die, and how they ended."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import Random

from tests.fuzz.subjects import Subject

MOST_SECONDS = 20
"""Of processor time for a round."""
MOST_WAIT = 300
"""Of the clock: what waits for nothing is found, and what other processes of the machine hold up is let live."""
MOST_BYTES = 2**30
STATUSES = {0, 1, 2, 3}
"""Done, a gate failed, bad input, a gate is inconclusive."""
# A panic in a thread of the table library is printed by it; what counts is the line that follows.
_BUGS = re.compile(
    r"Traceback \(most recent|Error in sys.excepthook|AddressSanitizer|terminate called|Fault of logpost"
)


@dataclass(frozen=True)
class Ending:
    """How a round ended: what is wrong with it, or empty; whether every command accepted what it got."""

    wrong: str
    accepted: bool


@dataclass(frozen=True)
class Round:
    """What is changed under a seed: sound files, and where the changed copy is written."""

    subject: Subject
    sound: Path
    scratch: Path
    seed: int


def apart(work: Callable[[], str], report: Path, progress: Callable[[], int] = lambda: 0) -> int:
    """Do `work` in a forked process, its text in `report`: its wait status. It is ended where `progress` stays the same
    for too long.

    The table library may have been imported, but not used: its threads, and the locks they hold, do not live on.
    """
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        # A separate group, so that what the commands start ends with them.
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        status = 0
        try:
            text = work()
        except BaseException:
            status, text = 99, traceback.format_exc()
        report.write_text(text, encoding="utf-8", errors="backslashreplace")
        os._exit(status)
    at, end = progress(), time.monotonic() + MOST_WAIT
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        if at != progress():
            at, end = progress(), time.monotonic() + MOST_WAIT
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.01)


def play(subject: Subject, sound: Path, scratch: Path, seed: int) -> Ending:
    """The round of a seed; `scratch` is left as it was when something is wrong, for a look at the files."""
    return play_batch([Round(subject, sound, scratch, seed)], scratch.with_name(f"{scratch.name}.said"))[0]


def play_batch(rounds: Sequence[Round], said: Path, until: float = inf) -> list[Ending]:
    """The rounds one after the other in one forked process, until one ends it or the clock (`time.monotonic`) says
    `until`: how each of them ended that began.

    A process for each round spends most of its time on its beginning and end. `said` is a scratch file.
    """

    def work() -> str:
        with said.open("w", encoding="utf-8", errors="backslashreplace") as out:
            for each in rounds:
                if time.monotonic() > until:
                    return "over"
                _allow_seconds(MOST_SECONDS)
                out.write(json.dumps(_attempt(each)) + "\n")
                out.flush()
        return ""

    said.write_text("")
    report = said.with_name(f"{said.name}.report")
    report.unlink(missing_ok=True)
    status = apart(work, report, lambda: said.stat().st_size)
    endings = [Ending(*json.loads(line)) for line in said.read_text(encoding="utf-8").splitlines()]
    text = report.read_text(encoding="utf-8") if report.exists() else ""
    if len(endings) < len(rounds) and (status, text) != (0, "over"):
        died = f"died of signal {os.WTERMSIG(status)} {text}" if os.WIFSIGNALED(status) else text
        endings.append(Ending(died.strip() or f"ended with status {status}", False))
    return endings


def _attempt(each: Round) -> tuple[str, bool]:
    """The round in this process: what is wrong with it, or empty; whether every command accepted what it got."""
    from tests.cli.command import logpost

    shutil.rmtree(each.scratch, ignore_errors=True)
    each.scratch.mkdir()
    begins_with = _begin_to_measure()
    wrong, accepted = "", True
    try:
        for command in each.subject.change(each.sound, each.scratch, Random(each.seed)):
            done = logpost(*command, cwd=each.scratch)
            words = " ".join(map(str, command))
            if wrong_with := complaint(done.returncode, done.stdout + done.stderr, done.stderr):
                wrong += f"logpost {words}: {wrong_with}\n{done.stderr[-3000:]}\n"
            accepted = accepted and done.returncode != 2
    except BaseException:
        wrong += traceback.format_exc()
    if not wrong and (memory := _memory("VmHWM") - begins_with) > MOST_BYTES:
        wrong = f"took {memory / 2**20:.0f} MiB of memory"
    if not wrong:
        shutil.rmtree(each.scratch, ignore_errors=True)
    return wrong, accepted and not wrong


def _allow_seconds(seconds: int) -> None:
    """So much more processor time; what exceeds it is killed by a signal."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, resource.RLIM_INFINITY))


def _begin_to_measure() -> int:
    """Bytes of memory that are in use; from here on the most is measured anew."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(name: str) -> int:
    """A size in bytes of this process."""
    found = re.search(rf"^{name}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def complaint(status: int, printed: str, errors: str) -> str:
    if _BUGS.search(printed):
        return "a traceback, or a part of logpost that failed"
    if status not in STATUSES:
        return f"status {status}"
    lines = [line for line in errors.splitlines() if line.startswith("logpost: ")]
    if status == 2 and not lines:
        return "no line says why"
    return ""
