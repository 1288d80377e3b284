"""A stage of an analysis, and the loop that carries stages out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stage:
    """A function of facts, each by its name. A fact is written once and not changed.

    Attributes:
        run: takes the facts that it reads by their names; returns the one that it writes, or a tuple of several.
        reads: names, with blanks between them, of facts that are given or that an earlier stage writes.
        writes: names of facts; empty: it writes to the run alone.
    """

    run: Callable[..., Any]
    reads: str
    writes: str = ""


def carry_out(stages: Sequence[Stage], facts: dict[str, Any]) -> None:
    """Carry out stages in their order. A fact is dropped after the last stage that reads it, and so frees its memory.

    Args:
        stages: each reads what is in `facts` or an earlier one writes.
        facts: the given ones. Afterwards those that no stage reads.
    """
    last_reader = {name: place for place, stage in enumerate(stages) for name in stage.reads.split()}
    for place, stage in enumerate(stages):
        reads, writes = stage.reads.split(), stage.writes.split()
        result = stage.run(**{name: facts[name] for name in reads})
        if writes:
            facts.update(zip(writes, result if len(writes) > 1 else (result,), strict=True))
        del result
        for name in reads:
            if last_reader[name] == place:
                del facts[name]
