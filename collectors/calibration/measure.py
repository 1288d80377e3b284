"""Measure a machine: build the calibration programs, start them with the user's launcher, gather their samples.

Passes: every program is launched once in each pass, so that the launches of a program are spread over the whole
calibration; each point's interval comes from the spread between them (see ``statistics``). A launch ends when its
points have reached +-5 %, or its share of the time is over; passes go on until MOST_PASSES or the end of the time, and
at least FEWEST_PASSES are made. Ranks that the launcher leaves unbound are bound by the programs, each to one of the
processors that it may use; the host line says where they were.
"""

from __future__ import annotations

import itertools
import math
import shlex
import statistics as numbers
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from logpost.collectors.calibration.build import build
from logpost.collectors.calibration.grid import DEFAULT, THOROUGH, Grid, listed, peers
from logpost.collectors.calibration.launch import run_program
from logpost.collectors.mpi import compiler_of
from logpost.errors import InputError
from logpost.machines.calibration import samples
from logpost.machines.calibration.bursts import steady_depth
from logpost.machines.calibration.samples import DELAYED, FAMILIES, Host, Key, Sample, Samples
from logpost.machines.calibration.statistics import Visit, combine

Report: TypeAlias = "Callable[[str, float, str], None]"
"""Called with the program's name, the fraction of all work that is done (0 to 1), and a message."""

BUDGET_S = 140.0
THOROUGH_BUDGET_S = 1200.0
FEWEST_PASSES = 6
MOST_PASSES = 20
PROTOCOL_PASSES = 3
ORDER = ("overhead", "protocol", "signature", "burst", "pattern", "layout")
SHARES = {"overhead": 0.2, "signature": 0.2, "burst": 0.15, "pattern": 0.1, "layout": 0.35}
_BUSY = 10.0
"""Ratio of the median to the smallest sample that only other load explains."""
_PATIENCE_S = 60.0
_SHARED = 4.0
"""How many times as long computation may take where other programs have the processors, too."""
_DELTAS = (0.5, 1.0, 2.0, 4.0)
"""Computation between the signature's requests, in round trips."""
_LONG_TRIP_S = 50e-6
_FEWEST_SAMPLES = 10
"""Samples that a program takes of each point, at most, when its share of the time is over already; generously."""
_PROTOCOL_TRIES = 50
"""Most sends of a size: 25 to either kind of receiver."""


@dataclass
class _Gathered:
    """What the launches so far have written: points in their order, visits by point and launch."""

    host: Host | None = None
    points: dict[tuple[Key, ...], Sample] = field(default_factory=dict)
    visits: dict[tuple[Key, ...], dict[int, list[Visit]]] = field(default_factory=dict)
    values: dict[tuple[Key, ...], dict[str, list[float]]] = field(default_factory=dict)

    def take(self, path: Path, launch: int) -> None:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise InputError(
                f"the calibration program left no samples in {path}: {error}; its rank 0 must see this folder (choose "
                "an output file on a shared file system)"
            ) from error
        if not lines:
            raise InputError(f"the calibration program left {path.name} empty; is the device full?")
        if self.host is None:
            first = f"{path.name}, line 1"
            self.host = samples.parse_host(samples.parse_line(lines[0], first), first)
        for number, line in enumerate(lines[1:], start=2):
            where = f"{path.name}, line {number}"
            record = samples.parse_line(line, where)
            point = samples.parse(record, where)
            visit = Visit(point.time, repeat=max(1, int(record.get("repeat", 1))))
            self.points.setdefault(point.name, point)
            self.visits.setdefault(point.name, {}).setdefault(launch, []).append(visit)
            values = self.values.setdefault(point.name, {})
            for key in FAMILIES[point.family].values:
                values.setdefault(key, []).append(float(point.keys[key]))

    def result(self, launcher: str, compiler: str) -> Samples:
        assert self.host is not None
        step = self.host.clock_resolution_s
        points = [self._point(name, step) for name in self.points]
        return Samples(replace(self.host, launcher=launcher, compiler=compiler), tuple(points))

    def _point(self, name: tuple[Key, ...], clock_step_s: float) -> Sample:
        first = self.points[name]
        found = combine(list(self.visits[name].values()), clock_step_s=clock_step_s)
        keys: dict[str, Key] = dict(first.keys)
        for key, kind in FAMILIES[first.family].values.items():
            seen = self.values[name][key]
            keys[key] = steady_depth([int(x) for x in seen]) if key == "depth" else kind(numbers.median_low(seen))
        return replace(first, keys=keys, time=found)

    def switches(self) -> list[tuple[int, int]]:
        """Changes of protocol: the largest size that does not wait, and the smallest that does."""
        found: set[tuple[int, int]] = set()
        for family in DELAYED:
            for locality in {p.locality for p in self.points.values() if p.family == family}:
                tried = [p for p in self.points.values() if p.family == family and p.locality == locality]
                waits = {p.bytes for p in tried if p.time.median_s > float(p.keys["delay_s"]) / 2}
                at_once = {p.bytes for p in tried} - waits
                if waits and at_once and max(at_once) < min(waits):
                    found.add((max(at_once), min(waits)))
        return sorted(found)

    def typical(self, family: str, size: int) -> float | None:
        """A time that later programs are set up with: the longest median over the locality classes.

        No longer than some smallest samples: medians of a busy machine may be 1000 times as long, and computing for
        a few of those between requests would take minutes.
        """
        times = [p.time for p in self.points.values() if p.family == family and p.bytes == size]
        found = [min(time.median_s, _BUSY * time.minimum_s) for time in times]
        return max(found) if found else None


