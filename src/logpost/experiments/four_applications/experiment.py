"""SENS Fig. 4 and 5: where four applications spend their time with five mechanisms, and what they send."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.experiments.four_applications.bands import DEGREES, OTHER_WORK, bands_table, over_polling
from logpost.experiments.four_applications.runs import Runs, run_all, workloads
from logpost.experiments.four_applications.times import categories_table, times
from logpost.experiments.four_applications.volumes import volumes
from logpost.experiments.four_applications.whole_matrix import prefetching, prefetching_table
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Column, Difference, Origin, Result, Table
from logpost.experiments.support.alewife import CYCLES_PER_FLOP, EDGE_CYCLES, TASK_CYCLES, TASK_FLOP
from logpost.experiments.support.programs import testbed_limits
from logpost.experiments.support.sens import Workload, limits


def run(context: Context) -> Result:
    """Every application with every mechanism on the testbed, analyzed with the machine that was simulated."""
    chosen = workloads(context)
    runs = run_all(context, chosen)
    gains = prefetching(context)
    time, sent = times(runs, gains), volumes(runs)
    fastest = ", ".join(f"{runs.fastest(a).mechanism.name} ({a})" for a in runs.apps)
    return Result(
        summary=f"Fastest with {fastest}. {sent.said}",
        tables=(
            *time.tables,
            *sent.tables,
            *_by_option(context, chosen, runs),
            bands_table(context, chosen, runs),
            prefetching_table(gains),
            categories_table(),
            _sizes_table(chosen),
        ),
        figures=time.figures + sent.figures,
        claims=time.claims + sent.claims,
        differences=(
            Difference(
                "The bars are relative to polling instead of in cycles and bytes.",
                "The paper prints no numbers with its bars; absolute ones of this testbed are in the tables.",
            ),
            Difference(
                "EM3D runs fewer iterations, ICCG and MOLDYN other inputs than the paper's: see the table of sizes.",
                "Simulated time costs real time; the iterations are equal on a machine without noise, and BCSSTK32 and "
                "MOLDYN's molecules are not part of the paper.",
            ),
            Difference(
                f"A flop costs {CYCLES_PER_FLOP:.0f} cycles in every application; an edge of EM3D has two.",
                "the paper prints no cost of computation; LOGPC prints 100 cycles for a task of three flop, loads and "
                "stores included, on the same machine (5.2.2). EM3D by other costs is in the table.",
            ),
            Difference(
                "EM3D with shared memory is somewhat slower than with messages, while the paper's were about equal.",
                "An owner invalidates its readers' copies one after the other here; the Alewife's hardware does up to "
                "five at once (84 cycles instead of 43 for one).",
            ),
            Difference(
                "ICCG gains by prefetching where a prefetch costs an instruction; it slowed it down on the Alewife.",
                "There few of its data were remote, so that most prefetches were useless. Here a part of the edges, "
                "smaller with the size of the matrix, is between processors, and additions of two rows overlap. In "
                "Fig. 4 a prefetch of what is local is free.",
            ),
            Difference(
                "ICCG with fine-grained messages is slower than with shared memory.",
                "Every edge between processors is a message that costs its receiver 74 (polling) or 122 cycles for 2 "
                "flop, along a chain of rows.",
            ),
            *limits(),
        ),
        notes=(
            "Short messages of up to fourteen words (SENS 3.2) continue LOGPC's Table 1: 3 cycles a word in "
            "o_s, 2.5 in o_r.",
            "Polling takes 35 % of o_s + o_r off the machine's o_r, as SENS 4.3 says; gathering and scattering takes "
            "30 cycles per 16 bytes on either side (SENS: up to 60).",
            "The timed part of a run lasts from the end of the set-up to the check of the result; a rank's time before "
            "its start and behind its end is synchronization, so that the parts add up to the run time.",
            "Volume: LOGPC's header of 8 bytes is added to every message with data by counting, and not on the "
            "simulated links; requests, invalidations and acknowledgements are simulated messages of 8 bytes.",
            testbed_limits(),
        ),
    )


def _by_option(context: Context, workloads: Sequence[Workload], runs: Runs) -> list[Table]:
    """EM3D by its work, and UNSTRUC by its mesh where it is run."""
    every = {one.application: one for one in workloads}
    work = context.size(OTHER_WORK, OTHER_WORK[-1:])
    edge = (
        f"There {EDGE_CYCLES} cycles: two flop at {TASK_CYCLES:g} for {TASK_FLOP}, as LOGPC 5.2.2 prints for a task "
        "of its Diamond DAG on the same machine."
    )
    tables = [over_polling(context, every["EM3D"], runs, "edge-cycles", work, "cycles per edge", edge)]
    if "UNSTRUC" in every:
        mesh = "There 15.5, of a Delaunay mesh of random points; 12 are those of cubes of five tetrahedra each."
        tables.append(over_polling(context, every["UNSTRUC"], runs, "degree", DEGREES, "neighbours of a node", mesh))
    return tables


def _sizes_table(workloads: Sequence[Workload]) -> Table:
    return Table(
        "What was simulated (the paper's sizes in brackets)",
        (Column("application", Origin.SETTING), Column("size", Origin.SETTING)),
        tuple((one.application, one.said) for one in workloads),
    )


EXPERIMENT = Experiment(
    name="four-applications",
    title="Four applications with five mechanisms: run time in four parts, communication volume by kind",
    paper="SENS",
    where="Fig. 4 and 5, sections 4 and 5.1",
    needs=(Need.TESTBED,),
    run=run,
    order=1,
)
