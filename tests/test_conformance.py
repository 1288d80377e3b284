"""The parts of `make conformance` that need neither the suite nor MPI."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.conformance import __main__ as conformance
from tests.conformance import mpi4py, suite, tests_sos, trial
from tests.conformance.table import table
from tests.conformance.trial import Outcome

from logpost.errors import InputError


def test_a_line_of_a_testlist_is_a_test() -> None:
    test = suite.parse("alltoall 10 arg=-n arg=5 env=A=b=c mpiexecarg=-v timeLimit=300 # why", "coll")
    assert test is not None
    assert (test.name, test.launcher, test.limit_s) == ("coll/alltoall 10 -n 5 A=b=c", ("-v",), 300.0)
    assert not test.judged_otherwise
    for line in ("", "coll", "# allred 4", "attr #basic"):
        assert suite.parse(line, "") is None
    for mark in ("resultTest=TestStatus", "xfail=ticket1"):
        other = suite.parse(f"badport 2 {mark}", "spawn")
        assert other is not None
        assert other.judged_otherwise


def test_each_test_of_the_configured_suite_is_found_once_and_fortran_is_not(tmp_path: Path) -> None:
    for folder in ("coll", "f77/coll"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "testlist").write_text("red3 4\nred3 4\nred3 8\n")
    assert [x.name for x in suite.tests(tmp_path)] == ["coll/red3 4", "coll/red3 8"]


def test_lists_that_configure_does_not_write_are_the_sources(tmp_path: Path) -> None:
    """Of a list that it writes the written one counts; Fortran's and those of processes that fail are left out."""
    built, source = tmp_path / "built", tmp_path / "source"
    lists = {
        built / "coll": "red3 4",
        source / "coll": "red3 4\nrefused 2",
        source / "topo": "cartmap1 4",
        source / "errors" / "f77" / "io": "uerrhandf 1",
        source / "ft": "die 4",
    }
    for folder, text in lists.items():
        folder.mkdir(parents=True)
        (folder / "testlist").write_text(text)
    assert [x.name for x in suite.tests(built, source)] == ["coll/red3 4", "topo/cartmap1 4"]


