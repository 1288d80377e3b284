"""The program on an ideal network: a replay with neither latency nor limits of bandwidth, overhead or NICs.

How long it lasts there is POP's T_ideal, which divides communication efficiency into serialization and transfer.
Computation stays as measured, and so do calls that move no data (I/O, probes, tests, posting of receives). Calls that
move data last nothing: neither what the machine's model explains nor what it does not. What is left of waiting is the
program's own dependencies, as far as the trace shows them. A moment inside a call is as far through it there as it was
when measured.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.pipeline.warped import Rows, Times, between, stretches
from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program_ps
from logpost.analyzer.run.replayable import Replayable
from logpost.errors import InputError
from logpost.replay.graph import changed

MOST_CALLS = 1_000_000
"""More calls are not replayed by every analysis: that would last over a second."""


def ideal_network(run: Run, locations: pl.DataFrame | None = None) -> pl.DataFrame:
    """The duration of each stretch of the program on an ideal network: a frame of `schema.IDEAL_NETWORK`.

    Without rows where there are too many calls, nothing communicates, or the machine contradicts the trace.

    Arguments:
        run: with its tables of calls, messages and collectives.
        locations: its locations, with the begin and the end of a region of interest; None: of the program, or of the
            region that the run was analyzed for.
    """
    manifest = run.manifest
    if locations is None:
        locations = run.facts("locations").sort("location").collect()
    accounted = locations.filter("accounted", program_ps() > 0)
    count = run.facts("calls").select(pl.len()).collect().item()
    if not 0 < count <= MOST_CALLS or accounted.is_empty() or manifest.machine.refused:
        return schema.IDEAL_NETWORK.empty()
    calls = run.facts("calls").select("location", "enter_ps", "leave_ps").collect()
    engine = Replayable(run).engine()
    try:
        enters, leaves = engine.times(changed(engine.recorded, ["network=ideal"]), unexplained=False)
    except InputError:  # the recorded order contradicts itself: nothing can be replayed
        return schema.IDEAL_NETWORK.empty()
    begins = np.searchsorted(calls["location"].to_numpy(), np.arange(locations.height + 1))
    measured = np.column_stack([calls["enter_ps"].to_numpy(), calls["leave_ps"].to_numpy()]).ravel()
    ideal = np.column_stack([enters, leaves]).ravel()
    # There may be 10^5 locations with a few calls: one by one, only what is found by search.
    parts: list[tuple[Times, Times, Times, Times, Rows, Times]] = []
    instants = 0
    for location, first, begin, end in accounted.select("location", "first_ps", "begin_ps", "end_ps").iter_rows():
        of = slice(2 * begins[location], 2 * begins[location + 1])
        starts = (first,) if of.stop > of.start else (first, first)
        was, now = (np.concatenate((starts, known[of])) for known in (measured, ideal))
        windows, bounds = _windows(begin, end, manifest.windows.width_ps)
        where = stretches(was, bounds) + instants
        instants += len(was)
        parts.append((was, now, bounds, windows, where, np.array((location, len(windows)))))
    was, now, bounds, windows, where, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    of_location, count = counts[::2], counts[1::2]
    last = np.cumsum(count + 1) - 1  # of each location's bounds
    lengths = np.delete(np.diff(between(was, now, bounds, where)), last[:-1])
    frame = pl.DataFrame({"location": np.repeat(of_location, count), "window": windows, "ideal_ps": lengths})
    return frame.cast(dict(schema.IDEAL_NETWORK.schema))  # type: ignore[arg-type]


def _windows(begin: int, end: int, width: int) -> tuple[Times, Times]:
    """The time windows of a stretch, and its borders: begin, those between windows, end."""
    windows = np.arange(begin // width, (end - 1) // width + 1)
    return windows, np.concatenate(([begin], windows[1:] * width, [end]))
