"""Measure a machine: build the calibration programs, start them with the user's launcher, gather their samples.

Passes: every program is launched once in each pass, so that the launches of a program are spread over the whole
calibration; each point's interval comes from the spread between them (see ``statistics``). A launch ends when its
points have reached +-5 %, or its share of the time is over; passes continue until MOST_PASSES or the end of the time,
and at least SPELLS are made. Ranks that the launcher leaves unbound are bound by the programs, each to one of
the processors that it may use; the host line says where they were.
"""

from __future__ import annotations

import itertools
import math
import shlex
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from logpost.collectors.calibration.build import build
from logpost.collectors.calibration.gathered import Gathered
from logpost.collectors.calibration.grid import DEFAULT, THOROUGH, Grid, listed, peers
from logpost.collectors.calibration.launch import run_program
from logpost.collectors.mpi import compiler_of
from logpost.errors import InputError
from logpost.machines.calibration import samples
from logpost.machines.calibration.contention import Plan, plan
from logpost.machines.calibration.samples import Samples
from logpost.machines.calibration.statistics import SPELLS
from logpost.machines.topologies import Topology

Report: TypeAlias = "Callable[[str, float, str], None]"
"""Called with the program's name, the fraction of all work that is done (0 to 1), and a message."""

BUDGET_S = 140.0
THOROUGH_BUDGET_S = 1200.0
"""Of a calibration, as `--help` states them."""
MOST_PASSES = 20
"""A choice: the time of a calibration ends most of them before."""
PROTOCOL_PASSES = 3
"""A choice: each pass may find another switch, and all of them are measured."""
ORDER = ("overhead", "protocol", "signature", "burst", "pattern", "contention", "layout")
SHARES = {"overhead": 0.2, "signature": 0.2, "burst": 0.15, "pattern": 0.1, "layout": 0.35}
_PATIENCE_S = 60.0
"""For a launcher to start and end, beyond ten times the time that the program has."""
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
class _Run:
    """One calibration in progress."""

    launch: list[str]
    programs: Mapping[str, Path]
    folder: Path
    grid: Grid
    budget_s: float
    report: Report
    batch: int
    started: float
    gathered: Gathered = field(default_factory=Gathered)
    launches: int = 0
    settings: dict[str, float] = field(default_factory=dict)
    topology: Topology | None = None
    """Of the network whose links are measured, too."""
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
    topology: Topology | None = None,
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
        folder: where a folder for what the programs write during that time is made; the node of rank 0 must see it. By
            default that of `output`, or the current one.
        compiler: MPI compiler wrapper; default: the one of the launcher's MPI.
        thorough: the finer grid and a longer time.
        topology: of the network, where its links are to be measured (the program contention).
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
    parent = (folder or (output.parent if output is not None else Path.cwd())).absolute()
    try:
        scratch = tempfile.TemporaryDirectory(dir=parent, prefix=".logpost-calibrate-")
    except OSError as error:
        raise InputError(f"cannot write to {parent}: {error}; choose another output file") from error
    with scratch as name:
        run = _Run(
            launch=list(launch),
            programs=executables,
            folder=Path(name),
            grid=grid or (THOROUGH if thorough else DEFAULT),
            budget_s=budget_s or (THOROUGH_BUDGET_S if thorough else BUDGET_S),
            report=report,
            batch=batch,
            started=time.monotonic(),
            topology=topology,
        )
        _passes(run, passes, after_pass)
        found = run.gathered.result(shlex.join(launch), wrapper)
    if output is not None:
        samples.write(output, found)
    report("done", 1.0, f"{len(found.points)} points measured in {time.monotonic() - run.started:.0f} s")
    return found


def _passes(run: _Run, wanted: int | None, after_pass: Callable[[int], None]) -> None:
    fewest, most = (wanted, wanted) if wanted else (SPELLS, MOST_PASSES)
    done = 0
    while done < most:
        begin = time.monotonic()
        budget_s = max(run.left(), 0.0) / (most - done)
        for program in ORDER:
            if program == "protocol" and done >= PROTOCOL_PASSES:
                continue
            if program == "contention" and run.topology is None:
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


def _plan(run: _Run) -> Plan:
    """The ranks that measure links. Raises InputError where the network lacks the host of rank 0, or has one host."""
    assert run.topology is not None
    assert run.gathered.host is not None
    found = plan(run.topology, run.gathered.host.hosts)
    if not found.partners:
        hosts = ", ".join(list(dict.fromkeys(run.gathered.host.hosts))[:4])
        raise InputError(f"--contention needs two hosts of the network, and ranks are on {hosts}; place them on more")
    return found


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
    if program == "contention":
        ranks_of = _plan(run)
        chosen = {"--partners": ranks_of.partners, "--from": ranks_of.senders, "--to": ranks_of.receivers}
        return [word for option, some in chosen.items() for word in (option, listed(some))]
    copying = gathered.typical("one_way", _nearest(grid.sizes, grid.largest_eager)) or 0.0
    least = run.settings.setdefault("least delay", _rounded(max(1e-3, 4 * around)))
    delay = run.settings.setdefault("delay", _rounded(max(least, 4 * copying)))
    return ["--delay-s", f"{delay:.6g}", "--least-delay-s", f"{least:.6g}", "--largest", str(grid.largest_eager)]


def _layout_sizes(run: _Run) -> list[int]:
    """The grid's, and the whole blocks at either side of the changes of protocol within it."""
    grid, block = run.grid, run.grid.block
    switch_sizes = {below // block * block for below, _ in run.switches}
    switch_sizes |= {-(-above // block) * block for _, above in run.switches}
    return sorted(
        {*grid.layout_sizes, *(s for s in switch_sizes if grid.layout_sizes[0] <= s <= grid.layout_sizes[-1])}
    )


def _nearest(sizes: Sequence[int], wanted: int) -> int:
    return min(sizes, key=lambda size: abs(size - wanted))


def _rounded(value: float) -> float:
    """Up to one significant digit."""
    digits = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / digits - 1e-9) * digits
