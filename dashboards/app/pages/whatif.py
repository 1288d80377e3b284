"""What-if: the program replayed under other values of L, o, g, G, other computation, or on another machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import dash
from dash import Input, State, dcc, html

from logpost.analyzer.predict.whatif import Ask, Prediction, Replay
from logpost.analyzer.predict.whatif.bounds import bounded, bounded_notes, changed_names, only_bounded
from logpost.analyzer.words.units import bytes_text
from logpost.dashboards.app import panels
from logpost.dashboards.app.jobs import PATIENCE_S, StoppedError
from logpost.dashboards.app.jobs import Report as Progress
from logpost.dashboards.app.pages import whatif_grid, whatif_machines, whatif_overlap, without
from logpost.dashboards.app.picking import having, into_wanted, wanted
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.view import ChartMaker, View
from logpost.dashboards.figures import prediction
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import grouped
from logpost.errors import InputError

NAME, TITLE = "whatif", "What if"
SLIDERS = {
    "L": "L, latency",
    "o": "o, overhead",
    "g": "g, gap of messages",
    "G": "G, gap per byte",
    "bisection": "bisection bandwidth",
    "compute": "computation",
}
FROM, TO = -4, 4
"""Powers of two of the sliders' ends."""
NOTHING = dict.fromkeys(("factors", "set", "machine", "topology", "mapping"), "")
"""What a reset removes from the URL."""
SWEEPS = ("L", "o", "g", "G", "bisection")
MAPPINGS = ("block", "cyclic", "random", "best")
"""No file: a URL names no path."""
POINTS = "x0.125:x16:8"
REPLAY = "replay"
"""The program's graph among the pieces of work on a run."""
MANY = 50_000
"""Messages whose graph is built in more time than a page waits for it."""
MOST_UNASKED = 2_000_000
"""Messages up to which a program is replayed as soon as the page is opened."""
BYTES_PER_MESSAGE = 900
"""At the peak, while the graph is made: 2.4 GB for 2.7 * 10^6 messages, each with 15 events."""


def layout(view: View) -> list[Any]:
    """Sliders on the left, the prediction next to them, the curve and the places that change below."""
    more = view.state.more
    factors = _factors(more.get("factors", ""))
    controls: list[Any] = []
    for name, text in SLIDERS.items():
        controls += [
            html.Label(text, htmlFor=f"factor-{name}"),
            dcc.Slider(
                id={"part": "factor", "name": name},
                min=FROM,
                max=TO,
                step=0.5,
                value=math.log2(factors.get(name, 1.0)),
                marks={power: f"×{2**power}" if power >= 0 else f"×1/{2**-power}" for power in range(FROM, TO + 1, 2)},
                included=False,
                allow_direct_input=False,
                updatemode="mouseup",
            ),
        ]
    fields = html.Div(
        [
            wanted(NAME),
            _field("also set", "also", more.get("set", ""), "other_node.L=5us; eager_limit=64KiB", 300),
            _field("machine", "on-machine", more.get("machine", ""), "a name", 120),
            _field("topology", "topology", more.get("topology", ""), "torus:4x4x2", 120),
            _field("mapping", "mapping", more.get("mapping", ""), "cyclic, best …", 130),
            html.Span(
                [
                    html.Label("curve over", htmlFor="sweep"),
                    dcc.RadioItems(id="sweep", options=list(SWEEPS), value=_swept(view), inline=True,
                                   className="switch"),
                ],
                className="together",
            ),
            dcc.Link("Reset", href=view.state.having(**NOTHING).href),
        ],
        className="fields",
    )  # fmt: skip
    return [
        *without.section(view),
        panels.section(
            "What if",
            html.Div(
                [
                    html.Div(controls, className="controls"),
                    html.Div(
                        [
                            panels.chart("whatif.path", "The critical path, before and after", height=230, spoken=True),
                        ]
                    ),
                ],
                className="two",
            ),
            fields,
            *_bounded(view),
            about="Of the program; start-up stays as recorded. Messages, their order and the control flow stay; their "
            "costs change. Calls as measured keep their durations: no value of a machine changes them.",
        ),
        html.Div(
            [
                panels.section(
                    "Length over one parameter",
                    panels.chart("whatif.sweep", "Predicted length over a parameter", height=330, spoken=True),
                    *_not_known(view),
                    about="The band is what the machine's uncertainty and what it leaves unexplained allow.",
                ),
                panels.section(
                    "Places that change most", panels.chart("whatif.regions", "Change by region", height=330)
                ),
            ],
            className="two",
        ),
        whatif_grid.section(view),
        whatif_machines.section(view),
        whatif_overlap.section(view),
    ]  # fmt: skip


