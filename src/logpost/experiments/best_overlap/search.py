"""A finished search over all decompositions of one volume, the model's choice in it, and its cells in a table."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logpost.experiments.best_overlap.decomposition import Decomposed, case_text
from logpost.experiments.framework.result import Cell, Number

if TYPE_CHECKING:
    from logpost.replay.models.overlap import Form, Topology
    from logpost.replay.models.overlap_profile import OverlapProfile
    from logpost.replay.models.overlap_search import Rank


@dataclass(frozen=True)
class Searched:
    """An exhaustive search over one volume, and the model's choice in it; us."""

    V: int
    ratio: float
    """t_V / (G V)."""
    base: float
    """What losses are fractions of: the program that the figure starts from."""
    times: Mapping[Decomposed, float]
    chosen: Decomposed | None
    """None: the model has no decomposition that overlaps perfectly."""

    @property
    def best(self) -> Decomposed:
        """The shortest time."""
        return min(self.times, key=lambda case: self.times[case])

    def loss(self, case: Decomposed) -> float:
        """(T - T_opt) / T_base."""
        from logpost.replay.models.overlap import loss

        return float(loss(self.times[case], self.times[self.best], self.base))

    def lost(self, case: Decomposed | None) -> float:
        """Its loss; all of T_base where the model has no choice."""
        return 1.0 if case is None else self.loss(case)

    def gain_reached(self, case: Decomposed) -> float:
        """Of what the best decomposition saves on the base, the share that this one saves."""
        saved = self.base - self.times[self.best]
        return (self.base - self.times[case]) / saved if saved > 0 else 1.0


def choice(
    profile: OverlapProfile,
    V: int,
    t_V: float,
    form: Form,
    tried: Container[Decomposed] | None = None,
    *,
    P: int = 1,
    topology: Topology = "point-to-point",
    rank: Rank = "equation",
) -> Decomposed | None:
    """The model's best point among those that were tried; None where none overlaps perfectly.

    Args:
        profile: o(S, b), G(P, S), L and limits.
        V: bytes of each peer.
        t_V: computation on them, in the profile's unit.
        form: of the model: for communication- or computation-bound programs.
        tried: decompositions to choose from; None: all.
        P: peers.
        topology: of the peers.
        rank: by the equation as printed, or by the time that the program needs at least.
    """
    from logpost.replay.models.overlap_search import search

    found = search(profile, float(V), t_V, P=float(P), topology=topology, form=form, rank=rank)
    for point in found.points:
        case = Decomposed(V, round(point.S), round(point.b))
        if tried is None or case in tried:
            return case
    return None


def choices_cells(one: Searched) -> tuple[Cell, Cell]:
    """The best decomposition, and the model's choice."""
    return case_text(one.best), case_text(one.chosen)


def times_cells(one: Searched) -> tuple[Cell, Cell, Cell]:
    """Time of the base, of the best decomposition, and of the model's choice."""
    return (
        Number(one.base, "us"),
        Number(one.times[one.best], "us"),
        None if one.chosen is None else Number(one.times[one.chosen], "us"),
    )


def loss_cell(one: Searched, case: Decomposed | None) -> Number | None:
    """What a decomposition loses, in per cent; None where the model has no choice."""
    return None if case is None else Number(100 * one.loss(case), "%", digits=2)


def percent_cell(percent: int | None) -> str:
    """As Table 2 prints it."""
    return "*" if percent is None else f"{percent} %"