@dataclass
class _Run:
    """One calibration under way."""

    launch: list[str]
    programs: Mapping[str, Path]
    folder: Path
    grid: Grid
    budget_s: float
    report: Report
    batch: int
    started: float
    gathered: _Gathered = field(default_factory=_Gathered)
    launches: int = 0
    settings: dict[str, float] = field(default_factory=dict)
    switches: list[tuple[int, int]] = field(default_factory=list)
    """Changes of protocol: times jump there, so the tables need a point at either side."""

    def left(self) -> float:
        return self.budget_s - (time.monotonic() - self.started)

    def waiting(self, program: str) -> float:
        """Seconds that a program may take on top, because it waits on purpose: the protocol's tries of all sizes, the
        signature's computation between requests."""
        if program == "protocol":
            return _PROTOCOL_TRIES * 2 * math.log2(self.grid.largest_eager) * self.settings["delay"]
        if program == "signature":
            requests = sum(burst for burst in self.grid.bursts if burst <= self.settings["longest delayed"])
            between = sum(_DELTAS) * self.settings["round trip"]
            return _FEWEST_SAMPLES * len(self.grid.signature_sizes) * requests * between
        return 0.0

    def start(self, program: str, arguments: Sequence[str], budget_s: float, fraction: float, message: str) -> None:
        self.report(program, min(max(fraction, 0.0), 1.0), message)
        self.launches += 1
        output = self.folder / f"{program}-{self.launches}.jsonl"
        command = [*self.launch, str(self.programs[program]), "--output", str(output)]
        command += ["--budget-s", f"{budget_s:.3f}", "--batch", str(self.batch), *arguments]
        run_program(command, 10 * budget_s + _PATIENCE_S + _SHARED * self.waiting(program))
        self.gathered.take(output, self.launches)
        output.unlink()


def measure(
    launch: Sequence[str],
    *,
    output: Path | None = None,
    folder: Path | None = None,
    compiler: str | None = None,
    thorough: bool = False,
    grid: Grid | None = None,
    budget_s: float | None = None,
    passes: int | None = None,
    batch: int = 50,
    report: Report = lambda program, fraction, message: None,
    after_pass: Callable[[int], None] = lambda number: None,
) -> Samples:
    """Measure the machine that ``launch`` (e.g. ["mpirun", "-n", "2"]) starts programs on.

    Args:
        launch: the launcher with its options; each program and its arguments are put behind it.
        output: samples file to write, whole or not at all.
        folder: where a folder for what the programs write meanwhile is made; the node of rank 0 must see it. By
            default that of `output`, or the current one.
        compiler: MPI compiler wrapper; default: the one of the launcher's MPI.
        thorough: the finer grid and a longer time.
        grid, budget_s, passes, batch: what, for how many seconds, launches of each program, samples in a batch.
        report: gets progress.
        after_pass: called with the number of passes made, e.g. to measure something else over the same span of time.

    Raises InputError: no launcher, no compiler, a program that cannot be started or fails (with the last line of its
        stderr), fewer than two ranks, a folder that cannot be written to.
    """
    if not launch:
        raise InputError("no launch command; give it after --, e.g. logpost calibrate -o mine.toml -- mpirun -n 2")
    if passes is not None and passes < 1:
        raise InputError(f"passes = {passes} must be at least 1")
    wrapper = compiler or compiler_of(launch[0])
    report("build", 0.0, f"building the programs with {wrapper}")
    executables = build(wrapper)
    beside = (folder or (output.parent if output is not None else Path.cwd())).absolute()
    try:
        meanwhile = tempfile.TemporaryDirectory(dir=beside, prefix=".logpost-calibrate-")
    except OSError as error:
        raise InputError(f"cannot write to {beside}: {error}; choose another output file") from error
    with meanwhile as name:
        run = _Run(
            launch=list(launch),
            programs=executables,
            folder=Path(name),
            grid=grid or (THOROUGH if thorough else DEFAULT),
            budget_s=budget_s or (THOROUGH_BUDGET_S if thorough else BUDGET_S),
            report=report,
            batch=batch,
            started=time.monotonic(),
        )
        _passes(run, passes, after_pass)
        found = run.gathered.result(shlex.join(launch), wrapper)
    if output is not None:
        samples.write(output, found)
    report("done", 1.0, f"{len(found.points)} points measured in {time.monotonic() - run.started:.0f} s")
    return found


