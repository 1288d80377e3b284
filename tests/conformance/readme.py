"""The table of `README.md`, written from the outcomes that are kept: `python -m tests.conformance --readme FILE`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.conformance.suite import Test
from tests.conformance.trial import Outcome

from logpost.errors import InputError

BEGIN, END = "<!-- table: written by `python -m tests.conformance --readme FILE` -->", "<!-- end of the table -->"
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}
_PLACE = re.compile(r"/[^\s:]*/")
_HEAD = (
    "| group | MPI | run | with this recorder | compile | pass without the collector | pass with it, too | regressions "
    "| analyzed | refused | with faults |"
)


def row(tests: Sequence[Test], known: Mapping[str, tuple[Outcome, bool]]) -> list[int]:
    """Of some tests: how many, run, run with this recorder, compiled, passed without, with it, regressions, analyzed,
    refused, with faults."""
    outcomes = [known[test.name] for test in tests if test.name in known]
    built = [one for one, _ in outcomes if one.built]
    return [
        len(tests),
        len(outcomes),
        sum(ours for _, ours in outcomes),
        len(built),
        sum(x.without for x in built),
        sum(x.without and x.with_collector for x in built),
        sum(x.regression for x in built),
        sum(x.analyzed for x in built),
        sum(bool(x.refused) for x in built),
        sum(bool(x.faults) for x in built),
    ]


def lines(known: Mapping[str, tuple[Sequence[Test], Mapping[str, tuple[Outcome, bool]]]]) -> list[str]:
    """The table: `known` has the tests and the outcomes of each MPI. Groups are folders."""
    groups: dict[tuple[str, str], list[Test]] = defaultdict(list)
    for mpi, (tests, _) in known.items():
        for test in tests:
            groups[test.folder, mpi].append(test)
    table, sums = [_HEAD, "|---|---|" + "---|" * (_HEAD.count("|") - 3)], Counter[tuple[str, int]]()
    for (folder, mpi), tests in sorted(groups.items()):
        numbers = row(tests, known[mpi][1])
        for at, number in enumerate(numbers):
            sums[mpi, at] += number
        table.append(_line(f"`{folder}`", mpi, numbers))
    table += [_line("all", mpi, [sums[mpi, at] for at in range(10)]) for mpi in known]
    return table + _named(known)


def _line(group: str, mpi: str, numbers: Sequence[int]) -> str:
    cells = [f"{numbers[1]} of {numbers[0]}", *map(str, numbers[2:])]
    return f"| {group} | {NAMES[mpi]} | " + " | ".join(cells) + " |"


def _named(known: Mapping[str, tuple[Sequence[Test], Mapping[str, tuple[Outcome, bool]]]]) -> list[str]:
    """What should not be, by name."""
    said = []
    for mpi, (tests, outcomes) in known.items():
        for name in sorted({test.name for test in tests} & outcomes.keys()):
            one, ours = outcomes[name]
            place = f"`{name}` under {NAMES[mpi]}" + ("" if ours else " (earlier recorder)")
            if one.regression:
                said.append(f"- regression: {place}")
            if one.refused:
                said.append(f"- not analyzed: {place}: {_PLACE.sub('', one.refused)}")
            if one.faults:
                said.append(f"- faults: {place}: " + ", ".join(f"{what} {count}" for what, count in one.faults.items()))
    return ["", *said] if said else []


def write(file: Path, table: Sequence[str]) -> None:
    """Put the table in the place of the one before, between its marks."""
    before, begin, rest = file.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError(f"{file} has no lines `{BEGIN}` and `{END}`, between which the table is written")
    file.write_text(before + "\n".join([BEGIN, "", *table, "", END]) + after)
