"""The self-contained report: one HTML file below 3 MB that opens offline and makes no requests."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from logpost import __version__
from logpost.analyzer.findings.wording.numbers import TIME_SAVED
from logpost.analyzer.report.data import NO_FINDING, ModelFit
from logpost.analyzer.run.directory import Run
from logpost.analyzer.words import units
from logpost.dashboards.figures import labels, palette
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.options import marked
from logpost.dashboards.report.comparison import ComparisonPage, build_comparison
from logpost.dashboards.report.page import Caps, Page, build
from logpost.dashboards.report.plotly_js import csp_hash, library, packed_json
from logpost.dashboards.report.tables import SHORT
from logpost.whole_file import write_whole

LIMIT_BYTES = 3_000_000
"""Of a page, whatever the run's size: it must pass as an attachment and open at once over ssh -X."""

TEMPLATES = Path(__file__).resolve().parent / "templates"


def write_report(run: Run, path: Path, top: int | None = None, models: tuple[ModelFit, ...] = ()) -> None:
    """Write the report of a run as one HTML file; with `top` only so many findings, with `models` their comparison.

    Raises:
        InputError: the file cannot be written.
    """
    _write(path, lambda caps: render(build(run, caps, top, models)))


def write_comparison(a: Run, b: Run, path: Path) -> None:
    """Write the comparison of run B (after) with run A (before) as one HTML file.

    Raises:
        InputError: the file cannot be written.
    """
    _write(path, lambda caps: render_comparison(build_comparison(a, b, caps)))


def render(page: Page) -> str:
    """The page of a run as HTML text."""
    return fill("report.html.j2", page.charts, page=page, no_finding=NO_FINDING, bounds=TIME_SAVED)


def render_comparison(page: ComparisonPage) -> str:
    """The page of two runs as HTML text."""
    return fill("comparison.html.j2", page.charts, page=page)


def _write(path: Path, make: Callable[[Caps], str]) -> None:
    """Write the page with as much detail as keeps it below the limit."""
    caps = Caps()
    content = make(caps)
    room = LIMIT_BYTES - len(library()[0])
    while (size := len(content.encode())) > LIMIT_BYTES and caps.rows > 8:
        # The data grow with the area of the figures; a tenth is left for what does not.
        caps = caps.scaled(0.9 * math.sqrt(room / (size - LIMIT_BYTES + room)))
        content = make(caps)
    write_whole(path, content)


def fill(template: str, charts: dict[str, Chart], **context: Any) -> str:
    """A page as HTML text: the template with the charts' data, the plotting library, and a policy that lets only these
    run."""
    script = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in ("themed.js", "page.js"))
    style = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    plotly, plotly_hash = library()
    payload = {
        "theme": palette.theme(),
        "charts": {name: chart.payload() for name, chart in charts.items()},
    }
    policy = "; ".join(
        (
            "default-src 'none'",
            # Exactly these two texts may run; not even an inline handler of our own could.
            f"script-src '{csp_hash(script)}' '{plotly_hash}'",
            # plotly sets styles from script; a style can load nothing, since nothing may be loaded.
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return (
        _environment()
        .get_template(template)
        .render(
            policy=policy,
            script=Markup(script),
            style=Markup(style),
            plotly=Markup(plotly),
            payload=Markup(packed_json(payload)),
            version=__version__,
            **context,
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "time": units.time_text,
        "until": units.span_text,
        "bytes": units.bytes_text,
        "share": units.percent_text,
        "count": labels.grouped,
        "name": labels.visible,
        "prose": marked,
        "category": palette.label,
    }
    environment.globals |= {"inks": palette.INKS, "short": SHORT}
    return environment
