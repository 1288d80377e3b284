"""Hot endpoints: those that carry much more load than the others, over time windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MIN_SAMPLES, Number
from logpost.analyzer.run.wide import exact_sum, wide_sum
from logpost.analyzer.words.units import count_text
from logpost.replay.columns import Float64

LEAST_EXCESS = 2.0
"""An endpoint is hot above twice the mean of the others (the same bound as for links, LoGPC's remark on hot spots in
EM3D): with a service time that a balanced load uses half, twice the load saturates it. The *others'* mean is taken,
because with 4 ranks one endpoint can never be far above a mean that includes itself."""

MOSTLY = 0.5
"""More than half of an endpoint's load is one partner's."""


@dataclass(frozen=True)
class HotEndpoint:
    """An endpoint with more than `LEAST_EXCESS` times the others' mean load in `windows` together."""

    location: int
    excess: float
    even: float
    """what an even load is of its own, in these windows; a fraction"""
    windows: tuple[int, ...]
    whole_run: bool
    """hot over the run as a whole, not only in some windows"""
    numbers: tuple[Number, ...]
    certainty: str


def hot_endpoints(evidence: Evidence, direction: Literal["recv", "send"]) -> list[HotEndpoint]:
    """The hot endpoints of one direction, hottest first.

    The load of an endpoint in a window is its service time (`busy`, so that many small and few large messages count as
    they should); messages where no service time is known. A window counts for an endpoint if its load exceeds twice the
    others' mean by three standard deviations of a Poisson count as well, and if it has at least two partners in it.
    Where one partner has most of the load, this is the exchange of a pair that is far apart or has much to say: nobody
    else queues there, and no other rank could take it over.
    """
    rows = (
        evidence.tables["load"]
        .filter(pl.col("direction").cast(pl.String) == direction)
        .select("location", "window", "messages", "bytes", "peers", "busy_ps", "queued_ps")
        .collect()
    )
    locations = np.unique(rows["location"].to_numpy())
    others = max(evidence.locations.height, len(locations)) - 1
    if others < 2 or rows.is_empty():
        return []
    measure = "busy_ps" if exact_sum(rows["busy_ps"]) > 0 else "messages"
    windows = evidence.manifest.windows.count
    load, count, peers = (np.zeros((len(locations), windows)) for _ in range(3))
    where = (np.searchsorted(locations, rows["location"].to_numpy()), rows["window"].to_numpy())
    np.add.at(load, where, rows[measure].to_numpy().astype(np.float64))
    np.add.at(count, where, rows["messages"].to_numpy().astype(np.float64))
    np.maximum.at(peers, where, rows["peers"].to_numpy().astype(np.float64))

    mean_load = (load.sum(axis=0) - load) / others
    mean_count = (count.sum(axis=0) - count) / others
    likely = count >= np.maximum(MIN_SAMPLES, LEAST_EXCESS * mean_count + 3 * np.sqrt(LEAST_EXCESS * mean_count + 1))
    # Few, large messages: a count says nothing about them, and the service time does by itself.
    heavy = (load > LEAST_EXCESS * mean_load) & (likely | (count <= mean_count)) & (peers >= 2)

    overall = _hot_overall(load.sum(axis=1), others, count.sum(axis=1)) & (peers.max(axis=1) >= 2)
    stand_out = np.flatnonzero(overall | heavy.any(axis=1))
    if len(stand_out) and measure == "busy_ps":
        of_pairs = _mostly_for_one(evidence, direction, locations, load.sum(axis=1))
        stand_out = stand_out[~np.isin(locations[stand_out], of_pairs)]
    found = []
    for i in stand_out:
        location = locations[i]
        hot = np.arange(windows) if overall[i] else np.flatnonzero(heavy[i])
        mine, theirs = load[i, hot].sum(), mean_load[i, hot].sum()
        own = rows.filter(pl.col("location") == int(location), pl.col("window").is_in(hot.tolist()))
        found.append(
            HotEndpoint(
                location=int(location),
                excess=float(mine / theirs) if theirs > 0 else float(others + 1),
                even=float((mine + others * theirs) / (others + 1) / mine),
                windows=tuple(int(w) for w in hot),
                whole_run=bool(overall[i]),
                numbers=_numbers(own, direction, measure, mine, theirs),
                certainty=f"load measured in {count_text(len(hot), 'window')} of {windows}",
            )
        )
    return sorted(found, key=lambda hot: -hot.excess)


def _mostly_for_one(evidence: Evidence, direction: str, locations: npt.NDArray[np.integer], load: Float64) -> list[int]:
    """The endpoints that have most of their load with one partner. A message's bytes are its own load; what an endpoint
    serves beyond all bytes, as the gap between small messages, is the same for each."""
    here, there = ("recv", "send") if direction == "recv" else ("send", "recv")
    pairs = (
        evidence.pairs.group_by(location=f"{here}_location", partner=f"{there}_location")
        .agg(wide_sum("messages"), wide_sum("serialization_ps"))
        .join(pl.DataFrame({"location": locations, "load": load}), on="location")
    )
    every = pl.col("load", "serialization_ps", "messages").cast(pl.Float64)
    beyond = (pl.col("load") - pl.col("serialization_ps").sum().over("location")).clip(lower_bound=0)
    each = pl.col("serialization_ps") + beyond * pl.col("messages") / pl.col("messages").sum().over("location")
    shares = pairs.with_columns(every).with_columns(each=each)
    most = shares.group_by("location").agg(most=pl.col("each").max() / pl.col("each").sum())
    return most.filter(pl.col("most") > MOSTLY)["location"].to_list()


def _hot_overall(load: Float64, others: int, count: Float64) -> npt.NDArray[np.bool_]:
    """By endpoint, from what each has over all windows."""
    hot: npt.NDArray[np.bool_] = (count >= MIN_SAMPLES) & (load > LEAST_EXCESS * (load.sum() - load) / others)
    return hot


def _numbers(own: pl.DataFrame, direction: str, measure: str, mine: float, theirs: float) -> tuple[Number, ...]:
    messages, size, queued = (int(own[name].sum()) for name in ("messages", "bytes", "queued_ps"))
    verb = "received" if direction == "recv" else "sent"
    found = [Number(f"messages_{verb}", messages, "count"), Number(f"bytes_{verb}", size, "B")]
    if measure == "busy_ps":
        found += [Number("in_service", mine, "ps"), Number("others_in_service_on_average", theirs, "ps")]
    else:
        found.append(Number("others_messages_on_average", theirs, "count"))
    if queued > 0:
        found.append(Number("messages_queue_at_it", queued, "ps"))
    return tuple(found)
