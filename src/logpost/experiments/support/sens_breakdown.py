"""SENS's four parts of the run time and four kinds of traffic, out of a run that logpost has analyzed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from logpost.analyzer.run.directory import Run

COMPUTE, MEMORY, OVERHEAD, SYNCHRONIZATION = "compute", "memory + NI wait", "message overhead", "synchronization"
PARTS = (COMPUTE, MEMORY, OVERHEAD, SYNCHRONIZATION)
"""From the bottom of a bar, as SENS stacks them."""
DATA, HEADERS, REQUESTS, INVALIDATES = "data", "headers", "requests", "invalidates"
KINDS = (DATA, HEADERS, REQUESTS, INVALIDATES)

OF_CATEGORY = {
    "send_overhead": OVERHEAD,
    "recv_overhead": OVERHEAD,
    "late_sender": SYNCHRONIZATION,
    "lock_wait": SYNCHRONIZATION,
    "collective_wait": SYNCHRONIZATION,
    "collective": SYNCHRONIZATION,
    "middleware": MEMORY,
    "endpoint_contention": MEMORY,
    "latency": MEMORY,
    "serialization": MEMORY,
    "network_contention": MEMORY,
    "late_receiver": MEMORY,
    "processor_queueing": MEMORY,
    "residual": MEMORY,
    "mpi_other": MEMORY,
}
"""The category of a call's time; two rules by call (`SPINS`) and by program (`breakdown`) precede it."""
SPINS = "MPI_Win_flush_all"
"""Called before barriers and in the loop that polls for a value."""
SETUP = ("MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Comm_dup", "MPI_Win_create")
TRANSFERS = ("MPI_Issend", "MPI_Isend", "MPI_Put", "MPI_Rput", "MPI_Get", "MPI_Rget", "MPI_Accumulate")
HEADER_BYTES = 8
"""LOGPC 2.1; a request, an invalidation and an acknowledgement are a header and no more."""


@dataclass(frozen=True)
class Kernel:
    """The part of a run that SENS times: from the first transfer's phase to the end of the last.

    On each rank from the leave of the last collective or set-up call before any transfer to the enter of the first
    Allreduce after all of them, with which the programs begin to check their result.
    """

    total_ps: int
    """From the first rank's start to the last rank's end."""
    categories: dict[tuple[str, str], float]
    """(MPI function, category) -> mean of the ranks, ps."""
    compute_ps: float
    """Outside of calls, mean of the ranks."""
    skew_ps: float
    """Before a rank's start and behind its end, mean of the ranks."""
    counts: dict[str, int]
    """Calls of each function on all ranks."""
    messages: int
    message_bytes: int
    """Of two-sided messages."""


def kernel_of(run: Run) -> Kernel:
    """Cut the kernel out of a run.

    Raises ValueError: the run has no transfers, or none that an Allreduce follows.
    """
    import polars as pl

    from logpost.analyzer.run.schema import CATEGORIES

    calls = (
        run.table("calls").join(run.table("regions").select("region", "name"), on="region").sort("location", "enter_ps")
    )
    every = calls.with_columns(
        setup=pl.col("name").is_in(SETUP).cum_sum().over("location"), moves=pl.col("name").is_in(TRANSFERS)
    ).collect()
    moving = every.filter("moves")
    if moving.is_empty():
        raise ValueError(f"{run.path} has no transfers to break down")
    # All ranks make the same collective calls in the same order, so that a number names the same one on each.
    before, after = _extent(moving["setup"])
    starts = every.filter(pl.col("name").is_in(SETUP), pl.col("setup") == before).select(
        "location", start_ps="leave_ps"
    )
    ends = (
        every.filter(pl.col("name") == "MPI_Allreduce", pl.col("setup") > after)
        .group_by("location", maintain_order=True)
        .first()
        .select("location", end_ps="enter_ps")
    )
    spans = starts.join(ends, on="location")
    if spans.height != every["location"].n_unique():
        raise ValueError(f"{run.path}: not every rank checks its result after its transfers")
    inside = every.join(spans, on="location").filter(
        pl.col("enter_ps") >= pl.col("start_ps"), pl.col("leave_ps") <= pl.col("end_ps")
    )
    ranks = spans.height
    # In one order, so that the same run gives the same sums to the last digit.
    sums = inside.group_by("name", maintain_order=True).agg(
        pl.len().alias("calls"), *(pl.col(f"{c}_ps").sum() for c in CATEGORIES[1:])
    )
    own_ps = int((spans["end_ps"] - spans["start_ps"]).sum())
    busy_ps = int((inside["leave_ps"] - inside["enter_ps"]).sum())
    first_ps, last_ps = _extent(spans["start_ps"])[0], _extent(spans["end_ps"])[1]
    total_ps = last_ps - first_ps
    messages = _messages(run, first_ps)
    return Kernel(
        total_ps=total_ps,
        categories={
            (str(row["name"]), category): row[f"{category}_ps"] / ranks
            for row in sums.iter_rows(named=True)
            for category in CATEGORIES[1:]
            if row[f"{category}_ps"]
        },
        compute_ps=(own_ps - busy_ps) / ranks,
        skew_ps=total_ps - own_ps / ranks,
        counts=dict(sums.select("name", "calls").iter_rows()),
        messages=messages.height,
        message_bytes=int(messages["bytes"].sum()),
    )


