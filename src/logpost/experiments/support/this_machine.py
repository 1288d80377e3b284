"""The machine that the experiments run on: its calibration, made once for all experiments of a run, and its programs.

With LOGPOST_EXPERIMENTS_SAMPLES=FILE in the environment the calibration is read from samples that
`logpost calibrate --keep-samples FILE` kept; otherwise it is measured when the first experiment asks for it, between
two ranks of one node. Programs are launched several times, because what changes between launches (placement,
frequency, neighbours on a shared machine) is most of what a second measurement would find.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from logpost.errors import InputError
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.needs import Need, missing

if TYPE_CHECKING:
    from logpost.machines.calibration.compose import Calibration
    from logpost.machines.calibration.statistics import Statistics
    from logpost.machines.schema import Machine

NAME = "this-machine"
SAMPLES = "LOGPOST_EXPERIMENTS_SAMPLES"
STRIDES = (16, 64, 128, 512)
SIZES = (1024, 4096, 16384)
"""LOG3P Fig. 10: message sizes of the strided broadcasts."""

_VALUE = re.compile(r"\b([a-z]+_(?:s|us)) ([0-9.]+)")
_PATIENCE_S = 120.0
_lock = threading.Lock()
_known: dict[tuple[Path, bool, str], Calibration] = {}


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0))


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
    """The same extraction from the least time of each point, as LOG3P 4.1 takes it, instead of medians.

    Experiments that compare with the least of several launches need it: on a shared machine medians hold what the
    neighbours do.
    """
    from logpost.machines.calibration.compose import calibration

    def least(time: Statistics) -> Statistics:
        minimum = time.minimum_s
        return replace(time, median_s=minimum, mean_s=minimum, half_width_s=0.01 * minimum, rounds_s=(minimum,))

    points = tuple(replace(point, time=least(point.time)) for point in found.samples.points)
    return calibration(replace(found.samples, points=points), name=NAME)


def locality(machine: Machine) -> str:
    """The class that was measured, from far to near; that of the machine file's o(S, b) and log3P tables."""
    from logpost.machines.schema import LOCALITIES

    for name in reversed(LOCALITIES):
        if name != "self" and machine.loggp.of(name) is not None:
            return name
    raise InputError("the calibration of this machine has no LogGP values; measure again with logpost calibrate")


def _read(path: str) -> Calibration:
    from logpost.machines.calibration.compose import calibration
    from logpost.machines.calibration.samples import read

    return calibration(read(path), name=NAME)


def _measure(context: Context) -> Calibration:
    from logpost.machines.calibration.compose import calibration
    from logpost.machines.calibration.grid import DEFAULT
    from logpost.machines.calibration.measure import measure
    from logpost.machines.calibration.save import save_machine

    check()
    full = replace(
        DEFAULT,
        burst_sizes=(8, 512, 4096, 32768, 262144),
        burst_lengths=(1, 4, 16, 64),
        layout_sizes=SIZES,
        strides=STRIDES,
    )
    quick = replace(
        full,
        sizes=(1, 64, 512, 1024, 4096, 16384, 65536, 262144),
        signature_sizes=(8,),
        bursts=(1, 2, 4, 8, 16, 32, 64, 128),
        burst_sizes=(8, 4096),
        burst_lengths=(1, 4, 16),
        depth_sizes=(8,),
        gap_sizes=(512, 4096, 65536),
        strides=(128, 512),
        largest_eager=131072,
    )
    folder = context.folder.parent / "calibration"
    folder.mkdir(parents=True, exist_ok=True)

    def report(program: str, fraction: float, _message: str) -> None:
        context.progress(f"calibrating this machine: {program}", round(100 * fraction), 100)

    samples = measure(
        launcher(2),
        output=folder / "samples.jsonl",
        compiler="mpicc",
        grid=context.size(full, quick),
        budget_s=context.size(70.0, 4.0),
        passes=context.size(6, 1),
        report=report,
    )
    found = calibration(samples, name=NAME)
    save_machine(found.machine, folder / f"{NAME}.toml")
    return found


