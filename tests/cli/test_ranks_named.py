"""No command takes a location for a rank: two ranks of two threads that communicate are locations 0 to 3, and texts,
JSON and pages name ranks 0 and 1 only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.analyzer.in_process import analyze
from tests.cli.command import logpost
from tests.collectors.threads_that_talk import archive

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

RANKS = {0, 1}
COMMANDS = (
    ("report", "RUN"),
    ("report", "RUN", "--json"),
    ("report", "RUN", "--full"),
    ("report", "RUN", "--models"),
    ("report", "RUN", "--from", "10%", "--to", "90%", "--json"),
    ("report", "RUN", "--html", "page.html"),
    ("explain", "RUN"),
    ("explain", "RUN", "--json"),
    ("explain", "RUN", "2:1"),  # a message of thread 1
    ("explain", "RUN", "2:1", "--json"),
    ("explain", "RUN", "50"),  # a call of thread 1 of rank 0, which makes calls 43 to 82
    ("compare", "RUN", "OTHER"),
    ("compare", "RUN", "OTHER", "--json"),
    ("compare", "RUN", "OTHER", "--html", "page.html"),
    ("whatif", "RUN", "--set", "L=+1us"),
    ("whatif", "RUN", "--set", "L=+1us", "--json"),
    ("whatif", "RUN", "--without", "1"),
    ("whatif", "RUN", "--without", "1", "--json"),
    ("whatif", "RUN", "--scale-compute", "rank:1=0.5"),
    ("roofline", "RUN"),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("threads")
    found = []
    for name, last in (("RUN", 1), ("OTHER", 2)):
        (folder / name).mkdir()
        made = archive(folder / name, {(0, 0): 3, (0, 1): 1, (1, 0): 1, (1, 1): last})
        found.append(analyze(Request(str(made), str(folder / f"{name}.run"))))
    return found[0], found[1]


def named(text: str) -> set[int]:
    """Numbers that a text calls ranks: `rank 0`, `ranks 0-1, 3`."""
    # In "rank 1, 64 B" the second number is a size.
    every = re.findall(r"\branks? (\d+(?:[-–]\d+)?(?:, \d+(?:[-–]\d+)?(?![\d.]| \w*B\b))*)", text)
    return {int(number) for spans in every for number in re.findall(r"\d+", spans)}


def numbered(value: Any, key: str = "") -> Iterator[int]:
    """Numbers of JSON whose key calls them ranks; `ranks` of a whole run is how many there are."""
    if isinstance(value, dict):
        if str(value.get("unit", "")).startswith("rank"):
            yield int(value["value"])
        for name, inner in value.items():
            yield from numbered(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from numbered(inner, key)
    elif isinstance(value, int) and re.search(r"(?:^|_)rank$|^(?:rank_numbers|ranks)$", key):
        yield value


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_ranks_are_those_of_the_program(runs: tuple[Path, Path], tmp_path: Path, words: tuple[str, ...]) -> None:
    places = {"RUN": runs[0], "OTHER": runs[1], "page.html": tmp_path / "page.html"}
    done = logpost(*(places.get(word, word) for word in words))
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.html").read_text() if "--html" in words else done.stdout
    assert named(text) <= RANKS
    if "--json" in words:
        found = json.loads(done.stdout)
        found.pop("ranks", None)  # how many there are
        (found.get("critical_path") or {}).pop("changes_of_rank", None)
        assert set(numbered(found)) <= RANKS
    elif words[0] in ("report", "explain"):
        assert named(text)


def test_accounts_of_threads_are_of_ranks(runs: tuple[Path, Path]) -> None:
    """Each account is of a location; the location is of rank 0 or 1, and no table has another number as a rank."""
    run = Run.open(runs[0])
    where = run.table("locations").select("location", "process", "rank").collect()
    accounted = run.table("exposure").select("location").unique().join(where.lazy(), on="location").collect()
    # A thread has no rank: two locations per process, of which one is the rank's.
    assert sorted(accounted.get_column("process").to_list()) == [0, 0, 1, 1]
    assert sorted(accounted.get_column("rank").to_list()) == [-1, -1, 0, 1]
    ranks = {rank for row in run.table("findings").select("ranks").collect().get_column("ranks") for rank in row}
    assert ranks <= RANKS
