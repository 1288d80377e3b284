"""Each region's messages against the machine's own limits: how far its time is from the attainable one, and by which.

Of the messages whose sends are in a region, on the run's machine, each limit on the rank where it is largest:

    o           Σ o_s over what it sends + Σ o_r over what it receives
    g           the larger one of Σ g over what it sends, and over what it receives
    G           the larger one of Σ B G likewise
    L           Σ (L + (B - 1) G) of the longest message of each call that completes receives: one round after another
    bisection   the bytes that cross the middle of the network, over its bisection bandwidth

No processor, NIC or cut can be done sooner, whatever the order of messages; L is the limit of the code's form, which
more messages in flight at once lift. The largest of them is the roof. It is compared with the time of the rank that
spends most in the calls that start or complete these messages. What is in flight while ranks compute costs nothing: a
region may lie above its roof. Messages within nodes and between them have their own limits, and are listed separately.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.machine.placement import places_on_network
from logpost.analyzer.predict.whatif.elsewhere import Ranks
from logpost.analyzer.predict.whatif.scaling import regions
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.machines import LOCALITIES, Machine, load_machine, replay_parameters
from logpost.machines.topologies.cartesian import Cartesian
from logpost.machines.values.units import PS_PER_S
from logpost.replay._native import Parameters
from logpost.replay.cost.message import MessageCosts, message_costs
from logpost.replay.cost.parameters import native_parameters

LIMITS = ("o", "g", "G", "L", "bisection")
BETWEEN, WITHIN = "between nodes", "within nodes"
SIZES = 2.0 ** np.arange(0, 25)
"""Of the roofs over the message size: 1 B to 16 MiB."""


@dataclass(frozen=True)
class Roof:
    """The messages of one region, between nodes or within them. Times in ps, of the rank where they are largest."""

    region: str
    where: str
    """`BETWEEN` or `WITHIN`"""
    ranks: int
    """that send or receive them"""
    messages: int
    bytes: int
    rounds: int
    """calls that complete receives, over all ranks"""
    rank_bytes: int
    """the most that a rank sends, or receives"""
    time_ps: int
    """of the calls that start or complete them"""
    limits_ps: dict[str, float]
    """by `LIMITS`; bisection only where the machine has one"""

    @property
    def roof_ps(self) -> float:
        """The largest limit: the least time of the messages."""
        return max(self.limits_ps.values())

    @property
    def limit(self) -> str:
        """Its name."""
        return max(self.limits_ps, key=lambda name: self.limits_ps[name])

    @property
    def distance(self) -> float:
        """Time over roof; below 1 where messages are hidden behind computation."""
        return self.time_ps / self.roof_ps if self.roof_ps else float("inf")

    @property
    def mean_bytes(self) -> float:
        """Of a message."""
        return self.bytes / self.messages

    @property
    def achieved_bytes_per_s(self) -> float:
        """Of the rank with the most bytes, over the longest time in those calls."""
        return self.rank_bytes / (self.time_ps / PS_PER_S) if self.time_ps else float("inf")


@dataclass(frozen=True)
class Ceiling:
    """What a rank attains over the message size, in B/s."""

    where: str
    sizes: tuple[float, ...]
    one_at_a_time: tuple[float, ...]
    """each message awaited before the next: B / (o_s + L + (B - 1) G + o_r)"""
    pipelined: tuple[float, ...]
    """many in flight: B / max(o_s, o_r, g, B G)"""


@dataclass(frozen=True)
class Roofline:
    """Every region, that with the most time above its roof first, and the machine's ceilings."""

    machine: str
    roofs: tuple[Roof, ...]
    ceilings: tuple[Ceiling, ...]
    notes: tuple[str, ...]


