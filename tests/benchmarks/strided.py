"""Is the middleware that a plain `record` finds what gaps in the data cost on this machine?

The truth is within one recording: the same bytes with and without gaps, one after the other, 20 layouts in each kind of
operation (`strided.c`). Of both the lower quartiles over the repeats count, because other load makes an operation
longer and none shorter. Bar: of the layouts whose gaps cost more than a microsecond, 80 % have 0.7 to 1.3 of it as
middleware.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.resplit import Resplit
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import COLLECTIVE_PARTS

REPEATS = 40
LEAST_PS = 1_000_000
"""Of a shorter one the spread between repeats decides the ratio."""
RATIOS = (0.7, 1.3)
BAR = 0.8
MIDDLEWARE = COLLECTIVE_PARTS.index("middleware")


def _messages(run: Run) -> pl.LazyFrame:
    regions = run.facts("regions").select("region", "name")
    calls = run.table("calls").select(send_call="call", region="region")
    named = run.table("messages").join(calls, on="send_call").join(regions, on="region")
    lasts = pl.col("recv_leave_ps") - pl.max_horizontal("send_enter_ps", "recv_enter_ps")
    return named.filter(pl.col("name").is_in(["MPI_Send", "MPI_Sendrecv"])).select(
        pl.col("name").str.strip_prefix("MPI_").alias("operation"), "bytes", "layout", "middleware_ps", lasts_ps=lasts
    )


def _collectives(run: Run) -> pl.LazyFrame:
    rows = run.table("collectives").with_columns(number=pl.int_range(pl.len()).over("location")).collect()
    rows = rows.filter(pl.col("operation").cast(pl.String).is_in(["Bcast", "Alltoall"]))
    analysis = Resplit(run).under()
    found = []
    for row in rows.iter_rows(named=True):
        steps, _ = analysis.collective_way(row["location"], row["number"])
        mine = steps["part"] == MIDDLEWARE
        found.append(int((steps["end_ps"] - steps["begin_ps"])[mine].sum()))
    each = pl.when(pl.col("operation").cast(pl.String) == "Alltoall").then(2).otherwise(1)
    return rows.lazy().select(
        pl.col("operation").cast(pl.String),
        (pl.col("bytes_received") // each).alias("bytes"),
        "layout",
        pl.Series("middleware_ps", found),
        lasts_ps=pl.col("leave_ps") - pl.col("enter_ps") - pl.col("wait_ps"),
    )


def _transfers(run: Run) -> pl.LazyFrame:
    kind = pl.col("kind").cast(pl.String).str.to_titlecase().alias("operation")
    return run.table("transfers").select(kind, "bytes", "layout", "middleware_ps", lasts_ps="envelope_ps")


def points(run: Run) -> pl.DataFrame:
    """By operation, size and blocks: what gaps cost in truth, and the middleware that the split has for it."""
    layouts = pl.LazyFrame(
        {"layout": range(len(run.manifest.layouts)), "block": [one.block_bytes for one in run.manifest.layouts]},
        schema={"layout": pl.Int32, "block": pl.UInt64},
    )
    rows = pl.concat([_messages(run), _collectives(run), _transfers(run)], how="vertical_relaxed")
    quiet = [pl.col(name).cast(pl.Float64).quantile(0.25) for name in ("lasts_ps", "middleware_ps")]
    of_all = rows.join(layouts, on="layout", how="left").group_by("operation", "bytes", "block").agg(quiet).collect()
    plain = of_all.filter(pl.col("block").is_null()).select("operation", "bytes", contiguous_ps="lasts_ps")
    return (
        of_all.filter(pl.col("block").is_not_null())
        .join(plain, on=["operation", "bytes"])
        .with_columns(true_ps=pl.col("lasts_ps") - pl.col("contiguous_ps"))
        .with_columns(ratio=pl.col("middleware_ps") / pl.col("true_ps"))
        .sort("operation", "bytes", "block")
    )


def _run(mpi: str, folder: Path) -> Run:
    program = recording.build(str(Path(__file__).with_suffix(".c")), mpi, folder)
    result = recording.run(mpi, folder, 2, program, str(REPEATS), options=("--calibrate", "quick"))
    analyze(Request(str(result.archive), str(folder / "strided.run")))
    return Run.open(folder / "strided.run")


def main(options: Sequence[str] = ()) -> int:
    """Print the table of each MPI; 1 where a bar is missed. `--points`: every point, too."""
    missed = 0
    for mpi in recording.COMPILERS:
        if shutil.which(recording.COMPILERS[mpi]) is None:
            continue
        with tempfile.TemporaryDirectory(prefix="logpost-bench-") as folder:
            run = _run(mpi, Path(folder))
            if run.manifest.machine.origin != "recorded":
                print(f"{mpi:8} {run.manifest.machine.notes[0]}   MISSED")
                missed += 1
                continue
            found = points(run)
        counted = found.filter(pl.col("true_ps") > LEAST_PS)
        within = pl.col("ratio").is_between(*RATIOS)
        table = counted.group_by("operation", maintain_order=True).agg(
            points=pl.len(), within=within.sum(), least=pl.col("ratio").min(), most=pl.col("ratio").max()
        )
        for row in table.iter_rows(named=True):
            met = row["within"] >= BAR * row["points"]
            missed += not met
            print(
                f"{mpi:8} {row['operation']:10} {row['within']:3} of {row['points']:2} points, "
                f"{row['least']:.2f} to {row['most']:.2f}   {'met' if met else 'MISSED'}"
            )
        if "--points" in options:
            with pl.Config(tbl_rows=-1):
                print(found)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
