"""What-if on several machines: the run's length on each of them, next to the measured length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import Input, dcc, html

from logpost.analyzer.predict.whatif import Ask, Prediction, Replay
from logpost.dashboards.app import panels
from logpost.dashboards.app.jobs import Report as Progress
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import prediction
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import visible
from logpost.errors import InputError
from logpost.machines import load_machine

MOST = 8
"""Machines compared: each costs a replay, and more bars have no room next to each other."""


def section(view: View) -> html.Section:
    """The choice of machines, and a bar for each."""
    chosen = _chosen(view)
    # One that is named stays, so that the answer says what it lacks.
    known = [*view.runs.replaying, *(name for name in chosen if name not in view.runs.replaying)]
    return panels.section(
        "Machines side by side",
        dcc.Dropdown(
            id="machines",
            options=known,
            value=chosen,
            multi=True,
            placeholder=f"Machines to compare, up to {MOST}",
        ),
        panels.chart("whatif.machines", "The critical path on each machine", height=120, spoken=True)
        if chosen
        else None,
        *panels.notes(*(_source(view, name) for name in chosen)),
        about="The same program with the values of other machines, on top of what is set above. Machines whose files "
        "state too little for a replay are not offered.",
    )


def machines_chart(view: View, replay: Replay, ask: Ask) -> Chart:
    """The critical path on each chosen machine.

    Raises:
        InputError: a name is no machine, or the run can be replayed on none of them.
    """
    names = _chosen(view)
    questions = [replace(ask, machine=view.runs.machine(name)) for name in names]

    def work(report: Progress) -> tuple[dict[str, Prediction], dict[str, str]]:
        found, failed = {}, {}
        for number, (name, one) in enumerate(zip(names, questions, strict=True)):
            report(f"replaying on {name}", number, len(questions))
            try:
                found[name] = replay.predict(one)
            except InputError as error:
                # Another machine may still state what this one leaves out.
                failed[name] = str(error)
        return found, failed

    found, failed = view.in_background(("machines", tuple(questions)), work)
    first = next(iter(failed.values()), "")
    if not found:
        raise InputError(first)
    made = prediction.on_machines(found, undivided=view.manifest.machine.undivided)
    return replace(made, summary=f"{made.summary} Not on {', '.join(failed)}: {first}.") if failed else made


def _source(view: View, name: str) -> str:
    """Where a machine's values come from; empty for a file that cannot be read: the chart says why."""
    try:
        machine = load_machine(view.runs.machine(name))
    except InputError:
        return ""
    sources = "; ".join(source.text for source in machine.sources.values())
    return f"{visible(name, 80)}: {visible(machine.title, 120)}, {machine.date}. Source: {visible(sources, 300)}"


def _chosen(view: View) -> list[str]:
    return list(dict.fromkeys(filter(None, view.state.more.get("machines", "").split(","))))[:MOST]


FIELDS = {"machines": Input("machines", "value")}
"""What changes the URL."""


def query(machines: Any) -> dict[str, str]:
    """The URL's query for the values of `FIELDS`."""
    return {"machines": ",".join((machines or [])[:MOST])}
