"""The page around the application: its style, which is that of the report, and the scripts that run first."""

from __future__ import annotations

import functools
from pathlib import Path

from logpost.dashboards.figures import palette
from logpost.dashboards.report.html import TEMPLATES

BEFORE = Path(__file__).with_name("before")
"""Scripts that Dash need not wait for, and that do not wait for Dash."""
INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
{%metas%}
<title>{%title%}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/_logpost/style.css">
{%css%}
<script src="/_logpost/before.js"></script>
</head>
<body>
{%app_entry%}
<footer>{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>
"""


@functools.cache
def style() -> str:
    """The report's style, and the colours of categories."""
    inks = palette.INKS.items()
    light = "".join(f"--c-{name}:{ink.light};" for name, ink in inks)
    dark = "".join(f"--c-{name}:{ink.dark};" for name, ink in inks)
    classes = "".join(f".c-{name} {{ background: var(--c-{name}); }}\n" for name, _ in inks)
    base = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    return f':root {{ {light} }}\n:root[data-theme="dark"] {{ {dark} }}\n{classes}{base}'


@functools.cache
def before_js() -> str:
    """The scripts that the first paint needs: the theme, and the figures of charts in its colours."""
    own = [BEFORE / f"{name}.js" for name in ("theme", "room", "coloured")]
    return "".join(path.read_text(encoding="utf-8") for path in (TEMPLATES / "themed.js", *own))
