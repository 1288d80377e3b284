"""OVL's get programs on the testbed, where transfers in flight share their link."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from logpost.experiments.best_overlap.decomposition import DOUBLE, Decomposed
from logpost.experiments.best_overlap.problems import Network
from logpost.experiments.framework.context import Context
from logpost.experiments.support.programs import simulate


def on_testbed(
    context: Context,
    network: Network,
    ratio: float,
    case: Decomposed,
    *,
    pattern: str = "E",
    ranks: int = 2,
    arguments: Sequence[str] = ("--topology", "point"),
) -> float:
    """Time of a get program on the simulated network, us; its archive is not kept, as there are hundreds.

    Args:
        context: of the experiment.
        network: values; a get has the latency of its round trip, and half of o at either end.
        ratio: computation over communication, t_V / (G V).
        case: how the volume is cut.
        pattern: of OVL Fig. 6.
        ranks: processes, each on a node of a crossbar.
        arguments: topology and schedule of the peers.
    """
    from logpost.machines import load_machine
    from logpost.machines.topologies import Crossbar

    machine = load_machine(network.machine).model_copy(update={"topology": Crossbar(kind="crossbar", nodes=ranks)})
    done = simulate(
        context,
        "overlap",
        [
            *("--pattern", pattern, "--mechanism", "get", *arguments, "--repeat", "1"),
            *("--volume", str(case.V), "--size", str(case.S), "--burst", str(case.b)),
        ],
        # Archives are named by the second: runs at once need a folder each.
        f"testbed/{uuid.uuid4().hex}",
        machine=machine,
        ranks=ranks,
        settings={
            "L": f"{network.L}us",
            "o_s": f"{network.o / 2}us",
            "o_r": f"{network.o / 2}us",
            "G": f"{1e3 * network.G}ns/B",
            # An addition for every double: t_V = V / (8 speed) = ratio G V.
            "speed": f"{1.0 / (network.computation(ratio, DOUBLE) * 1e-6):.9g}",
        },
        keep=False,
    )
    return done.values["mean_us"]
