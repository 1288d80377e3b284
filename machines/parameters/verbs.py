"""Which verbs of the command line a machine file feeds unchanged, and what the others lack.

A verb's needs are those of the code behind it: `analyze` replays under LogGP; `testbed` simulates a network whose links
have a rate, where that of a link stands for G, if need be; `predict` takes one model at a time; `calibrate --against`
compares the values of the tables that a calibration fills.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from logpost.machines.localities import LOCALITIES
from logpost.machines.parameters.feeds import feeds, gaps_of
from logpost.machines.parameters.table import MEANINGS
from logpost.machines.schema.machine import Machine


def _analyze(machine: Machine) -> list[str]:
    return gaps_of(machine, "LogGP")


def _testbed(machine: Machine) -> list[str]:
    topology, table = machine.topology, machine.loggp.of("other_node")
    by_link = (topology is not None and topology.link_bandwidth is not None) or machine.nic.link_rate is not None
    has_G = table is not None and any(r.G is not None for r in table.range)
    gaps = gaps_of(machine, "LogGP" if has_G or not by_link else "LogP")
    return gaps if topology is not None else [*gaps, "topology"]


def _predict(machine: Machine) -> list[str]:
    return [] if any(not gaps for gaps in feeds(machine).values()) else ["all that any one model needs"]


def _against(machine: Machine) -> list[str]:
    has = any(machine.loggp.of(name) for name in LOCALITIES) or machine.overlap.o or machine.overlap.G
    return [] if has or machine.log3p.point else ["a value of loggp, overlap or log3p"]


VERBS: Mapping[str, Callable[[Machine], list[str]]] = MappingProxyType(
    {"analyze": _analyze, "testbed": _testbed, "predict": _predict, "calibrate": _against}
)
"""Verb -> what it misses in a machine file; `calibrate` takes one to compare with, after --against."""


def verbs(machine: Machine) -> dict[str, list[str]]:
    """For each verb the list of what the file does not give; empty: the verb takes the file as it is."""
    return {verb: gaps(machine) for verb, gaps in VERBS.items()}


def missing_text(gaps: list[str]) -> str:
    """What is missing, on one line: LogGP's letters with their meaning."""
    return ", ".join(_meaning(gap) for gap in gaps)


def _meaning(gap: str) -> str:
    letter, _, rest = gap.partition(" ")
    return f"{letter} ({MEANINGS[letter]}){f' {rest}' if rest else ''}" if letter in MEANINGS else gap
