"""LOG3P Fig. 10 and 11: linear and tree broadcast of strided data on this machine, by LogGP, by log3P and measured."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Cell, Claim, Column, Difference, Figure, Number, Origin, Result, Table
from logpost.experiments.support.launches import Program, Spread, cores, run_here
from logpost.experiments.support.this_machine import NAME, SIZES, calibrated, locality, undisturbed

if TYPE_CHECKING:
    from logpost.machines.schema import Machine

CONTIGUOUS = 8
STRIDES = (CONTIGUOUS, 128, 512)
"""Fig. 10: bytes from double to double."""
ALGORITHMS = {"linear": "linear", "tree": "binomial"}
PRINTED = {
    ("linear", "LogGP"): (20.3, 54.0),
    ("linear", "log3P"): (3.0, 11.0),
    ("tree", "LogGP"): (46.0, 72.0),
    ("tree", "log3P"): (6.0, 18.0),
}
"""Mean and largest relative error, per cent (4.3.3)."""
MODELS = ("LogGP", "log3P")


@dataclass(frozen=True)
class Case:
    """One broadcast: predicted and measured, us."""

    algorithm: str
    ranks: int
    size: int
    stride: int
    predicted: dict[str, float]
    measured: Spread

    @property
    def crowded(self) -> bool:
        """Ranks share cores."""
        return self.ranks > cores()

    @property
    def strided(self) -> bool:
        """Its data are not contiguous."""
        return self.stride > CONTIGUOUS

    def error(self, model: str) -> float:
        """Of the prediction, relative to what was measured."""
        return self.predicted[model] / self.measured.least - 1.0


def run(context: Context) -> Result:
    """Calibrate, predict every case before any is run, measure, and compare."""
    machine = undisturbed(calibrated(context)).machine
    cases = _cases(context, machine)
    within, crowded = [one for one in cases if not one.crowded], [one for one in cases if one.crowded]
    strided = [one for one in within if one.strided]
    better = sum(abs(one.error("log3P")) < abs(one.error("LogGP")) for one in strided)
    mean = {model: _mean_error(strided, model) for model in MODELS}
    return Result(
        summary=f"Strided data between ranks that have a core each: LogGP is off by {mean['LogGP']:.0f} % in the mean, "
        f"log3P by {mean['log3P']:.0f} %; log3P is nearer in {better} of {len(strided)} cases. With more ranks than "
        f"the {cores()} cores both are too low, because ranks then wait for each other's turns.",
        tables=(_errors_table(within, crowded), *(_table(cases, algorithm) for algorithm in ALGORITHMS)),
        figures=tuple(
            _figure([one for one in cases if (one.algorithm, one.ranks) == group], *group)
            for group in dict.fromkeys((one.algorithm, one.ranks) for one in cases)
        ),
        claims=_claims(within, crowded),
        differences=_differences(machine, crowded),
        notes=(
            f"{cores()} cores: only P ≤ {cores()} has a core for each rank, and P = 2 is one message for both "
            "algorithms. More ranks share cores: their times hold the scheduler's turns, which neither model knows.",
            "Predicted before anything was run, from the calibration of this machine alone "
            "(runs/calibration/samples.jsonl), with the least time of each point; each measured time is the "
            "least over launches of the mean broadcast, as in LOG3P 4.1, counted after a barrier until the last "
            "receiver has its data.",
        ),
    )


def _cases(context: Context, machine: Machine) -> list[Case]:
    """Every algorithm, number of ranks, size and stride."""
    planned = [
        (algorithm, ranks, size, stride)
        for algorithm in ALGORITHMS
        for ranks in context.size((2, 4, 8), (2, 4))
        for size in context.size(SIZES, (1024, 16384))
        for stride in context.size(STRIDES, (CONTIGUOUS, 512))
        # With two ranks both algorithms are one message.
        if algorithm == "linear" or ranks > 2
    ]
    predictions = [_predicted(machine, *case) for case in planned]
    repeat = str(context.size(150, 50))
    programs = [
        Program(
            "broadcast",
            ("--algorithm", ALGORITHMS[name], "--bytes", str(size), "--stride", str(stride), "--repeat", repeat),
            ranks,
        )
        for name, ranks, size, stride in planned
    ]
    # Where ranks share cores more launches tell nothing more.
    alone = [one for one in programs if one.ranks <= cores()]
    crowded = [one for one in programs if one.ranks > cores()]
    runs = run_here(context, "broadcasts, a core for each rank", alone, context.size(6, 3))
    runs += run_here(context, "broadcasts, more ranks than cores", crowded, 1)
    found = dict(zip([*alone, *crowded], runs, strict=True))
    return [
        Case(*case, predicted, found[program]["mean_us"])
        for case, predicted, program in zip(planned, predictions, programs, strict=True)
    ]


def _predicted(machine: Machine, algorithm: str, ranks: int, size: int, stride: int) -> dict[str, float]:
    """us. LogGP knows no strides; contiguous data has stride 0 in log3P's tables."""
    from logpost.replay.models import broadcast
    from logpost.replay.models.machine_values import machine_values

    found = {}
    for name, model in (("LogGP", broadcast.LOGGP), ("log3P", broadcast.LOG3P)):
        asked = {"P": float(ranks), "B": float(size), "stride": 0.0 if stride == CONTIGUOUS else float(stride)}
        values = {**asked, **machine_values(model, machine, asked, locality=locality(machine))}
        seconds = {
            p.name: values[p.name] * (1e-12 if p.kind in ("time", "time_per_byte") else 1.0)
            for p in model.parameters
            if p.name in values
        }
        found[name] = float(np.asarray(model.evaluate({"g": 0.0, "l_mw": 0.0, **seconds})[algorithm])) * 1e6
    return found


