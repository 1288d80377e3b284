"""The schedule of a run under LogGOPSim's rules (analyzer/predict/loggopsim.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from logpost.analyzer.export.goal import UNITS, export_goal
from logpost.analyzer.predict.loggopsim import Scheduled, scheduled
from logpost.analyzer.run.directory import Run


def scheduled_run(run: Run, machine: str | Path | None, settings: Sequence[str] = ()) -> Scheduled:
    """Replay the schedule of a run, whose ranks are where they were; without a machine, on the run's own.

    Raises:
        InputError: the run cannot be written as a schedule; as `scheduled`.
    """
    ranks = run.facts("locations").filter(pl.col("rank") >= 0).sort("rank").select("node", "socket").collect()
    places = (ranks["node"].to_list(), ranks["socket"].to_list())
    with TemporaryDirectory(prefix="logpost-") as folder:
        file = Path(folder) / "run.goal"
        written = export_goal(run, file, Path(folder) / "map.parquet", unit="ps")
        found = scheduled(file, machine or run.machine_file, settings, unit_ps=UNITS["ps"], places=places)
    return replace(found, left_out=written.left_out)
