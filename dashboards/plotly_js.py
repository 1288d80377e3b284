"""The plotting library inside the page: compressed, and named to the browser by its hash."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
from typing import Any

import plotly.offline


@functools.cache
def library() -> tuple[str, str]:
    """plotly.js of the installed plotly as gzip in base64, and the `sha256-…` source expression of its text.

    4.8 MB of text would break the page's limit; gzip and base64 make 2.0 MB of it, which every browser since 2023
    inflates by itself (`DecompressionStream`).
    """
    source = plotly.offline.get_plotlyjs()
    # A script element normalises nothing when its text is set by script, so the hash is that of the text as it is.
    return packed(source.encode(), 9), csp_hash(source)


def packed(data: bytes, level: int) -> str:
    """gzip in base64, the same bytes for the same data."""
    return base64.b64encode(gzip.compress(data, level, mtime=0)).decode()


def packed_json(value: Any) -> str:
    """JSON, packed; its alphabet cannot end a script element whatever names the data holds."""
    return packed(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(), 6)


def csp_hash(text: str) -> str:
    """The source expression of Content-Security-Policy that allows exactly this inline text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
