"""Changes of the network between nodes, as people write them.

    topology=torus:4x4x2   per_hop=100ns   link_bandwidth=x0.5   bisection=10GB/s   nics_per_node=2

per_hop is what one more hop adds to L; link_bandwidth that of each link and direction; bisection what all links across
the middle of a grid's longest dimension carry together. xF multiplies what the machine states.

L stands for the mean distance of two nodes of the recorded network: other topologies have other distances, and the part
of L that does not depend on the distance stays. Where the machine states no link_bandwidth, a link carries a byte in G.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from logpost.errors import InputError
from logpost.machines import LOCALITIES, ReplayParameters
from logpost.replay.graph.setting import factor_of, parted
from logpost.replay.models.interface import Parameter
from logpost.replay.predict.quantities import parse_value

if TYPE_CHECKING:  # the schema of machine files is imported where one changes
    from logpost.machines import Machine, Topology
    from logpost.machines.values.quantity import Bandwidth

NAMES = ("topology", "per_hop", "link_bandwidth", "bisection", "nics_per_node")
SWEPT = {
    "per_hop": Parameter("per_hop", "time", "latency of a hop"),
    "link_bandwidth": Parameter("link_bandwidth", "time_per_byte", "gap per byte of a link"),
    "bisection": Parameter("bisection", "time_per_byte", "gap per byte of all links across the middle"),
}
"""what a sweep may name"""
SOURCE = "whatif"
PS_PER_S = 1e12
"""Of a second."""


def is_of_network(text: str) -> bool:
    """Whether a setting changes the network."""
    return text.partition("=")[0].strip() in NAMES


def with_network(
    machine: Machine, values: ReplayParameters, settings: Sequence[str]
) -> tuple[Machine, ReplayParameters]:
    """The machine and its values with the network's settings applied.

    Args:
        machine: whose network it is.
        values: the same machine's, other settings applied already.
        settings: NAME=VALUE, each of a name in `NAMES`.

    Raises:
        InputError: a setting is not understood, or the machine has no topology to change.
    """
    from logpost.machines.topologies import Cartesian
    from logpost.machines.topologies.parse import parse_topology

    given = dict(parted(text) for text in settings)
    clock = machine.clock_hz
    recorded = machine.topology
    if "topology" in given:
        made, old = parse_topology(given["topology"], SOURCE), machine.topology
        if old is not None:  # its links stay as they are
            made = made.model_copy(update={"per_hop": old.per_hop, "link_bandwidth": old.link_bandwidth})
        machine = machine.model_copy(update={"topology": made})
    if "nics_per_node" in given:
        count = given["nics_per_node"]
        if not (count.isdecimal() and int(count) > 0):
            raise InputError(f"--set nics_per_node={count}: give a whole number of 1 or more")
        values = replace(values, nics_per_node=int(count))
    topology = machine.topology
    needing = [name for name in ("per_hop", "link_bandwidth", "bisection") if name in given]
    if topology is None:
        if needing:
            raise InputError(
                f"--set {needing[0]}={given[needing[0]]}: machine {machine.name} has no topology; set it, too, "
                "e.g. --set topology=torus:4x4"
            )
        return machine, values
    if "per_hop" in given:
        values = _with_per_hop(values, recorded or topology, given["per_hop"], clock)
    byte_ps = _byte_ps(topology, values, clock)
    if byte_ps <= 0 and given.get("link_bandwidth", "x").startswith("x"):
        if {"link_bandwidth", "bisection"} & given.keys():
            raise InputError(
                f"machine {machine.name} states no bandwidth of a link, and no G; set link_bandwidth to a value, e.g. "
                "--set link_bandwidth=10GB/s"
            )
        return machine, values  # the network stays unknown
    link = 1 / byte_ps if byte_ps > 0 else 0.0  # bytes per ps
    if "link_bandwidth" in given:
        link = _bandwidth("link_bandwidth", given["link_bandwidth"], link, clock)
    if "bisection" in given:
        if not isinstance(topology, Cartesian):
            raise InputError(
                f"--set bisection={given['bisection']}: a {topology.kind} has no bisection to set; set link_bandwidth"
            )
        stated = machine.network.bisection
        whole = link * topology.bisection_channels() if stated is None else stated.base(clock) / PS_PER_S
        across = _bandwidth("bisection", given["bisection"], whole, clock)
        machine = machine.model_copy(
            update={"network": machine.network.model_copy(update={"bisection": _stated(across)})}
        )
    return machine.model_copy(
        update={"topology": topology.model_copy(update={"link_bandwidth": _stated(link)})}
    ), values


def follows_G(machine: Machine) -> bool:
    """Whether its links have no separate bandwidth: then they carry a byte in G, whatever G becomes."""
    return machine.topology is not None and machine.topology.link_bandwidth is None


def _byte_ps(topology: Topology, values: ReplayParameters, clock: float | None) -> float:
    """How long a byte occupies a link."""
    if topology.link_bandwidth is not None:
        return PS_PER_S / topology.link_bandwidth.base(clock)
    return float(values.G_ps_per_byte[-1])


def _stated(bytes_per_ps: float) -> Bandwidth:
    from logpost.machines.values.quantity import Bandwidth

    return Bandwidth(value=bytes_per_ps * PS_PER_S, unit="B/s", source=SOURCE)


def _bandwidth(name: str, text: str, stated: float, clock: float | None) -> float:
    """Bytes per picosecond."""
    if text.startswith("x"):
        factor = factor_of(name, text)
        if factor <= 0:
            raise InputError(f"--set {name}={text}: a bandwidth must be positive")
        return stated * factor
    gap = parse_value(SWEPT[name], text, time_unit="ps", clock_hz=clock)
    assert isinstance(gap, float)
    if not (np.isfinite(gap) and gap > 0):
        raise InputError(f"--set {name}={text}: a bandwidth must be positive and finite")
    return 1 / gap


def _with_per_hop(values: ReplayParameters, topology: Topology, text: str, clock: float | None) -> ReplayParameters:
    beyond = values.beyond_loggp
    before = beyond.per_hop_ps or 0.0
    if text.startswith("x"):
        after = before * factor_of("per_hop", text)
    else:
        given = parse_value(SWEPT["per_hop"], text, time_unit="ps", clock_hz=clock)
        assert isinstance(given, float)
        after = given
    mean = beyond.mean_hops if beyond.mean_hops is not None else topology.mean_hops(include_self=False)
    # What does not depend on the distance stays: L(h) = L - per_hop mean + per_hop h.
    rows = np.isin(values.class_id, np.flatnonzero(values.class_origin == LOCALITIES.index("other_node")))
    moved = np.where(rows, np.maximum(values.L_ps + (after - before) * mean, 0), values.L_ps)
    return replace(
        values,
        L_ps=np.rint(moved).astype(values.L_ps.dtype),
        beyond_loggp=replace(beyond, per_hop_ps=after, mean_hops=mean),
    )
