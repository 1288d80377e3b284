"""LogGOPSim, where `LOGPOST_LOGGOPSIM` names the directory that has it and its `txt2bin`; else its stand-in.

The stand-in (`event_replay.hpp`) is the same algorithm under the rules of our replay, and faster: `SLOWER`.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

DIRECTORY = "LOGPOST_LOGGOPSIM"
SLOWER = 2.7
"""LogGOPSim's time over the stand-in's: the least of five cases with both, 2.7 to 4.5 (docs/speed.md)"""


def is_given() -> bool:
    """Whether LogGOPSim itself is run."""
    return None not in _programs()


def _programs() -> list[str | None]:
    return [shutil.which(name, path=os.environ.get(DIRECTORY, "")) for name in ("LogGOPSim", "txt2bin")]


def log_gop_sim(case: Sequence[str | Path], machine: Sequence[str], folder: Path) -> Callable[[], tuple[float, int]]:
    """What runs LogGOPSim on a case, a command that writes the schedule with `goal` behind it.

    Returns:
        its CPU seconds and kilobytes at the peak; infinite and 0 where it is not given.
    """
    simulator, compiler = _programs()
    if simulator is None or compiler is None:
        return lambda: (float("inf"), 0)
    text, schedule = folder / "schedule.goal", folder / "schedule.bin"
    with text.open("wb") as to:
        subprocess.run([*case, "goal"], check=True, stdout=to)
    subprocess.run([compiler, "-i", text, "-o", schedule], check=True, stdout=subprocess.DEVNULL)
    text.unlink()
    return lambda: processor_seconds([simulator, "-f", str(schedule), "-b", *machine])


def processor_seconds(command: Sequence[str]) -> tuple[float, int]:
    """CPU seconds and kilobytes at the peak of a command that succeeds. Python keeps what it compiled, as at a user."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return _seconds(used), used.ru_maxrss


def _seconds(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime
