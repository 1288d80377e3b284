"""Predicted over measured times, and their table of errors with verdicts."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.benchmarks.calibration.predictions import COLUMNS, LOG3P, least, of_pass, predictions
from tests.benchmarks.calibration.truth import CONTIGUOUS, Case, Truth

from logpost.errors import InputError
from logpost.machines.calibration.samples import Samples

MESSAGES_BAR, BROADCASTS_BAR = 0.05, 0.06
SAME_STATE = 0.05
"""Most that the references may differ on average between a calibration's pass and a launch that is compared with it."""

Ratios: TypeAlias = "dict[Case, list[float | None]]"
"""Predicted over measured time of each column, None where the machine file lacks a value."""


@dataclass
class ByPass:
    """Medians over the passes that are compared, and how many that are."""

    ratios: Ratios
    compared: int = 0
    left_out: int = 0
    why: list[str] = field(default_factory=list)


def as_filed(samples: Samples, truth: Truth) -> Ratios:
    """The machine file of all passes against the median of all launches."""
    measured = {case: statistics.median(t.median_s for t in times.values()) for case, times in truth.cases.items()}
    return _ratios(samples, measured)


def of_least(samples: Samples, truth: Truth) -> Ratios:
    """The machine file of shortest times against the shortest time of all launches."""
    return _ratios(
        least(samples), {case: min(t.least_s for t in times.values()) for case, times in truth.cases.items()}
    )


def pass_by_pass(samples: Samples, truth: Truth) -> ByPass:
    """The machine file of each pass against the launches right after it, where the references say the same."""
    columns: dict[Case, list[list[float]]] = {case: [[] for _ in COLUMNS] for case in truth.cases}
    found = ByPass({})
    for number in sorted({number for times in truth.cases.values() for number in times}):
        alone = of_pass(samples, number)
        try:
            predict, known = predictions(alone), _reference_times(alone)
        except InputError as error:  # one pass alone, on a machine that others use, may make no sense
            found.why.append(f"pass {number + 1} is left out: {error}")
            continue
        for case, times in truth.cases.items():
            if number not in times:
                continue
            if _drift(known, truth.references[case][number]) > SAME_STATE:
                found.left_out += 1
                continue
            found.compared += 1
            for ratios, one in zip(columns[case], predict, strict=True):
                predicted = one(case)
                if predicted is not None:
                    ratios.append(predicted / times[number].median_s)
    found.ratios = {case: [statistics.median(r) if r else None for r in rows] for case, rows in columns.items()}
    return found


def judge(samples: Samples, truth: Truth, processors: int) -> int:
    """Print all blocks; how many bars are missed. Broadcasts over more ranks than processors are shown, not judged."""
    reached = [p.time.reached for p in samples.points]
    launches = max(len(p.time.rounds_s) for p in samples.points)
    print(f"{samples.host.mpi_library.split(',')[0]}: {len(reached)} points in {launches} launches,", end=" ")
    print(f"{sum(reached) / len(reached):.0%} within ±5 % at 95 %")
    if not any(again for times in truth.references.values() for again in times.values()):
        # Simulated time: medians of all launches are the shortest times, and the same in every pass.
        return _block("medians", as_filed(samples, truth), processors, judged=True)
    missed = _block("least times", of_least(samples, truth), processors, judged=True)
    found = pass_by_pass(samples, truth)
    missed += _block("medians, pass by pass", found.ratios, processors, judged=True)
    print(f"  {found.compared} times compared; {found.left_out} left out, because the machine had another speed then")
    for line in found.why:
        print(f"  {line}")
    _block("medians, as filed", as_filed(samples, truth), processors, judged=False)
    return missed


def _ratios(samples: Samples, measured: dict[Case, float]) -> Ratios:
    predict = predictions(samples)
    return {
        case: [None if p is None else p / time for p in (one(case) for one in predict)]
        for case, time in measured.items()
    }


def _reference_times(samples: Samples) -> dict[tuple[int, int], float]:
    """Half round trips by (size, stride), as the calibration measured them, in seconds."""
    times: dict[tuple[int, int], float] = {}
    for p in samples.of("layout", transfer="remote"):
        if p["form"] == ("contiguous" if p["stride_bytes"] == CONTIGUOUS else "datatype"):
            times[p.bytes, int(p["stride_bytes"])] = p.time.median_s
    return times


def _drift(known: Mapping[tuple[int, int], float], again: Mapping[tuple[int, int], Sequence[float]]) -> float:
    """Mean relative change of the references since the calibration; 0 without references (simulated time)."""
    changes = [abs(statistics.mean(times) / known[key] - 1.0) for key, times in again.items() if key in known]
    return statistics.mean(changes) if changes else 0.0


def _shown(errors: Sequence[float]) -> str:
    if not errors:
        return f"{'no prediction':>24}"
    return f"{statistics.mean(errors):7.1%} {statistics.median(errors):7.1%} {max(errors):8.1%}"


def _row(title: str, ratios: Ratios, wanted: Callable[[Case], bool], bar: float | None) -> bool:
    """Print a line of errors; whether the bar is missed."""
    cases = [case for case in ratios if wanted(case)]
    if not cases:
        return False
    columns = [[abs(r - 1.0) for case in cases if (r := ratios[case][i]) is not None] for i in range(len(COLUMNS))]
    missed = bar is not None and (not columns[LOG3P] or statistics.mean(columns[LOG3P]) > bar)
    verdict = "" if bar is None else "MISSED" if missed else "ok"
    print(f"{title:42} {len(cases):3}  " + "  ".join(map(_shown, columns)) + f"   {verdict}")
    return missed


def _block(title: str, ratios: Ratios, processors: int, *, judged: bool) -> int:
    """Print all lines of one kind of comparison; how many bars are missed."""
    print(f"{title + ': mean, median, largest error':46}  " + "  ".join(name.rjust(24) for name in COLUMNS))
    missed = int(_row("messages, contiguous", ratios, lambda c: c.kind == "ping" and c.stride == CONTIGUOUS, None))
    bar = MESSAGES_BAR if judged else None
    missed += _row("messages, strided", ratios, lambda c: c.kind == "ping" and c.stride > CONTIGUOUS, bar)
    for kind, ranks in sorted({(c.kind, c.ranks) for c in ratios if c.kind != "ping"}):
        bar = BROADCASTS_BAR if judged and ranks <= processors else None
        more = "" if ranks <= processors else f" on {processors} processors"
        missed += _broadcasts(f"{kind} broadcast, {ranks} ranks{more}", ratios, (kind, ranks), bar)
    return missed


def _broadcasts(title: str, ratios: Ratios, which: tuple[str, int], bar: float | None) -> bool:
    return _row(title, ratios, lambda c: (c.kind, c.ranks) == which, bar)
