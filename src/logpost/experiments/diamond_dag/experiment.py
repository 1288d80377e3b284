"""LOGPC Fig. 9 and (15): the Diamond DAG's makespan by message size for three mappings, and by the number of blocks."""

from __future__ import annotations

from logpost.experiments.diamond_dag.blocks import blocks_part
from logpost.experiments.diamond_dag.mappings import LARGEST, mappings_part
from logpost.experiments.diamond_dag.program import BLOCKS, simulated
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Difference, Result
from logpost.experiments.support.alewife import MACHINE
from logpost.experiments.support.programs import testbed_limits


def run(context: Context) -> Result:
    """Fig. 9 on the testbed and by (15), and the makespan over b by (15) in three readings and on the testbed."""
    from logpost.analyzer.report.build import build

    mappings, blocks = mappings_part(context), blocks_part(context)
    largest = simulated(context, "random", BLOCKS, LARGEST)
    split = build(context.analyze(largest.archive, MACHINE, f"random-{LARGEST}B")).messages
    return Result.of(
        f"{mappings.said} {blocks.said}",
        mappings,
        blocks,
        differences=(
            Difference(
                "The machine's own numbering has no contention here, where the paper measured +31 %.",
                "with row-major numbers, dimension-order routes and two channels per link no two messages of "
                "neighbouring stripes share a channel; where both directions share one, the return path from the end "
                "of a row crosses the whole row. The paper's lies between the two. It prints neither the numbering "
                "nor how much the two directions of a link disturb each other.",
            ),
            Difference(
                "On the testbed the random mapping is slower than on the wormhole network, and earlier.",
                "on the testbed messages sent at once share a link equally, and arrive late together, in every block "
                "again; a wormhole network lets one through after the other, so that their stripes are out of step "
                "from then on.",
            ),
            Difference(
                "Some contention shows at 16 kB already.",
                "the paper ran one permutation, which it does not print; here it is the mean over several, with its "
                "95 % interval.",
            ),
            Difference(
                "alpha, the cost of aggregating a value, is set to 0.",
                "it is not printed; the paper says only that it is more than half of the run time at b = 4.",
            ),
            Difference(
                "(15) as printed is too low for many blocks; with the interrupt of 129 cycles it fits.",
                "O_r of (15) omits the interrupt (Table 2 has it), and the program's values have 8 bytes, not one.",
            ),
        ),
        notes=(
            "Messages are sent synchronously (eager limit 0), as the Alewife's DMA blocks the sender until the data "
            "are out and the receiver until they are in: v = O_s + W + O_r of (15).",
            f"logpost's own split of the random mapping's messages at {LARGEST:,} B leaves "
            f"{100 * split.residual_share:.0f} % of their time unexplained: the links that they share, whose "
            "contention the split does not model for single messages.",
            "The wormhole network: see all-to-all-long; a message starts when its sender and its receiver are there.",
            testbed_limits(),
        ),
    )


EXPERIMENT = Experiment(
    name="diamond-dag",
    title="Diamond DAG: three mappings over message size, and the number of blocks, by (15) and on the testbed",
    paper="LOGPC",
    where="Fig. 9, eq. 15, section 5.2",
    needs=(Need.TESTBED,),
    run=run,
    order=3,
)
