"""LOGPC 3.3, 5.1: where messages wait in the network, and what makes them wait less, on a wormhole mesh of 8 x 4."""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.result import Claim, Column, Figure, Number, Origin, Result, Table, setting, testbed
from logpost.experiments.framework.words import change_text
from logpost.experiments.support.alewife import MACHINE, NODES, O_S_LONG, WIDTH, cycles_number, wormholes
from logpost.experiments.support.wormhole import Channel
from logpost.experiments.support.wormhole_remap import Target, interval_per_byte
from logpost.experiments.support.wormhole_short import remap

SIZE = 16_000
"""Bytes: up to there the paper observed no contention in its Diamond DAG (5.2.2), and a remap has much."""
WORK = (0.0, 1.0, 4.0)
"""Computation between two messages, over the time of one on a network without contention: a band, with none (5.1.3)."""
LATER = 100.0
"""Cycles of further latency: to the end of SENS's Fig. 10."""
MOST_BY_LOCALITY = 2.0
"""Printed (abstract, 1, 7)."""
UNCHANGED = 0.05
"""Half of the 10 percent by which the measured cost of 5.1.2 differs from a model without latency."""


@dataclass(frozen=True)
class Waits:
    """Of a remap with long messages."""

    interval: float
    """Cycles per byte between two messages of a node."""
    message: float
    """Cycles that a message waits for channels, mean."""
    channels: Mapping[Channel, float]
    """Cycles that messages wait for each."""

    def mean(self, channels: Sequence[Channel]) -> float:
        """Of some channels."""
        return statistics.fmean(self.channels.get(channel, 0.0) for channel in channels)


def neighbour(rng: random.Random, node: int) -> int:
    """The locality of (12): node - 1 or node + 1 with equal probability, modulo the nodes."""
    return (node + rng.choice((-1, 1))) % NODES


def waits(messages: int, seed: int, *, work: float = 0.0, target: Target | None = None) -> Waits:
    """Play a remap whose DMA engines do not disturb each other, so that only the network's contention is left."""
    network = wormholes(slowdown=1.0)
    each = O_S_LONG + work * SIZE * network.G
    interval = interval_per_byte(network, NODES, SIZE, messages, each, seed, target)
    return Waits(interval, sum(network.waited.values()) / (messages * NODES), dict(network.waited))


def links(dimension: str) -> list[list[Channel]]:
    """Both directions of the links across each cut of x (between two columns) or y (between two rows)."""
    rows = NODES // WIDTH
    if dimension == "x":
        pairs = [[(y * WIDTH + x, y * WIDTH + x + 1) for y in range(rows)] for x in range(WIDTH - 1)]
    else:
        pairs = [[(y * WIDTH + x, (y + 1) * WIDTH + x) for x in range(WIDTH)] for y in range(rows - 1)]
    return [[way for a, b in cut for way in ((a, b), (b, a))] for cut in pairs]