def _extent(values: pl.Series) -> tuple[int, int]:
    """Least and largest of whole numbers."""
    least, largest = values.min(), values.max()
    assert isinstance(least, int)
    assert isinstance(largest, int)
    return least, largest


def _messages(run: Run, since_ps: int) -> pl.DataFrame:
    import polars as pl

    return run.table("messages").filter(pl.col("send_enter_ps") >= since_ps).select("bytes").collect()


def breakdown(kernel: Kernel, charged_s: float, work_ps: float, *, is_memory: bool) -> dict[str, float]:
    """SENS's four parts, in seconds; they add up to the kernel's total.

    Args:
        kernel: of a run.
        charged_s: polls, gathering and scattering, which the program charges as busy time (its `overhead_s`).
        work_ps: what the application computes with whatever mechanism; what a rank is busy with beyond that and
            `charged_s` is polling for a value.
        is_memory: loads and stores; their calls are all waiting for memory, but `SPINS`.
    """
    parts = dict.fromkeys(PARTS, 0.0)
    for (function, category), exposed_ps in kernel.categories.items():
        part = OF_CATEGORY[category]
        if is_memory and function == SPINS:
            part = SYNCHRONIZATION
        parts[part] += exposed_ps * 1e-12
    spun_s = max(0.0, kernel.compute_ps * 1e-12 - charged_s - work_ps * 1e-12)
    parts[COMPUTE] += kernel.compute_ps * 1e-12 - charged_s - spun_s
    parts[OVERHEAD] += charged_s
    parts[SYNCHRONIZATION] += spun_s + kernel.skew_ps * 1e-12
    return parts


def volume(kernel: Kernel, value_bytes: int, *, is_memory: bool) -> dict[str, int]:
    """Bytes given to the network by kind, all ranks.

    Messages: payload, and a header for each. Loads and stores, from the counts of calls: a put announces a load or
    invalidates a copy, and each copy is invalidated as often as it is loaded, so that puts halve into the two; a get
    fetches a value or an acknowledgement, which follows each invalidation and each addition that is waited for.
    """
    if not is_memory:
        return {
            DATA: kernel.message_bytes,
            HEADERS: HEADER_BYTES * kernel.messages,
            REQUESTS: 0,
            INVALIDATES: 0,
        }
    count = kernel.counts
    puts = count.get("MPI_Put", 0) + count.get("MPI_Rput", 0)
    gets = count.get("MPI_Get", 0) + count.get("MPI_Rget", 0)
    additions = count.get("MPI_Accumulate", 0)
    loads = puts // 2
    acknowledged = gets - puts
    return {
        DATA: value_bytes * (loads + additions),
        HEADERS: HEADER_BYTES * (loads + additions + acknowledged),
        REQUESTS: HEADER_BYTES * loads,
        INVALIDATES: HEADER_BYTES * puts,
    }
