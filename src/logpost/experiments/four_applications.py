"""SENS Fig. 4 and 5: where four applications spend their time with five mechanisms, and what they send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Claim, Column, Difference, Figure, Number, Origin, Result, Table
from logpost.experiments.support import sens
from logpost.experiments.support.alewife import CYCLE_NS, MACHINE
from logpost.experiments.support.programs import testbed_limits
from logpost.experiments.support.sens import (
    BULK,
    INTERRUPTS,
    MECHANISMS,
    POLLING,
    PREFETCH,
    SHARED,
    Mechanism,
    Workload,
)
from logpost.experiments.support.sens_breakdown import (
    HEADERS,
    KINDS,
    MEMORY,
    OVERHEAD,
    PARTS,
    SYNCHRONIZATION,
    Kernel,
    breakdown,
    kernel_of,
    volume,
)

VALUE_BYTES = {"EM3D": 8, "UNSTRUC": 24, "ICCG": 8, "MOLDYN": 24}
"""What a load or an addition carries: one double, or three."""
EDGE_CYCLES, MORE_WORK = 10, (30, 90)
"""EM3D's work per edge, which no paper prints: the program's assumption, and others for comparison."""
LITTLE = 0.05
"""Run times within 5 % of each other count as equal: the paper's are read off bars."""
PART_HUES = dict(zip(PARTS, (5, 0, 1, 3), strict=True))
KIND_HUES = dict(zip(KINDS, (2, 0, 1, 4), strict=True))


@dataclass(frozen=True)
class Done:
    """An application with a mechanism."""

    application: str
    mechanism: Mechanism
    kernel: Kernel
    parts: dict[str, float]
    """Seconds, mean of the ranks; they add up to the run time."""
    sent: dict[str, int]
    printed_s: float
    """The run time by the program's own clock, which for MOLDYN includes the dealing of the molecules."""

    @property
    def total_s(self) -> float:
        return self.kernel.total_ps * 1e-12

    @property
    def volume(self) -> int:
        return sum(self.sent.values())


