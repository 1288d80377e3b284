"""LOGPC 1 and 7: synchronous against asynchronous messages when a share of them has one destination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.result import (
    Cells,
    Claim,
    Difference,
    Figure,
    Number,
    Result,
    Table,
    setting,
    testbed,
)
from logpost.experiments.support.alewife import MACHINE, NODES, cycles_number
from logpost.experiments.support.statistics import Mean, mean_of
from logpost.experiments.support.wormhole_short import BYTES, ROOM, remap

STYLES = {"sync": True, "async": False}
BLOCKED = 0.05
"""Of an iteration: half of the 10 percent by which the measured cost of uniform messages, of which none blocks, differs
from the model's (LOGPC 5.1.2, Table 4). Less counts as not blocked, more as blocked."""


@dataclass(frozen=True)
class Costs:
    """In cycles per message."""

    hot: Sequence[float]
    """Shares of all messages that go to one node, from none on."""
    whole: Mapping[tuple[str, float], Mean]
    """(style, share) -> time of an iteration."""
    stall: Mapping[tuple[str, float], Mean]
    """(style, share) -> time in which a send is blocked."""
    others: Mapping[tuple[str, float], Mean]
    """(style, share) -> from the send to the arrival of a message between other nodes."""

    def blocked(self, style: str, hot: float) -> float:
        """Share of an iteration in which its send is blocked."""
        return self.stall[style, hot].value / self.whole[style, hot].value


def run(context: Context) -> Result:
    """Both styles over the share of messages with one node as destination."""
    costs = _simulate(context)
    skewed = costs.hot[1:]
    said = ", ".join(f"{100 * costs.blocked('async', hot):.0f} % at {100 * hot:g} %" for hot in costs.hot)
    return Result(
        summary=f"Asynchronous sends are blocked for a part of an iteration that grows with the share of the messages "
        f"to one node: {said}.",
        tables=(_table(costs),),
        figures=(_figure(costs),),
        claims=(
            Claim(
                "Asynchronous sends do not block under uniform destinations",
                "avoids the costs of contention",
                f"blocked for {100 * costs.blocked('async', 0.0):.1f} % of an iteration",
                costs.blocked("async", 0.0) < BLOCKED,
                assumption=f"a queue of 256 bytes holds {ROOM} messages of {BYTES:g} B",
            ),
            Claim(
                "Asynchronous sends block for long periods under skewed destinations",
                "long periods of time",
                ", ".join(
                    f"{100 * costs.blocked('async', hot):.0f} % of an iteration with {100 * hot:g} % to one node"
                    for hot in skewed
                ),
                all(costs.blocked("async", hot) > BLOCKED for hot in skewed),
                assumption=f"skew is a share of {100 * skewed[0]:g} to {100 * skewed[-1]:g} % of the messages that "
                f"is sent to one of {NODES} nodes, and a queue holds {ROOM} messages",
            ),
            Claim(
                "Synchronous sends do not block under skewed destinations",
                "avoids creating network hotspots",
                ", ".join(f"{100 * costs.blocked('sync', hot):.1f} %" for hot in skewed),
                all(costs.blocked("sync", hot) < BLOCKED for hot in skewed),
                given="a sender that waits for its reply has one message in flight, and its queue is never full",
            ),
            Claim(
                "Synchronous messages are preferred under skewed destinations, because they avoid network hotspots: "
                "messages between all other nodes arrive sooner",
                "avoids creating network hotspots",
                ", ".join(
                    f"{costs.others['sync', hot].value:,.0f} against {costs.others['async', hot].value:,.0f} cycles"
                    for hot in skewed
                ),
                all(costs.others["sync", hot].value < costs.others["async", hot].value for hot in skewed),
                assumption=f"skew is a share of {100 * skewed[0]:g} to {100 * skewed[-1]:g} % of the messages, and a "
                f"queue holds {ROOM} messages",
            ),
            Claim(
                "Asynchronous messages are preferred under uniform destinations: an iteration is shorter",
                "asynchronous messaging is advantageous",
                f"{costs.whole['async', 0.0].value:.0f} against {costs.whole['sync', 0.0].value:.0f} cycles",
                costs.whole["async", 0.0].value < costs.whole["sync", 0.0].value,
                given="an iteration of one style has one message, of the other a request and its reply",
            ),
        ),
        differences=(
            Difference(
                "Skew is a share of the messages to one node, over a band.",
                "the paper prints neither the skew of its destinations nor a number for what it costs.",
            ),
            Difference(
                "A synchronous iteration is longer under skewed destinations, too.",
                "the hot node handles its messages one after the other in both styles, and has replies to send in one "
                "of them; what synchronous messages spare is the network, and with it all other nodes.",
            ),
        ),
        notes=(
            "Wormholes on the mesh of 8 x 4 with two channels per link; a full input queue refuses messages, which "
            "then hold their channels (support/wormhole_short.py).",
            f"Without skew a request and its reply need {costs.whole['sync', 0.0].value:.0f} cycles on this network, "
            f"where the paper measured 486, a one-way message {costs.whole['async', 0.0].value:.0f} (151).",
        ),
    )


def _simulate(context: Context) -> Costs:
    hot: Sequence[float] = context.size(full=(0.0, 0.05, 0.1, 0.2, 0.4), quick=(0.0, 0.1, 0.4))
    seeds = range(1, context.size(full=5, quick=2) + 1)
    messages = context.size(full=500, quick=100)
    cases = [(style, share, seed) for style in STYLES for share in hot for seed in seeds]
    runs = [remap(messages, share, synchronous=STYLES[style], seed=seed) for style, share, seed in cases]
    found = dict(zip(cases, runs, strict=True))
    whole, stall, others = (
        {
            (style, share): mean_of([getattr(found[style, share, seed], name) for seed in seeds])
            for style in STYLES
            for share in hot
        }
        for name in ("iteration", "stall", "others")
    )
    return Costs(hot, whole, stall, others)


def _table(costs: Costs) -> Table:
    kinds = {"iteration": costs.whole, "blocked": costs.stall, "message between others": costs.others}

    def simulated(style: str, what: str) -> Cells[float]:
        of = kinds[what]
        return testbed(
            f"{style}, {what}", MACHINE, lambda hot: cycles_number(of[style, hot].value, of[style, hot].error)
        )

    return Table.of(
        "Cost of a message by the share of them sent to one node",
        costs.hot,
        setting("to one node", lambda hot: Number(100 * hot, "%")),
        *(simulated(style, what) for what in kinds for style in STYLES),
        note="Mean of the ranks. A synchronous iteration has two messages, a request and its reply.",
    )


def _figure(costs: Costs) -> Figure:
    shares = [100 * hot for hot in costs.hot]
    lines = [
        Curve(f"{style}, {said}", shares, [of[style, hot].value for hot in costs.hot], "testbed", 2 * k + i)
        for k, (said, of) in enumerate((("iteration", costs.whole), ("message between others", costs.others)))
        for i, style in enumerate(STYLES)
    ]
    chart = curves(
        lines,
        Axis("messages to one node (%)"),
        Axis("time (cycles)", log=True),
        "Iterations, and messages between other nodes, of both styles over the share of messages to one node.",
    )
    return Figure("Synchronous and asynchronous messages under skewed destinations", chart)


EXPERIMENT = Experiment(
    name="skewed-remap",
    title="All-to-all remap with skewed destinations: synchronous against asynchronous",
    paper="LOGPC",
    where="sections 1 and 7",
    run=run,
    order=5,
)
