"""Threads and accelerators, as rows of a table."""

from __future__ import annotations

from logpost.analyzer.report.data import Report
from logpost.analyzer.words.units import bytes_text, count_text, percent_text, time_text

HEADINGS = ("what", "time", "share")

TITLES = {
    "parallel": "in parallel regions",
    "imbalance": "waiting at barriers (imbalance)",
    "synchronization": "waiting for critical sections, locks, tasks",
    "management": "fork, join and barriers themselves",
    "communication": "communication",
    "serial": "serial: first threads alone",
    "idle_serial": "serial: other threads idle",
    "idle_communication": "other threads idle during communication",
    "not_in_team": "in no team: fewer threads than there are",
}
"""Category of a thread's time to what people read."""


def thread_rows(report: Report) -> list[tuple[str, str, str]]:
    """What the threads of processes that have several did, and how busy streams were; empty where there is neither."""
    rows: list[tuple[str, str, str]] = []
    if (of := report.threads) is not None:
        rows.append((f"{count_text(of.threads, 'thread')}", time_text(of.total_ps), percent_text(1.0)))
        rows += [
            (f"  {TITLES[category]}", time_text(time), percent_text(time / of.total_ps if of.total_ps else 0.0))
            for category, time in of.spent_ps.items()
            if time > 0
        ]
    if (on := report.accelerators) is not None:
        copied = f"{bytes_text(on.bytes_to_device)} to the device, {bytes_text(on.bytes_to_host)} to the host"
        rows.append((f"accelerators: {count_text(on.streams, 'stream')}", time_text(on.total_ps), percent_text(1.0)))
        rows += [
            (f"  {what}", time_text(time), percent_text(time / on.total_ps if on.total_ps else 0.0))
            for what, time in (
                (count_text(on.kernels, "kernel"), on.kernel_ps),
                (f"{on.copies:,} {'copy' if on.copies == 1 else 'copies'}: {copied}", on.copy_ps),
                ("idle", on.idle_ps),
            )
        ]
    return rows
