"""Machine: the values that the split used, with interval and source, and what they say of a message's time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Any

import numpy as np
from dash import html

from logpost.analyzer.words.units import sentence_text
from logpost.dashboards.app import panels
from logpost.dashboards.app.machine_bounds import time_bands
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import machine_surfaces
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import visible
from logpost.dashboards.figures.machine_curves import machine_curves
from logpost.dashboards.report.page import model_error
from logpost.dashboards.report.tables import machine_grids
from logpost.errors import InputError
from logpost.machines import Machine, load_machine, replay_parameters
from logpost.replay.cost.message import message_costs
from logpost.replay.cost.parameters import native_parameters

NAME, TITLE = "machine", "Machine"
LARGEST = 24
"""Power of two of the largest message that is drawn: 16 MiB."""


@dataclass(frozen=True)
class Table:
    """A table of the machine's file that has a separate chart."""

    name: str
    title: str
    about: str
    stated: Callable[[Machine], bool]
    """Whether the file has points of it."""
    make: Callable[[Machine], Chart]

    def chart(self, view: View) -> Chart:
        """Of the machine of the run.

        Raises:
            InputError: its file has no such table.
        """
        machine = load_machine(view.opened.run.machine_file)
        if not self.stated(machine) or machine.lacks_clock:
            raise InputError("the machine's file has no such table, or has it in cycles without a clock")
        return self.make(machine)


TABLES = (
    Table(
        "machine.bursts",
        "Overhead over message size and burst: o(S, b)",
        "What the processor spends on starting one of b messages of S bytes that are sent one after the other "
        "(Iancu & Strohmaier).",
        lambda machine: bool(machine.overlap.o),
        machine_surfaces.burst_surface,
    ),
    Table(
        "machine.gaps",
        "Time per byte over message size: G(P, S, pattern)",
        "Of a pair, while P processors communicate in a pattern (Iancu & Strohmaier).",
        lambda machine: bool(machine.overlap.G),
        machine_surfaces.gap_curves,
    ),
    Table(
        "machine.strides",
        "Middleware latency over message size and stride: l_mw(s, d)",
        "What the middleware adds at both ends for data whose blocks are d bytes apart (log3P).",
        lambda machine: any(point.l_mw is not None and not point.alone for point in machine.log3p.point),
        machine_surfaces.stride_surface,
    ),
    Table(
        "machine.contiguous",
        "Middleware, network and memory over message size: o_mw, o_net, T_mem",
        "Of contiguous data (log3P): the middleware's time at both ends, the network's transfer, and a copy in memory.",
        lambda machine: any(point.o_mw or point.o_net or point.T_mem for point in machine.log3p.point),
        machine_surfaces.contiguous_curves,
    ),
)


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
            html.Ul([html.Li(panels.sentence(sentence_text(line))) for line in used.notes]) if used.notes else None,
        ),
        panels.section(
            "Message time over size",
            panels.chart("machine.curves", "Message time over size", height=360),
            about="End to end on an idle network, in the intervals of the values; marks: sizes for which the machine "
            "has separate values; dashed: what of it keeps the two processors busy.",
        ),
        panels.section(
            "Values",
            panels.table(grids["machine"], "Values of the machine")
            if known
            else panels.empty("The trace contains no value of its machine: L, o, g and G are taken as 0."),
        ),
        *_tables(view),
        panels.section("Hosts", panels.table(grids["hosts"], "Hosts")),
    ]


def _tables(view: View) -> list[html.Section]:
    """What the machine's file measures over two settings; nothing where it measures none."""
    try:
        machine = load_machine(view.opened.run.machine_file)
    except InputError:
        return []  # the chart above says why
    stated = [one for one in TABLES if one.stated(machine)]
    if stated and machine.lacks_clock:
        return [panels.section("Tables", panels.empty("The tables are in cycles, and the file states no clock."))]
    sections = []
    for one in stated:
        made = one.make(machine)
        views = [view.label for view in made.views]
        sections.append(
            panels.section(
                one.title,
                panels.chart(one.name, one.title, views, height=made.figure.layout.height),
                # A summary is made for plotly, where names are escaped; here React escapes it.
                panels.note(unescape(made.summary)),
                about=one.about,
            )
        )
    return sections


def _curves(view: View) -> Chart:
    machine = replay_parameters(load_machine(view.opened.run.machine_file))
    parameters = native_parameters(machine)
    used = {value.locality for value in view.manifest.machine.values if value.parameter != "eager_limit"}
    sizes = 2.0 ** np.arange(0, LARGEST + 0.5, 0.5)
    costs = {name: message_costs(parameters, sizes, locality=name) for name in sorted(used)}
    if not any((np.nan_to_num(np.asarray(one.total, dtype=np.float64)) > 0).any() for one in costs.values()):
        raise InputError("the cost of a message on this machine is unknown; analyze with --machine FILE")
    stated = {}
    for name in costs:
        own = {one.up_to_bytes for one in view.manifest.machine.values if one.locality == name and one.up_to_bytes}
        at = np.array(sorted(size for size in own if size <= sizes[-1]), dtype=np.float64)
        stated[name] = (at, message_costs(parameters, at, locality=name))
    return machine_curves(sizes, costs, time_bands(machine, view.manifest.machine.values, sizes), stated)


CHARTS = {"machine.curves": _curves, **{one.name: one.chart for one in TABLES}}
