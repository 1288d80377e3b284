"""The papers' programs on the testbed, the times that they print, and what the testbed is not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from logpost.errors import InputError
from logpost.experiments.framework.context import Context
from logpost.experiments.support.alewife import MACHINE, NODES
from logpost.experiments.support.printed import printed_times

if TYPE_CHECKING:
    from logpost.machines.schema import Machine

_MESSAGES = re.compile(r"\b(\d+) messages,")


@dataclass(frozen=True)
class Simulated:
    """What a program printed of a simulated run, and its archive."""

    values: Mapping[str, float]
    """Times as printed."""
    messages: int
    """Of all ranks; 0 where the program does not say."""
    archive: Path
    """Gone where it was not to be kept."""
    machine: Machine
    """As simulated: the file with the run's settings and mapping."""


def simulate(
    context: Context,
    workload: str,
    arguments: Sequence[str],
    name: str,
    *,
    machine: str | Machine = MACHINE,
    ranks: int = NODES,
    mapping: str | None = None,
    settings: Mapping[str, str] | None = None,
    keep: bool = True,
) -> Simulated:
    """Run one of `logpost workloads list` in simulated time; its archive is kept in the experiment's folder as `name`.

    Args:
        context: of the experiment.
        workload: its name; with /PROGRAM for another than its first program.
        arguments: its own.
        name: of the folder that the archive is put in.
        machine: a name of `logpost machines list`, or one made for the experiment.
        ranks: processes.
        mapping: as `logpost testbed run --mapping`; default: the machine's.
        settings: as `logpost testbed run --set`.
        keep: the archive; a sweep of many runs keeps those that are worth opening.

    Raises:
        InputError: the testbed is missing or refused something, the program found its own result wrong.
    """
    from logpost.testbed import run_on_testbed

    run = run_on_testbed(
        machine,
        workload=workload,
        arguments=arguments,
        ranks=ranks,
        mapping=mapping,
        settings=settings,
        output=context.folder / name,
    )
    values = printed_times(run.output)
    if not values:
        raise InputError(
            f"{workload} {' '.join(arguments)} printed no times on the testbed: {run.output.strip()[:200]}"
        )
    if not keep:
        shutil.rmtree(context.folder / name, ignore_errors=True)
    counted = _MESSAGES.search(run.output)
    return Simulated(values, int(counted[1]) if counted else 0, run.archive, run.machine)


def testbed_limits() -> str:
    """What the testbed is not, in one sentence."""
    from logpost.testbed import LIMITS

    return "The testbed: " + "; ".join(LIMITS) + "."