def _passes(run: _Run, wanted: int | None, after_pass: Callable[[int], None]) -> None:
    fewest, most = (wanted, wanted) if wanted else (FEWEST_PASSES, MOST_PASSES)
    done = 0
    while done < most:
        begin = time.monotonic()
        budget_s = max(run.left(), 0.0) / (most - done)
        for program in ORDER:
            if program == "protocol" and done >= PROTOCOL_PASSES:
                continue
            share = budget_s * SHARES.get(program, 0.05)
            # Work that is done: passes of the most that are made, or time, whichever is farther.
            fraction = max((done + ORDER.index(program) / len(ORDER)) / most, 1.0 - run.left() / run.budget_s)
            run.start(program, _arguments(program, run), share, min(fraction, 0.99), f"pass {done + 1}: {program}")
            if program == "protocol":
                # A later pass may find another switch, when somebody else's work misled this one: both are measured.
                run.switches = sorted({*run.switches, *run.gathered.switches()})
        done += 1
        after_pass(done)
        took = time.monotonic() - begin
        if wanted is None and done >= fewest and took > run.left():
            break


def _arguments(program: str, run: _Run) -> list[str]:
    """The program's options. What depends on the machine's speed is set in the first pass: all passes have one grid."""
    grid, gathered = run.grid, run.gathered
    ranks = gathered.host.ranks if gathered.host is not None else 2
    around = 2 * (gathered.typical("one_way", _nearest(grid.sizes, 8)) or 1e-6)
    if program == "overhead":
        return ["--bytes", listed(sorted({*grid.sizes, *itertools.chain(*run.switches)}))]
    if program == "signature":
        # Delta up to where the requester is the bottleneck for sure: some round trips.
        trip = run.settings.setdefault("round trip", _rounded(around))
        window = 2 ** math.ceil(math.log2(max(32.0, 4 * ranks)))
        # Beyond the window the time per request changes no more; where round trips are long, up to it must do.
        longest = run.settings.setdefault("longest delayed", window if trip > _LONG_TRIP_S else 4 * window)
        return [
            *("--bytes", listed(grid.signature_sizes), "--bursts", listed(grid.bursts), "--window", str(window)),
            *("--deltas-s", listed([0.0, *(trip * factor for factor in _DELTAS)])),
            *("--longest-delayed", f"{longest:.0f}"),
            *("--reply-delay-s", f"{max(20e-6, 30 * trip):.6g}"),
            # With two ranks there is no list, and a launcher may drop an empty one.
            *(["--peers", listed(sorted({ranks - 1, *(p - 1 for p in peers(ranks) if p > 2)}))] if ranks > 2 else []),
        ]
    if program == "burst":
        return [
            *("--bytes", listed(grid.burst_sizes), "--bursts", listed(grid.burst_lengths)),
            *("--depth-bytes", listed(grid.depth_sizes)),
        ]
    if program == "pattern":
        return ["--bytes", listed(grid.gap_sizes), "--peers", listed(peers(ranks))]
    if program == "layout":
        return [
            *("--bytes", listed(_layout_sizes(run)), "--strides", listed(grid.strides), "--block", str(grid.block)),
        ]
    copying = gathered.typical("one_way", _nearest(grid.sizes, grid.largest_eager)) or 0.0
    least = run.settings.setdefault("least delay", _rounded(max(1e-3, 4 * around)))
    delay = run.settings.setdefault("delay", _rounded(max(least, 4 * copying)))
    return ["--delay-s", f"{delay:.6g}", "--least-delay-s", f"{least:.6g}", "--largest", str(grid.largest_eager)]


def _layout_sizes(run: _Run) -> list[int]:
    """The grid's, and the whole blocks at either side of the changes of protocol within it."""
    grid, block = run.grid, run.grid.block
    beside = {below // block * block for below, _ in run.switches}
    beside |= {-(-above // block) * block for _, above in run.switches}
    return sorted({*grid.layout_sizes, *(s for s in beside if grid.layout_sizes[0] <= s <= grid.layout_sizes[-1])})


def _nearest(sizes: Sequence[int], wanted: int) -> int:
    return min(sizes, key=lambda size: abs(size - wanted))


def _rounded(value: float) -> float:
    """Up to one significant digit."""
    digits = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / digits - 1e-9) * digits
