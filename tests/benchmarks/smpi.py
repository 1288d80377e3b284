"""Predictions of other platforms against truth: the papers' programs recorded on SimGrid SMPI, predicted for others.

EM3D, all-to-all (question and answer, one-way, long), the Diamond DAG, a 3-D FFT's transpose, a halo exchange and
conjugate gradients, on 16 to 128 ranks. Each is recorded twice: on a crossbar, where messages share nothing but NICs,
and on a torus, whose links they share. B differs from that in latency, bandwidth, speed of computation, topology or
mapping. The bars: on the crossbar a mean error of 3 % and a worst one of 10 %, on the torus of 8 % and 15 %; and in
90 % of all cases the truth lies within the stated interval.

    python -m tests.benchmarks smpi --only 'diamond;cg'

Needs SimGrid (`logpost doctor`).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tests.benchmarks.network import HERE, slow_links
from tests.real_network.trial import length_ps

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.predict.whatif import Ask
from logpost.analyzer.predict.whatif.ask import Replay
from logpost.analyzer.run.directory import Run
from logpost.machines import Machine, load_machine
from logpost.testbed import run_on_testbed
from logpost.testbed.settings import apply

COVERED_BAR = 0.9
SEED = 5
"""of the random mapping"""
TORUS = {16: "torus:4x4", 32: "torus:4x4x2", 64: "torus:4x4x4", 128: "torus:8x4x4"}
FAT_TREE = {16: "fat-tree:4x4", 32: "fat-tree:8x4", 64: "fat-tree:8x8", 128: "fat-tree:16x8"}


@dataclass(frozen=True)
class Program:
    """A program, and the numbers of ranks that it runs on."""

    ranks: tuple[int, ...]
    arguments: tuple[str, ...]
    """WORK is the time of its computation"""
    workload: str | None = None
    """of `logpost workloads list`; None: traffic.c"""
    flops: bool = False
    """it states its computation in operations: the speed of processors is the platform's"""

    def arguments_at(self, work: int) -> tuple[str, ...]:
        """With that much computation."""
        return tuple(str(work) if one == WORK else one for one in self.arguments)


