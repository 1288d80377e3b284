"""Attribute a rank's exposed waiting to the endpoints of its messages.

A rank's exposed waiting is known exactly, and so are the waiting parts of every message, but not which message an
exposed instant belongs to when several overlap. The exposed time of rank x is therefore shared over the messages that x
sends or receives in proportion to their own waiting parts:

    H(x, e) = E(x) * W(x, e) / sum over e' of W(x, e')

with E(x) the exposed time of x in the categories, and W(x, e) the waiting parts of messages between x and endpoint e's
direction: messages x -> e plus, for x = e, all messages that arrive there (direction recv); the mirror image for send.
All in picoseconds; the sum over e of H(x, e) is E(x) or 0, so nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl


def attribute(
    pairs: pl.DataFrame, parts: Sequence[str], exposed: Mapping[int, float], *, direction: str
) -> pl.DataFrame:
    """Rows (location, endpoint, waiting_ps): the exposed waiting of `location` that `endpoint`'s messages cause.

    Arguments:
        pairs: the message matrix (send_location, recv_location, `<part>_ps`).
        parts: which parts of a message count.
        exposed: location to its exposed time in the matching categories.
        direction: "recv" to blame receivers, "send" to blame senders.
    """
    endpoint, partner = (
        ("recv_location", "send_location") if direction == "recv" else ("send_location", "recv_location")
    )
    weight = pairs.select(
        pl.col(endpoint).alias("endpoint"),
        pl.col(partner).alias("partner"),
        pl.sum_horizontal([pl.col(f"{part}_ps") for part in parts]).cast(pl.Float64).alias("weight"),
    ).filter(pl.col("weight") > 0)
    both = pl.concat(
        [
            weight.select(pl.col("partner").alias("location"), "endpoint", "weight"),
            weight.select(pl.col("endpoint").alias("location"), "endpoint", "weight"),
        ]
    )
    times = pl.DataFrame(
        {"location": list(exposed.keys()), "exposed": [float(v) for v in exposed.values()]},
        schema={"location": pl.Int32, "exposed": pl.Float64},
    )
    return (
        both.group_by("location", "endpoint")
        .agg(pl.col("weight").sum())
        .join(times, on="location")
        .with_columns(waiting_ps=pl.col("exposed") * pl.col("weight") / pl.col("weight").sum().over("location"))
        .select("location", "endpoint", "waiting_ps")
        .sort("location", "endpoint")
    )