def run(context: Context) -> Result:
    """Random and neighbouring destinations, more work, and slower routers."""
    messages, seeds = context.size((60, 5), (20, 2))
    runs = [waits(messages, seed) for seed in range(1, seeds + 1)]
    near = [waits(messages, seed, target=neighbour) for seed in range(1, seeds + 1)]
    busy = {work: _mean([waits(messages, seed, work=work) for seed in range(1, seeds + 1)]) for work in WORK}
    cuts = {d: [statistics.fmean(one.mean(cut) for one in runs) / messages for cut in links(d)] for d in ("x", "y")}
    x, y = (statistics.fmean(cuts[d]) for d in ("x", "y"))
    outer, middle = (cuts["x"][0] + cuts["x"][-1]) / 2.0, cuts["x"][len(cuts["x"]) // 2]
    far, local = _mean(runs), _mean(near)
    apart, next_to = (statistics.fmean(one.interval for one in several) for several in (runs, near))
    short = {
        (synchronous, later): remap(context.size(1000, 300), 0.0, synchronous=synchronous, seed=1, later=later)
        for synchronous in (True, False)
        for later in (0.0, LATER)
    }
    sync, one_way = (short[s, LATER].iteration / short[s, 0.0].iteration - 1.0 for s in (True, False))
    return Result(
        summary=f"Long messages to random nodes wait {far:,.0f} cycles for channels, to neighbours {local:,.0f}; the "
        f"longer dimension has {x / y:.1f} times the wait of the other, its middle {middle / outer:.1f} times that of "
        "its margins.",
        tables=(
            Table(
                "Waits for channels, messages of 16,000 B",
                (Column("case", Origin.SETTING), Column("wait of a message", Origin.TESTBED, MACHINE)),
                (
                    ("random destinations", cycles_number(far)),
                    ("node − 1 or node + 1", cycles_number(local)),
                    *(
                        (f"random, computing {work:g} times a message's time between two", cycles_number(value))
                        for work, value in busy.items()
                        if work
                    ),
                ),
            ),
            Table.of(
                "Waits by channel, random destinations",
                [(d, i) for d, values in cuts.items() for i in range(len(values))],
                setting("cut", lambda cut: f"{cut[0]}, between {cut[1]} and {cut[1] + 1}"),
                testbed(
                    "wait at a channel, per message of a node", "", lambda at: Number(cuts[at[0]][at[1]], "cycles")
                ),
            ),
        ),
        figures=(_figure(cuts),),
        claims=(
            Claim(
                "Locality reduces network contention: messages to node − 1 or node + 1 wait less than to random nodes",
                "reduces network contention",
                f"{local:,.0f} against {far:,.0f} cycles",
                local < far,
            ),
            Claim(
                "Locality changes the cost of long messages by at most a factor of two",
                "at most a factor of two",
                f"{apart / next_to:.2f}: a message every {apart:.2f} B cycles to random nodes, every {next_to:.2f} B "
                "to node − 1 or node + 1",
                apart / next_to <= MOST_BY_LOCALITY,
            ),
            Claim(
                "Contention is more pronounced on x, the larger and lower dimension, than on y",
                "more pronounced on x",
                f"{x:,.0f} against {y:,.0f} cycles at a channel",
                x > y,
            ),
            Claim(
                "Contention is higher in the central regions than at the margins",
                "higher in the central regions",
                f"x: {middle:,.0f} in the middle, {outer:,.0f} at the ends; y: {cuts['y'][1]:,.0f} and "
                f"{(cuts['y'][0] + cuts['y'][-1]) / 2:,.0f}",
                middle > outer and cuts["y"][1] > max(cuts["y"][0], cuts["y"][-1]),
            ),
            Claim(
                "A higher ratio of computation to communication decreases network contention",
                "will decrease",
                ", ".join(f"{value:,.0f} cycles a message at {work:g}" for work, value in busy.items()),
                list(busy.values()) == sorted(busy.values(), reverse=True),
            ),
            Claim(
                "An asynchronous remap is insensitive to network latency (judged to within 5 %), a synchronous one is "
                "not",
                "insensitive",
                f"{change_text(one_way, 1)} and {change_text(sync, 1)} with {LATER:g} cycles more",
                abs(one_way) < UNCHANGED < sync,
            ),
        ),
        notes=(
            "DMA engines do not contend for memory here, so that waits are the network's; a wait at the way into a "
            "node is that for its receiver.",
        ),
    )


def _mean(runs: Sequence[Waits]) -> float:
    return statistics.fmean(one.message for one in runs)


def _figure(cuts: Mapping[str, Sequence[float]]) -> Figure:
    lines = [
        Curve(f"{d}", [i + 0.5 for i in range(len(values))], values, "testbed", hue)
        for hue, (d, values) in enumerate(cuts.items())
    ]
    chart = curves(
        lines,
        Axis("position of the link on its dimension"),
        Axis("wait at a channel (cycles per message)"),
        "Waits are longest in the middle of x.",
    )
    return Figure("3.3: where messages wait", chart)


EXPERIMENT = Experiment(
    name="where-contention",
    title="Where messages wait on the mesh: locality, dimensions, centre and margins, computation, latency",
    paper="LOGPC",
    where="sections 3.3 and 5.1",
    run=run,
    order=6,
)
