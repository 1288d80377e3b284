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


def drawn(seed: int, losses: int, *, real: bool = False) -> Drawn:
    """A program with so many losses. A mutation that finds no place or leaves ranks waiting for each other is drawn
    again; so is a second one that would be another without the first."""
    assert losses in (1, 2)
    rng = Random(f"{seed} losses {losses}")
    names = sorted(set(MUTATIONS) - (frozenset() if real else REAL_ONLY))
    base = clean(rng.getrandbits(31))
    first = _first(base, names, rng)
    if losses == 1:
        program, loss = first
        return Drawn(f"{base.name}: {loss.name}", base, program, (loss,), (base,))
    while True:
        name, second_seed = rng.choice(names), rng.getrandbits(31)
        alone = MUTATIONS[name](base, Random(second_seed))
        both = MUTATIONS[name](first[0], Random(second_seed))
        if name == first[1].name or alone is None or both is None or alone[1] != both[1]:
            continue
        if unmatched(alone[0]) or unmatched(both[0]):
            continue
        title = f"{base.name}: {first[1].name} + {name}"
        return Drawn(title, base, both[0], (first[1], both[1]), (alone[0], first[0]))


def _first(base: Program, names: list[str], rng: Random) -> Mutated:
    while True:
        found = MUTATIONS[rng.choice(names)](base, Random(rng.getrandbits(31)))
        if found is not None and not unmatched(found[0]):
            return found
