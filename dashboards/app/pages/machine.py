"""Machine: the values that the split used, with interval and source, and what they say of a message's time."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import html

from logpost.dashboards.app import panels
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import visible
from logpost.dashboards.figures.machine_curves import machine_curves
from logpost.dashboards.report.page import model_error
from logpost.dashboards.report.tables import machine_grids
from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.replay.cost import message_costs
from logpost.replay.parameters import native_parameters

NAME, TITLE = "machine", "Machine"
LARGEST = 24
"""Power of two of the largest message that is drawn: 16 MiB."""


def layout(view: View) -> list[Any]:
    """Which machine and how far it explains the messages; the curves; the values."""
    used = view.manifest.machine
    grids = machine_grids(view.manifest)
    known = any(one.value for one in used.values)
    return [
        panels.section(
            "Machine",
            html.P(
                [
                    html.Span(visible(used.label, 120), className=f"chip {used.origin}"),
                    panels.sentence(model_error(view.report)),
                ]
            ),
            html.Ul([html.Li(panels.sentence(line)) for line in used.notes]) if used.notes else None,
            panels.chart("machine.curves", "Message time over size", height=360),
            about="End to end on an idle network, and, dashed, what of it keeps the two processors busy.",
        ),
        panels.section(
            "Values",
            panels.table(grids["machine"], "Values of the machine")
            if known
            else panels.empty("The trace tells no value of its machine: L, o, g and G are taken as 0."),
        ),
        panels.section("Hosts", panels.table(grids["hosts"], "Hosts")),
    ]


def _curves(view: View) -> Chart:
    machine = replay_parameters(load_machine(view.opened.run.machine_file))
    parameters = native_parameters(machine)
    used = {value.locality for value in view.manifest.machine.values if value.parameter != "eager_limit"}
    sizes = 2.0 ** np.arange(0, LARGEST + 0.5, 0.5)
    costs = {name: message_costs(parameters, sizes, locality=name) for name in sorted(used)}
    if not any((np.nan_to_num(np.asarray(one.total, dtype=np.float64)) > 0).any() for one in costs.values()):
        raise InputError("nothing is known of what a message takes on this machine; analyze with --machine FILE")
    return machine_curves(sizes, costs)


CHARTS = {"machine.curves": _curves}