def launcher(ranks: int) -> list[str]:
    """`mpirun` for these ranks; more of them than cores are allowed (other MPIs than Open MPI ignore the setting)."""
    return ["env", "OMPI_MCA_rmaps_base_oversubscribe=1", "mpirun", "-n", str(ranks)]


def check() -> None:
    """Raises InputError where MPI programs cannot be started, with the way out."""
    if reason := missing([Need.MPI]):
        raise InputError(reason)
    consent = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    if os.geteuid() != 0 or all(os.environ.get(name) == "1" for name in consent):
        return
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False)
    if "Open MPI" in version.stdout:
        raise InputError(
            f"Open MPI does not start programs as root: set {consent[0]}=1 and {consent[1]}=1, or be another user"
        )


@dataclass(frozen=True)
class Spread:
    """Of several launches: the least, as LOG3P 4.1 takes it (least of the means), and the median."""

    least: float
    median: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of one value per launch."""
        return cls(min(values), statistics.median(values))


@dataclass(frozen=True)
class Program:
    """A program of `logpost workloads list` with its arguments, on so many ranks (there may be fewer cores)."""

    workload: str
    arguments: tuple[str, ...]
    ranks: int = 2


def run_here(context: Context, phase: str, programs: Sequence[Program], launches: int) -> list[dict[str, Spread]]:
    """What each program prints under the real MPI, over several launches.

    All are launched once before any is launched again, so that a slow second of the machine does not hit all launches
    of one program.

    Raises:
        InputError: one cannot be built or started, found its own result wrong, or printed no times.
    """
    check()
    rounds = context.each(phase, [one for _ in range(launches) for one in programs], _launch, at_once=1)
    return [
        {name: Spread.of([one[name] for one in rounds[i :: len(programs)]]) for name in rounds[i]}
        for i in range(len(programs))
    ]


def _launch(one: Program) -> dict[str, float]:
    from logpost.collectors.workloads.build import build, launch_environment
    from logpost.collectors.workloads.catalogue import workload

    program = workload(one.workload).program(None)
    said = f"{one.workload} on {one.ranks} ranks"
    try:
        done = subprocess.run(
            [*launcher(one.ranks), str(build(program)), *one.arguments],
            env=launch_environment(program),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{said} was not done after {_PATIENCE_S:.0f} s") from None
    values = {name: float(value) for name, value in _VALUE.findall(done.stdout)}
    if done.returncode != 0 or not values:
        last = ((done.stderr or done.stdout).strip().splitlines() or ["it printed nothing"])[-1]
        raise InputError(f"{said} ended with status {done.returncode}: {last}")
    return values


def contiguous_times(context: Context, size: int, launches: int) -> dict[str, Spread]:
    """Half round trips of contiguous data by the calibration's layout program, for an application's own size.

    Returns:
        self (T00), remote (T01), memory_copy (T_mem) -> seconds, the least samples of launches.

    Raises:
        InputError: the program cannot be started, or fails.
    """
    from logpost.machines.calibration.build import build
    from logpost.machines.calibration.samples import parse

    check()
    program = build("mpicc", ["layout"])["layout"]
    context.folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[float]] = {}
    for launch in range(launches):
        output = context.folder / f"contiguous-{size}-{launch}.jsonl"
        command = [*launcher(2), str(program), "--output", str(output), "--bytes", str(size), "--forms", "contiguous"]
        command += ["--batch", "4", "--budget-s", str(context.size(2.0, 0.5))]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        except subprocess.TimeoutExpired:
            raise InputError(f"the layout program was not done after {_PATIENCE_S:.0f} s") from None
        if done.returncode != 0 or not output.exists():
            last = ((done.stderr or done.stdout).strip().splitlines() or ["it printed nothing"])[-1]
            raise InputError(f"the layout program ended with status {done.returncode}: {last}")
        for line in output.read_text(encoding="utf-8").splitlines()[1:]:
            point = parse(json.loads(line), output.name)
            found.setdefault(str(point["transfer"]), []).append(point.time.minimum_s)
    return {transfer: Spread.of(values) for transfer, values in found.items()}
