"""Play a GOAL schedule on a machine: a schedule has no times, and gets them in simulated time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from logpost.collectors.testbed import run
from logpost.errors import InputError
from logpost.machines.schema import Machine
from logpost.testbed.run import TestbedRun, run_on_testbed

PLAYER = Path(run.__file__).parent / "goal"
"""The MPI program that plays a schedule; `mpicc` compiles it for real machines, too."""

SECONDS = {"ns": "1e-9", "ps": "1e-12"}
"""Length of a unit of time."""


def play(
    file: str | Path,
    machine: str | Path | Machine,
    *,
    unit: str | None = None,
    mapping: str | None = None,
    settings: Mapping[str, str] | None = None,
    output: str | Path = ".",
    timeout_s: float | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> TestbedRun:
    """Run the schedule as an MPI program in simulated time; leaves an archive below `output`.

    What is wrong with a line of the schedule, the program says on standard error.

    Args:
        file: the schedule, in GOAL's text form.
        machine: as `run_on_testbed`; likewise mapping, settings, timeout_s.
        unit: of the schedule's times, a key of `SECONDS`; by default what an export of ours says of itself, else ns.
        output: the directory for the archive.
        say: called with what is done.

    Raises:
        InputError: the file is no schedule, its operations wait for each other, or as `run_on_testbed`.
    """
    path = Path(file)
    ranks, stated = heading(path)
    return run_on_testbed(
        machine,
        sources=[PLAYER / "goal.c", PLAYER / "schedule.c"],
        arguments=[str(path.resolve()), SECONDS[unit or stated]],
        ranks=ranks,
        mapping=mapping,
        settings=settings,
        output=output,
        capture=False,
        timeout_s=timeout_s,
        say=say,
    )


def heading(path: Path) -> tuple[int, str]:
    """A schedule's ranks, and the unit of its times.

    Raises:
        InputError: the file cannot be read, or is no schedule.
    """
    unit = "ns"
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                if match := re.match(r"//.*times in (ns|ps)$", line.rstrip()):
                    unit = match[1]
                if match := re.match(r"\s*num_ranks\s+(\d+)", line):
                    return int(match[1]), unit
                if re.match(r"\s*rank\b", line):
                    break
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is no text; txt2bin's form cannot be read"
        raise InputError(f"{path}: {reason}; give a GOAL schedule as text") from error
    raise InputError(f"{path} is no GOAL schedule: it has no num_ranks before its first rank")
