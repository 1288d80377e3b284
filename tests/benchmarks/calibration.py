"""Is a calibration good for something: strided messages and broadcasts at sizes and strides that it did not measure.

On this machine: calibrate with two ranks; between the calibration's passes measure half round trips of strided doubles,
and linear and tree broadcasts. Predict them from the machine file with log3P and with LogGP, which knows no stride, and
print mean, median and largest error. Bars for log3P: messages 5 %, broadcasts 6 % on average.

On a shared virtual machine the same message may take two and a half times as long for some seconds (its two processors
are moved apart), in calibration and truth alike. So there are two blocks:
  pass by pass  the machine file of one pass against what was measured right after it; of each case the median over the
                passes of predicted/measured. This is the error of model and grid, and the bars are for it.
  as filed      the machine file of all passes against the median of all measurements: the mix of fast and slow seconds
                that the two happened to see comes on top.

The third column is log3P with LOG3P 4.1's l_mw = T00(s, d) - T00(s) from messages to oneself; the file has the
difference of messages to another rank.

A broadcast's message comes out of a pause, a ping-pong's does not: with two ranks a small one takes 40 ns more.
Broadcasts over more ranks than processors wait for processors, which no model here knows: on this machine the bar is
for those that have one each, the others are shown. What the models say about up to eight ranks is measured on a
simulated cluster (SimGrid SMPI) of eight hosts with overheads per byte, calibrated by the same programs; strides are
free there.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from logpost.errors import InputError
from logpost.machines import Machine
from logpost.machines.calibration.build import FLAGS, SOURCES
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.grid import DEFAULT, Grid
from logpost.machines.calibration.measure import measure
from logpost.machines.calibration.samples import Sample, Samples
from logpost.replay.models.arrays import ModelError
from logpost.replay.models.interface import Model
from logpost.replay.models.log3p import Log3PTable
from logpost.replay.models.machine_values import machine_values
from logpost.replay.models.registry import model
from logpost.replay.models.units import SECOND

MESSAGES_BAR, BROADCASTS_BAR = 0.05, 0.06
SIZES = (640, 1536, 3072, 6144, 12288, 24576, 49152, 98304)
STRIDES = (24, 48, 96, 192, 384, 768, 1536)
BROADCAST_SIZES = (1536, 6144, 24576)
BROADCAST_STRIDES = (8, 96, 384)
BUDGET_S = 100.0
_SOURCE = Path(__file__).with_name("strided_messages.c")
_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
_GRID = replace(DEFAULT, signature_sizes=(8,), burst_sizes=(8,), depth_sizes=(8,))
_MODELS = {"ping": ("loggp", "log3p"), "linear": ("broadcast-loggp", "broadcast-log3p")}
_MODELS["tree"] = _MODELS["linear"]
_OUTPUT = {"ping": "T", "linear": "linear", "tree": "tree"}


@dataclass(frozen=True)
class Case:
    """One measured time: what, of how many bytes with which stride (8: contiguous) over how many ranks."""

    kind: str
    size: int
    stride: int
    ranks: int


Times: TypeAlias = "dict[Case, list[float]]"
"""Medians of the launches, in seconds, in the order of the passes."""
Ratios: TypeAlias = "dict[Case, list[float | None]]"
"""Predicted over measured time under each model, None where the machine file lacks a value."""
Prediction: TypeAlias = "Callable[[Case], float | None]"
"""Predicted time in seconds."""


def _build(compiler: str, folder: Path) -> Path:
    program = folder / "strided_messages"
    command = [
        compiler,
        *FLAGS,
        f"-I{SOURCES}",
        "-o",
        str(program),
        str(_SOURCE),
        str(SOURCES / "calibration.c"),
        "-lm",
    ]
    subprocess.run(command, check=True)
    return program


def _take(launch: Sequence[str], program: Path, times: Times, options: Iterable[str]) -> None:
    output = program.with_suffix(".jsonl")
    command = [*launch, str(program), "--output", str(output), *options]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    for line in output.read_text().splitlines()[1:]:
        p = json.loads(line)
        times.setdefault(Case(p["family"], p["bytes"], p["stride_bytes"], p["ranks"]), []).append(p["median_s"])


def _listed(values: Iterable[int]) -> str:
    return ",".join(map(str, values))


def _from_file(machine: Machine, locality: str, which: int) -> Prediction:
    """Prediction of LogGP (0) or log3P (1) with the machine file's values, in seconds; None where it lacks a value."""

    def predict(case: Case) -> float | None:
        chosen: Model = model(_MODELS[case.kind][which])
        given: dict[str, Any] = {"B": case.size, "stride": case.stride if case.stride > 8 else 0, "P": case.ranks}
        given = {name: value for name, value in given.items() if name in {p.name for p in chosen.parameters}}
        try:
            found = chosen.predict(**given, **machine_values(chosen, machine, given, locality=locality))
        except ModelError:
            return None
        return float(np.asarray(found[_OUTPUT[case.kind]])) * 1e-12

    return predict