def roofline(run: Run) -> Roofline:
    """The regions of a run against its machine.

    Raises:
        InputError: the run has no messages.
    """
    machine = load_machine(run.machine_file)
    parameters = native_parameters(
        replay_parameters(machine), asynchronous_progress=run.manifest.machine.asynchronous_progress
    )
    messages = _messages(run)
    if messages.is_empty():
        raise InputError(f"{run.path}: no messages between ranks: a roofline is of messages, report shows the rest")
    priced = pl.concat([_priced(parameters, rows) for rows in messages.partition_by("locality")])
    crossing = _crossing(machine, run)
    times = _times(run, priced)
    found = [
        _roof(rows, times.get((rows["region"][0], rows["where"][0]), 0), crossing)
        for rows in priced.partition_by("region", "where")
    ]
    notes = ["collective operations and one-sided transfers are not in it: their messages are the library's"]
    if run.manifest.machine.origin == "estimated":
        notes.append(
            "the machine is estimated from this trace: what it only bounds may be far off, and so the distance; "
            "logpost machines show RUN/machine.toml says which values, calibrate measures them"
        )
    if crossing is None:
        notes.append(
            "the machine states no bisection of a grid: bytes across the network's middle have no separate limit"
        )
    return Roofline(
        machine=machine.name,
        roofs=tuple(sorted(found, key=lambda one: (one.roof_ps - one.time_ps, one.region, one.where))),
        ceilings=tuple(_ceiling(parameters, where) for where in (BETWEEN, WITHIN) if where in set(priced["where"])),
        notes=tuple(notes),
    )


def _messages(run: Run) -> pl.DataFrame:
    """Messages between ranks with the region of their sends, and their ends' nodes."""
    places = regions(run).lazy()
    nodes = run.facts("locations").select("location", "node", "process")
    ends = (
        run.table("messages")
        .filter(pl.col("send_location") != pl.col("recv_location"))
        .select(
            *("send_location", "recv_location", "bytes", "hops", "send_callpath"),
            *("send_call", "send_complete_call", "recv_post_call", "recv_call", pl.col("locality").cast(pl.String)),
        )
    )
    return (
        ends.join(places, left_on="send_callpath", right_on="callpath", maintain_order="left")
        .join(nodes.rename(lambda name: f"send_{name}"), on="send_location")
        .join(nodes.rename(lambda name: f"recv_{name}"), on="recv_location")
        .with_columns(where=pl.when(pl.col("locality") == "other_node").then(pl.lit(BETWEEN)).otherwise(pl.lit(WITHIN)))
        .collect()
    )


def _priced(parameters: Parameters, rows: pl.DataFrame) -> pl.DataFrame:
    """The same messages with the cost of each."""
    sizes = rows["bytes"].to_numpy().astype(np.float64)
    where = rows["locality"][0]
    assert where in LOCALITIES
    cost = _cost(parameters, sizes, where, rows["hops"].to_numpy().astype(np.float64))
    terms = {name: np.nan_to_num(np.asarray(getattr(cost, name))) for name in ("o_s", "o_r", "L", "serialization")}
    service = np.nan_to_num(np.asarray(cost.service))
    # serialization is (B - 1) G: a byte more is B G, and what the service has beyond it is g's.
    per_byte = np.divide(terms["serialization"], sizes - 1, out=np.zeros_like(sizes), where=sizes > 1)
    gap = _gap(parameters, where)
    return rows.with_columns(
        **{name: pl.Series(values) for name, values in terms.items()},
        g=pl.Series(np.minimum(service, gap)),
        G=pl.Series(terms["serialization"] + per_byte),
    )


def _cost(parameters: Parameters, sizes: np.ndarray, where: str, hops: np.ndarray | float = -1.0) -> MessageCosts:
    return message_costs(parameters, sizes, locality=where, hops=hops)


def _gap(parameters: Parameters, where: str) -> float:
    """g of short messages: the service of an empty one."""
    return float(np.nan_to_num(np.asarray(_cost(parameters, np.zeros(1), where).service))[0])


