"""A question about a run, and the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from logpost.analyzer.predict.whatif.axis import Axis, parse_axis
from logpost.analyzer.predict.whatif.bounds import Bounded, bounded, bounded_notes, changed_names
from logpost.analyzer.predict.whatif.extract import Extract
from logpost.analyzer.predict.whatif.grid import Grid, grid, parse_grid
from logpost.analyzer.predict.whatif.mapping import Proposal, Seats
from logpost.analyzer.predict.whatif.network_use import NetworkChange, network_change
from logpost.analyzer.predict.whatif.plan import Ask, Plan, Rebuilt
from logpost.analyzer.predict.whatif.sweep import Sweep, sweep
from logpost.analyzer.predict.whatif.uncertainty import Doubts, intervals_ps
from logpost.analyzer.words.units import time_text
from logpost.replay.graph import Engine, Outcome, Scenario
from logpost.replay.graph.changes import is_nothing
from logpost.replay.graph.cost_direction import direction
from logpost.replay.graph.library import LibraryUse

if TYPE_CHECKING:
    from logpost.analyzer.run.directory import Run


@dataclass(frozen=True)
class RegionChange:
    """A place in the code: time in its communication and in the computation before it, over all locations."""

    region: str
    before_ps: int
    after_ps: int

    @property
    def gain_ps(self) -> int:
        """The time saved."""
        return self.before_ps - self.after_ps


@dataclass(frozen=True)
class Prediction:
    """What a run would have taken."""

    settings: list[str]
    machine: str
    measured_ps: int
    """the program of the slowest rank, from the end of start-up to the begin of shut-down, as in the report"""
    predicted_ps: int
    interval_ps: tuple[int, int]
    before: Outcome
    after: Outcome
    regions: list[RegionChange]
    """largest gain first"""
    messages: int
    network: NetworkChange
    seats: Seats | None = None
    """where each rank would be; None: not known"""
    proposal: Proposal | None = None
    """the outcome of --mapping best"""
    sweep: Sweep | None = None
    grid: Grid | None = None
    other_order_ps: int | None = None
    """where messages or requests may take another order: the length in the recorded one where the found one is taken,
    else in the found one"""
    library: tuple[LibraryUse, ...] = ()
    """what its MPI library does where that makes a difference: stated, from the trace, or unknown"""
    bounded: list[Bounded] = field(default_factory=list)
    """values that are changed although nothing measured them"""
    notes: list[str] = field(default_factory=list)
    plan: Plan = field(kw_only=True, repr=False, compare=False)
    """what was replayed, for the writer of the predicted run"""

    @property
    def speed_up(self) -> float:
        """measured / predicted"""
        return self.measured_ps / self.predicted_ps if self.predicted_ps else 1.0


@dataclass(frozen=True)
class Lengths:
    """Of a program, and nothing else of a prediction: no interval, path or network."""

    settings: list[str]
    machine: str
    measured_ps: int
    predicted_ps: int


class Replay:
    """A run's program, rebuilt once, for as many questions as somebody has."""

    def __init__(self, run: Run | Path) -> None:
        """Rebuild it.

        Raises:
            InputError: it is no run, or the trace cannot be replayed.
        """
        self.rebuilt = Rebuilt(run)
        self.doubts = Doubts.of(self.rebuilt.extract)

    def predict(self, ask: Ask) -> Prediction:
        """What the run would have taken under other conditions.

        Raises:
            InputError: a setting, machine, region, sweep or grid is not understood, or the trace cannot be replayed.
        """
        return _predict(self, ask)


def predict(run: Run | Path, ask: Ask) -> Prediction:
    """The same for a single question."""
    return Replay(run).predict(ask)


def lengths(run: Run | Path, ask: Ask) -> Lengths:
    """The program's length as it ran and as it would be, in the time of two replays.

    Raises:
        InputError: as `Replay.predict`.
    """
    plan = Plan(Rebuilt(run), ask)
    engine = plan.engine()
    (measured,) = engine.makespans([plan.recorded])
    (predicted,) = engine.makespans_in_arrival_order([plan.planned])
    return Lengths(_settings(ask), plan.rebuilt.extract.label, measured, predicted)


def _settings(ask: Ask) -> list[str]:
    return [
        *([] if ask.machine is None else [f"machine {ask.machine}"]),
        *ask.settings,
        *(f"computation {text}" for text in ask.scale_compute),
        *([] if ask.mapping is None else [f"mapping {ask.mapping}"]),
    ]