def _mean_error(cases: Sequence[Case], model: str) -> float:
    return 100.0 * statistics.fmean(abs(case.error(model)) for case in cases)


def _errors_table(within: Sequence[Case], crowded: Sequence[Case]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for algorithm in ALGORITHMS:
        for model in MODELS:
            mean, largest = PRINTED[algorithm, model]
            here: list[Cell] = []
            for chosen in (within, [one for one in crowded if one.algorithm == algorithm]):
                errors = [100.0 * abs(c.error(model)) for c in chosen]
                here += [
                    Number(statistics.fmean(errors), "%") if errors else None,
                    Number(max(errors), "%") if errors else None,
                ]
            rows.append((f"{algorithm}, {model}", Number(mean, "%"), Number(largest, "%"), *here))
    return Table(
        "Errors of prediction",
        (
            Column("broadcast and model", Origin.SETTING),
            Column("printed mean", Origin.PAPER),
            Column("printed largest", Origin.PAPER),
            Column("here, a core for each rank: mean", Origin.DERIVED),
            Column("largest", Origin.DERIVED),
            Column("here, more ranks than cores: mean", Origin.DERIVED),
            Column("largest there", Origin.DERIVED),
        ),
        tuple(rows),
        note="|predicted / measured − 1|. With two ranks linear and tree are the same single message.",
    )


def _table(cases: Sequence[Case], algorithm: str) -> Table:
    return Table(
        f"{'Fig. 10' if algorithm == 'linear' else 'Fig. 11'}: {algorithm} broadcast",
        (
            Column("ranks, size, stride", Origin.SETTING),
            Column("LogGP", Origin.FORMULA, NAME),
            Column("log3P", Origin.FORMULA, NAME),
            Column("measured", Origin.MEASURED),
            Column("median of launches", Origin.DERIVED),
        ),
        tuple(
            (
                f"P = {c.ranks}, {c.size // 1024} KB, {c.stride} B",
                Number(c.predicted["LogGP"], "us"),
                Number(c.predicted["log3P"], "us"),
                Number(c.measured.least, "us"),
                Number(c.measured.median, "us"),
            )
            for c in cases
            if c.algorithm == algorithm
        ),
        reference="measured",
    )


def _figure(shown: Sequence[Case], algorithm: str, ranks: int) -> Figure:
    from logpost.experiments.support.grouped_bars import Bars, grouped

    name = "One message (linear = tree)" if ranks == 2 else f"{algorithm.capitalize()} broadcast"
    beyond = f", on {cores()} cores" if ranks > cores() else ""
    chart = grouped(
        [f"{c.size // 1024} KB" for c in shown],
        [f"{c.stride} B" for c in shown],
        [
            Bars("LogGP", [c.predicted["LogGP"] for c in shown], 0),
            Bars("measured", [c.measured.least for c in shown], 6),
            Bars("log3P", [c.predicted["log3P"] for c in shown], 1),
        ],
        "time (us)",
        f"{name}, {ranks} ranks{beyond}: LogGP is the same for every stride; measured, "
        f"{shown[-1].size // 1024} KB take {shown[-1].measured.least:.3g} us at a stride of {shown[-1].stride} B.",
        log=True,
    )
    number = "Fig. 10" if algorithm == "linear" else "Fig. 11"
    return Figure(f"{number}: {name}, {ranks} ranks{beyond}", chart, "Stride below the bars, message size below that.")


def _claims(within: Sequence[Case], crowded: Sequence[Case]) -> tuple[Claim, ...]:
    strided = [one for one in within if one.strided]
    contiguous = [one for one in within if not one.strided]
    mean = {model: _mean_error(strided, model) for model in MODELS}
    by_stride = {
        stride: _mean_error([c for c in within if c.stride == stride], "LogGP") for stride in {c.stride for c in within}
    }
    widest, least = max(by_stride), min(by_stride)
    claims = [
        Claim(
            "log3P predicts strided broadcasts better than LogGP (a core for each rank)",
            "3 % against 20.3 % (linear), 6 % against 46 % (tree)",
            f"{mean['log3P']:.0f} % against {mean['LogGP']:.0f} %",
            mean["log3P"] < mean["LogGP"],
        ),
        Claim(
            "LogGP's error grows with the stride",
            "accurate for small strides, 54 % and more for 512 B",
            f"{by_stride[least]:.0f} % at {least} B, {by_stride[widest]:.0f} % at {widest} B",
            by_stride[widest] > by_stride[least],
        ),
        Claim(
            "LogGP underestimates strided data",
            "middleware latency is not in it",
            f"too low in {sum(c.error('LogGP') < 0 for c in strided)} of {len(strided)} cases",
            all(c.error("LogGP") < 0 for c in strided),
        ),
        Claim(
            "log3P's error is a few per cent",
            "3 % mean, 11 % largest (linear)",
            f"{_mean_error(within, 'log3P'):.0f} % mean, contiguous {_mean_error(contiguous, 'log3P'):.0f} %",
            _mean_error(within, "log3P") < 11.0,
        ),
    ]
    if strided_crowd := [one for one in crowded if one.strided]:
        mean = {model: _mean_error(strided_crowd, model) for model in MODELS}
        claims.append(
            Claim(
                "The same with more ranks than cores",
                "–",
                f"{mean['log3P']:.0f} % against {mean['LogGP']:.0f} %",
                mean["log3P"] < mean["LogGP"],
            )
        )
    return tuple(claims)


def _differences(machine: Machine, crowded: Sequence[Case]) -> tuple[Difference, ...]:
    limit = machine.loggp.eager_limit(locality(machine))
    said = "" if limit is None else f" Sends above {limit.number():,.0f} B wait for their receive here."
    found = [
        Difference(
            "log3P's errors here are larger than the paper's.",
            "messages of a microsecond through shared memory instead of a hundred over Myrinet: the barrier that "
            "starts a round, cold caches (the program fills the array before each broadcast, the calibration sends the "
            "same one again and again) and neighbours on a shared machine are a larger part of them." + said,
        ),
        Difference(
            "log3P splits o_mw and l_mw evenly between sender and receiver.",
            "through shared memory a sender that packs fragments and a receiver that unpacks them can work at the same "
            "time, which half round trips contain and a message to oneself does not.",
        ),
    ]
    if crowded:
        factor = statistics.median(one.predicted["LogGP"] / one.measured.least for one in crowded)
        found.append(
            Difference(
                f"With more ranks than cores LogGP predicts {100 * factor:.0f} % of what is measured (median).",
                "the paper had a processor for each rank. Here ranks take turns on a core; each turn costs more than a "
                "message.",
            )
        )
    return tuple(found)


EXPERIMENT = Experiment(
    name="strided-broadcast",
    title="Linear and tree broadcast of strided data: LogGP, log3P and measured on this machine",
    paper="LOG3P",
    where="Fig. 10, 11, section 4.3.3",
    needs=(Need.MPI,),
    run=run,
    order=1,
)
