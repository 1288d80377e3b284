"""Does the split of K-to-1 messages state as queueing what the other senders add to a sender's gap?

K = 1 to 3 ranks send synchronous messages to rank 0 (`k_to_one.c`), one in flight each, so a sender's gap is how long
its calls last. The truth is the growth of the gap from K = 1 on, within one recording; of both the medians over the
repeats count. Queueing is endpoint contention and processor queueing, of which one sender has none. Bar: 0.5 to 1.5 of
the growth at 80 % of the sizes and K at which it is above a microsecond; below a tenth of the gap at K = 1.

Open MPI alone: with more ranks than cores its ranks give each other way at each poll, MPICH's after time slices of
milliseconds.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.run.directory import Run

REPEATS = 25
RANKS = 4
TRIES = 5
LEAST_PS = 1_000_000
RATIOS = (0.5, 1.5)
BAR = 0.8
NOTHING = 0.1
"""Of the gap of one sender, which has no other message to wait for."""


def points(run: Run) -> pl.DataFrame:
    """By size and K: gap and queueing of a sender's message, and by how much its gap grows; ps."""
    queueing = pl.col("endpoint_contention_ps") + pl.col("processor_queueing_ps")
    of_each = run.table("messages").select(
        "bytes", k="tag", gap_ps=pl.col("send_leave_ps") - pl.col("send_enter_ps"), queueing_ps=queueing
    )
    middle = [pl.col(name).cast(pl.Float64).median() for name in ("gap_ps", "queueing_ps")]
    found = of_each.group_by("bytes", "k").agg(middle).collect()
    alone = found.filter(pl.col("k") == 1).select("bytes", alone_ps="gap_ps")
    return (
        found.join(alone, on="bytes")
        .with_columns(growth_ps=pl.col("gap_ps") - pl.col("alone_ps"))
        .with_columns(ratio=pl.col("queueing_ps") / pl.col("growth_ps"))
        .sort("bytes", "k")
    )


def _machine(program: Path, folder: Path) -> Path | None:
    """What two ranks measure, for four outnumber the cores; None: there was too much other load at each try."""
    for attempt in range(TRIES):
        measured = recording.run("openmpi", folder / str(attempt), 2, program, "1", options=("--calibrate", "quick"))
        if (measured.archive / "machine.toml").is_file():
            return measured.archive / "machine.toml"
    return None


def _run(folder: Path, machine: Path | None) -> Run:
    program = recording.build(str(Path(__file__).with_suffix(".c")), "openmpi", folder)
    machine = machine or _machine(program, folder)
    options = ("--machine", str(machine)) if machine else ()
    result = recording.run("openmpi", folder / "all", RANKS, program, str(REPEATS), options=options)
    analyze(Request(str(result.archive), str(folder / "k_to_one.run")))
    return Run.open(folder / "k_to_one.run")


def main(options: Sequence[str] = ()) -> int:
    """Print a line for each size and K; 1 where a bar is missed. `--machine FILE`: with that one."""
    machine = Path(options[options.index("--machine") + 1]).absolute() if "--machine" in options else None
    with tempfile.TemporaryDirectory(prefix="logpost-bench-") as folder:
        run = _run(Path(folder), machine)
        found = points(run)
        print(f"machine: {run.manifest.machine.origin}")
    for row in found.iter_rows(named=True):
        gap, growth, queueing = (1e-6 * row[name] for name in ("gap_ps", "growth_ps", "queueing_ps"))
        ratio = f"{row['ratio']:5.2f}" if row["growth_ps"] > LEAST_PS else ""
        print(
            f"{row['bytes']:8} B, K = {row['k']}: {gap:8.2f} us, {growth:8.2f} more, queueing {queueing:8.2f}  {ratio}"
        )
    counted = found.filter((pl.col("k") > 1) & (pl.col("growth_ps") > LEAST_PS))
    within = counted.filter(pl.col("ratio").is_between(*RATIOS)).height
    alone = found.filter(pl.col("k") == 1)
    nothing = alone.filter(pl.col("queueing_ps") <= NOTHING * pl.col("gap_ps")).height
    met = within >= BAR * counted.height and nothing == alone.height
    print(
        f"{within} of {counted.height} within {RATIOS[0]} to {RATIOS[1]}, nothing at {nothing} of {alone.height} sizes "
        f"of one sender   {'met' if met else 'MISSED'}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
