"""What is asked of a run, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from logpost.analyzer.model_fits import fit_of
from logpost.analyzer.resplit import Resplit
from logpost.analyzer.run import Run
from logpost.analyzer.run_program import program_of
from logpost.analyzer.whatif.scaling import regions, scaled
from logpost.analyzer.whatif.sweep import Sweep, sweep
from logpost.analyzer.whatif.uncertainty import interval_ps
from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.replay.message_models import MessageModel
from logpost.replay.whatif import Engine, Outcome, Scenario, changed, on_machine


@dataclass(frozen=True)
class Ask:
    """Settings as on the command line; empty: nothing changes."""

    settings: tuple[str, ...] = ()
    machine: str | Path | None = None
    scale_compute: tuple[str, ...] = ()
    sweep: str | None = None


@dataclass(frozen=True)
class RegionChange:
    """A place in the code: time in its communication and in the computation before it, over all locations."""

    region: str
    before_ps: int
    after_ps: int

    @property
    def gain_ps(self) -> int:
        """What it takes less."""
        return self.before_ps - self.after_ps


@dataclass(frozen=True)
class Prediction:
    """What a run would have taken."""

    settings: list[str]
    machine: str
    measured_ps: int
    """from the earliest to the latest event of the locations that are followed, as the replay without change has it"""
    predicted_ps: int
    interval_ps: tuple[int, int]
    before: Outcome
    after: Outcome
    regions: list[RegionChange]
    """largest gain first"""
    messages: int
    sweep: Sweep | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def speed_up(self) -> float:
        """measured / predicted"""
        return self.measured_ps / self.predicted_ps if self.predicted_ps else 1.0


class Replay:
    """A run's program, rebuilt once, for as many questions as somebody has."""

    def __init__(self, run: Run) -> None:
        """Rebuild it.

        Raises:
            InputError: the trace cannot be replayed.
        """
        self.run = run
        used = run.manifest.machine
        self.recorded = Scenario(replay_parameters(load_machine(run.machine_file)), used.asynchronous_progress)
        if not run.facts("locations").select(pl.col("accounted").any()).collect().item():
            raise InputError(f"{run.path}: no location communicates: there is nothing to replay")
        locations = run.facts("locations").select(pl.len()).collect().item()
        callpaths = run.facts("callpaths").select(pl.len()).collect().item()
        self.engine = Engine(program_of(run), self.recorded, locations=locations, callpaths=callpaths)
        self.before = self.engine.replay([self.recorded])[0]
        self.deficit_share = _deficit_share(run)

    def predict(self, ask: Ask) -> Prediction:
        """What the run would have taken under other conditions.

        Raises:
            InputError: a setting, machine, region or sweep is not understood, or the trace cannot be replayed.
        """
        return _predict(self, ask)


def predict(run: Run, ask: Ask) -> Prediction:
    """The same of a run that is asked once."""
    return Replay(run).predict(ask)


def _predict(replay: Replay, ask: Ask) -> Prediction:
    run, recorded, engine, before = replay.run, replay.recorded, replay.engine, replay.before
    used, deficit_share = run.manifest.machine, replay.deficit_share
    scenario = recorded
    if ask.machine is not None:
        scenario = on_machine(scenario, replay_parameters(load_machine(ask.machine)))
    scenario = scaled(run, changed(scenario, ask.settings), ask.scale_compute)
    after = engine.replay([scenario])[0]
    return Prediction(
        settings=[
            *([] if ask.machine is None else [f"machine {ask.machine}"]),
            *ask.settings,
            *(f"computation {text}" for text in ask.scale_compute),
        ],
        machine=used.label,
        measured_ps=before.makespan_ps,
        predicted_ps=after.makespan_ps,
        interval_ps=interval_ps(engine, scenario, before, after, deficit_share),
        before=before,
        after=after,
        regions=_regions(run, before, after),
        messages=run.facts("messages").select(pl.len()).collect().item(),
        sweep=None
        if ask.sweep is None
        else sweep(
            engine, scenario, ask.sweep, lambda one, outcome: interval_ps(engine, one, before, outcome, deficit_share)
        ),
        notes=_notes(run, after),
    )


def _deficit_share(run: Run) -> float:
    """Of the split under all of the machine's values, which is what the replay computes with."""
    used = run.manifest.machine
    if used.model is MessageModel.full:
        return used.deficit_share
    found = fit_of(Resplit(run).under(MessageModel.full), MessageModel.full).messages
    return found.deficit_share if found else 0.0


def _regions(run: Run, before: Outcome, after: Outcome) -> list[RegionChange]:
    found = (
        regions(run)
        .with_columns(
            before=pl.Series(before.in_calls_ps + before.between_calls_ps),
            after=pl.Series(after.in_calls_ps + after.between_calls_ps),
        )
        .group_by("region")
        .agg(pl.col("before").sum(), pl.col("after").sum())
        .filter(pl.col("before") > 0)
        .sort(pl.col("before") - pl.col("after"), "region", descending=[True, False])
    )
    return [RegionChange(*row) for row in found.iter_rows()]


def _notes(run: Run, after: Outcome) -> list[str]:
    notes = []
    if (model := run.manifest.machine.model) is not MessageModel.full:
        notes.append(f"the run's messages are split under {model.label}; the replay takes all values of the machine")
    if after.rebuilt:
        notes.append(f"{after.rebuilt} messages change their protocol: what they take is the model's, not the trace's")
    one_sided = run.facts("regions").filter(pl.col("kind") == "one_sided").select("region")
    if run.facts("calls").join(one_sided, on="region", how="semi").select(pl.len()).collect().item():
        notes.append("one-sided calls keep their measured times; only collective synchronization is replayed")
    return notes