def run(context: Context) -> Result:
    """Every application with every mechanism on the testbed, analyzed with the machine that was simulated."""
    from logpost.dashboards.figures.bars import Part, stacked

    workloads = _workloads(context)
    cases = [(workload, mechanism) for workload in workloads for mechanism in MECHANISMS]

    def one(case: tuple[Workload, Mechanism]) -> tuple[Kernel, float, float]:
        workload, mechanism = case
        name = f"{workload.program}-{mechanism.short.lower().replace('+', '-')}"
        simulated = sens.run_mechanism(context, workload, mechanism, name)
        analyzed = context.analyze(simulated.archive, str(simulated.archive / "machine.toml"), name)
        return kernel_of(analyzed), simulated.values.get("overhead_s", 0.0), simulated.values["total_s"]

    outcomes = dict(
        zip(
            ((w.application, m) for w, m in cases),
            context.each("applications and mechanisms on the testbed", cases, one),
            strict=True,
        )
    )
    done: dict[tuple[str, Mechanism], Done] = {}
    for (application, mechanism), (kernel, charged_s, printed_s) in outcomes.items():
        work_ps = min(outcomes[application, m][0].compute_ps - outcomes[application, m][1] * 1e12 for m in MECHANISMS)
        done[application, mechanism] = Done(
            application,
            mechanism,
            kernel,
            breakdown(kernel, charged_s, work_ps, is_memory=mechanism.is_memory),
            volume(kernel, VALUE_BYTES[application], is_memory=mechanism.is_memory),
            printed_s,
        )
    every = list(done.values())
    apps = [workload.application for workload in workloads]
    base = {a: done[a, POLLING] for a in apps}
    by_work = _by_work(context, workloads[0], done)
    bars, groups = [one.mechanism.short for one in every], [one.application for one in every]
    times = stacked(
        bars,
        [
            Part(part, [one.parts[part] / base[one.application].total_s for one in every], PART_HUES[part])
            for part in PARTS
        ],
        "run time, polling = 1",
        "Run time of four applications with five mechanisms, in four parts: "
        + "; ".join(f"{a}: fastest {_fastest(done, a).mechanism.name}" for a in apps)
        + ".",
        groups=groups,
        height=460,
    )
    volumes = stacked(
        bars,
        [
            Part(kind, [one.sent[kind] / base[one.application].volume for one in every], KIND_HUES[kind])
            for kind in KINDS
        ],
        "bytes sent, polling = 1",
        "Communication volume by kind: shared memory sends "
        + ", ".join(f"{_ratio(done, a, SHARED, POLLING):.1f}" for a in apps)
        + " times the bytes of messages.",
        groups=groups,
        height=460,
    )
    largest = max(apps, key=lambda a: _ratio(done, a, SHARED, POLLING))
    return Result(
        summary="Fastest with "
        + ", ".join(f"{_fastest(done, a).mechanism.name} ({a})" for a in apps)
        + f". Shared memory sends up to {_ratio(done, largest, SHARED, POLLING):.1f} times the bytes of messages "
        f"({largest}; paper: up to 6).",
        tables=(_times_table(every), _volume_table(every, base), by_work, _mapping_table(), _sizes_table(workloads)),
        figures=(
            Figure(
                "Fig. 4: run time in four parts",
                times,
                "Bars of one application are relative to its run with polling messages; from the bottom: compute, "
                "memory + NI wait, message overhead, synchronization. SM: shared memory, PF: prefetching, MP: "
                "messages with interrupts (I) or polling (P).",
            ),
            Figure(
                "Fig. 5: communication volume by kind",
                volumes,
                "Relative to the application's run with polling messages.",
            ),
        ),
        claims=_claims(done, apps),
        differences=(
            Difference(
                "The bars are relative to polling instead of in cycles and bytes.",
                "The paper prints no numbers beside its bars; absolute ones of this testbed are in the tables.",
            ),
            Difference(
                "EM3D runs fewer iterations, ICCG and MOLDYN other inputs than the paper's: see the table of sizes.",
                "Simulated time costs real time; the iterations are alike on a machine without noise, and BCSSTK32 and "
                "MOLDYN's molecules are not part of the paper.",
            ),
            Difference(
                "EM3D with shared memory is slower than with messages, while the paper's were about equal.",
                f"The work per edge is not printed, and {EDGE_CYCLES} cycles were assumed: with more, the same misses "
                "are a smaller share (table). An owner invalidates its readers' copies one after the other here; the "
                "Alewife's hardware does up to five at once (84 cycles instead of 43 for one).",
            ),
            Difference(
                "ICCG gains by prefetching, which slowed it down on the Alewife.",
                "There few of its data were remote, so that most prefetches were useless; of the generated matrix's "
                "edges about three in four are between processors, and additions of two rows overlap.",
            ),
            Difference(
                "ICCG with fine-grained messages takes far longer than with shared memory.",
                "Every edge between processors is a message that costs its receiver 74 (polling) or 122 cycles for 2 "
                "flop, along a chain of rows dealt in one stretch per processor; the paper partitions the matrix with "
                "a graph partitioner, which leaves fewer such edges.",
            ),
            Difference(
                "UNSTRUC with shared memory is not held up by locks.",
                "The paper's shared memory locks each node that is updated; here an addition is one remote operation.",
            ),
            *sens.limits(),
        ),
        notes=(
            "Polling takes 35 % of o_s + o_r off the machine's o_r, as SENS 4.3 says; gathering and scattering takes "
            "30 cycles per 16 bytes on either side (SENS: up to 60).",
            "The timed part of a run goes from the end of the set-up to the check of the result; a rank's time before "
            "its start and behind its end is synchronization, so that the parts add up to the run time.",
            "Volume: LOGPC's header of 8 bytes is added to every message with data by counting, and not on the "
            "simulated links; requests, invalidations and acknowledgements are simulated messages of 8 bytes.",
            testbed_limits(),
        ),
    )


def _workloads(context: Context) -> tuple[Workload, ...]:
    iterations, nodes = context.size(full=(1, 10000), quick=(1, 1600))
    brick, steps, cells = context.size(full=(8, 1, 8), quick=(4, 1, 6))
    mesh = context.size(full=2000, quick=500)
    workloads = (
        sens.sized(
            sens.EM3D,
            {"nodes": nodes, "iterations": iterations},
            f"{nodes:,} nodes (10,000), {iterations} iteration (50)",
        ),
        sens.sized(sens.UNSTRUC, {"nodes": mesh, "iterations": 1}, f"{mesh:,} nodes (2,000), 1 iteration"),
        sens.sized(sens.ICCG, {"brick": brick}, f"{3 * brick**3:,} rows (2 million elements)"),
        sens.sized(sens.MOLDYN, {"cells": cells, "steps": steps}, f"{4 * cells**3:,} molecules, {steps + 1} forces"),
    )
    return context.size(full=workloads, quick=(workloads[0], workloads[2]))


