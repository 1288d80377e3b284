"""The part of a collective operation: the bytes that its call names for each rank or block.

Records of collectives count what a member moves in all, with a part c and N members (as Score-P counts them;
collectors/pmpi/README.md):

    Bcast                                root sends N c, everybody receives c
    Gather(v), Reduce                    everybody sends c, the root receives N c
    Scatter(v)                           the root sends N c, everybody receives c
    Allgather(v), Alltoall(v, w), Allreduce, Reduce_scatter(_block)      everybody sends N c
    Scan                                 sends (N - rank) c and receives (rank + 1) c
    Exscan                               sends (N - rank - 1) c and receives rank c

A member of an irregular operation has a separate part; of the others, one that names no separate buffer
(MPI_IN_PLACE) has that of the others.
"""

from __future__ import annotations

import polars as pl

RECEIVED = ("bcast", "scatter", "scatterv")
SENT = ("gather", "gatherv", "reduce")
ALL_TO_ALL = ("alltoall", "alltoallv", "alltoallw")
SENT_TO_ALL = (*ALL_TO_ALL, "allgather", "allgatherv", "allreduce", "reduce_scatter", "reduce_scatter_block")
IRREGULAR = ("gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter")
BLOCK_OF_EACH = ("gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", *ALL_TO_ALL)
"""Operations in which some member has, or gets, a part for each other one"""


def own_part_bytes(members: pl.Expr) -> pl.Expr:
    """By row of collectives: the part as this member's record states it; 0 where the operation moves nothing.

    Arguments:
        members: of the operation.
    """
    operation = pl.col("operation").cast(pl.String).str.to_lowercase()
    sent, received = (pl.col(name).cast(pl.Float64) for name in ("bytes_sent", "bytes_received"))
    return (
        pl.when(operation.is_in(RECEIVED))
        .then(received)
        .when(operation.is_in(SENT))
        .then(sent)
        .when(operation.is_in(SENT_TO_ALL))
        .then(sent / members)
        .when(operation == "scan")
        .then((sent + received) / (members + 1))
        .when(operation == "exscan")
        # A member moves its part at least once, one way or the other, whatever a record of a single member states.
        .then(
            pl.min_horizontal((sent + received) / (members - 1).clip(lower_bound=1), pl.max_horizontal(sent, received))
        )
        .otherwise(pl.max_horizontal(sent, received))
    )


def part_bytes(own: pl.Expr, most: pl.Expr) -> pl.Expr:
    """By row of collectives with their `instance`: the part.

    Arguments:
        own: as this member's record states it.
        most: the largest one of the operation's members.
    """
    operation = pl.col("operation").cast(pl.String).str.to_lowercase()
    alike = ~operation.is_in(IRREGULAR) & (pl.col("instance") >= 0)
    return pl.when(alike).then(most).otherwise(own)


def least_moved(operation: str, members: float, part: float) -> float:
    """Bytes that one member moves at least, whatever the algorithm: a block of each other one, or one part."""
    return part * (max(1.0, members - 1) if operation.lower() in BLOCK_OF_EACH else 1.0)
