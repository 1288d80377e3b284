"""SENS Fig. 9 and 10: run time against network latency, with shared memory and with messages."""

from __future__ import annotations

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Claim, Difference, Part, Result
from logpost.experiments.framework.words import change_text
from logpost.experiments.support.alewife import SCALE
from logpost.experiments.support.programs import testbed_limits
from logpost.experiments.support.sens import BASE_LATENCY, BULK, POLLING, PREFETCH, SHARED, Mechanism
from logpost.experiments.support.sens_sweep import Setting, Swept, applications, of, sizes_text, sweep
from logpost.experiments.support.sens_sweep_page import Quantity, sweep_page

LATENCY = Quantity(
    figure="Fig. 9 and 10",
    said="the one-way latency of 24 bytes",
    axis="network latency of 24 bytes, one way (cycles)",
    unit="cycles",
    base=BASE_LATENCY,
    change="the growth of the latency",
    congests=False,
    falls=False,
)
NEAR = 10.5
"""Cycles: the least of Fig. 9, with the nodes' clock at 14 MHz."""
FAR = 100.0
"""Cycles: Chandra, Larus and Rogers' network, to which SENS compares its own (section 6)."""
CONSTANT = 0.05
"""Of the run time: the same that counts as "largely insensitive" to bandwidth (1.2), half of the last digit of 30 %."""
FACTOR, FACTOR_WITHIN = 2.0, 0.5
"""EM3D's shared memory over messages there; reproduced within half of the last digit that the paper prints ("two")."""


def run(context: Context) -> Result:
    """The applications over latencies of 10.5 (14 MHz of Fig. 9) to 100 cycles (Fig. 10) on the testbed."""
    from logpost.testbed.settings import parse_sweep

    values = parse_sweep("latency=" + context.size(full="10.5,15,30,50,75,100", quick="10.5,15,100")).values
    mechanisms = context.size(full=(SHARED, PREFETCH, POLLING, BULK), quick=(SHARED, PREFETCH, POLLING))
    points = [Setting(float(value), more_latency=float(value) - BASE_LATENCY) for value in values]
    curves = sweep(context, mechanisms, points)
    factor = of(curves, "EM3D", SHARED).at(FAR) / of(curves, "EM3D", POLLING).at(FAR)
    page = sweep_page(curves, LATENCY)
    return Result.of(
        f"At {FAR:g} cycles EM3D takes {factor:.1f} times as long with shared memory as with messages (paper: "
        f"about 2). From {BASE_LATENCY:g} to {FAR:g} cycles its run time changes by "
        + ", ".join(f"{change_text(of(curves, 'EM3D', m).growth(FAR, BASE_LATENCY))} with {m.name}" for m in mechanisms)
        + ".",
        page,
        Part(claims=_claims(curves, factor)),
        differences=(
            Difference(
                "One sweep instead of the paper's two, and messages are slowed as well.",
                "The paper lowers the clock for 10.5 to 15 cycles, and above that delays the misses of shared memory "
                "alone by switching to a delay loop; its curves of messages in Fig. 10 are for reference. Here the "
                "difference to 15 cycles is added to L of every message.",
            ),
            Difference(
                "ICCG with shared memory depends on latency more than any other.",
                "Of the generated matrix's edges four in five are between processors at the size of a sweep (a quarter "
                "at the size of the paper's), each of them an addition that is waited for on a chain of rows. "
                f"Sizes: {sizes_text(context)}.",
            ),
        ),
        notes=(testbed_limits(),),
    )


def _claims(curves: list[Swept], factor: float) -> tuple[Claim, ...]:
    apps = applications(curves)
    growth = {a: {m: of(curves, a, m).growth(FAR, BASE_LATENCY) for m in (SHARED, PREFETCH, POLLING)} for a in apps}
    clock = {a: {m: of(curves, a, m).growth(BASE_LATENCY, NEAR) for m in (SHARED, PREFETCH, POLLING)} for a in apps}

    def said(order: tuple[Mechanism, ...]) -> str:
        return "; ".join(f"{a} " + ", ".join(f"{change_text(growth[a][m])} ({m.short})" for m in order) for a in apps)

    return (
        Claim(
            f"At {FAR:g} cycles EM3D with messages is about twice as fast as with shared memory (judged: 1.5 to 2.5)",
            "a factor of two",
            f"{factor:.2f}",
            abs(factor - FACTOR) <= FACTOR_WITHIN,
            assumption=SCALE,
        ),
        Claim(
            "Both forms of shared memory are more susceptible to latency than messages, in every application",
            "more susceptible",
            said((SHARED, PREFETCH, POLLING)),
            all(min(g[SHARED], g[PREFETCH]) > g[POLLING] for g in growth.values()),
            assumption=SCALE,
        ),
        Claim(
            "The same over Fig. 9's range, 10.5 to 15 cycles",
            "more susceptible",
            "; ".join(
                f"{a} " + ", ".join(f"{change_text(clock[a][m], 1)} ({m.short})" for m in clock[a]) for a in apps
            ),
            all(min(g[SHARED], g[PREFETCH]) > g[POLLING] for g in clock.values()),
            assumption=SCALE,
        ),
        Claim(
            "Prefetching hides some of the latency, in every application",
            "somewhat, not as well as messages",
            said((SHARED, PREFETCH)),
            all(
                of(curves, a, PREFETCH).at(FAR) - of(curves, a, PREFETCH).at(BASE_LATENCY)
                < of(curves, a, SHARED).at(FAR) - of(curves, a, SHARED).at(BASE_LATENCY)
                for a in apps
            ),
            assumption=SCALE,
        ),
        Claim(
            f"Messages remain relatively constant to {FAR:g} cycles in every application (judged to within 5 %)",
            "relatively constant",
            said((POLLING,)),
            all(abs(g[POLLING]) <= CONSTANT for g in growth.values()),
            assumption=SCALE,
        ),
    )


EXPERIMENT = Experiment(
    name="latency-sweep",
    title="Run time against network latency, 10.5 to 100 cycles: regions, cross-over between mechanisms",
    paper="SENS",
    where="Fig. 2, 9 and 10, sections 5.3 and 6",
    needs=(Need.TESTBED,),
    run=run,
    order=3,
)