def _times(run: Run, messages: pl.DataFrame) -> dict[tuple[str, str], int]:
    """(region, where) to the time of the calls that start or complete its messages, on the rank with the most."""
    ends = ("send_call", "send_complete_call", "recv_post_call", "recv_call")
    calls = pl.concat([messages.select("region", "where", call=pl.col(end)) for end in ends])
    lengths = run.table("calls").select("call", "location", time=pl.col("leave_ps") - pl.col("enter_ps"))
    sums = (
        calls.filter(pl.col("call") >= 0)
        .unique()
        .lazy()
        .join(lengths, on="call")
        .group_by("region", "where", "location")
        .agg(pl.col("time").sum())
        .group_by("region", "where")
        .agg(pl.col("time").max())
        .collect()
    )
    return {(region, where): int(time) for region, where, time in sums.iter_rows()}


def _roof(rows: pl.DataFrame, time_ps: int, crossing: _Crossing | None) -> Roof:
    """One region's messages."""
    sent = rows.group_by(location="send_location").agg(pl.col("o_s", "g", "G", "bytes").sum())
    received = rows.group_by(location="recv_location").agg(pl.col("o_r", "g", "G", "bytes").sum())
    both = sent.join(received, on="location", how="full", coalesce=True).fill_null(0)
    # A round lasts as long as its own longest message.
    rounds = rows.group_by("recv_location", "recv_call").agg(way=(pl.col("L") + pl.col("serialization")).max())
    limits = {
        "o": float(both.select((pl.col("o_s") + pl.col("o_r")).max()).item()),
        "g": float(both.select(pl.max_horizontal("g", "g_right").max()).item()),
        "G": float(both.select(pl.max_horizontal("G", "G_right").max()).item()),
        "L": float(rounds.group_by("recv_location").agg(pl.col("way").sum()).select(pl.col("way").max()).item() or 0.0),
    }
    if crossing is not None and rows["where"][0] == BETWEEN:
        limits["bisection"] = crossing.time_ps(rows)
    return Roof(
        region=rows["region"][0],
        where=rows["where"][0],
        ranks=pl.concat([rows["send_process"], rows["recv_process"]]).n_unique(),
        messages=rows.height,
        bytes=int(rows["bytes"].sum()),
        rounds=rounds.height,
        rank_bytes=int(both.select(pl.max_horizontal("bytes", "bytes_right").max()).item()),
        time_ps=time_ps,
        limits_ps=limits,
    )


@dataclass(frozen=True)
class _Crossing:
    """The middle of the network's longest dimension."""

    beyond: npt.NDArray[np.bool_]
    """by node of the run: on the far side"""
    ps_per_byte: float

    def time_ps(self, rows: pl.DataFrame) -> float:
        """The time of the bytes across, both directions together."""
        sides = [self.beyond[rows[end].to_numpy()] for end in ("send_node", "recv_node")]
        return float(rows["bytes"].to_numpy()[sides[0] != sides[1]].sum() * self.ps_per_byte)


def _crossing(machine: Machine, run: Run) -> _Crossing | None:
    """Where the machine is a grid, states its bisection, and holds the run's nodes."""
    topology = machine.topology
    if machine.network.bisection is None or not isinstance(topology, Cartesian):
        return None
    places, _ = places_on_network(machine, Ranks.of(run).locations)
    if (places < 0).any():
        return None
    longest = int(np.argmax(topology.shape()))
    beyond = topology.coordinates(places.astype(np.int64))[:, longest] >= topology.shape()[longest] // 2
    return _Crossing(beyond, PS_PER_S / machine.network.bisection.base(machine.clock_hz))


def _ceiling(parameters: Parameters, where: str) -> Ceiling:
    cost = _cost(parameters, SIZES, "other_node" if where == BETWEEN else "same_node")
    busy = np.maximum.reduce([np.nan_to_num(np.asarray(t)) for t in (cost.o_s, cost.o_r, cost.service)])
    alone = np.nan_to_num(np.asarray(cost.total))
    with np.errstate(divide="ignore"):
        return Ceiling(
            where,
            tuple(SIZES.tolist()),
            tuple((SIZES / alone * PS_PER_S).tolist()),
            tuple((SIZES / busy * PS_PER_S).tolist()),
        )
