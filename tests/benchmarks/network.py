"""Predictions of other networks against truth: programs recorded on SimGrid's platform A, predicted for and run on B.

A is a torus of 4 x 4 x 2 nodes with links as fast as the NICs (`network_programs/cluster.toml`). B differs in its
topology, the ranks' mapping, or the bandwidth of links or of the bisection; messages contend on A and on B. SimGrid
shares links by the max-min fair rates of flows; packets and routers it has none. So the rule by which links are shared
is the same here and there; NICs, overheads, progress and collective operations are SimGrid's own. The bars: a mean
error of 8 %, a worst one of 15 %.

Needs SimGrid (`logpost doctor`).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.real_network.trial import length_ps

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.predict.whatif import Ask, Prediction, predict
from logpost.analyzer.run.directory import Run
from logpost.machines import load_machine
from logpost.testbed import run_on_testbed
from logpost.testbed.settings import apply

HERE = Path(__file__).resolve().parent / "network_programs"
MEAN_BAR, WORST_BAR = 0.08, 0.15
RANKS = 32
PROGRAMS = {
    "halo": ("halo", "65536", "10", "50"),
    "halo, short": ("halo", "2048", "20", "20"),
    "transpose": ("transpose", "16384", "4", "200"),
    "transpose, short": ("transpose", "512", "8", "50"),
    "cg": ("cg", "32768", "10", "50"),
    "random": ("random", "65536", "5", "100"),
    "pipeline": ("pipeline", "65536", "20", "50"),
}

ADVISED = ("halo", "cg", "random")


@dataclass(frozen=True)
class Variant:
    """Platform B: as settings of the testbed, and of the prediction. The mapping is the testbed's, too."""

    testbed: dict[str, str]
    ask: tuple[str, ...] = ()
    mapping: str | None = None


def slow_links(factor: float) -> dict[str, str]:
    """The testbed's settings for links of 2 GB/s times a factor below 1. An uncontended message takes L + (B - 1) G
    there whatever its links are: G must be the time per byte on them, or their time would count as L. NICs stay as
    fast as they are."""
    return {"bandwidth": f"{2 * factor:.12g}GB/s", "G": f"{0.5 / factor:.12g}ns/B", "injection": "2GB/s"}


VARIANTS = {
    "crossbar": Variant({"topology": "crossbar:32"}, ("topology=crossbar:32",)),
    "fat tree 8x4": Variant({"topology": "fat-tree:8x4"}, ("topology=fat-tree:8x4",)),
    "mesh 8x4": Variant({"topology": "mesh:8x4"}, ("topology=mesh:8x4",)),
    "ring": Variant({"topology": "ring:32"}, ("topology=ring:32",)),
    "random mapping": Variant({}, mapping="random:32:5"),
    "links x0.1": Variant(slow_links(0.1), ("link_bandwidth=x0.1",)),
    "links x0.5": Variant(slow_links(0.5), ("link_bandwidth=x0.5",)),
    "links x10": Variant({"bandwidth": "20GB/s"}, ("link_bandwidth=x10",)),
    "bisection x0.2": Variant({"bisection": "12.8GB/s"}, ("bisection=x0.2",)),
    "hops x10": Variant({"per-hop": "1us"}, ("per_hop=x10",)),
}


def run(program: tuple[str, ...], variant: Variant, folder: Path) -> Path:
    """The archive of a program on a platform. L without its hops is the same on all platforms."""
    settings = dict(variant.testbed)
    recorded = load_machine(HERE / "cluster.toml")
    planned, _ = apply(recorded, settings)
    hops = [_mean_hops(machine) for machine in (recorded, planned)]
    settings["latency"] = f"{5 + hops[1] - hops[0]:.9g}us"
    folder.mkdir(parents=True)
    return run_on_testbed(
        HERE / "cluster.toml",
        sources=[HERE / "traffic.c"],
        arguments=program,
        ranks=RANKS,
        mapping=variant.mapping,
        settings=settings,
        output=folder,
    ).archive


def _mean_hops(machine: object) -> float:
    """Microseconds of the mean distance."""
    topology = machine.topology  # type: ignore[attr-defined]
    return float(topology.per_hop.base() * 1e-6 * topology.mean_hops(include_self=False))