def test_the_systems_package_sources_become_sources_of_source_packages(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("# main\ndeb http://a b main\n")
    (tmp_path / "sources.list.d" / "x.sources").write_text("Types: deb\nURIs: http://a\n")
    (tmp_path / "sources.list.d" / "off.list.disabled").write_text("deb http://c d main\n")
    parts = tmp_path / "parts"
    parts.mkdir()
    suite.source_packages(tmp_path, parts)
    assert {x.name: x.read_text() for x in parts.iterdir()} == {
        "sources.list": "deb-src http://a b main\n",
        "x.sources": "Types: deb-src\nURIs: http://a\n",
    }


def test_a_test_that_fails_with_the_collector_alone_is_a_regression_by_name() -> None:
    outcomes = [
        Outcome("a 2", without=True, with_collector=True, archive=True, analyzed=True, faults={"lost": 3}),
        Outcome("b 2", without=True, archive=True, refused="too large"),
        Outcome("c 2"),
        Outcome("d 2", built=False),
    ]
    assert [x.regression for x in outcomes] == [False, True, False, False]
    said = table(outcomes, 5).splitlines()
    # 4 tests; d is not built; a and b pass without, a with; both leave archives, a's is analyzed.
    assert [int(x.split()[0]) for x in said[:10]] == [4, 1, 2, 1, 2, 1, 1, 1, 1, 5]
    assert said[10:] == ["regression: b 2", "refused: b 2: too large", "faults: a 2: lost 3"]


def test_each_file_of_mpi4py_is_a_test_and_needs_not_the_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = tmp_path / "openmpi" / "mpi4py"
    folder = where / f"mpi4py-{mpi4py.VERSION}" / "test"
    folder.mkdir(parents=True)
    (where / "built").touch()
    for name in ("main.py", "test_win.py", "test_p2p_buf.py"):
        (folder / name).touch()
    ran: list[list[str]] = []

    def ended(command: list[str], *_: object) -> tuple[str, int]:
        ran.append(command)
        return "OK\n", 0

    monkeypatch.setattr(trial, "in_time", ended)
    outcomes = conformance.conform(tmp_path, "openmpi", "mpi4py/test_w", tmp_path / "results.jsonl")
    assert [(x.name, x.without, x.with_collector) for x in outcomes] == [("mpi4py/test_win 2", True, True)]
    python = str(where / "python" / "bin" / "python")
    assert ran[0] == ["mpirun.openmpi", "-n", "2", python, str(folder / "main.py"), "-q", "test_win"]


def test_where_mpi4py_cannot_be_built_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(InputError, match=r"^false failed for mpi4py's tests under mpich; see .*build\.log$"):
        mpi4py.tests(tmp_path, "mpich")


def test_an_interrupted_run_goes_on_and_forgets_a_line_that_was_cut_off(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    assert conformance.remembered(results) == {}
    results.write_text('{"name": "a 2", "without": true, "with_collector": true}\n{"name": "b')
    assert conformance.remembered(results) == {"a 2": Outcome("a 2", without=True, with_collector=True)}


def test_what_matches_no_test_and_what_cannot_be_had_is_said(tmp_path: Path) -> None:
    (tmp_path / "mpich" / "build").mkdir(parents=True)
    (tmp_path / "mpich" / "configured").touch()
    with pytest.raises(InputError, match=r"--only nowhere matches no test; the suite's are in the testlist files"):
        conformance.conform(tmp_path, "mpich", "nowhere", tmp_path / "results.jsonl")
    with pytest.raises(InputError, match=r"false failed for the conformance suite; see .*log"):
        suite._run(["false"], tmp_path, tmp_path / "log")


def test_without_a_source_archive_it_is_said_where_one_may_be_put(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "_run", lambda *_: None)
    with pytest.raises(InputError, match=r"has no mpich_\*\.orig\.tar\.\*; put MPICH's source archive of your"):
        suite.configured(tmp_path, "mpich")


def test_without_an_mpi_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["conformance"])
    monkeypatch.setenv("PATH", "")
    assert conformance.main() == 2
    assert "neither mpicc.openmpi nor mpicc.mpich is installed (packaging/apt-test.txt)" in capsys.readouterr().err


def test_where_nothing_compiles_nothing_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "mpich" / "build" / "coll"
    folder.mkdir(parents=True)
    (tmp_path / "mpich" / "configured").touch()
    (folder / "testlist").write_text("red3 4\n")  # and no Makefile
    with pytest.raises(InputError, match=r"no test passes without the collector under mpich: nothing is shown; see "):
        conformance.conform(tmp_path, "mpich", "red3", tmp_path / "results.jsonl")
    assert conformance.remembered(tmp_path / "results.jsonl") == {"coll/red3 4": Outcome("coll/red3 4", built=False)}


def test_each_c_program_of_the_openshmem_suite_is_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("unit/put.c", "unit/put_f.f90", "spec-example/ctx.c", "shmemx/scan.c"):
        (tmp_path / "test" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "test" / file).touch()
    monkeypatch.setenv("LOGPOST_TESTS_SOS", str(tmp_path))
    found = tests_sos.tests(tmp_path / "cache")
    assert [x.name for x in found] == ["tests-sos/unit/put 2", "tests-sos/spec-example/ctx 2"]
    assert trial._launch(found[0], Path("put"), "openmpi") == ["oshrun", "-n", "2", "put"]


def test_without_the_openshmem_suite_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGPOST_TESTS_SOS", str(tmp_path))
    with pytest.raises(
        InputError, match=r"has no test/unit; clone https://.*/tests-sos and name its folder in LOGPOST_"
    ):
        tests_sos.tests(tmp_path / "cache")
