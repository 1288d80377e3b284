"""LOGPC Fig. 11: EM3D's original order of communication against the improved one, over the span."""

from __future__ import annotations

from logpost.experiments.em3d_order.hot_spot import hot_spot
from logpost.experiments.em3d_order.runs import ORDERS, PAPERS_ITERATIONS, run_all
from logpost.experiments.em3d_order.savings import savings
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Difference, Result
from logpost.experiments.support.alewife import EDGE_CYCLES
from logpost.experiments.support.programs import testbed_limits


def run(context: Context) -> Result:
    """Both orders over the span on the testbed; the archives of the largest span analyzed with the machine's file."""
    runs = run_all(context)
    saved, spot = savings(runs), hot_spot(context, runs)
    own_s = {order: runs.own(order).values["total_s"] * PAPERS_ITERATIONS / runs.analyzed for order in ORDERS}
    return Result.of(
        f"{saved.said} {spot.said}",
        saved,
        spot,
        differences=(
            Difference(
                f"An edge takes {EDGE_CYCLES} cycles; the paper prints no value for EM3D.",
                "it prints 100 cycles for a task of two additions and a multiplication on the same machine (5.2.2), "
                "and an edge is a multiplication and a subtraction; other costs are in the table.",
            ),
            Difference(
                "A message carries ten doubles, of which the queues hold two.",
                "the paper says “blocks of 10” of “the short-message facility”, and SENS 3.2 that a short message has "
                "at most fourteen words of 4 bytes; o_s + o_r = 137 of the paper's model are those of two words.",
            ),
            Difference(
                f"{runs.iterations} iterations ({runs.analyzed} of the analyzed runs) were simulated and scaled to the "
                f"paper's {PAPERS_ITERATIONS}.",
                "the iterations are equal on a simulated machine without noise.",
            ),
        ),
        notes=(
            "In the sweep the program's handlers spend o_r, so that stalls are distinct from handling; in the analyzed "
            "archives the testbed does, as the machine's file says. Run times of the latter at span "
            f"{runs.largest}: "
            + ", ".join(f"{order} {seconds:.3f} s" for order, seconds in own_s.items())
            + f" for {PAPERS_ITERATIONS} iterations.",
            "Messages interrupt (--receive interrupt): a rank handles arrived messages whenever it sends or stalls. "
            "Two messages of ten doubles are in flight per sender (--capacity 2), which is what 256-byte queues hold.",
            testbed_limits(),
        ),
    )


EXPERIMENT = Experiment(
    name="em3d-order",
    title="EM3D, original against improved order of communication, span 1 to 15",
    paper="LOGPC",
    where="Fig. 11, section 5.3",
    needs=(Need.TESTBED,),
    run=run,
    order=4,
)
