"""The pairs build, their entries fit their sources, and three of them run from the program to the verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.collectors.calibration.launchers import require_mpi

from .pairs.__main__ import rows
from .pairs.build import MissingError, build, environment, launcher
from .pairs.catalogue import PROGRAMS, Pair, pairs
from .pairs.judge import judged
from .pairs.measure import seconds

pytestmark = pytest.mark.mpi
PAIRS = pairs()
SHARED = ("pair.h", "pair.py", "pair_module.F90")


@pytest.fixture
def openmpi() -> None:
    require_mpi("Open MPI")


def test_every_source_is_a_pair() -> None:
    assert len(PAIRS) >= 25
    sources = {path for path in PROGRAMS.iterdir() if path.is_file() and path.name not in SHARED}
    assert sources == {pair.source for pair in PAIRS}
    assert {pair.language for pair in PAIRS} == {"C", "Fortran", "Python"}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_an_entry_names_what_the_program_has(pair: Pair) -> None:
    text = pair.source.read_text()
    # mpi4py's methods have MPI's names without the prefix.
    names = [one.removeprefix("MPI_") if pair.language == "Python" else one for one in pair.expected.place]
    assert any(re.search(rf"\b{name}\b", text) for name in names)
    assert re.search(r"is_fixed", text, re.IGNORECASE) or "FIXED" in text
    assert pair.expected.cause
    assert pair.expected.cures
    assert all(rank < pair.ranks for rank in pair.expected.ranks)


@pytest.mark.usefixtures("openmpi")
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.language != "Python"], ids=lambda pair: pair.name)
def test_both_variants_build(pair: Pair, tmp_path: Path) -> None:
    lossy, fixed = build(pair, tmp_path)
    assert Path(lossy[-1]).read_bytes() != Path(fixed[-1]).read_bytes()


def test_a_source_that_does_not_build_is_named(tmp_path: Path, openmpi: None) -> None:
    broken = tmp_path / "broken.c"
    broken.write_text("int main(void) { return }\n")
    with pytest.raises(RuntimeError, match=r"broken\.c does not build"):
        build(Pair(broken, 2, "", PAIRS[0].expected), tmp_path)


def test_a_name_without_a_pair_is_an_error() -> None:
    with pytest.raises(SystemExit, match="no_such: no such pair; there are column_exchange, "):
        pairs(["no_such"])


def test_a_pair_whose_network_cannot_be_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.real_network.shutil.which", lambda _: None)
    (pair,) = pairs(["same_order"])
    with pytest.raises(MissingError, match="no network: cc is not installed"), launcher(pair, tmp_path):
        pass


def test_the_sleeps_of_both_variants_bound_their_times(tmp_path: Path, openmpi: None) -> None:
    # 40 steps on 4 ranks: the slowest rank of each step sleeps for 8 ms, the others for 2 ms. The barrier adds up the
    # slowest ones, 320 ms; without it each rank sleeps for 10 x 8 + 30 x 2 = 140 ms.
    (pair,) = pairs(["alternating_barrier"])
    lossy, fixed = build(pair, tmp_path)
    variables = environment(pair, tmp_path)
    assert seconds(lossy, variables) >= 0.320
    assert seconds(fixed, variables) >= 0.140


@pytest.mark.usefixtures("openmpi")
@pytest.mark.parametrize("name", ["alternating_barrier", "split_row", "late_send"])
def test_a_pair_from_the_program_to_the_verdict(name: str, tmp_path: Path) -> None:
    (pair,) = pairs([name])
    try:
        one = judged(pair, tmp_path, 1)
    except MissingError as missing:
        pytest.skip(str(missing))
    assert (one.name, one.ranks) == (name, pair.ranks)
    assert one.true.middle < 1
    # Each of these loses a third or more, on however busy a machine: something is found.
    assert one.first.gain.middle > 0
    assert one.first.ranks <= set(range(pair.ranks))


def test_the_page_has_a_row_of_each_pair() -> None:
    page = (Path(__file__).parents[2] / "docs" / "pairs.md").read_text().splitlines()
    assert [row for row in page if row in rows(PAIRS)] == rows(PAIRS)
