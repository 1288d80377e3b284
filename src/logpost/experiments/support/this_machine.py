"""The calibration of the machine that the experiments run on, made once for all experiments of a run.

With LOGPOST_EXPERIMENTS_SAMPLES=FILE in the environment it is read from samples that
`logpost calibrate --keep-samples FILE` kept; otherwise it is measured when the first experiment needs it, between
two ranks of one node.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logpost.errors import InputError
from logpost.experiments.framework.context import Context
from logpost.experiments.support.launches import check, launcher

if TYPE_CHECKING:
    from logpost.machines.calibration.compose import Calibration
    from logpost.machines.schema import Machine

NAME = "this-machine"
SAMPLES = "LOGPOST_EXPERIMENTS_SAMPLES"
NOMINAL = 0.01
"""Half-width of a shortest time, of itself: the extraction weighs points by theirs, and a minimum has none."""
STRIDES = (16, 64, 128, 512)
"""Bytes: Fig. 10's 128 and 512, and the shorter ones of Fig. 6."""
SIZES = (1024, 4096, 16384)
"""LOG3P Fig. 10: message sizes of the strided broadcasts."""
FULL: dict[str, Any] = {
    "burst_sizes": (8, 512, 4096, 32768, 262144),
    "burst_lengths": (1, 4, 16, 64),
    "layout_sizes": SIZES,
    "strides": STRIDES,
}
"""Fields of the calibration's grid."""
QUICK: dict[str, Any] = {
    "sizes": (1, 64, 512, 1024, 4096, 16384, 65536, 262144),
    "signature_sizes": (8,),
    "bursts": (1, 2, 4, 8, 16, 32, 64, 128),
    "burst_sizes": (8, 4096),
    "burst_lengths": (1, 4, 16),
    "depth_sizes": (8,),
    "gap_sizes": (512, 4096, 65536),
    "strides": (128, 512),
    "largest_eager": 131072,
}

_lock = threading.Lock()
_known: dict[tuple[Path, bool, str], Calibration] = {}


def calibrated(context: Context) -> Calibration:
    """This machine's calibration: one for all experiments that write to the same place in the same form.

    Raises:
        InputError: no MPI, a launcher that refuses, samples that cannot be read.
    """
    kept = os.environ.get(SAMPLES, "")
    key = (context.folder.parent.absolute(), context.quick, kept)
    with _lock:
        if key not in _known:
            _known[key] = _read(kept) if kept else _measure(context)
        return _known[key]


def undisturbed(found: Calibration) -> Calibration:
    """The same extraction from the shortest time of each point, as LOG3P 4.1 takes it, instead of medians.

    Experiments that compare with the shortest of several launches need it: on a shared machine medians hold what the
    neighbours do.
    """
    from logpost.machines.calibration.compose import calibration

    points = tuple(
        replace(point, time=replace(point.time.least(), half_width_s=NOMINAL * point.time.minimum_s))
        for point in found.samples.points
    )
    return calibration(replace(found.samples, points=points), name=NAME)


def locality(machine: Machine) -> str:
    """The class that was measured, from far to near; that of the machine file's o(S, b) and log3P tables."""
    from logpost.machines.localities import LOCALITIES

    for name in reversed(LOCALITIES):
        if name != "self" and machine.loggp.of(name) is not None:
            return name
    raise InputError("the calibration of this machine has no LogGP values; measure again with logpost calibrate")


def _read(path: str) -> Calibration:
    from logpost.machines.calibration.compose import calibration
    from logpost.machines.calibration.samples import read

    return calibration(read(path), name=NAME)


def _measure(context: Context) -> Calibration:
    from logpost.collectors.calibration.grid import DEFAULT
    from logpost.collectors.calibration.measure import measure
    from logpost.machines.calibration.compose import calibration
    from logpost.machines.schema.save import save_machine

    check()
    folder = context.folder.parent / "calibration"
    folder.mkdir(parents=True, exist_ok=True)

    def report(program: str, fraction: float, _message: str) -> None:
        context.progress(f"calibrating this machine: {program}", round(100 * fraction), 100)

    samples = measure(
        launcher(2),
        output=folder / "samples.jsonl",
        compiler="mpicc",
        grid=replace(DEFAULT, **(FULL | context.size({}, QUICK))),
        budget_s=context.size(70.0, 4.0),
        passes=context.size(6, 1),
        report=report,
    )
    found = calibration(samples, name=NAME)
    save_machine(found.machine, folder / f"{NAME}.toml")
    return found