def _predict(replay: Replay, ask: Ask) -> Prediction:
    extract, doubts = replay.rebuilt.extract, replay.doubts
    plan = Plan(replay.rebuilt, ask)
    scenario = plan.planned
    before, after = replay.rebuilt.outcomes(plan.contention, [scenario])
    (engine,) = plan.engine().in_arrival_order([scenario])
    if engine is not plan.engine():
        (after,) = engine.replay([scenario])

    open_values = bounded(extract.bounded, changed_names(ask, (axis.name for axis in _axes(ask))))

    def intervals(used: Engine, some: Sequence[Scenario], outcomes: Sequence[Outcome]) -> list[tuple[int, int]]:
        return intervals_ps(used, some, before, outcomes, doubts)

    return Prediction(
        settings=_settings(ask),
        machine=extract.label,
        measured_ps=before.makespan_ps,
        predicted_ps=after.makespan_ps,
        interval_ps=intervals(engine, [scenario], [after])[0],
        before=before,
        after=after,
        regions=_regions(extract, before, after),
        messages=extract.messages,
        network=network_change(plan, before, after),
        seats=plan.seats(),
        proposal=plan.proposal,
        sweep=None if ask.sweep is None else sweep(plan, ask.sweep, intervals, searching=ask.searching),
        grid=None if ask.grid is None else grid(plan, ask.grid, intervals),
        other_order_ps=engine.kept_ps if engine.reordered else engine.found_ps,
        library=engine.library,
        bounded=open_values,
        notes=[
            *bounded_notes(open_values),
            *(use.sentence() for use in engine.library if use.is_open and plan.ask.changes),
            *_of_rebuilt(after),
            *extract.notes,
            *_of_order(engine, scenario, before, after),
            *extract.choices,
            *_of_nothing(plan),
        ],
        plan=plan,
    )


def _regions(extract: Extract, before: Outcome, after: Outcome) -> list[RegionChange]:
    times: dict[str, tuple[int, int]] = {}
    for region, was, becomes in zip(extract.regions, _by_callpath(before), _by_callpath(after), strict=True):
        all_before, all_after = times.get(region, (0, 0))
        times[region] = all_before + was, all_after + becomes
    found = [RegionChange(region, *one) for region, one in times.items() if one[0] > 0]
    return sorted(found, key=lambda one: (-one.gain_ps, one.region))


def _by_callpath(outcome: Outcome) -> list[int]:
    """Time in the calls of each call path and before them, over all locations; ps."""
    return [inside + before for inside, before in zip(outcome.in_calls_ps, outcome.between_calls_ps, strict=True)]


def _of_rebuilt(after: Outcome) -> list[str]:
    if not after.rebuilt:
        return []
    return [f"{after.rebuilt} messages change their protocol: their times are the model's, not the trace's"]


def _of_order(engine: Engine, scenario: Scenario, before: Outcome, after: Outcome) -> list[str]:
    """Why a prediction depends on an order of messages, and how far the interval reaches for it."""
    cheaper, shorter = ("cheaper", "shorter") if direction(engine.recorded, scenario) > 0 else ("dearer", "longer")
    if engine.kept_ps is not None:
        return [
            "messages or requests take another order there; in the recorded order the program lasts "
            f"{time_text(engine.kept_ps)}, and the interval reaches that length"
        ]
    if engine.found_ps is not None:
        return [
            f"nothing becomes {cheaper}, yet in the order that messages or requests take there the replay is "
            f"{shorter}, {time_text(engine.found_ps)}: the recorded order is kept; the interval reaches towards that"
        ]
    if (after.makespan_ps - before.makespan_ps) * direction(engine.recorded, scenario) < 0:
        return [
            f"nothing becomes {cheaper}, yet the replay is {shorter}: messages that leave at other times meet others "
            "in the network; the interval reaches the measured time"
        ]
    return []


def _of_nothing(plan: Plan) -> list[str]:
    """Factors of what the machine does not state, or states as 0."""
    settings = [*plan.ask.settings, *(axis.setting(2.0) for axis in _axes(plan.ask) if axis.factor)]
    factors = (
        name.strip() for name, _, value in (text.partition("=") for text in settings) if value.strip().startswith("x")
    )
    before = plan.recorded if plan.ask.machine is None else plan.planned
    return [
        f"{name} is 0 on this machine, or not known: a factor of it changes nothing; give a value "
        f"({name}={example}) or a difference ({name}=+{example})"
        for name in dict.fromkeys(factors)
        if is_nothing(before, name)
        for example in ["1ns/B" if name.rpartition(".")[2] == "G" else "1us"]
    ]


def _axes(ask: Ask) -> list[Axis]:
    swept = [] if ask.sweep is None else [parse_axis(ask.sweep, "--sweep")]
    return [*swept, *(() if ask.grid is None else parse_grid(ask.grid))]
