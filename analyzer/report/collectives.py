"""What the time in collective operations consists of, and by which algorithm each kind of them was replayed."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from logpost.analyzer.archive.mpi_library import LIBRARY
from logpost.analyzer.report.data import CollectiveKind, Collectives
from logpost.analyzer.run.algorithms import is_tied
from logpost.analyzer.run.before_last import before_last
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.schema import COLLECTIVE_PARTS
from logpost.analyzer.run.undivided import merged, shown_as
from logpost.analyzer.run.wide import wide_sum


def collectives(run: Run) -> Collectives | None:
    """The program's time in collective operations beyond the waits that their definitions name; None: there is none,
    or the run is older than its division."""
    sums = parts(run.table("collective_parts"), run.manifest.machine.undivided)
    if not any(sums.values()):
        return None
    names = dict(run.table("communicators").select("comm", "name").collect().iter_rows())
    early = before_last(*(run.table(name) for name in ("collectives", "communicators", "locations")))
    rows = run.table("collective_kinds").sort("measured_ps", descending=True).collect()
    used = run.manifest.machine.library
    return Collectives(
        library=run.manifest.source.properties.get(LIBRARY, ""),
        profile=used.profile if used is not None and "collectives" in used.properties else "",
        parts_ps=sums,
        before_last_ps=int(early.select(wide_sum("before_last_ps")).collect().item() or 0),
        kinds=tuple(
            CollectiveKind(
                operation=row["operation"],
                communicator=names.get(row["comm"]) or "",
                members=row["members"],
                least_bytes=row["least_bytes"],
                most_bytes=row["most_bytes"],
                operations=row["operations"],
                algorithm=row["algorithm"],
                instead=row["second"] if is_tied(row) else None,
                measured_ps=row["measured_ps"] / max(1, row["operations"] * row["members"]),
                predicted_ps=row["predicted_ps"] / max(1, row["operations"] * row["members"]),
                residual_ps=row["residual_ps"] / max(1, row["operations"] * row["members"]),
                deficit_ps=row["deficit_ps"] / max(1, row["operations"] * row["members"]),
                error_ps=row["error_ps"],
            )
            for row in rows.iter_rows(named=True)
        ),
    )


def parts(rows: pl.LazyFrame, undivided: Sequence[str]) -> dict[str, int]:
    """The parts' sums over the program under the names that they are shown under. The late member within the operation
    depends on the replayed path, as a late sender depends on the machine: both are divided, or neither."""
    found = program(rows).group_by(pl.col("part").cast(pl.String)).agg(wide_sum("exposed_ps")).collect()
    known = dict(found.iter_rows())
    if "late_sender" in undivided:
        undivided = (*undivided, "late_members")
    sums = {part: int(known.get(part, 0)) for part in COLLECTIVE_PARTS}
    return {part: time for part, time in merged(sums, undivided).items() if part == shown_as(part, undivided)}
