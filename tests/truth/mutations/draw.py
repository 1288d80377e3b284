"""Programs with one loss or two, drawn from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from .kernels import KERNELS
from .mutate import MUTATIONS, Loss, Mutated
from .script import Program, unmatched

REAL_ONLY = frozenset({"stride"})
"""Losses that cost nothing on the testbed, which packs strided data for nothing."""


@dataclass(frozen=True)
class Drawn:
    """A program, and what it would be without each of its losses."""

    name: str
    base: Program
    program: Program
    losses: tuple[Loss, ...]
    without: tuple[Program, ...]
    """The program without the loss of the same index; with a single loss, the base."""


def clean(seed: int) -> Program:
    """A program without a loss."""
    rng = Random(f"{seed} kernel")
    return KERNELS[rng.choice(sorted(KERNELS))](rng)


def drawn(seed: int, losses: int, base: Program | None = None, *, real: bool = False) -> Drawn:
    """A program with so many losses, one of the kernels unless its base is given.

    A mutation that finds no place, changes nothing that is played, or leaves ranks waiting for each other is drawn
    again; so is a second one that would be another without the first.
    """
    assert losses in (1, 2)
    rng = Random(f"{seed} losses {losses}")
    names = sorted(set(MUTATIONS) - (frozenset() if real else REAL_ONLY))
    base = base or clean(rng.getrandbits(31))
    if problems := unmatched(base):
        raise ValueError(f"{base.name} does not end without a loss: {problems[0]}")
    first = _first(base, names, rng)
    if losses == 1:
        program, loss = first
        return Drawn(f"{base.name}: {loss.name}", base, program, (loss,), (base,))
    while True:
        name, second_seed = rng.choice(names), rng.getrandbits(31)
        alone = MUTATIONS[name](base, Random(second_seed))
        both = MUTATIONS[name](first[0], Random(second_seed))
        if name == first[1].name or alone is None or both is None or not alone[1].is_like(both[1]):
            continue
        if not (_is_played(base, alone[0]) and _is_played(first[0], both[0])):
            continue
        title = f"{base.name}: {first[1].name} + {name}"
        return Drawn(title, base, both[0], (first[1].of(both[0]), both[1]), (alone[0], first[0]))


def _first(base: Program, names: list[str], rng: Random) -> Mutated:
    while True:
        found = MUTATIONS[rng.choice(names)](base, Random(rng.getrandbits(31)))
        if found is not None and _is_played(base, found[0]):
            return found


def _is_played(base: Program, changed: Program) -> bool:
    """Whether a changed program ends and differs in what its ranks do."""
    differs = any(
        list(base.of(rank, iteration)) != list(changed.of(rank, iteration))
        for rank in range(base.ranks)
        for iteration in range(base.iterations)
    )
    return differs and not unmatched(changed)
