"""One round: files changed under a seed, the commands run on them in a process that may die, and how they ended."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
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
_BUGS = re.compile(r"Traceback \(most recent|Error in sys.excepthook|AddressSanitizer|terminate called")


@dataclass(frozen=True)
class Ending:
    """How a round ended: what is wrong with it, or empty; whether every command accepted what it got."""

    wrong: str
    accepted: bool


def apart(work: Callable[[], str], report: Path) -> tuple[int, int]:
    """Do `work` in a forked process, its text in `report`: its wait status, and its most memory in bytes beyond that of
    this process, which it begins with.

    The table library may have been imported, but not used: its threads, and the locks they hold, do not live on.
    """
    sys.stdout.flush()
    begins_with = _inherited()
    child = os.fork()
    if child == 0:
        # A group of its own, so that what the commands start ends with them.
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        status = 0
        try:
            text = work()
        except BaseException:
            status, text = 99, traceback.format_exc()
        report.write_text(text, encoding="utf-8", errors="backslashreplace")
        os._exit(status)
    end = time.monotonic() + MOST_WAIT
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.002)
    return status, max(0, used.ru_maxrss * 1024 - begins_with)


def _inherited() -> int:
    """Bytes of memory that a fork of this process begins with: files that are mapped come as they are used."""
    found = re.search(r"^RssAnon:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def play(subject: Subject, sound: Path, scratch: Path, seed: int) -> Ending:
    """The round of a seed; `scratch` is left as it was when something is wrong, for a look at the files."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    report = scratch / "report"

    def work() -> str:
        from tests.cli.command import logpost

        wrong, accepted = "", True
        for command in subject.change(sound, scratch, Random(seed)):
            done = logpost(*command, cwd=scratch)
            words = " ".join(map(str, command))
            if complaint := _complaint(done.returncode, done.stdout + done.stderr, done.stderr):
                wrong += f"logpost {words}: {complaint}\n{done.stderr[-3000:]}\n"
            accepted = accepted and done.returncode != 2
        return wrong or ("accepted" if accepted else "refused")

    status, memory = apart(work, report)
    text = report.read_text(encoding="utf-8") if report.exists() else ""
    if status != 0 or text not in ("accepted", "refused"):
        died = f"died of signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else ""
        return Ending(f"{died}{text}".strip() or f"ended with status {status}", False)
    if memory > MOST_BYTES:
        return Ending(f"took {memory / 2**20:.0f} MiB of memory", False)
    return Ending("", text == "accepted")


def _complaint(status: int, printed: str, errors: str) -> str:
    if _BUGS.search(printed):
        return "a traceback"
    if status not in STATUSES:
        return f"status {status}"
    lines = [line for line in errors.splitlines() if line.startswith("logpost: ")]
    if status == 2 and not lines:
        return "no line says why"
    return ""