def recorded(archive: Path, place: Path) -> Run:
    """The archive as a run, split with the machine that it was simulated on."""
    return Run.open(analyze(Request(str(archive / "traces.otf2"), str(place))))


def ask(of: Run, variant: Variant, folder: Path, *, contention: bool = True) -> Prediction:
    """The prediction of the run on B."""
    mapping = None
    if variant.mapping is not None:
        nodes = np.random.default_rng(5).permutation(RANKS)
        mapping = str(folder / "mapping.txt")
        Path(mapping).write_text("\n".join(map(str, nodes)) + "\n")
    return predict(of, Ask(settings=variant.ask, mapping=mapping, contention=contention))


def advice(folder: Path) -> None:
    """Prints what `--mapping best` makes of ranks that were placed at random, and what the testbed says of it."""
    print(f"{'mapping best':18}{'scattered':>12}{'predicted':>12}{'truth':>12}{'error':>9}  placement")
    scattered = Variant({}, mapping="random:32:5")
    for program in ADVISED:
        base = folder / f"advice_{program}"
        run_a = recorded(run(PROGRAMS[program], scattered, base / "A"), base / "A.run")
        found = predict(run_a, Ask(mapping="best"))
        assert found.seats is not None
        assert found.proposal is not None
        file = base / "best.txt"
        file.write_text("\n".join(map(str, found.seats.nodes.tolist())) + "\n")
        truth_run = recorded(run(PROGRAMS[program], Variant({}, mapping=f"file:{file}"), base / "B"), base / "B.run")
        truth = length_ps(truth_run)
        print(
            f"{program:18}{found.measured_ps / 1e9:>9.3f} ms{found.predicted_ps / 1e9:>9.3f} ms{truth / 1e9:>9.3f} ms"
            f"{100 * (found.predicted_ps / truth - 1):>8.1f}%  {found.proposal.name}",
            flush=True,
        )


def main() -> int:
    """Print the table; 1 where a bar is missed."""
    if shutil.which("smpicc") is None:
        print("SimGrid is missing: apt install libsimgrid-dev", file=sys.stderr)
        return 1
    errors: dict[tuple[str, str], float] = {}
    covered, seconds = 0, 0.0
    without: list[float] = []
    print(f"{'error of':18}" + "".join(f"{name:>17}" for name in VARIANTS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program, arguments in PROGRAMS.items():
            base = folder / program.replace(", ", "_")
            run_a = recorded(run(arguments, Variant({}), base / "A"), base / "A.run")
            line = f"{program:18}"
            for what, variant in VARIANTS.items():
                place = base / what.replace(" ", "_")
                truth_run = recorded(run(arguments, variant, place), base / f"{place.name}.run")
                truth = length_ps(truth_run)
                start = time.perf_counter()
                found = ask(run_a, variant, base)
                seconds += time.perf_counter() - start
                error = found.predicted_ps / truth - 1
                errors[program, what] = error
                covered += found.interval_ps[0] <= truth <= found.interval_ps[1]
                without.append(abs(ask(run_a, variant, base, contention=False).predicted_ps / truth - 1))
                change = truth / length_ps(run_a) - 1
                line += f"{100 * error:>7.1f}% ({100 * change:>+5.0f}%)"
                shutil.rmtree(place)
                shutil.rmtree(truth_run.path)
            print(line, flush=True)
        advice(folder)
    sizes = np.abs(list(errors.values()))
    worst = max(errors, key=lambda key: abs(errors[key]))
    print("(in brackets: by how much B is slower than A in truth)")
    print(
        f"{len(sizes)} cases: mean {100 * sizes.mean():.2f} % (bar {100 * MEAN_BAR:.0f} %), worst "
        f"{100 * sizes.max():.1f} % (bar {100 * WORST_BAR:.0f} %): {', '.join(worst)}; within the interval {covered}; "
        f"without contention: mean {100 * np.mean(without):.1f} %, worst {100 * np.max(without):.0f} %; "
        f"{seconds:.1f} s for all predictions"
    )
    return int(sizes.mean() > MEAN_BAR or sizes.max() > WORST_BAR)
