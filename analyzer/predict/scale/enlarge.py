"""The runs' own pattern at any number of ranks: their grid, what grows with it, and the replay of the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from logpost.analyzer.predict.scale.grid import Grid, enlarged, recognize
from logpost.analyzer.predict.scale.growth import TERMS, growth
from logpost.analyzer.predict.scale.observed import Observed
from logpost.analyzer.predict.scale.replayed import Replayed, replay_at
from logpost.analyzer.predict.scale.structure import COMPUTE
from logpost.analyzer.predict.scale.synthesis import Factors, synthesize
from logpost.analyzer.predict.scale.template import NoReplayError, Template, template_of
from logpost.analyzer.words.location_names import owners

SITE = ("path", "file", "line")
Kind = tuple[str, str, int, str, bool]
"""Of a member of a collective operation: its site, the operation, and whether it is at the root."""
RECURS = 0.01
"""Calls of a rank at a call path may differ by so much between sizes: iterations until convergence."""


class Enlarged:
    """The program of several runs at other sizes. The run of the most ranks is the template."""

    def __init__(self, runs: Sequence[Observed]) -> None:
        """Of runs in the order of their ranks.

        Raises:
            NoReplayError: no pattern is recognized that another number of ranks would have, too.
        """
        self.runs = runs
        self.sizes = [float(one.ranks) for one in runs]
        self.template: Template = template_of(runs[-1].run)
        _same_calls(runs)
        self.grids = [_grid(one) for one in runs]
        self.sites = self._sites()
        self.operations = [_operations(one) for one in runs]
        keys = _members(runs[-1]).select(*SITE, "operation", "at_root")
        self.members: list[Kind] = list(keys.iter_rows())

    @property
    def pattern(self) -> str:
        """The grid of the largest run, for people."""
        if not len(self.template.messages["send_call"]):
            return "collective operations of all ranks"
        return f"messages to neighbours on a {self.grids[-1].text}"

    def at(self, ranks: int) -> Replayed:
        """The program on so many ranks.

        Raises:
            NoReplayError: the pattern does not exist at this size, or would be too large.
            InputError: its messages wait for each other in a circle.
        """
        target = enlarged(self.grids, ranks)
        if target is None:
            raise NoReplayError(f"how its grid is divided among {ranks:,} ranks does not follow from the runs")
        return replay_at(synthesize(self.template, self.grids[-1], target, self._factors(float(ranks))))

    def _sites(self) -> list[tuple[str, str, int]]:
        rows = self.template.run.facts("callpaths").sort("callpath").select(SITE).collect()
        return list(rows.iter_rows())

    def _factors(self, ranks: float) -> Factors:
        gap, sent = np.ones(len(self.sites)), np.ones(len(self.sites))
        for i, site in enumerate(self.sites):
            known = [one.sites[site] for one in self.runs if site in one.sites]
            if len(known) == len(self.runs):
                gap[i] = self._factor([one.gap_ps for one in known], COMPUTE, ranks)
                sent[i] = self._factor([one.sent for one in known], TERMS, ranks)
        collective = {
            key: self._factor([one.get(key, size) for one in self.operations], TERMS, ranks)
            for key, size in self.operations[-1].items()
        }
        return Factors(gap, sent, np.asarray([collective[key] for key in self.members]))

    def _factor(self, values: list[float], terms: Iterable[str], ranks: float) -> float:
        """How much more than in the template."""
        if min(values) <= 0:
            return 1.0
        found = growth(self.sizes, values, terms)
        return found.at(ranks) / found.at(self.sizes[-1])


def _members(one: Observed) -> pl.DataFrame:
    """Members of collective operations, in the order of the table, with their call site."""
    callpaths = one.run.facts("callpaths").select("callpath", *SITE)
    every = one.run.facts("locations").collect()
    rank = every.lazy().select("location").with_columns(rank=owners(every))
    return (
        one.run.facts("collectives")
        .select(
            "callpath",
            "location",
            "root",
            operation=pl.col("operation").cast(pl.String),
            bytes=pl.max_horizontal("bytes_sent", "bytes_received").cast(pl.Float64),
        )
        .join(callpaths, on="callpath", maintain_order="left")
        .join(rank, on="location", maintain_order="left")
        .select(*SITE, "operation", "bytes", at_root=pl.col("root") == pl.col("rank"))
        .collect()
    )


def _operations(one: Observed) -> dict[Kind, float]:
    """Mean bytes of a member of each site's operations, at the root and elsewhere."""
    rows = _members(one).group_by(*SITE, "operation", "at_root").agg(pl.col("bytes").mean())
    return {(path, file, line, operation, root): size for path, file, line, operation, root, size in rows.iter_rows()}


def _grid(one: Observed) -> Grid:
    pairs = (
        one.run.facts("messages")
        .filter(pl.col("send_location") != pl.col("recv_location"))
        .select("send_location", "recv_location")
        .unique()
        .collect()
        .cast(pl.Int64)
    )
    if pairs.is_empty():
        return Grid((one.ranks,), (True,))
    found = recognize(one.ranks, pairs["send_location"].to_numpy(), pairs["recv_location"].to_numpy())
    if found is None:
        raise NoReplayError(f"messages of {one.ranks} ranks do not go to neighbours on a grid")
    return found


def _same_calls(runs: Sequence[Observed]) -> None:
    """Raise NoReplayError unless ranks make as many calls whatever their number."""
    last = runs[-1]
    for one in runs[:-1]:
        if one.sites.keys() != last.sites.keys():
            site = sorted(one.sites.keys() ^ last.sites.keys())[0]
            raise NoReplayError(f"{site[0]} is not called on both {one.ranks} and {last.ranks} ranks")
        for site, there in last.sites.items():
            here = one.sites[site].calls
            if abs(here - there.calls) > RECURS * there.calls:
                raise NoReplayError(
                    f"a rank calls {site[0]} {here:,.0f} times on {one.ranks} ranks, and {there.calls:,.0f} times on "
                    f"{last.ranks}"
                )
