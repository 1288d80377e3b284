"""Content of a run's report page: charts, tables and sentences, computed here and rendered elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from logpost.analyzer.render.report.causes import (
    DELAY_HEADINGS,
    PATH_HEADINGS,
    delay_rows,
    delays_summary,
    path_rows,
    path_summary,
)
from logpost.analyzer.render.report.collectives import HEADINGS as COLLECTIVE_HEADINGS
from logpost.analyzer.render.report.collectives import kind_rows, part_rows, summary
from logpost.analyzer.render.report.efficiencies import lowest_text, residual_text
from logpost.analyzer.render.report.files import files_text
from logpost.analyzer.render.report.machine import transfer_error, used_text
from logpost.analyzer.render.report.packing import packing_text
from logpost.analyzer.render.report.threads import HEADINGS, thread_rows
from logpost.analyzer.report.build import build as build_report
from logpost.analyzer.report.data import ModelFit, Report
from logpost.analyzer.report.models import KINDS, fits_of, parts_present, verdict
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.manifest import Manifest
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.undivided import SHOWN, TITLE, UNDIVIDED
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.fault_text import fault_texts
from logpost.analyzer.words.labels import folded_path
from logpost.analyzer.words.location_names import LocationNames
from logpost.analyzer.words.units import bytes_text, percent_text, time_text
from logpost.analyzer.words.wait_states import WAIT_STATE_NAMES
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.breakdown import breakdown
from logpost.dashboards.figures.callpaths import callpaths
from logpost.dashboards.figures.chart import FAILED, Chart
from logpost.dashboards.figures.critical_path import critical_path
from logpost.dashboards.figures.efficiencies import efficiencies_over_time
from logpost.dashboards.figures.folding import columns, program_span, rows, time_cube
from logpost.dashboards.figures.labels import grouped
from logpost.dashboards.figures.load import MEASURES as LOADS
from logpost.dashboards.figures.load import load
from logpost.dashboards.figures.matrix import MEASURES as PAIR_MEASURES
from logpost.dashboards.figures.matrix import matrix
from logpost.dashboards.figures.models import models as models_chart
from logpost.dashboards.figures.overview import overview
from logpost.dashboards.figures.queueing import first_view
from logpost.dashboards.figures.timeline import timeline
from logpost.dashboards.figures.wait_states import wait_states
from logpost.dashboards.report.findings import FindingRow, finding_rows
from logpost.dashboards.report.sites import call_sites, finding_sites
from logpost.dashboards.report.tables import (
    Grid,
    breakdown_grid,
    callpaths_grid,
    efficiencies_grid,
    fraction,
    load_grid,
    machine_grids,
    models_grid,
    pairs_grid,
    sens_grid,
    timeline_grid,
)
from logpost.dashboards.selection.queues import queues

MOST_FINDINGS = 50
MOST_CALLPATHS = 12
LEAST_OF_LARGEST = 500
"""A bar shorter than 1/500 of the longest would be less than two pixels."""


@dataclass(frozen=True)
class Caps:
    """The most rows and columns of a figure; a page that would pass the limit is made again, coarser."""

    rows: int = 200
    matrix: int = 128
    columns: int = 128

    def scaled(self, factor: float) -> Caps:
        """Caps times `factor` in each direction, never below 8."""
        return Caps(*(max(8, int(factor * cap)) for cap in (self.rows, self.matrix, self.columns)))


@dataclass(frozen=True)
class Page:
    """Everything the template needs."""

    manifest: Manifest
    report: Report
    title: str
    facts: list[tuple[str, str, str]]
    """Label, value, remark."""
    findings: Sequence[FindingRow]
    findings_left_out: int
    charts: dict[str, Chart]
    grids: dict[str, Grid]
    notes: dict[str, list[str]]
    present: list[str]
    """Categories with time, in the order of stacking."""
    model_error: str
    model_parts: list[str]
    other_models: list[tuple[str, Grid]]
    """the models on what is no message: what their shares are of, and the table"""
    """Parts with time under any model that is compared."""


def build(run: Run, caps: Caps, top: int | None = None, models: tuple[ModelFit, ...] = ()) -> Page:
    """Compute the page of a run.

    Args:
        run: a finished run.
        caps: how much detail the figures may hold.
        top: how many findings to show; None: `MOST_FINDINGS`.
        models: the fits of the models, where they are to be compared.
    """
    most = MOST_FINDINGS if top is None else top
    manifest = run.manifest
    report = build_report(run, models)
    locations = run.table("locations").collect()
    on = rows(locations, caps.rows)
    ranks = rows(locations, max(1, locations.height))
    span = program_span(locations)
    over = columns(manifest.windows, caps.columns, span)
    cube = time_cube(run.shown("accounting"), on, over)
    each = time_cube(run.shown("accounting"), ranks, columns(manifest.windows, 1, span))[:, 0, :]
    names = LocationNames(locations)
    charts: dict[str, Chart] = {}
    faults = Faults(report.faults, reads=run.path)

    def drawn(name: str, make: Callable[[], Chart]) -> None:
        charts[name] = faults.guard(f"figure {name}", make, FAILED)

    grids: dict[str, Grid] = {}
    notes: dict[str, list[str]] = {
        "breakdown": [on.note],
        "timeline": [on.note, over.note],
        "load": [on.note, over.note],
    }
    if report.packing:
        notes["breakdown"].append(packing_text(report))
    if report.files:
        notes["breakdown"].append(files_text(report.files))
    if each.any():
        drawn("overview", lambda: overview(report.breakdown))
        drawn("breakdown", lambda: breakdown(each, ranks, on))
        drawn("timeline", lambda: timeline(cube, on, over))
        grids["breakdown"] = breakdown_grid(cube.sum(axis=1), on)
        grids["timeline"] = timeline_grid(cube, over)
    if len(report.stretches) > 1:
        drawn("efficiencies", lambda: efficiencies_over_time(report.stretches))
        said = (lowest_text(report.stretches), residual_text(report))
        notes["efficiencies"] = [note for note in said if note]
    if report.critical_path:
        drawn("critical_path", lambda: critical_path(run.table("critical_path").collect(), on, over))
        grids["critical_path"] = Grid(PATH_HEADINGS, path_rows(report.critical_path), frozenset({0, 1, 2}))
        notes["critical_path"] = [path_summary(report.critical_path), on.note, over.note]
    if table := thread_rows(report):
        grids["threads"] = Grid(HEADINGS, table, frozenset({1, 2}))
    if report.delays:
        grids["delays"] = Grid(DELAY_HEADINGS, delay_rows(report.delays), frozenset({0, 1, 2, 3}))
        notes["delays"] = [delays_summary(report.delays)]
    if report.collectives:
        grids["in_collectives"] = Grid(
            ("in collectives", "time", "share", "what"), part_rows(report.collectives), frozenset({1, 2})
        )
        grids["collectives"] = Grid(
            COLLECTIVE_HEADINGS, kind_rows(report.collectives, MOST_CALLPATHS), frozenset({2, 3, 4})
        )
        notes["collectives"] = [summary(report.collectives)]
    worst = report.findings[0].kind if report.findings else ""
    pairs = run.table("pairs").collect()
    if pairs.height:
        coarse = rows(locations, caps.matrix)
        shown_first = first_view([measure for measure, _ in PAIR_MEASURES], worst)
        drawn("matrix", lambda: replace(matrix(pairs, coarse), first=shown_first))
        grids["matrix"] = pairs_grid(pairs, names, manifest.machine.undivided)
        notes["matrix"] = [coarse.note]
    if run.table("load").head(1).collect().height:
        first = first_view(LOADS, worst)
        drawn("load", lambda: replace(load(run.table("load"), queues(run), on, over), first=first))
        grids["load"] = load_grid(run, names)
    waits = [state for state in report.wait_states if state.wait_ps > 0]
    if waits:
        drawn("wait_states", lambda: wait_states(waits))
        grids["wait_states"] = Grid(
            ("wait state", "time over all ranks", "occurrences"),
            [(WAIT_STATE_NAMES[w.name], time_text(w.wait_ps), grouped(w.count)) for w in waits],
            frozenset({1, 2}),
        )
    paths = _top_callpaths(run)
    if paths.height:
        drawn("callpaths", lambda: callpaths(paths))
        grids["callpaths"] = callpaths_grid(report)
    if models:
        drawn("models", lambda: models_chart(models))
        grids["models"] = models_grid(models)
        notes["models"] = [
            verdict(models, estimated=manifest.machine.origin == "estimated"),
            *(f"{fit.model.label}: {fit.model.terms if fit.messages else fit.reason}" for fit in models),
        ]
    grids |= machine_grids(manifest)
    return Page(
        manifest=manifest,
        report=with_faults(report, faults),
        title=title_of(manifest),
        facts=_facts(report),
        findings=finding_rows(report.findings, finding_sites(run))[:most],
        findings_left_out=max(0, len(report.findings) - most),
        charts=charts,
        grids=grids | {"efficiencies": efficiencies_grid(report), "sens": sens_grid(report)},
        notes={name: [line for line in lines if line] for name, lines in notes.items()},
        present=[c for c in palette.INKS if each[:, SHOWN.index(c)].any()],
        model_error=model_error(report),
        model_parts=[part for part in palette.INKS if part in parts_present(fits_of(models))],
        other_models=[
            (of, models_grid(models, kind))
            for kind, of in KINDS.items()
            if kind != "messages" and fits_of(models, kind)
        ],
    )


def with_faults(report: Report, faults: Faults) -> Report:
    """The report with those of its page."""
    new = [fault for fault in faults.found if fault not in report.faults]
    said = fault_texts((fault.part, fault.error) for fault in new)
    return replace(report, faults=tuple(faults.found), warnings=(*said, *report.warnings))


def title_of(manifest: Manifest) -> str:
    """What people call the archive: its directory, because the anchor is nearly always called traces.otf2;
    of a predicted run, that it is predicted."""
    parts = [part for part in manifest.source.anchor.replace("\\", "/").split("/") if part]
    name = parts[-2] if len(parts) > 1 and parts[-1].endswith(".otf2") else (parts[-1] if parts else "run")
    return name if manifest.predicted is None else f"{name}, predicted"


def _facts(report: Report) -> list[tuple[str, str, str]]:
    counted, count = report.counted
    compute = next((share.share for share in report.breakdown if share.category == "compute"), 0.0)
    some = any(share.exposed_ps for share in report.breakdown)
    known = {e.name: e.value for e in report.efficiencies}
    return [
        (
            "Region of interest" if report.outside_ps else "Program",
            time_text(report.program_ps),
            report.program_text,
        ),
        (f"{counted.capitalize()}s", grouped(count), report.nodes_text),
        ("Messages", grouped(report.messages.count), f"{bytes_text(report.messages.bytes)} in all"),
        ("Outside compute", percent_text(1 - compute) if some else "–", "of all ranks' time"),
        efficiency_fact(known),
        unexplained_fact(report),
    ]


def efficiency_fact(known: Mapping[str, float | None]) -> tuple[str, str, str]:
    """Parallel efficiency and its factors, of POP's efficiencies by name; the dashboard shows it as well."""
    balance, communication = known.get("load_balance"), known.get("communication_efficiency")
    factors = "" if balance is None else f"balance {fraction(balance)} × communication {fraction(communication)}"
    return "Parallel efficiency", fraction(known.get("parallel_efficiency")), factors


