"""Embed plotly.js in the page: without host addresses, compressed, and allowed by its hash."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import re
from typing import Any

import plotly.offline

NAMESPACES = "www.w3.org"
"""Host of the identifiers of SVG, XLink and XHTML: names of namespaces, which no browser fetches."""

_ADDRESS = re.compile(
    rf"\b(?:https?|wss?):(?:\\?/){{2}}(?!{re.escape(NAMESPACES)}\b)[\w.-]+\.[a-z]{{2,}}(?:[^\s\"'`<>\\]|\\/)*"
)
_UPLOAD = re.compile(r"(\bsendDataToCloud\s*=\s*function\s*\([^)]*\)\s*\{)")
_OFFERED = re.compile(r"(\bshowSendToCloud\s*:\s*\{[^{}]*\bdflt\s*:\s*)(?:!0|true)\b")


@functools.cache
def library() -> tuple[str, str]:
    """plotly.js of the installed plotly as gzip in base64, and the `sha256-…` source expression of its text.

    4.8 MB of text would break the page's limit; gzip and base64 make 2.0 MB of it, which every browser since 2023
    inflates without a library (`DecompressionStream`).
    """
    source = offline(plotly.offline.get_plotlyjs())
    # A script element normalises nothing when its text is set by script, so the hash is that of the text as it is.
    return packed(source.encode(), 9), csp_hash(source)


def offline(source: str) -> str:
    """plotly.js with nowhere to send a chart to: no address of a host, and an upload function that does nothing.

    The bundle holds servers of maps, fonts and outlines, and one that charts are uploaded to. The policy of the page
    blocks requests, but not the window that an upload opens; so the addresses themselves go.
    """
    without = _ADDRESS.sub("about:blank", source)
    return _OFFERED.sub(r"\g<1>!1", _UPLOAD.sub(r"\1return;", without))


def packed(data: bytes, level: int) -> str:
    """gzip in base64, the same bytes for the same data."""
    return base64.b64encode(gzip.compress(data, level, mtime=0)).decode()


def packed_json(value: Any) -> str:
    """JSON, packed; its alphabet cannot end a script element whatever names the data holds."""
    return packed(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(), 6)


def csp_hash(text: str) -> str:
    """The source expression of Content-Security-Policy that allows exactly this inline text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