def _by_work(context: Context, em3d: Workload, done: dict[tuple[str, Mechanism], Done]) -> Table:
    """EM3D with shared memory and with polling, by the cycles that an edge is assumed to take."""
    cases = [(work, mechanism) for work in MORE_WORK for mechanism in (SHARED, POLLING)]

    def one(case: tuple[int, Mechanism]) -> float:
        work, mechanism = case
        more = sens.sized(em3d, {"edge-cycles": work}, "")
        name = f"em3d-{mechanism.short.lower()}-{work}-cycles"
        return sens.run_mechanism(context, more, mechanism, name, keep=False).values["total_s"]

    seconds = dict(zip(cases, context.each("EM3D by its work per edge", cases, one), strict=True))
    seconds |= {(EDGE_CYCLES, m): done["EM3D", m].printed_s for m in (SHARED, POLLING)}
    return Table(
        "EM3D by the work per edge",
        (
            Column("cycles per edge", Origin.SETTING),
            Column(SHARED.name, Origin.TESTBED, MACHINE),
            Column(POLLING.name, Origin.TESTBED, MACHINE),
            Column("shared memory over messages", Origin.DERIVED),
        ),
        tuple(
            (
                Number(work),
                sens.kcycles(seconds[work, SHARED]),
                sens.kcycles(seconds[work, POLLING]),
                Number(seconds[work, SHARED] / seconds[work, POLLING], "×"),
            )
            for work in (EDGE_CYCLES, *MORE_WORK)
        ),
        note="By the program's own clock. The paper does not print the work per edge.",
    )


def _fastest(done: dict[tuple[str, Mechanism], Done], application: str) -> Done:
    return min((done[application, m] for m in MECHANISMS), key=lambda one: one.total_s)


def _ratio(done: dict[tuple[str, Mechanism], Done], application: str, of: Mechanism, over: Mechanism) -> float:
    return done[application, of].volume / done[application, over].volume


def _times_table(every: Sequence[Done]) -> Table:
    return Table(
        "Fig. 4: run time and its four parts",
        (
            Column("case", Origin.SETTING),
            Column("run time", Origin.TESTBED, MACHINE),
            *(Column(part, Origin.TESTBED, MACHINE) for part in PARTS),
            Column("by the program's own clock", Origin.TESTBED, MACHINE),
        ),
        tuple(
            (
                f"{one.application}, {one.mechanism.name}",
                sens.kcycles(one.total_s),
                *(sens.kcycles(one.parts[part]) for part in PARTS),
                sens.kcycles(one.printed_s),
            )
            for one in every
        ),
        note=f"Thousands of cycles of {CYCLE_NS:.0f} ns; parts are means of 32 ranks and add up to the run time. "
        "UNSTRUC's own clock is that of rank 0, and MOLDYN's includes the dealing of the molecules.",
    )


def _volume_table(every: Sequence[Done], base: dict[str, Done]) -> Table:
    return Table(
        "Fig. 5: communication volume by kind",
        (
            Column("case", Origin.SETTING),
            Column("sent", Origin.TESTBED, MACHINE),
            *(Column(kind, Origin.TESTBED, MACHINE) for kind in KINDS),
            Column("over polling", Origin.DERIVED),
        ),
        tuple(
            (
                f"{one.application}, {one.mechanism.name}",
                Number(one.volume / 1e3, "kB"),
                *(Number(one.sent[kind] / 1e3, "kB") for kind in KINDS),
                Number(one.volume / base[one.application].volume, "×"),
            )
            for one in every
        ),
        note="Bytes given to the network by all ranks in the timed part.",
    )


def _mapping_table() -> Table:
    columns = (
        Column("SENS's part", Origin.SETTING),
        Column("messages: categories of logpost analyze", Origin.SETTING),
        Column("loads and stores", Origin.SETTING),
    )
    return Table(
        "From logpost's categories to the paper's four parts",
        columns,
        (
            ("compute", "compute, without what the program charges for mechanisms", "the same"),
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
                "barriers; flush_all, which stands before barriers and in the loop that looks for values; looking",
            ),
        ),
        note="The paper counts cycles in hardware, so a processor that spins for a message is synchronizing there even "
        "while the message crosses the network; here that share is memory + NI wait.",
    )


def _sizes_table(workloads: Sequence[Workload]) -> Table:
    return Table(
        "What was simulated (the paper's sizes in brackets)",
        (Column("application", Origin.SETTING), Column("size", Origin.SETTING)),
        tuple((one.application, one.said) for one in workloads),
    )