def _from_self(samples: Samples) -> Prediction:
    """log3P with l_mw from messages to oneself."""
    layouts = {(p["transfer"], p["form"], p.bytes, p["stride_bytes"]): p.time.median_s for p in samples.of("layout")}
    contiguous: list[tuple[float, float, float]] = []
    strided: list[tuple[float, float, float]] = []
    for (transfer, form, size, stride), time in layouts.items():
        if transfer == "remote" and form == "contiguous":
            o_mw = max(layouts["self", form, size, stride] - layouts["memory_copy", form, size, stride], 0.0)
            contiguous.append((float(size), o_mw, max(time - o_mw, 0.0)))
        elif transfer == "self" and form == "datatype":
            strided.append((float(size), float(stride), max(time - layouts["self", "contiguous", size, 8], 0.0)))
    table = Log3PTable.from_points(contiguous=contiguous, strided=strided, unit=SECOND)

    def predict(case: Case) -> float:
        stride = float(case.stride) if case.stride > 8 else 0.0
        parameters = {
            "o_mw": table.o_mw(case.size),
            "l_mw": table.latency_of_stride(case.size, stride),
            "o_net": table.o_net(case.size),
        }
        chosen = model(_MODELS[case.kind][1])
        given = {**parameters, "P": case.ranks} if case.kind != "ping" else parameters
        return float(np.asarray(chosen.predict(**given)[_OUTPUT[case.kind]]))

    return predict


def _predictions(samples: Samples) -> list[Prediction]:
    """Under LogGP, log3P as in the machine file, and log3P from messages to oneself."""
    machine = calibration(samples, name="bench").machine
    near = samples.localities()[-1]
    return [_from_file(machine, near, 0), _from_file(machine, near, 1), _from_self(samples)]


def _of_pass(samples: Samples, number: int) -> Samples:
    """What one pass alone measured; of points that it did not visit, what all did.

    Points that were added after the first pass have been visited by the last ones.
    """
    passes = max(len(point.time.rounds_s) for point in samples.points)

    def only(point: Sample) -> Sample:
        rounds = point.time.rounds_s
        late = 0 if point.family in ("protocol", "silent_receiver") else passes - len(rounds)
        visited = late <= number < late + len(rounds)
        time = rounds[number - late] if visited else point.time.median_s
        least = min(point.time.minimum_s, time)
        return replace(point, time=replace(point.time, median_s=time, minimum_s=least, rounds_s=(time,)))

    return replace(samples, points=tuple(only(point) for point in samples.points))


def _as_filed(samples: Samples, times: Times) -> Ratios:
    predictions = _predictions(samples)
    return {
        case: [None if p is None else p / statistics.median(measured) for p in (f(case) for f in predictions)]
        for case, measured in times.items()
    }


def _pass_by_pass(samples: Samples, times: Times) -> Ratios:
    passes = max(map(len, times.values()))
    found: dict[Case, list[list[float]]] = {case: [[], [], []] for case in times}
    for number in range(passes):
        try:
            predictions = _predictions(_of_pass(samples, number))
        except InputError as error:  # one pass alone, on a machine that others use, may make no sense
            print(f"pass {number + 1} is left out: {error}")
            continue
        for case, measured in times.items():
            for ratios, predict in zip(found[case], predictions, strict=True):
                predicted = predict(case) if number < len(measured) else None
                if predicted is not None:
                    ratios.append(predicted / measured[number])
    return {case: [statistics.median(r) if r else None for r in columns] for case, columns in found.items()}


def _shown(errors: Sequence[float]) -> str:
    if not errors:
        return f"{'no prediction':>24}"
    return f"{statistics.mean(errors):7.1%} {statistics.median(errors):7.1%} {max(errors):8.1%}"


def _row(title: str, ratios: Ratios, wanted: Callable[[Case], bool], bar: float | None) -> bool:
    """Print a line of errors; whether the bar is missed."""
    cases = [case for case in ratios if wanted(case)]
    if not cases:
        return False
    columns = [[abs(r - 1.0) for case in cases if (r := ratios[case][i]) is not None] for i in range(3)]
    missed = bar is not None and (not columns[1] or statistics.mean(columns[1]) > bar)
    verdict = "" if bar is None else "MISSED" if missed else "ok"
    print(f"{title:34} {len(cases):3}  " + "  ".join(map(_shown, columns)) + f"   {verdict}")
    return missed


def _block(title: str, ratios: Ratios, processors: int, *, judged: bool) -> int:
    """Print all lines of one kind of comparison; how many bars are missed."""
    print(f"{title:38}  {'LogGP: mean median max':>24}  {'log3P':>24}  {'log3P, l_mw of T00':>24}")
    missed = _row("messages, contiguous", ratios, lambda c: c.kind == "ping" and c.stride == 8, None)
    bar = MESSAGES_BAR if judged else None
    missed += _row("messages, strided", ratios, lambda c: c.kind == "ping" and c.stride > 8, bar)
    for kind, ranks in sorted({(c.kind, c.ranks) for c in ratios if c.kind != "ping"}):
        bar = BROADCASTS_BAR if judged and ranks <= processors else None
        more = "" if ranks <= processors else f" on {processors} processors"
        missed += _broadcasts(f"{kind} broadcast, {ranks} ranks{more}", ratios, (kind, ranks), bar)
    return missed


