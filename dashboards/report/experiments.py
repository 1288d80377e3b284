"""The page of the papers' experiments: one self-contained HTML file, made of ready text, tables and charts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.report.html import LIMIT_BYTES, fill
from logpost.errors import InputError
from logpost.whole_file import write_whole


@dataclass(frozen=True)
class ClaimRow:
    """What a paper says, what came out, and whether it holds (None: cannot be judged)."""

    text: str
    printed: str
    reached: str
    holds: bool | None
    verdict: str
    why: str = ""
    """The reason of a verdict that needs one."""


@dataclass(frozen=True)
class PaperFigure:
    """The paper's figure that a chart repeats: what its text states of it."""

    where: str
    """As the paper numbers it."""
    what: str
    printed: Chart | None
    """The numbers of it that the text prints, on the chart's axes; None where there are none."""


@dataclass(frozen=True)
class Plot:
    """A chart with its heading, and the paper's figure next to it."""

    id: str
    title: str
    chart: Chart
    note: str = ""
    paper: PaperFigure | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A table of ready text: a heading has the source of its numbers below it, a number its deviation."""

    title: str
    headings: tuple[tuple[str, str], ...]
    """Heading and source."""
    rows: tuple[tuple[tuple[str, str], ...], ...]
    """Text and deviation."""
    numeric: frozenset[int] = frozenset()
    remarks: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """One experiment."""

    name: str
    title: str
    paper: str
    paper_title: str
    where: str
    not_run: str = ""
    """Why it could not run; then the rest is empty."""
    seconds: float = 0.0
    summary: str = ""
    claims_held: str = "–"
    claims: tuple[ClaimRow, ...] = ()
    plots: tuple[Plot, ...] = ()
    grids: tuple[Comparison, ...] = ()
    differences: tuple[tuple[str, str], ...] = ()
    """What, and its likely reason."""
    notes: tuple[str, ...] = ()
    runs: tuple[tuple[str, str], ...] = ()
    """Label and path of runs that were kept."""


@dataclass(frozen=True, kw_only=True)
class ExperimentsPage:
    """Everything the template needs."""

    command: str
    """That wrote it."""
    quick: bool
    host: tuple[str, ...]
    """On what it was written, a line each."""
    sections: tuple[Section, ...]

    @property
    def charts(self) -> dict[str, Chart]:
        """By the id of their place in the page."""
        plots = [plot for section in self.sections for plot in section.plots]
        printed = {f"{plot.id}-printed": plot.paper.printed for plot in plots if plot.paper and plot.paper.printed}
        return {plot.id: plot.chart for plot in plots} | printed


def render_experiments(page: ExperimentsPage) -> str:
    """The page as HTML text."""
    return fill("experiments.html.j2", page.charts, page=page)


def write_experiments(page: ExperimentsPage, path: Path) -> None:
    """Write the page as one HTML file.

    Raises:
        InputError: it cannot be written, or is larger than a page may be.
    """
    content = render_experiments(page)
    if len(content.encode()) > LIMIT_BYTES:
        raise InputError(f"{path} would have {len(content.encode()):,} bytes, over {LIMIT_BYTES:,}; run fewer at once")
    write_whole(path, content)
