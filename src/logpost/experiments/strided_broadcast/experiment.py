"""LOG3P Fig. 10 and 11: linear and tree broadcast of strided data on this machine, by LogGP, by log3P and measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Result
from logpost.experiments.strided_broadcast.cases import ALGORITHMS, MODELS, Case, mean_error, measured_cases
from logpost.experiments.strided_broadcast.claims import claims, differences
from logpost.experiments.strided_broadcast.tables import errors_table, figure, times_table
from logpost.experiments.support.launches import cores
from logpost.experiments.support.this_machine import calibrated, undisturbed

if TYPE_CHECKING:
    from logpost.machines.schema import Machine


def run(context: Context) -> Result:
    """Calibrate, predict every case before any is run, measure, and compare."""
    machine = undisturbed(calibrated(context)).machine
    here = cores()
    return result_of(machine, measured_cases(context, machine, here), here)


def result_of(machine: Machine, cases: Sequence[Case], cores: int) -> Result:
    """What the cases show on so many cores; the machine's file says up to which size sends do not wait."""
    within, crowded = [one for one in cases if one.ranks <= cores], [one for one in cases if one.ranks > cores]
    count = "1 core" if cores == 1 else f"{cores} cores"
    return Result(
        summary=_summary(within, count),
        tables=(errors_table(within, crowded), *(times_table(cases, algorithm) for algorithm in ALGORITHMS)),
        figures=tuple(
            figure([one for one in cases if (one.algorithm, one.ranks) == group], *group, cores)
            for group in dict.fromkeys((one.algorithm, one.ranks) for one in cases)
        ),
        claims=claims(within),
        differences=differences(machine, crowded),
        notes=(
            f"{count}: "
            + (f"only P ≤ {cores} has a core for each rank" if within else "no broadcast had a core for each rank")
            + ", and P = 2 is one message for both algorithms. More ranks share cores: their times hold the "
            "scheduler's time slices, which neither model covers.",
            "Predicted before anything was run, from the calibration of this machine alone "
            "(runs/calibration/samples.jsonl), with the shortest time of each point; each measured time is the "
            "shortest over launches of the mean broadcast of the same array, as in LOG3P 3.2: the root starts when the "
            "others are in their receives, and stops at the reply of the last receiver, less half of an empty round "
            "trip.",
        ),
    )


def _summary(within: Sequence[Case], count: str) -> str:
    strided = [one for one in within if one.strided]
    if not strided:
        return (
            f"No broadcast of strided data had a core for each rank ({count}), so neither LogGP nor log3P can be "
            "judged here, because ranks wait for each other's time slices."
        )
    better = sum(abs(one.error("log3P")) < abs(one.error("LogGP")) for one in strided)
    mean = {model: mean_error(strided, model) for model in MODELS}
    return (
        f"Strided data between ranks that have a core each: LogGP is off by {mean['LogGP']:.0f} % in the mean, "
        f"log3P by {mean['log3P']:.0f} %; log3P is nearer in {better} of {len(strided)} cases. With more ranks than "
        f"the {count} both are too low, because ranks then wait for each other's turns."
    )


EXPERIMENT = Experiment(
    name="strided-broadcast",
    title="Linear and tree broadcast of strided data: LogGP, log3P and measured on this machine",
    paper="LOG3P",
    where="Fig. 10, 11, section 4.3.3",
    needs=(Need.MPI,),
    run=run,
    order=1,
)