def _field(label: str, name: str, value: str, example: str, width: int) -> html.Span:
    """A text field with its label, which is on the same line."""
    given = dcc.Input(
        id=name, type="text", value=value, debounce=True, placeholder=example, style={"width": f"{width}px"}
    )
    return html.Span([html.Label(label, htmlFor=name), given], className="together")


def _bounded(view: View) -> list[Any]:
    """That a value which is moved, or that the curve is over, was not measured."""
    names = changed_names(_ask(view), (_swept(view),))
    return [panels.note(text) for text in bounded_notes(bounded(only_bounded(view.manifest.machine.values), names))]


def _not_known(view: View) -> list[Any]:
    """That the curve is flat because the run's machine has no value to multiply, not because the program hides it."""
    name = _swept(view)
    parameters = {"o": ("o_s", "o_r")}.get(name, (name,))
    values = [one.value for one in view.manifest.machine.values if one.parameter in parameters]
    if name == "bisection" or any(values) or view.state.more.get("machine"):
        return []
    return [
        panels.note(
            f"{name} is 0 on this machine, or not known: a multiple of it changes nothing. Set a value above "
            f"(other_node.{parameters[0]}={'1ns/B' if name == 'G' else '5us'}), or name a machine."
        )
    ]


def _searching(view: View) -> bool:
    return bool(view.state.more.get("search"))


def _factors(text: str) -> dict[str, float]:
    """`L:2,compute:0.5` of the URL.

    Raises:
        InputError: it cannot be read.
    """
    found = {}
    for one in filter(None, text.split(",")):
        name, _, value = one.partition(":")
        try:
            factor = float(value)
        except ValueError:
            factor = math.nan
        if name not in SLIDERS or not 2.0**FROM <= factor <= 2.0**TO:
            raise InputError(f"{name}:{value} is no factor from {2.0**FROM:g} to {2.0**TO:g} of {', '.join(SLIDERS)}")
        found[name] = factor
    return found


def _ask(view: View) -> Ask:
    more = view.state.more
    factors = _factors(more.get("factors", ""))
    compute = factors.pop("compute", 1.0)
    settings = [f"{name}=x{factor:g}" for name, factor in factors.items() if factor != 1.0]
    settings += [text.strip() for text in more.get("set", "").split(";") if text.strip()]
    machine = more.get("machine", "").strip() or None
    topology, mapping = more.get("topology", "").strip(), more.get("mapping", "").strip()
    if topology:
        settings.append(f"topology={topology}")
    if mapping and mapping.partition(":")[0] not in MAPPINGS:
        raise InputError(f"{mapping[:60]} is no mapping; write {', '.join(MAPPINGS)} or random:SEED")
    return Ask(
        tuple(settings),
        None if machine is None else view.runs.machine(machine),
        () if compute == 1.0 else (f"{compute:g}",),
        mapping=mapping or None,
    )


def _swept(view: View) -> str:
    name = view.state.more.get("sweep", "")
    return name if name in SWEEPS else "L"


def _replay(view: View) -> Replay:
    run = view.opened.run

    def work(report: Progress) -> Replay:
        report("rebuilding the program", 0, 0)
        return Replay(run)

    messages = view.manifest.messages
    patience_s = PATIENCE_S if messages < MANY else 0.0
    found = view.in_background(REPLAY, work, _price(messages), patience_s)
    assert isinstance(found, Replay)
    return found


def priced(view: View) -> Mapping[str, StoppedError]:
    """Charts that wait until a user starts the replay, whose price they state."""
    waits = view.priced(REPLAY, _price(view.manifest.messages))
    return {} if waits is None else dict.fromkeys(OF_REPLAY, waits)


