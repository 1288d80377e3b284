"""The extract of a run for questions, from its tables."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.predict.whatif.any_source import choice_notes, open_choices
from logpost.analyzer.predict.whatif.bounds import only_bounded
from logpost.analyzer.predict.whatif.elsewhere import Ranks, recorded_seats
from logpost.analyzer.predict.whatif.extract import Extract
from logpost.analyzer.predict.whatif.scaling import regions
from logpost.analyzer.run.directory import Run
from logpost.machines import load_machine, replay_parameters
from logpost.replay.cost.message_models import MessageModel


def extract_of(run: Run) -> Extract:
    """Read it.

    Raises:
        InputError: the run's machine file is none.
    """
    used = run.manifest.machine
    machine = load_machine(run.machine_file)
    choices = open_choices(run)
    return Extract(
        label=used.label,
        machine=replay_parameters(machine),
        asynchronous_progress=used.asynchronous_progress,
        library=used.stated_of_library,
        bounded=only_bounded(used.values),
        notes=_notes(run),
        choices=choice_notes(run, choices),
        tick_ps=1e12 / run.manifest.clock.ticks_per_second,
        communicates=run.facts("locations").select(pl.col("accounted").any()).collect().item(),
        locations=_rows(run, "locations"),
        callpaths=_rows(run, "callpaths"),
        calls=_rows(run, "calls"),
        messages=_rows(run, "messages"),
        open_receives=choices.height,
        regions=regions(run)["region"].to_list(),
        has_topology=machine.topology is not None,
        seats=recorded_seats(Ranks.of(run), machine),
    )


def _rows(run: Run, table: str) -> int:
    rows = run.facts(table).select(pl.len()).collect().item()
    assert isinstance(rows, int)
    return rows


def _notes(run: Run) -> list[str]:
    notes, used = [], run.manifest.machine
    if used.model is not MessageModel.full:
        notes.append(
            f"the run's messages are split under {used.model.label}; the replay takes all values of the machine"
        )
    if run.manifest.region_of_interest is not None:
        notes.append("the run's region of interest is not replayed alone: all lengths are of the whole program")
    if used.origin == "estimated" and not any(one.value for one in used.values):
        notes.append(
            "the trace identifies nothing of its machine, which is taken with L = o = g = G = 0: factors of these "
            "change nothing, and other values are added to what they replace; analyze it with --machine"
        )
    one_sided = run.facts("regions").filter(pl.col("kind") == "one_sided").collect()["region"].to_list()
    if one_sided and run.facts("calls").select(pl.col("region").is_in(one_sided).any()).collect().item():
        notes.append(
            "one-sided transfers: the order of a lock's holders, and the call of a target that serves each "
            "transfer, stay as recorded"
        )
    return notes
