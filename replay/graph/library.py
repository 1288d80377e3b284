"""What a program's MPI library does that a trace does not show, as its graph has it: stated, observed, or open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.machines.profiles.properties import ALTERNATIVES, PROPERTIES


@dataclass(frozen=True)
class LibraryUse:
    """One property, in a program to which it makes a difference."""

    name: str
    value: str
    """the alternative that the replay has"""
    stated: bool
    """by the library profile"""
    places: int
    """where alternatives make different graphs"""
    observations: int
    """of the trace"""
    agree: Mapping[str, int]
    """by alternative: observations that allow it"""

    @property
    def possible(self) -> tuple[str, ...]:
        """The alternatives that profile or trace leave: those that all observations allow, or all where none is."""
        if self.stated:
            return (self.value,)
        left = tuple(one for one, count in self.agree.items() if count == self.observations)
        return left or tuple(self.agree)

    @property
    def is_open(self) -> bool:
        """Whether neither the profile nor the trace decides."""
        return len(self.possible) > 1

    def sentence(self) -> str:
        """What the replay assumes, and why."""
        question, words = PROPERTIES[self.name], ALTERNATIVES[self.name]
        if self.stated:
            return f"{words[self.value]} (library profile)"
        if not self.is_open:
            return f"{words[self.value]} (from the trace: {self.observations} of {self.observations} observations)"
        seen = (
            ", ".join(
                f"{count} of {self.observations} observations allow {name!r}"
                for name, count in self.agree.items()
                if count
            )
            if self.observations
            else "the trace has no observation"
        )
        return f"unknown: {question} ({seen}); the interval reaches over {', '.join(self.possible)}"


def uses_of(rows: Sequence[tuple[int, bool, int, int, list[int]]]) -> tuple[LibraryUse, ...]:
    """The properties that make a difference, from a graph's `library`."""
    found = []
    for (name, alternatives), (value, stated, places, observations, agree) in zip(
        ALTERNATIVES.items(), rows, strict=True
    ):
        names = tuple(alternatives)
        if places:
            counts = dict(zip(names, agree, strict=False))
            found.append(LibraryUse(name, names[value], stated, places, observations, counts))
    return tuple(found)


def codes_of(stated: Mapping[str, str]) -> list[int | None]:
    """What a profile states, in the codes of the native core."""
    return [
        list(alternatives).index(stated[name]) if name in stated else None
        for name, alternatives in ALTERNATIVES.items()
    ]
