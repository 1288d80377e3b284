"""SENS Fig. 4: run time of each application with each mechanism, in four parts."""

from __future__ import annotations

from logpost.experiments.four_applications.bars import LITTLE, relative_bars
from logpost.experiments.four_applications.runs import Runs
from logpost.experiments.four_applications.whole_matrix import Gains, rows_of
from logpost.experiments.framework.result import Claim, Column, Figure, Origin, Part, Table
from logpost.experiments.framework.words import change_text
from logpost.experiments.support.alewife import CYCLE_NS, MACHINE, SCALE
from logpost.experiments.support.sens import (
    BULK,
    INTERRUPTS,
    MECHANISMS,
    POLLING,
    POLLING_SAVES,
    PREFETCH,
    SHARED,
    Mechanism,
    kcycles,
)
from logpost.experiments.support.sens_breakdown import COMPUTE, MEMORY, OVERHEAD, PARTS, SYNCHRONIZATION

COMPETITIVE = 0.3
"""Shared memory that is slower by so much has degraded (SENS 1.2); by less it competes."""
MOLDYN_GAIN = 0.01
"""Of prefetching (4.4)."""
HUES = dict(zip(PARTS, (5, 0, 1, 3), strict=True))


def times(runs: Runs, gains: Gains) -> Part:
    """Bars, their numbers, and what the paper says of them."""
    return Part(tables=(_table(runs),), figures=(_figure(runs),), claims=_claims(runs, gains))


def _table(runs: Runs) -> Table:
    return Table(
        "Fig. 4: run time and its four parts",
        (
            Column("case", Origin.SETTING),
            Column("run time", Origin.TESTBED, MACHINE),
            *(Column(part, Origin.TESTBED, MACHINE) for part in PARTS),
            Column("by the program's own clock", Origin.TESTBED, MACHINE),
        ),
        tuple(
            (one.case, kcycles(one.total_s), *(kcycles(one.parts[part]) for part in PARTS), kcycles(one.printed_s))
            for one in runs.every
        ),
        note=f"Thousands of cycles of {CYCLE_NS:.0f} ns; parts are means of 32 ranks and add up to the run time. "
        "UNSTRUC's own clock is that of rank 0, and MOLDYN's includes the dealing of the molecules.",
    )


def _figure(runs: Runs) -> Figure:
    fastest = "; ".join(f"{a}: fastest {runs.fastest(a).mechanism.name}" for a in runs.apps)
    chart = relative_bars(
        runs,
        HUES,
        lambda one, part: one.parts[part],
        lambda one: one.total_s,
        "run time, polling = 1",
        f"Run time of four applications with five mechanisms, in four parts: {fastest}.",
    )
    return Figure(
        "Fig. 4: run time in four parts",
        chart,
        "Bars of one application are relative to its run with polling messages; from the bottom: compute, "
        "memory + NI wait, message overhead, synchronization. SM: shared memory, PF: prefetching, MP: "
        "messages with interrupts (I) or polling (P).",
    )


