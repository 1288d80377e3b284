"""A finding's row with its named numbers, as the templates of titles and advice ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from logpost.analyzer.findings.evidence.places import Place
from logpost.analyzer.words.location_names import Named, named_of, named_of_number, named_text
from logpost.analyzer.words.units import count_text, time_text

Row = Mapping[str, Any]


MAINLY = 0.5
"""Fraction. More than half is more than all the rest."""
HEAVY = 0.5
"""Fraction of the largest. What has as much is nearer to the largest than to none, and is named with it."""
ALTERNATIVE = "instead_"
"""Begin of the name of a number: what another cure of the same time saves."""
FLAGS = ("alone", "code_without_name", "is_barrier", "measured_while_recording", "reduces", "stated_machine")
"""Numbers that choose words, and say nothing else."""


@dataclass(frozen=True)
class Facts:
    """A finding's row, with its numbers by name."""

    row: Row
    place: Place

    @property
    def ranks(self) -> str:
        """`rank 0`, `ranks 3, 5-7`, `thread 1 of rank 3`."""
        return named_text(self._named) or "the process"

    @property
    def verb_s(self) -> str:
        """The s of the third person singular."""
        return "" if self.are_several else "s"

    @property
    def are_several(self) -> bool:
        """Whether it names more than one rank or thread."""
        return len(self._named) > 1

    @property
    def these(self) -> str:
        """`this rank`, `these threads`."""
        noun = "thread" if any(one.thread is not None for one in self._named) else "rank"
        return f"these {noun}s" if self.are_several else f"this {noun}"

    @property
    def _named(self) -> tuple[Named, ...]:
        return named_of(self.row["ranks"], self.row.get("threads"))

    @property
    def waiters(self) -> str:
        """`rank 1 waits`, `ranks 3, 5-7 wait`: of a finding that names those at fault as well; all, where all are."""
        if not self.all("waiting_rank"):
            return f"{self.ranks} wait{self.verb_s}"
        return f"{self.noun('waiting_rank')} wait{'s' if len(self.all('waiting_rank')) == 1 else ''}"

    @property
    def where(self) -> str:
        """The waiting call with its file and line; empty where unknown."""
        region: str = self.row["region"]
        return self.place.named if self.place.is_site and region == self.place.region else region

    @property
    def cause(self) -> str:
        """The region that causes it, with its share of samples where these name it; empty where unknown."""
        region = str(self.row["cause_region"])
        if region and self.all("on_processor"):
            time, of = (time_text(self.number(name)) for name in ("on_processor", "of_code"))
            return f"{region} (by samples, about {time} of {of} on a processor)"
        if not region or not self.all("samples"):
            return region
        share, error = (100 * self.number(name) for name in ("sampled_share", "sampled_share_error"))
        return f"{region} ({share:.0f} ± {ceil(error)} % of {count_text(int(self.number('samples')), 'sample')})"

    def number(self, name: str, default: float | None = None) -> float:
        """The first number of a name.

        Raises:
            KeyError: there is none, and no default: a sentence that needs a number is not made without it.
        """
        found = next(iter(self.all(name)), default)
        if found is None:
            raise KeyError(f"{self.row['kind']}: no number {name}")
        return found

    def all(self, name: str) -> list[float]:
        """Every number of a name."""
        return [one["value"] for one in self.row["evidence"] if one["name"] == name]

    def noun(self, name: str) -> str:
        """The ranks or threads of a name: `rank 0`."""
        return named_text(named_of_number(one) for one in self.row["evidence"] if one["name"] == name)

    def by_place(self, name: str) -> dict[str, float]:
        """Place to number, of names such as `computing[relax]`."""
        found = {}
        for one in self.row["evidence"]:
            head, bracket, place = one["name"].partition("[")
            if head == name and bracket:
                found[place.rstrip("]")] = one["value"]
        return found

    @property
    def alternatives(self) -> list[tuple[str, float]]:
        """Kinds of other cures of the same time, with what each saves; the largest first, one a kind."""
        gains: dict[str, float] = {}
        for one in self.row["evidence"]:
            head = str(one["name"]).partition("[")[0]
            if head.startswith(ALTERNATIVE):
                kind = head.removeprefix(ALTERNATIVE)
                gains[kind] = max(gains.get(kind, 0.0), one["value"])
        return sorted(gains.items(), key=lambda item: -item[1])

    def share(self, name: str) -> float:
        """Sum over places of a name."""
        return sum(self.by_place(name).values()) + sum(self.all(name))


def in_where(facts: Facts) -> str:
    return f" in {facts.where}" if facts.where else ""


def for_late(facts: Facts, what: str) -> str:
    """The waiting ranks, the place, and what of the late ranks they wait for."""
    cause = f", delayed in {facts.cause}" if facts.cause else ""
    return f"{facts.waiters}{in_where(facts)} {what} {facts.noun('late_rank')}{cause}"


@dataclass(frozen=True)
class Words:
    """What is said of a kind of finding."""

    title: Callable[[Facts], str]
    advice: Callable[[Facts], str]
    cure: str = ""
    """in a few words, as an alternative to another one's"""
