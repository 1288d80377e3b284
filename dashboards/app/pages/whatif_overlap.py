"""What-if of overlap: in which messages and bursts to send some bytes while computing on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from dash import Input, dcc, html

from logpost.analyzer.words.units import bytes_text, time_text
from logpost.dashboards.app import panels
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import plotly_text
from logpost.dashboards.figures.overlap_map import Overlapped, overlap_map
from logpost.errors import InputError
from logpost.machines import LOCALITIES, load_machine, replay_parameters
from logpost.replay._native import Parameters
from logpost.replay.cost.message import message_costs
from logpost.replay.cost.parameters import native_parameters
from logpost.replay.models.interface import Parameter
from logpost.replay.models.overlap_search import BURSTS
from logpost.replay.models.registry import model
from logpost.replay.predict.machine_values import machine_values
from logpost.replay.predict.quantities import parse_value

MOST_MESSAGES = 8192
"""As in the paper's search."""
SMALLEST = 8.0
"""Bytes of a number: no program sends parts of one. Of fewer bytes there is one message."""
LARGEST = 2.0**40
"""Bytes; more is a slip of the keyboard."""


def section(view: View) -> html.Section:
    """How many bytes and how much computation, and the map."""
    more = view.state.more

    def field(name: str, label: str, hint: str) -> list[Any]:
        return [
            html.Label(label, htmlFor=f"overlap-{name}"),
            dcc.Input(id=f"overlap-{name}", type="text", value=more.get(name, ""), debounce=True, placeholder=hint,
                      style={"width": "200px"}),
        ]  # fmt: skip

    return panels.section(
        "Overlap: message size and burst length",
        html.Div(
            [
                *field("volume", "bytes to move", "the largest message"),
                *field("compute", "computation on them", "as long as the message"),
            ],
            className="fields",
        ),
        panels.chart("whatif.overlap", "Predicted time by message size and burst length", height=330, spoken=True),
        about="The bytes are cut into messages of S, sent in bursts of b while others are computed on (Iancu & "
        "Strohmaier). On the run's machine, or on the one that is named above; a star marks the best.",
    )


def _overlap(view: View) -> Chart:
    more, overlap = view.state.more, model("overlap")
    parameters = {one.name: one for one in overlap.parameters}
    name = more.get("machine", "").strip()
    machine = load_machine(view.runs.machine(name) if name else view.opened.run.machine_file)
    volume = more.get("volume", "").strip()
    V = _number(parameters["V"], volume) if volume else _largest(view)
    if not 1 <= V <= LARGEST:
        raise InputError(f"{bytes_text(V)} to move: give 1 B to {bytes_text(LARGEST)}")
    costs = native_parameters(replay_parameters(machine))
    locality, whole_ps = _farthest(costs, V, LOCALITIES if name else _used(view))
    compute = more.get("compute", "").strip()
    t_V = _number(parameters["t_V"], compute) if compute else whole_ps
    powers = reversed(range(MOST_MESSAGES.bit_length()))
    sizes = [V / 2**power for power in powers if not power or V / 2**power >= SMALLEST]
    S, b = (grid.ravel() for grid in np.meshgrid(sizes, np.array(BURSTS, dtype=np.float64)))
    possible = b <= V / S
    given = {"V": V, "t_V": t_V, "S": S[possible], "b": b[possible]}
    offered = machine_values(overlap, machine, given, locality=locality)
    if not np.all(np.asarray(offered.get("G_V", offered.get("G", 0.0))) > 0):
        raise InputError("the machine states no time per byte (G), which this model needs: name another machine above")
    found = overlap.predict(**given, **{key: value for key, value in offered.items() if key in parameters})

    def laid(values: Any, empty: Any) -> np.ndarray:
        grid = np.full(possible.shape, empty)
        grid[possible] = np.broadcast_to(values, given["S"].shape)
        return grid.reshape(len(BURSTS), len(sizes))

    times = laid(found["T"], np.nan)
    if np.isnan(times).all():
        raise InputError(f"no decomposition of {bytes_text(V)} fits into the queue of this machine's network interface")
    hides = [np.asarray(found[name], dtype=bool) for name in ("hides_initiation", "hides_burst")]
    hidden = laid(hides[0] & hides[1], False)
    one_message = np.broadcast_to(found["T_blocking"], given["S"].shape)[given["S"] == V]
    made = overlap_map(Overlapped(sizes, BURSTS, times, hidden, float(one_message[0])))
    where = f"{locality.replace('_', ' ')} of {plotly_text(machine.name)}"
    what = f"{bytes_text(V)} with {time_text(t_V)} of computation, {where}. "
    return replace(made, summary=what + made.summary)


def _number(parameter: Parameter, text: str) -> float:
    """What a field says, in bytes or picoseconds.

    Raises:
        InputError: it is no size or no time.
    """
    found = parse_value(parameter, text[:40], time_unit="ps", clock_hz=None)
    assert isinstance(found, float)
    return found


def _largest(view: View) -> float:
    """Bytes of the largest message or transfer of the selection.

    Raises:
        InputError: there is none.
    """
    tables = (view.scoped.messages(), view.scoped.transfers())
    found = max(table.select(pl.col("bytes").max()).collect().item() or 0 for table in tables)
    if not found:
        raise InputError("no message or transfer in the selection: say how many bytes are to be moved")
    return float(found)


def _used(view: View) -> list[str]:
    """Classes of locality that the run's messages have, the nearest first; all where the run says nothing of it."""
    used = {value.locality for value in view.manifest.machine.values if value.parameter != "eager_limit"}
    return [one for one in LOCALITIES if one in used] or list(LOCALITIES)


def _farthest(costs: Parameters, V: float, among: Sequence[str]) -> tuple[str, float]:
    """The most distant of these classes of locality that the machine has, and the time of a message of V there, ps."""
    known = [
        (locality, float(np.asarray(message_costs(costs, V, locality=locality).total))) for locality in reversed(among)
    ]
    return next((one for one in known if math.isfinite(one[1])), known[0])


CHARTS = {"whatif.overlap": _overlap}


FIELDS = {"volume": Input("overlap-volume", "value"), "compute": Input("overlap-compute", "value")}
"""What changes the URL."""


def query(volume: Any, compute: Any) -> dict[str, str]:
    """The URL's query for the values of `FIELDS`."""
    return {"volume": volume or "", "compute": compute or ""}