def _broadcasts(title: str, ratios: Ratios, which: tuple[str, int], bar: float | None) -> bool:
    return _row(title, ratios, lambda c: (c.kind, c.ranks) == which, bar)


def _judge(samples: Samples, times: Times, processors: int) -> int:
    """Print both blocks; how many bars are missed."""
    reached = [p.time.reached for p in samples.points]
    launches = max(len(p.time.rounds_s) for p in samples.points)
    print(f"{samples.host.mpi_library.split(',')[0]}: {len(reached)} points in {launches} launches,", end=" ")
    print(f"{sum(reached) / len(reached):.0%} within ±5 % at 95 %")
    missed = _block("pass by pass", _pass_by_pass(samples, times), processors, judged=True)
    _block("as filed", _as_filed(samples, times), processors, judged=False)
    return missed


def _real(launcher: str, compiler: str, folder: Path) -> int:
    program = _build(compiler, folder)
    times: Times = {}

    def measure_cases(number: int) -> None:
        two = [launcher, "-n", "2"]
        grid = ("--bytes", _listed(SIZES), "--strides", _listed((8, *STRIDES)), "--kinds", "ping", "--budget-s", "1.5")
        _take(two, program, times, grid)
        grid = ("--bytes", _listed(BROADCAST_SIZES), "--strides", _listed(BROADCAST_STRIDES), "--kinds", "linear,tree")
        _take(two, program, times, (*grid, "--budget-s", "0.7"))
        if number <= 3:
            for ranks in (4, 8):
                _take([launcher, "-n", str(ranks)], program, times, (*grid, "--budget-s", "0.5", "--batch", "10"))

    found = measure(
        [launcher, "-n", "2"],
        output=folder / "samples.jsonl",
        compiler=compiler,
        grid=_GRID,
        budget_s=BUDGET_S,
        after_pass=measure_cases,
    )
    return _judge(found, times, len(os.sched_getaffinity(0)))


_TESTBED_GRID = Grid(
    sizes=(1, 8, 64, 512, 1024, 4096, 16384, 65536),
    signature_sizes=(8,),
    bursts=(1, 2, 4, 8, 64, 128, 256),
    burst_sizes=(8,),
    burst_lengths=(1, 8),
    depth_sizes=(8,),
    gap_sizes=(1024, 16384),
    layout_sizes=(256, 1024, 4096, 16384, 65536),
    strides=(16, 256, 2048),
    largest_eager=65536,
)


def _simulated(folder: Path) -> int:
    """Eight hosts, one switch: L = 10 µs, G = 0.1 ns/B, o = 5 µs + 0.5 ns/B at either side, everything eager."""
    from tests.machines.calibration.launchers import Simulated

    hosts = Simulated(folder, hosts=8, G=1e-10, eager=1 << 20)
    hosts.settings = [s for s in hosts.settings if "smpi/o" not in s]
    hosts.settings += [f"--cfg=smpi/{call}:0:5e-06:5e-10" for call in ("os", "ois", "or")]
    program = _build("smpicc", folder)
    times: Times = {}
    grid = ("--bytes", _listed(BROADCAST_SIZES), "--strides", _listed((8, 96)), "--budget-s", "1000", "--batch", "4")

    def launch(ranks: int) -> list[str]:
        command = hosts.launch
        command[command.index("-np") + 1] = str(ranks)
        return command

    for ranks in (2, 4, 8):
        kinds = "ping,linear,tree" if ranks == 2 else "linear,tree"
        _take(launch(ranks), program, times, (*grid, "--settle-s", "1e-3", "--kinds", kinds))
    output = folder / "samples.jsonl"
    found = measure(launch(2), output=output, compiler="smpicc", grid=_TESTBED_GRID, budget_s=20, passes=2, batch=4)
    return _judge(found, times, 8)


def main() -> int:
    """Print the tables; 1 when a bar is missed."""
    os.environ.update({name: text for name, text in _ENVIRONMENT.items() if name not in os.environ})
    missed, tables = 0, 0
    for name in ("openmpi", "mpich", "simulated"):
        with tempfile.TemporaryDirectory() as folder:
            if name == "simulated":
                if shutil.which("smpirun") is None:
                    print("smpirun is not installed: no broadcasts over more ranks than processors")
                    continue
                missed += _simulated(Path(folder))
            else:
                if shutil.which(f"mpirun.{name}") is None:
                    print(f"mpirun.{name} is not installed")
                    continue
                missed += _real(f"mpirun.{name}", f"mpicc.{name}", Path(folder))
            tables += 1
    return int(missed > 0 or not tables)


if __name__ == "__main__":
    sys.exit(main())
