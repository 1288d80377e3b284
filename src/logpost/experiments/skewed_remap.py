"""LOGPC 1 and 7: synchronous against asynchronous messages when a share of them has one destination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Claim, Column, Difference, Figure, Number, Origin, Result, Table
from logpost.experiments.support.alewife import CYCLE_NS, MACHINE, cycles_number
from logpost.experiments.support.programs import simulate, testbed_limits
from logpost.experiments.support.statistics import Mean, mean_of

NODES = 32
PAYLOAD, WINDOW = 8, 16
"""Two arguments of 4 bytes; messages of them, with their headers, in the Alewife's queue of 256 bytes, per sender."""
STYLES = ("sync", "async")
BLOCKED = 0.05
"""Of a message's cost: below it a send counts as not blocked, as in all-to-all-short."""


@dataclass(frozen=True)
class Costs:
    """In cycles per message."""

    hot: Sequence[float]
    """Shares of all messages that go to one node, from none on."""
    whole: Mapping[tuple[str, float], Mean]
    """(style, share) -> time of an iteration."""
    stall: Mapping[tuple[str, float], Mean]
    """(style, share) -> time in which a send is blocked."""

    def blocked(self, style: str, hot: float) -> float:
        """Share of an iteration in which its send is blocked."""
        return self.stall[style, hot].value / self.whole[style, hot].value


def run(context: Context) -> Result:
    """Both styles over the share of messages with one node as destination."""
    costs = _simulate(context)
    skewed = costs.hot[1:]
    said = ", ".join(f"{100 * costs.blocked('async', hot):.0f} % at {100 * hot:g} %" for hot in costs.hot)
    return Result(
        summary=f"Asynchronous sends are blocked for {said} of the messages to one node.",
        tables=(_table(costs),),
        figures=(_figure(costs),),
        claims=(
            Claim(
                "Asynchronous sends do not block under uniform destinations",
                "avoids the costs of contention",
                f"blocked for {100 * costs.blocked('async', 0.0):.1f} % of an iteration",
                costs.blocked("async", 0.0) < BLOCKED,
                assumption=f"a queue of 256 bytes holds {WINDOW} messages of a sender",
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
                f"is sent to one of {NODES} nodes, and a queue holds {WINDOW} messages of a sender",
            ),
            Claim(
                "Synchronous sends do not block under skewed destinations",
                "avoids creating network hotspots",
                ", ".join(f"{100 * costs.blocked('sync', hot):.1f} %" for hot in skewed),
                all(costs.blocked("sync", hot) < BLOCKED for hot in skewed),
                given="a sender that waits for its reply has one message in flight, and its queue is never full",
            ),
            Claim(
                "Synchronous messages are preferred under skewed destinations: an iteration is shorter",
                "preferred",
                ", ".join(
                    f"{costs.whole['sync', hot].value:.0f} against {costs.whole['async', hot].value:.0f} cycles"
                    for hot in skewed
                ),
                all(costs.whole["sync", hot].value < costs.whole["async", hot].value for hot in skewed),
                reason="the hot node handles its messages one after the other in both styles and has replies to send "
                "in one of them; the testbed's network has no channels that blocked messages hold",
            ),
        ),
        differences=(
            Difference(
                "Skew is a share of the messages to one node, over a band.",
                "the paper prints neither the skew of its destinations nor a number for what it costs.",
            ),
        ),
        notes=(testbed_limits(),),
    )


def _simulate(context: Context) -> Costs:
    hot: Sequence[float] = context.size(full=(0.0, 0.1, 0.2, 0.4), quick=(0.0, 0.2, 0.4))
    seeds = range(1, context.size(full=5, quick=1) + 1)
    messages = context.size(full=500, quick=100)
    cases = [(style, share, seed) for style in STYLES for share in hot for seed in seeds]

    def one(case: tuple[str, float, int]) -> tuple[float, float]:
        style, share, seed = case
        arguments = ["--style", style, "--bytes", str(PAYLOAD), "--messages", str(messages), "--seed", str(seed)]
        arguments += ["--capacity", str(WINDOW), "--receive", "interrupt", "--hot", f"{share:g}"]
        values = simulate(context, "remap", arguments, f"{style}-{share:g}-{seed}", ranks=NODES, keep=False).values
        return values["iteration_us"] * 1e3 / CYCLE_NS, values["stall_s"] / messages * 1e9 / CYCLE_NS

    found = dict(zip(cases, context.each("skewed remap on the testbed", cases, one), strict=True))
    whole, stall = (
        {(style, share): mean_of([found[style, share, seed][i] for seed in seeds]) for style in STYLES for share in hot}
        for i in range(2)
    )
    return Costs(hot, whole, stall)


def _table(costs: Costs) -> Table:
    return Table(
        "Cost of a message by the share of them sent to one node",
        (
            Column("to one node", Origin.SETTING),
            *(Column(f"{style}, iteration", Origin.TESTBED, MACHINE) for style in STYLES),
            *(Column(f"{style}, blocked", Origin.TESTBED, MACHINE) for style in STYLES),
        ),
        tuple(
            (
                Number(100 * hot, "%"),
                *(cycles_number(costs.whole[style, hot].value, costs.whole[style, hot].error) for style in STYLES),
                *(cycles_number(costs.stall[style, hot].value, costs.stall[style, hot].error) for style in STYLES),
            )
            for hot in costs.hot
        ),
        note="Mean of the ranks. A synchronous iteration has two messages, a request and its reply.",
    )


def _figure(costs: Costs) -> Figure:
    from logpost.dashboards.figures.curves import Axis, Curve, curves

    shares = [100 * hot for hot in costs.hot]
    lines = [
        Curve(f"{style}, {said}", shares, [of[style, hot].value for hot in costs.hot], "testbed", i)
        for said, of in (("iteration", costs.whole), ("blocked", costs.stall))
        for i, style in enumerate(STYLES)
    ]
    chart = curves(
        lines,
        Axis("messages to one node (%)"),
        Axis("time per iteration (cycles)"),
        "Iterations and blocked sends of both styles over the share of messages with one node as destination.",
    )
    return Figure("Synchronous and asynchronous messages under skewed destinations", chart)


EXPERIMENT = Experiment(
    name="skewed-remap",
    title="All-to-all remap with skewed destinations: synchronous against asynchronous",
    paper="LOGPC",
    where="sections 1 and 7",
    needs=(Need.TESTBED,),
    run=run,
    order=5,
)