@dataclass(frozen=True)
class Variant:
    """Platform B: as settings of the testbed, and of the prediction."""

    testbed: dict[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    mapped: bool = False
    faster: bool = False


WORK, USUAL, HALF = "WORK", 50, 25
REMAP = ("--receive", "wait", "--capacity", "0", "--cycle-ns", WORK, "--style")
PROGRAMS = {
    "em3d": Program(
        (32, 64),
        ("--nodes", "2000", "--iterations", "2", "--receive", "wait", "--order", "improved", "--cycle-ns", WORK),
        workload="em3d",
    ),
    "all-to-all": Program((32, 64), (*REMAP, "sync", "--messages", "40"), workload="remap"),
    "all-to-all, one-way": Program((32, 64), (*REMAP, "async", "--messages", "100"), workload="remap"),
    "all-to-all, long": Program((32, 64), (*REMAP, "long", "--messages", "10"), workload="remap"),
    "diamond": Program((16, 128), ("--n", "1024", "--blocks", "32", "--cycle-ns", WORK), workload="diamond"),
    "transpose": Program(
        (16, 32),
        ("--grid", "A", "--scale", "4", "--version=pack", "--iterations", "2"),
        workload="fft3d",
        flops=True,
    ),
    "halo": Program((16, 128), ("halo", "65536", "10", WORK)),
    "cg": Program((16, 128), ("cg", "16384", "10", WORK)),
}
ALONE = {
    "L x0.1": Variant({"latency": "0.5us"}, ("L=x0.1",)),
    "L x10": Variant({"latency": "50us"}, ("L=x10",)),
    "L x100": Variant({"latency": "500us"}, ("L=x100",)),
    "bytes x0.1": Variant({"G": "5ns/B", "bandwidth": "0.2GB/s"}, ("G=x10", "link_bandwidth=x0.1")),
    "bytes x10": Variant({"G": "0.05ns/B", "bandwidth": "20GB/s"}, ("G=x0.1", "link_bandwidth=x10")),
    "computation x0.5": Variant(faster=True),
}
"""on the crossbar"""
SHARED = {
    "crossbar": Variant({"topology": "crossbar"}),
    "fat tree": Variant({"topology": "fat tree"}),
    "mapping": Variant(mapped=True),
    "L x10": Variant({"latency": "50us"}, ("L=x10",)),
    "links x0.2": Variant(slow_links(0.2), ("link_bandwidth=x0.2",)),
}
"""on the torus"""


@dataclass(frozen=True)
class Group:
    """Platforms of one kind, and how far predictions may be off on them."""

    name: str
    base: dict[int, str]
    """topology by ranks"""
    variants: dict[str, Variant]
    mean_bar: float
    worst_bar: float


CROSSBAR = {ranks: f"crossbar:{ranks}" for ranks in TORUS}
GROUPS = (
    Group("crossbar", CROSSBAR, ALONE, 0.03, 0.10),
    Group("torus", TORUS, SHARED, 0.08, 0.15),
)
TOPOLOGIES = {"crossbar": CROSSBAR, "fat tree": FAT_TREE}


@dataclass(frozen=True)
class Case:
    """A prediction and the truth; ps."""

    measured: int
    predicted: int
    interval: tuple[int, int]
    true: int

    @property
    def error(self) -> float:
        """(predicted - true) / true"""
        return self.predicted / self.true - 1

    @property
    def covered(self) -> bool:
        """The truth lies within the interval."""
        return self.interval[0] <= self.true <= self.interval[1]


def simulated(program: Program, ranks: int, base: str, variant: Variant, folder: Path) -> Run:
    """A program on a platform, split with the machine that it was simulated on. L without its hops is the same on all
    topologies."""
    settings = {"topology": base, **variant.testbed}
    settings["topology"] = TOPOLOGIES[settings["topology"]][ranks] if settings["topology"] in TOPOLOGIES else base
    if "topology" in variant.testbed:
        cluster = load_machine(HERE / "cluster.toml")
        there, here = (_mean_hops_us(apply(cluster, {"topology": one})[0]) for one in (settings["topology"], base))
        settings["latency"] = f"{5 + there - here:.9g}us"
    if variant.faster and program.flops:
        settings["speed"] = "2e9"
    place = Path(tempfile.mkdtemp(dir=folder))  # a short program ends in the second in which the one before began
    archive = run_on_testbed(
        HERE / "cluster.toml",
        workload=program.workload,
        sources=[HERE / "traffic.c"] if program.workload is None else [],
        arguments=program.arguments_at(HALF if variant.faster else USUAL),
        ranks=ranks,
        mapping=f"random:{ranks}:{SEED}" if variant.mapped else None,
        settings=settings,
        output=place,
    ).archive
    run = Run.open(analyze(Request(str(archive / "traces.otf2"), str(place / "run"))))
    shutil.rmtree(archive)
    return run


def _mean_hops_us(machine: Machine) -> float:
    """What the hops of the mean distance take."""
    topology = machine.topology
    assert topology is not None
    assert topology.per_hop is not None
    return float(topology.per_hop.base() * 1e-6 * topology.mean_hops(include_self=False))


def ask_of(variant: Variant, ranks: int, folder: Path) -> Ask:
    """The question to the replay of the recorded run."""
    topology = variant.testbed.get("topology")
    settings = variant.settings if topology is None else (f"topology={TOPOLOGIES[topology][ranks]}",)
    mapping = None
    if variant.mapped:
        file = folder / "mapping.txt"
        file.write_text("\n".join(map(str, np.random.default_rng(SEED).permutation(ranks))) + "\n")
        mapping = str(file)
    return Ask(settings=settings, mapping=mapping, scale_compute=("0.5",) if variant.faster else ())


def predicted(program: Program, ranks: int, group: Group, folder: Path) -> dict[str, Case]:
    """Every platform of a group."""
    base = group.base[ranks]
    replay = Replay(simulated(program, ranks, base, Variant(), folder))
    found = {}
    for name, variant in group.variants.items():
        truth = simulated(program, ranks, base, variant, folder)
        answer = replay.predict(ask_of(variant, ranks, folder))
        found[name] = Case(answer.measured_ps, answer.predicted_ps, answer.interval_ps, length_ps(truth))
        shutil.rmtree(truth.path.parent)
    return found


def table(group: Group, only: Sequence[str], most_ranks: int) -> bool:
    """Prints a group's errors; whether its bars are met."""
    cases: dict[tuple[str, int, str], Case] = {}
    print(f"{group.name:20}{'ranks':>6}" + "".join(f"{name:>22}" for name in group.variants))
    for name in only:
        program = PROGRAMS[name]
        for ranks in (one for one in program.ranks if one <= most_ranks):
            with tempfile.TemporaryDirectory() as folder:
                found = predicted(program, ranks, group, Path(folder))
            line = f"{name:20}{ranks:>6}"
            for variant, case in found.items():
                cases[name, ranks, variant] = case
                change = case.true / case.measured - 1
                line += f"{100 * case.error:>9.2f}%{' ' if case.covered else '!'}({100 * change:>+7.0f}%)"
            print(line, flush=True)
    sizes = {key: abs(case.error) for key, case in cases.items()}
    worst = max(sizes, key=lambda key: sizes[key])
    mean, covered = float(np.mean(list(sizes.values()))), sum(case.covered for case in cases.values())
    print(
        f"{group.name}: {len(cases)} cases, mean error {100 * mean:.2f} % (bar {100 * group.mean_bar:.0f} %), worst "
        f"{100 * sizes[worst]:.1f} % (bar {100 * group.worst_bar:.0f} %): {', '.join(map(str, worst))}; "
        f"within the interval {covered} (bar {100 * COVERED_BAR:.0f} %)",
        flush=True,
    )
    return mean <= group.mean_bar and sizes[worst] <= group.worst_bar and covered >= COVERED_BAR * len(cases)


def main(options: Sequence[str] = ()) -> int:
    """Print the tables; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="smpi")
    parser.add_argument("--only", default=";".join(PROGRAMS), help="programs, separated by ;")
    parser.add_argument("--most-ranks", type=int, default=max(TORUS))
    chosen = parser.parse_args(options)
    if shutil.which("smpicc") is None:
        print("SimGrid is missing: apt install libsimgrid-dev", file=sys.stderr)
        return 1
    print("error of the predicted time (in brackets: by how much B is slower than A in truth; !: outside the interval)")
    met = [table(group, chosen.only.split(";"), chosen.most_ranks) for group in GROUPS]
    return int(not all(met))
