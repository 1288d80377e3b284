"""The page of a URL as plain HTML, to be looked at until the scripts that make it live have been read.

A browser needs half a second or more to read Dash's scripts and to draw a page; through a tunnel it loads them first.
The HTML shows the content of the page's components. It can be neither clicked nor reached by the keyboard, and is
removed when the page itself is complete (`stand_in.js`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

ATTRIBUTES = {
    "className": "class",
    "href": "href",
    "colSpan": "colspan",
    "rowSpan": "rowspan",
    "scope": "scope",
    "title": "title",
    "disabled": "disabled",
    "open": "open",
}
"""Those that change how an element looks; without ids, which are the live page's."""
EMPTY = frozenset({"br", "hr", "img", "input"})
COLOURS = "colours"
"""Id of the store that the pictures of charts are coloured by."""


def first_look(frame: Component, children: Mapping[str, Any]) -> str:
    """HTML of the frame with a page in it.

    Args:
        frame: the application's layout.
        children: by id, of those parts of the frame that callbacks fill.
    """
    for part in frame._traverse():
        name = getattr(part, "id", None)
        if isinstance(name, str) and name in children:
            part.children = children[name]
    return f'<div id="first-look" inert>{_html(frame)}</div><script src="/_logpost/stand_in.js"></script>'


def _html(part: Any, *, sketched: bool = False) -> str:
    """HTML of a component; `sketched`: of a chart that is a picture at first, so that its data are kept."""
    if part is None or isinstance(part, bool):
        return ""
    if not isinstance(part, Component):
        if isinstance(part, Iterable) and not isinstance(part, str):
            return "".join(_html(one, sketched=sketched) for one in part)
        return _escaped(part)
    children = getattr(part, "children", None)
    if isinstance(part, dcc.Store):
        return _data(part, sketched=sketched)
    if isinstance(part, dcc.Link):
        return _element("a", part, children, sketched=sketched)
    if isinstance(part, dcc.Input):
        return f'<input placeholder="{_escaped(getattr(part, "placeholder", None) or "")}">'
    if isinstance(part, dcc.Dropdown):
        return _element("div", part, _chosen(part), more="still")
    if isinstance(part, dcc.RadioItems):
        return _element("div", part, [html.Label(one["label"]) for one in getattr(part, "options", [])])
    if type(part).__module__.startswith("dash.html"):
        inside = sketched or "sketched" in (getattr(part, "className", None) or "").split()
        return _element(type(part).__name__.lower(), part, children, sketched=inside)
    return ""


def _element(tag: str, part: Component, children: Any, *, sketched: bool = False, more: str = "") -> str:
    said = {
        ATTRIBUTES[name]: getattr(part, name) for name in ATTRIBUTES if getattr(part, name, None) not in (None, False)
    }
    if more:
        said["class"] = f"{said.get('class', '')} {more}".strip()
    if style := getattr(part, "style", None):
        said["style"] = ";".join(f"{_hyphenated(name)}:{value}" for name, value in style.items())
    attributes = "".join(f' {name}="{_escaped("" if value is True else value)}"' for name, value in said.items())
    return f"<{tag}{attributes}>" + ("" if tag in EMPTY else f"{_html(children, sketched=sketched)}</{tag}>")


def _escaped(text: object) -> str:
    """Text that is no markup; Dash puts its scripts where it finds `{%`."""
    return escape(str(text)).replace("{%", "&#123;%")


def _hyphenated(name: str) -> str:
    """The CSS property of React's name."""
    return "".join(f"-{one.lower()}" if one.isupper() else one for one in name)


def _chosen(part: dcc.Dropdown) -> str:
    """What a closed list says."""
    for option in getattr(part, "options", []):
        if option["value"] == getattr(part, "value", None):
            return str(option["label"])
    return str(getattr(part, "placeholder", None) or "")


def _data(part: dcc.Store, *, sketched: bool) -> str:
    """Data that pictures of charts are made of, which no element can end."""
    name = getattr(part, "id", None)
    name = name["part"] if isinstance(name, dict) else name
    data = getattr(part, "data", None)
    if data is None or not (name == COLOURS or (name == "payload" and sketched)):
        return ""
    text = json.dumps(data).replace("<", "\\u003c").replace("%", "\\u0025")
    return f'<script type="application/json" class="{name}">{text}</script>'