def _claims(runs: Runs, gains: Gains) -> tuple[Claim, ...]:
    apps = runs.apps

    def said(one: Mechanism, other: Mechanism) -> str:
        return ", ".join(f"{a} {change_text(runs.slower(a, one, other))}" for a in apps)

    prefetched = {a: runs.slower(a, PREFETCH, SHARED) for a in apps} | {"ICCG": min(gains.judged)}
    iccg = runs.of("ICCG", POLLING).parts[OVERHEAD] / runs.of("ICCG", INTERRUPTS).parts[OVERHEAD]
    others = [mechanism for mechanism in MECHANISMS if mechanism is not BULK]
    bulk = {a: runs.slower(a, BULK, runs.fastest(a, others).mechanism) for a in apps}
    return (
        Claim(
            "Shared memory is competitive with messages on the unchanged Alewife (within 30 % of fine-grained ones)",
            "EM3D: more or less indistinguishable",
            said(SHARED, POLLING),
            all(runs.slower(a, SHARED, POLLING) < COMPETITIVE for a in apps),
            assumption=SCALE,
            reason="additions follow one another here, and barriers and one-sided accesses are SimGrid's (see below)",
        ),
        Claim(
            "EM3D is the application that gains most by prefetching",
            "EM3D alone benefits significantly; MOLDYN about 1 %; ICCG slows down",
            ", ".join(f"{a} {change_text(value)}" for a, value in prefetched.items()),
            min(prefetched, key=lambda a: prefetched[a]) == "EM3D",
            assumption=f"{SCALE}; ICCG's matrix has {rows_of(gains.largest):,} rows, and its prefetches cost least",
            reason="additions of two rows overlap, which on the Alewife were few among useless prefetches",
        ),
        Claim(
            "Prefetching slows ICCG down",
            "useless prefetches add overhead",
            gains.said,
            min(gains.judged) > 0.0,
            assumption=SCALE,
            reason="what a prefetch costs is not printed, and decides: an instruction each loses less on local data "
            "than the remote part of the edges gains, a local miss each loses more",
        ),
        Claim(
            "Bulk transfer has no significant advantage over the other mechanisms on any application (within 5 %)",
            "no application",
            ", ".join(f"{a} {change_text(slower)}" for a, slower in bulk.items()),
            all(slower > -LITTLE for slower in bulk.values()),
            assumption=SCALE,
        ),
        *_unstruc_claim(runs),
        Claim(
            "ICCG gains most from interrupts to polling",
            "the largest improvement",
            said(POLLING, INTERRUPTS),
            min(apps, key=lambda a: runs.slower(a, POLLING, INTERRUPTS)) == "ICCG",
            assumption=f"{SCALE}; polling saves the same 35 % of o_s + o_r (4.3) in every application",
            reason="a small matrix has few rows that can be solved at a time, so that its processors wait for values "
            "whatever a handler costs",
        ),
        Claim(
            "Polling cuts the overhead of ICCG's messages by about 35 %",
            "−35 %",
            f"−{100 * (1 - iccg):.0f} %",
            abs((1 - iccg) - POLLING_SAVES) < LITTLE,
            given="the 35 % are an input: polling is simulated with an o_r that is shorter by 35 % of o_s + o_r",
            reason="polls cost 11 cycles each, also those that find nothing, which small matrices have more of",
        ),
        _uneven_claim(runs),
        balanced_claim(runs),
        *_moldyn_claims(runs),
    )


def _uneven_claim(runs: Runs) -> Claim:
    """What interrupts add to synchronization, in proportion to the run time with polling."""
    more = {
        a: (runs.of(a, INTERRUPTS).parts[SYNCHRONIZATION] - runs.of(a, POLLING).parts[SYNCHRONIZATION])
        / runs.of(a, POLLING).total_s
        for a in runs.apps
    }
    return Claim(
        "Interrupts cause more synchronization time than polling, in ICCG most (judged: over 5 % of the run time)",
        "dramatically more; to a lesser degree on EM3D and UNSTRUC",
        ", ".join(f"{a} {change_text(value)}" for a, value in more.items()),
        max(more, key=lambda a: more[a]) == "ICCG" and more["ICCG"] > LITTLE,
        assumption=SCALE,
        reason="a small matrix has few rows that can be solved at a time, so that its processors wait for values "
        "whatever a handler costs",
    )


def balanced_claim(runs: Runs) -> Claim:
    """Of all mechanisms but interrupts."""
    waits = {mechanism: runs.of("ICCG", mechanism).parts[SYNCHRONIZATION] for mechanism in MECHANISMS}
    others = [mechanism for mechanism in MECHANISMS if mechanism is not INTERRUPTS]
    return Claim(
        "ICCG's other mechanisms avoid the load imbalance of interrupts: each synchronizes for less time",
        "also avoid load imbalance",
        ", ".join(f"{m.short} {kcycles(wait).value:,.0f}" for m, wait in waits.items()) + " thousand cycles",
        all(waits[mechanism] < waits[INTERRUPTS] for mechanism in others),
        assumption=SCALE,
        reason="a processor that waits for a value synchronizes, with any mechanism, and each value follows "
        "from a chain of rows, whose steps cost more with one mechanism than with another",
    )