def _claims(done: dict[tuple[str, Mechanism], Done], apps: Sequence[str]) -> tuple[Claim, ...]:
    def time(application: str, mechanism: Mechanism) -> float:
        return done[application, mechanism].total_s

    def over(application: str, one: Mechanism, other: Mechanism) -> float:
        return time(application, one) / time(application, other) - 1

    def said(application: str, one: Mechanism, other: Mechanism) -> str:
        return f"{application} {100 * over(application, one, other):+.0f} %".replace("-", "−")

    def saved(application: str) -> float:
        return 1 - done[application, POLLING].parts[OVERHEAD] / done[application, INTERRUPTS].parts[OVERHEAD]

    prefetched = {a: -over(a, PREFETCH, SHARED) for a in apps}
    ratios = {a: _ratio(done, a, SHARED, POLLING) for a in apps}
    headers = {a: done[a, BULK].sent[HEADERS] / done[a, POLLING].sent[HEADERS] for a in apps}
    return (
        Claim(
            "Shared memory is competitive with messages on the unchanged Alewife (within 30 % of fine-grained ones)",
            "EM3D: more or less indistinguishable",
            ", ".join(said(a, SHARED, POLLING) for a in apps),
            all(over(a, SHARED, POLLING) < 0.3 for a in apps),
        ),
        Claim(
            "EM3D is the application that gains most by prefetching",
            "EM3D alone benefits significantly; MOLDYN about 1 %; ICCG slows down",
            ", ".join(said(a, PREFETCH, SHARED) for a in apps),
            max(prefetched, key=lambda a: prefetched[a]) == "EM3D",
        ),
        Claim(
            "Bulk transfer has no significant advantage over the other mechanisms on any application (within 5 %)",
            "no application",
            ", ".join(said(a, BULK, _fastest_other(done, a)) for a in apps),
            all(over(a, BULK, _fastest_other(done, a)) > -LITTLE for a in apps),
        ),
        *_unstruc_claim(done),
        Claim(
            "ICCG gains most from interrupts to polling",
            "the largest improvement; overhead −35 %",
            ", ".join(said(a, POLLING, INTERRUPTS) for a in apps)
            + f"; ICCG's message overhead −{100 * saved('ICCG'):.0f} %",
            min(apps, key=lambda a: over(a, POLLING, INTERRUPTS)) == "ICCG",
        ),
        Claim(
            "Shared memory sends several times the bytes of messages",
            "up to 6 times",
            ", ".join(f"{a} {ratios[a]:.1f}" for a in apps),
            1 < max(ratios.values()) <= 6,
        ),
        Claim(
            "Interrupts and polling send the same",
            "the same volume",
            ", ".join(f"{a} {_ratio(done, a, INTERRUPTS, POLLING):.3f}" for a in apps),
            all(done[a, INTERRUPTS].volume == done[a, POLLING].volume for a in apps),
        ),
        Claim(
            "Bulk transfer saves headers",
            "saves on message headers",
            ", ".join(f"{a} −{100 * (1 - headers[a]):.0f} %" for a in apps),
            all(value < 1 for value in headers.values()),
        ),
    )


def _unstruc_claim(done: dict[tuple[str, Mechanism], Done]) -> tuple[Claim, ...]:
    if ("UNSTRUC", SHARED) not in done:
        return ()
    best = min((INTERRUPTS, POLLING, BULK), key=lambda m: done["UNSTRUC", m].total_s)
    shared = done["UNSTRUC", SHARED].total_s
    over = {m: shared / done["UNSTRUC", m].total_s - 1 for m in (best, POLLING)}
    return (
        Claim(
            "UNSTRUC with shared memory does not perform better than with messages",
            "not better: it locks",
            ", ".join(f"{100 * value:+.0f} % against {m.name}".replace("-", "−") for m, value in over.items()),
            over[best] > -LITTLE,
        ),
    )


def _fastest_other(done: dict[tuple[str, Mechanism], Done], application: str) -> Mechanism:
    return min((m for m in MECHANISMS if m is not BULK), key=lambda m: done[application, m].total_s)


EXPERIMENT = Experiment(
    name="four-applications",
    title="Four applications with five mechanisms: run time in four parts, communication volume by kind",
    paper="SENS",
    where="Fig. 4 and 5, sections 4 and 5.1",
    needs=(Need.TESTBED,),
    run=run,
    order=1,
)
