"""Threads and accelerators, as rows of a table."""

from __future__ import annotations

from logpost.analyzer.reporting.data import Report
from logpost.analyzer.reporting.units import count_text, percent_text, time_text

HEADINGS = ("what", "time", "share")


def thread_rows(report: Report) -> list[tuple[str, str, str]]:
    """What the threads of processes that have several did, and how busy streams were; empty where there is neither."""
    rows: list[tuple[str, str, str]] = []
    if report.threads is not None:
        of = report.threads
        rows += [
            (what, time_text(time), percent_text(time / of.total_ps if of.total_ps else 0.0))
            for what, time in (
                (f"parallel regions of {count_text(of.threads, 'thread')}", of.parallel_ps),
                ("waiting at barriers (imbalance)", of.imbalance_ps),
                ("serial: first threads alone", of.serial_ps),
                ("serial: other threads idle", of.idle_ps),
            )
        ]
    if report.accelerators is not None:
        on = report.accelerators
        whole = on.streams * on.length_ps
        rows.append(
            (
                f"accelerators: {count_text(on.streams, 'stream')} busy",
                time_text(on.busy_ps),
                percent_text(on.busy_ps / whole if whole else 0.0),
            )
        )
    return rows
