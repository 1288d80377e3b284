"""LOG3P Fig. 12: the transpose of a 3-D FFT by datatypes, packing and tiled packing, and the best by each model."""

from __future__ import annotations

from logpost.experiments.fft_packing.problem import Problem
from logpost.experiments.fft_packing.ranking import (
    best_version,
    measured_text,
    ranking_claims,
    ranking_figure,
    ranking_table,
)
from logpost.experiments.fft_packing.times import LOG3P, LOGGP, MEASURED, SOURCES, times_of
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Difference, Result
from logpost.experiments.support.launches import cores
from logpost.experiments.support.this_machine import calibrated, undisturbed


def run(context: Context) -> Result:
    """Measure the layouts' costs as log3P does, predict the transposes, and measure them."""
    machine = undisturbed(calibrated(context)).machine
    problems = context.size([Problem("B", 4, 2), Problem("B", 2, 2), Problem("B", 4, 4)], [Problem("S", 1, 2)])
    found = {problem: times_of(context, machine, problem) for problem in problems}
    first = next((p for p in reversed(problems) if p.ranks <= cores()), problems[0])
    best = {source: best_version(found[first], source) for source in SOURCES}
    return Result(
        summary=f"{first.label}: LogGP ranks {best[LOGGP]} best, log3P ranks {best[LOG3P]} best, and measured "
        f"{best[MEASURED]} is: {measured_text(found[first])}.",
        tables=tuple(ranking_table(problem, found[problem]) for problem in problems),
        figures=(ranking_figure(found),),
        claims=ranking_claims(found, first),
        differences=(
            Difference(
                "The grids are smaller than the paper's: classes B and C on 4, 8 and 16 processors moved 64 and 128 MB "
                "per process.",
                "this machine's memory and time; a rank's data are still larger than its caches in the full form.",
            ),
            Difference(
                "A rank's message to itself and its packing loops are a larger part than on 4 to 16 processors.",
                f"with P ranks one message of P stays at home; with {cores()} cores more ranks take turns, and what is "
                "printed as communication then holds the others' computation.",
            ),
            Difference(
                "log3P's l_mw is that of the application's own datatypes in a message to itself, as 4.1 measures it; "
                "between two ranks ddt's exchange is slower than predicted.",
                "a library that copies contiguous data once, from process to process, sends strided data in fragments "
                "through a shared buffer, packed and unpacked by turns. A message to oneself has neither path.",
            ),
            Difference(
                "Which of pack and opt is best depends on the grid.",
                "tiles pay where the rows that are read together fall into the same cache sets, and cost a second copy "
                "where all fits into the cache.",
            ),
            Difference(
                "In the measured bars the strided part of ddt is its exchange's time beyond that of opt.",
                "MPI does not say how long it gathers. LogGP's and log3P's bars have the measured computation, as in "
                "the paper.",
            ),
        ),
        notes=(
            f"{cores()} cores: problems on more ranks share them.",
            "LogGP sends (P − 1) messages of s bytes, (P − 1)(o_s + L + o_r + (s − 1) G), with the calibration's "
            "values for long messages between two ranks; log3P one message to itself, o_mw + T_mem + l_mw, and P − 1 "
            "to others, o_mw + o_net + l_mw.",
        ),
    )


EXPERIMENT = Experiment(
    name="fft-packing",
    title="3-D FFT's transpose: datatypes, packing, tiled packing; what LogGP and log3P rank best, and what is",
    paper="LOG3P",
    where="Fig. 12, section 4.3.4",
    needs=(Need.MPI,),
    run=run,
    order=2,
)