def unexplained_fact(report: Report) -> tuple[str, str, str]:
    """The share of message time that no part of the model explains; of transfers where there are no messages."""
    transfers = report.machine.transfer_residual_share
    if not report.messages.count and transfers is None:
        return "Unexplained", fraction(None), "no messages to explain"
    if "residual" in report.machine.undivided:
        share = sum(one.share for one in report.breakdown if one.category == UNDIVIDED)
        return "Not divided", percent_text(share), "transport on an estimated machine, of the ranks' time"
    if not report.messages.count:
        return "Unexplained", fraction(transfers), "residual, of the time of one-sided transfers"
    return "Unexplained", fraction(report.machine.residual_share), "residual, of message time"


def model_error(report: Report) -> str:
    """Machine and error of every modelled number, shown next to them."""
    machine = report.machine
    # An estimated machine has no name but the trace's, which the page bears already; a file may be called by its name.
    used = used_text(machine)
    known = used if machine.origin == "estimated" or used == machine.name else f"{machine.name} ({used})"
    transfers = transfer_error(machine)
    if not report.messages.count:
        return f"Machine {known}: {transfers or 'the run has no messages to explain'}."
    unexplained = (
        f"what stays unexplained is part of {TITLE}"
        if "residual" in machine.undivided
        else f"{percent_text(machine.residual_share)} of message time stays unexplained"
    )
    return (
        f"Machine {known}: {unexplained}, and the model "
        f"predicts {percent_text(machine.deficit_share)} more than was measured"
        + (f"; {transfers}." if transfers else ".")
    )


def _top_callpaths(run: Run) -> pl.DataFrame:
    """callpath, label, category, exposed_ps of the callpaths with the most exposed communication time."""
    exposed = program(run.shown("exposure")).filter(pl.col("category") != "compute")
    top = (
        exposed.group_by("callpath")
        .agg(wide_sum("exposed_ps").alias("all_ps"))
        .filter(pl.col("all_ps") > 0, pl.col("all_ps") * LEAST_OF_LARGEST > pl.col("all_ps").max())
        .sort("all_ps", "callpath", descending=[True, False])
        .head(MOST_CALLPATHS)
    )
    rows = (
        exposed.join(top, on="callpath")
        .group_by("callpath", "category")
        .agg(wide_sum("exposed_ps"))
        .join(run.table("callpaths").select("callpath", pl.col("path").alias("label")), on="callpath", how="left")
        .with_columns(pl.col("label").fill_null("(unknown)"))
        .sort("callpath", "category")
        .collect()
    )
    sites = call_sites(run)
    labels = [
        f"{folded_path(label)}  {sites[callpath]}" if callpath in sites else folded_path(label)
        for callpath, label in rows.select("callpath", "label").iter_rows()
    ]
    return rows.with_columns(pl.Series("label", labels, dtype=pl.String))