def masked_claim(runs: Runs) -> Claim:
    """How far apart the mechanisms are."""
    apart = {a: max(runs.slower(a, m, runs.fastest(a).mechanism) for m in MECHANISMS) for a in runs.apps}
    return Claim(
        "MOLDYN's computation masks the differences between mechanisms: they are less far apart than in EM3D and ICCG, "
        "whose ratio of computation to communication is low",
        "tends to mask differences",
        "slowest over fastest: " + ", ".join(f"{a} {change_text(value)}" for a, value in apart.items()),
        apart["MOLDYN"] < min(apart["EM3D"], apart["ICCG"]),
        assumption=SCALE,
    )


def _moldyn_claims(runs: Runs) -> tuple[Claim, ...]:
    """Where it was run."""
    if "MOLDYN" not in runs.apps:
        return ()
    gain = -runs.slower("MOLDYN", PREFETCH, SHARED)
    return (
        Claim(
            "MOLDYN's prefetching gains about one percent (judged to within half of the digit)",
            "about one percent better",
            f"{100 * gain:.2g} %",
            abs(gain - MOLDYN_GAIN) <= MOLDYN_GAIN / 2.0,
            assumption=SCALE,
            reason="remote data are fetched once for each computation of the forces, of which one is run",
        ),
        masked_claim(runs),
    )


def _unstruc_claim(runs: Runs) -> tuple[Claim, ...]:
    """Where it was run."""
    if "UNSTRUC" not in runs.apps:
        return ()
    slower = {m: runs.slower("UNSTRUC", SHARED, m) for m in (INTERRUPTS, POLLING, BULK)}
    polled = runs.slower("UNSTRUC", POLLING, INTERRUPTS)
    return (
        Claim(
            "UNSTRUC with shared memory does not perform better than with messages",
            "not better: it locks",
            ", ".join(f"{change_text(value)} against {m.name}" for m, value in slower.items()),
            all(value > -LITTLE for value in slower.values()),
            assumption=SCALE,
            reason="a lock costs one miss here and is never contended, and additions to a rank's own nodes take none",
        ),
        Claim(
            "Polling lets UNSTRUC's fine-grained messages outperform those with interrupts",
            "the lower per-message overhead",
            change_text(polled, 1),
            polled < 0.0,
            assumption=SCALE,
        ),
    )


def categories_table() -> Table:
    """Which of logpost's categories are in which part."""
    return Table(
        "From logpost's categories to the paper's four parts",
        (
            Column("SENS's part", Origin.SETTING),
            Column("messages: categories of logpost analyze", Origin.SETTING),
            Column("loads and stores", Origin.SETTING),
        ),
        (
            (COMPUTE, "compute, without what the program charges for mechanisms", "the same"),
            (
                MEMORY,
                "late_receiver (the send waits for room), latency, serialization, network_contention, "
                "endpoint_contention, middleware, processor_queueing, residual, mpi_other",
                "put, get, accumulate, flush and wait: time of a miss",
            ),
            (
                OVERHEAD,
                "send_overhead, recv_overhead; polls, gathering and scattering, which the program charges as busy time",
                "none: hardware does it",
            ),
            (
                SYNCHRONIZATION,
                "late_sender, collective_wait, collective; skew at the start and at the end",
                "barriers; flush_all, which is called before barriers and in the loop that looks for values; looking",
            ),
        ),
        note="The paper counts cycles in hardware, so a processor that spins for a message is synchronizing there even "
        "while the message crosses the network; here that share is memory + NI wait.",
    )