def _price(messages: int) -> str:
    """The cost of a replay of many messages, stated before it starts; empty where it is small."""
    if messages <= MOST_UNASKED:
        return ""
    memory = bytes_text(messages * BYTES_PER_MESSAGE)
    return f"A replay of {grouped(messages)} messages needs minutes and up to {memory} of memory."


def _predicted(view: View) -> Prediction:
    replay, ask = _replay(view), _ask(view)

    def work(report: Progress) -> Prediction:
        report("replaying the program", 0, 0)
        return replay.predict(ask)

    found = view.in_background(("predict", ask), work)
    assert isinstance(found, Prediction)
    return found


def _sweep(view: View) -> Chart:
    _predicted(view)  # The prediction is first: it is quicker, and a sweep leaves it no processor.
    replay, ask = _replay(view), _ask(view)
    swept = replace(ask, sweep=f"{_swept(view)}={POINTS}", searching=_searching(view))

    def work(report: Progress) -> Prediction:
        report("replaying each value", 0, 0)
        return replay.predict(swept)

    found: Prediction = view.in_background(("sweep", swept), work)
    assert found.sweep is not None
    moved = {name.rpartition(".")[2] for name in changed_names(replace(ask, machine=None))}
    base = "what is set above" if _swept(view) in moved else "the machine's"
    made = prediction.sweep(found.sweep, found.measured_ps, prediction.machine_of(found), base)
    # A search needs many more replays than the curve, so it is offered only where the curve does not show the value.
    searched = _searching(view) or _swept(view) == "bisection"
    return replace(made, open="") if searched else replace(made, offered={"search": "1"})


def _grid(view: View) -> Chart:
    replay, ask = _replay(view), _ask(view)
    return whatif_grid.over(view, replay, ask)


def _regions(view: View) -> Chart:
    found = _predicted(view)
    if not any(one.gain_ps for one in found.regions):
        raise InputError("no place changes" if found.settings else "nothing is changed: move a slider")
    return prediction.regions(found.regions)


def _machines(view: View) -> Chart:
    _predicted(view)
    replay, ask = _replay(view), _ask(view)
    return whatif_machines.machines_chart(view, replay, ask)


OF_REPLAY: Mapping[str, ChartMaker] = {
    "whatif.machines": _machines,
    "whatif.path": lambda view: prediction.before_and_after(
        _predicted(view), undivided=view.manifest.machine.undivided
    ),
    "whatif.sweep": _sweep,
    "whatif.grid": _grid,
    "whatif.regions": _regions,
}
CHARTS = {**without.CHARTS, **whatif_overlap.CHARTS, **OF_REPLAY}


FIELDS = {
    "powers": Input({"part": "factor", "name": dash.ALL}, "value"),
    "also": Input("also", "value"),
    "machine": Input("on-machine", "value"),
    "topology": Input("topology", "value"),
    "mapping": Input("mapping", "value"),
    "sweep": Input("sweep", "value"),
}
"""What changes the URL, in addition to the fields of the sections."""


def query(powers: list[float], also: Any, machine: Any, topology: Any, mapping: Any, sweep: Any) -> dict[str, str]:
    """The URL's query for the values of `FIELDS`."""
    given = zip(SLIDERS, powers, strict=True)
    return {
        "factors": ",".join(f"{name}:{2.0**power:.6g}" for name, power in given if power),
        "set": also or "",
        "machine": machine or "",
        "topology": topology or "",
        "mapping": mapping or "",
        "sweep": "" if sweep in (None, "L") else str(sweep),
    }


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """Sliders and fields change the URL, and with it the page."""

    @app.callback(
        output=into_wanted(NAME),
        inputs={
            "own": FIELDS,
            "grid": whatif_grid.FIELDS,
            "machines": whatif_machines.FIELDS,
            "overlap": whatif_overlap.FIELDS,
        },
        state={"pathname": State("url", "pathname"), "search": State("url", "search")},
        prevent_initial_call=True,
    )
    def ask(own: Any, grid: Any, machines: Any, overlap: Any, pathname: Any, search: Any) -> Any:
        return having(
            pathname,
            search,
            **query(**own),
            **whatif_grid.query(**grid),
            **whatif_machines.query(**machines),
            **whatif_overlap.query(**overlap),
        )
