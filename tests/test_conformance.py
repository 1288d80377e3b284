"""The parts of `make conformance` that need neither the suite nor MPI."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.conformance import __main__ as conformance
from tests.conformance import kept, lanes, mpi4py, readme, suite, tests_sos, trial
from tests.conformance.table import table
from tests.conformance.trial import Outcome

from logpost.errors import InputError

VERSIONS = conformance.Versions(recorder="r", analyzer="a")


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


@pytest.mark.parametrize("suite_name", [mpi4py.FOLDER, mpi4py.WHEEL])
def test_each_file_of_mpi4py_is_a_test_and_needs_not_the_suite(
    suite_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "openmpi" / suite_name
    folder = where / f"mpi4py-{mpi4py.VERSION}" / "test"
    folder.mkdir(parents=True)
    (where / "built").touch()
    for name in ("main.py", "test_win.py", "test_p2p_buf.py"):
        (folder / name).touch()
    ran: list[list[str]] = []
    opens: list[str | None] = []

    def ended(
        command: list[str], folder: Path, limit_s: float, environment: dict[str, str], *_: object
    ) -> tuple[str, int]:
        ran.append(command)
        opens.append(environment.get("MPI4PY_LIBMPI"))
        return "OK\n", 0

    monkeypatch.setattr(trial, "in_time", ended)
    outcomes = conformance.conform(tmp_path, "openmpi", f"{suite_name}/test_w", VERSIONS)
    assert [(x.name, x.without, x.with_collector) for x in outcomes] == [(f"{suite_name}/test_win 2", True, True)]
    python = str(where / "python" / "bin" / "python")
    assert ran[0] == ["mpirun.openmpi", "-n", "2", python, str(folder / "main.py"), "-q", "test_win"]
    assert opens == [str(where / "lib" / "libmpi.so") if suite_name == mpi4py.WHEEL else None] * 2


def test_where_mpi4py_cannot_be_built_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(InputError, match=r"^false failed for mpi4py's tests under mpich; see .*build\.log$"):
        mpi4py.tests(tmp_path, "mpich", mpi4py.FOLDER)


def test_an_interrupted_run_continues_and_forgets_a_line_that_was_cut_off(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    assert kept.read(results) == {}
    results.write_text('{"name": "a 2", "without": true, "with_collector": true}\n{"name": "b')
    assert kept.read(results) == {"a 2": Outcome("a 2", without=True, with_collector=True)}


def said(ways: list[str], way: str, passes: bool) -> bool:
    ways.append(way)
    return passes


def having_the_suite(cache: Path) -> Path:
    """The suite as if fetched, unpacked and configured for MPICH, without a test; its folder of collectives."""
    folder = cache / "mpich" / "build" / "coll"
    folder.mkdir(parents=True)
    (cache / "mpich" / "configured").touch()
    (cache / "source" / "mpich-4" / "test" / "mpi").mkdir(parents=True)
    (cache / "source" / "unpacked").touch()
    return folder


@pytest.fixture
def trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A suite of one test, red3, under an MPI of version v; the ways that are run: all pass."""
    folder = having_the_suite(tmp_path)
    (folder / "testlist").write_text("red3 4\n")
    (folder / "red3").touch()
    ways: list[str] = []

    def recorded(_test: object, _program: Path, _mpi: str, where: Path) -> bool:
        ways.append("with")
        archive = where / "logpost_red3"
        archive.mkdir(parents=True)
        (archive / "traces.otf2").write_text("anchor")
        return True

    def analyzed(archive: Path, _run: Path) -> tuple[str, dict[str, int]]:
        ways.append("analyze")
        assert archive.read_text() == "anchor"
        return "", {}

    monkeypatch.setattr(trial, "_passes", lambda *_: said(ways, "without", True))
    monkeypatch.setattr(trial, "_recorded", recorded)
    monkeypatch.setattr(trial, "_analyzed", analyzed)
    monkeypatch.setattr(kept, "version", lambda _: "v")
    return ways


def test_what_a_change_does_not_touch_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: list[str]
) -> None:
    def ways(recorder: str, analyzer: str) -> list[str]:
        trials.clear()
        (outcome,) = conformance.conform(tmp_path, "mpich", "red3", conformance.Versions(recorder, analyzer))
        assert (outcome.without, outcome.with_collector, outcome.analyzed) == (True, True, True)
        return list(trials)

    assert ways("r", "a") == ["without", "with", "analyze"]
    assert ways("r", "a") == []
    assert ways("r", "another") == ["analyze"]
    assert ways("another", "another") == ["with", "analyze"]
    monkeypatch.setattr(kept, "version", lambda _: "w")
    assert ways("a third", "another") == ["without", "with", "analyze"]
    assert sorted(x.name for x in (tmp_path / "mpich").glob("trial-*")) == []
    monkeypatch.setattr(kept, "MOST_BYTES", 1)
    assert ways("a fourth", "a") == ["with", "analyze"]
    assert ways("a fourth", "another") == ["with", "analyze"]  # an archive that was too large to keep


def test_what_fails_without_is_tried_again_with_more_patience_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: list[str]
) -> None:
    monkeypatch.setattr(trial, "_passes", lambda *_: said(trials, "without", False))

    def ways(recorder: str, patience: float) -> int:
        trials.clear()
        with pytest.raises(InputError, match="no test passes without"):
            conformance.conform(tmp_path, "mpich", "red3", conformance.Versions(recorder, "a"), patience)
        return len(trials)

    assert [ways("r", 2), ways("r", 2), ways("s", 1), ways("s", 3), ways("t", 3)] == [1, 0, 0, 1, 0]


def test_new_tests_alone_are_those_that_no_recorder_has_shown(tmp_path: Path, trials: list[str]) -> None:
    first, other = (conformance.Versions(recorder, "a") for recorder in "rs")
    assert [x.name for x in conformance.conform(tmp_path, "mpich", "red3", first, new=True)] == ["coll/red3 4"]
    assert conformance.conform(tmp_path, "mpich", "red3", other, new=True) == []
    assert trials == ["without", "with", "analyze"]


def test_with_the_collector_a_failure_is_compared_with_the_same_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: list[str]
) -> None:
    """One that is known to pass without, and fails with it, is run without again before it counts as a regression."""
    conformance.conform(tmp_path, "mpich", "red3", VERSIONS)
    trials.clear()
    monkeypatch.setattr(trial, "_recorded", lambda *_: said(trials, "with", False))
    (outcome,) = conformance.conform(tmp_path, "mpich", "red3", conformance.Versions("s", "a"))
    assert trials == ["with", "without", "with"]
    assert outcome.regression


def test_what_does_not_pass_in_company_is_run_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: list[str]
) -> None:
    """Two tests at a time, each in a separate process: `crowded` passes only where no other test runs, `broken`
    never does with the collector, and is tried twice more before it counts."""
    folder = tmp_path / "mpich" / "build" / "coll"
    for name in ("crowded", "broken"):
        (folder / name).touch()
    with (folder / "testlist").open("a") as out:
        out.write("crowded 2\nbroken 2\n")
    ran, here = tmp_path / "ran", os.getpid()

    def passes(way: str, test: suite.Test, limit_s: float) -> bool:
        place = "alone" if os.getpid() == here else "shared"
        with ran.open("a") as out:
            out.write(f"{test.program} {way} {place} {limit_s <= lanes.HURRY_S}\n")
        return (way == "without" or test.program != "broken") and (place == "alone" or test.program != "crowded")

    monkeypatch.setattr(lanes, "load_factor", lambda: 1.0)
    monkeypatch.setattr(trial, "_passes", lambda _work, test, _program, limit_s: passes("without", test, limit_s))
    monkeypatch.setattr(trial, "_recorded", lambda test, *_: passes("with", test, test.limit_s))
    outcomes = conformance.conform(tmp_path, "mpich", "coll/", VERSIONS, concurrent=2)
    assert {x.name: (x.without, x.with_collector) for x in outcomes} == {
        "coll/red3 4": (True, True),
        "coll/crowded 2": (True, True),
        "coll/broken 2": (True, False),
    }
    lines = ran.read_text().splitlines()
    assert sorted(x for x in lines if "shared" in x) == [
        "broken with shared True",
        "broken without shared True",
        "crowded without shared True",
        "red3 with shared True",
        "red3 without shared True",
    ]
    # A possible regression is first, and both ways of it are repeated.
    assert [x for x in lines if "alone" in x] == [
        *["broken without alone False", "broken with alone False"] * 2,
        "crowded without alone False",
        "crowded with alone False",
    ]
    assert len(kept.read(tmp_path / "mpich" / "r.jsonl")) == 3


def test_a_busy_machine_has_longer_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for load, factor in ((0.3, 1.0), (2.0, 1.0), (5.0, 2.5), (40.0, lanes.MOST)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        assert lanes.load_factor() == factor


def test_versions_distinguish_the_recorder_and_the_analyzer(tmp_path: Path) -> None:
    def versions() -> tuple[str, str]:
        return kept.recorder(tmp_path), kept.analyzer(tmp_path)

    def after(file: str) -> list[bool]:
        before = versions()
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("changed")
        return [new != old for new, old in zip(versions(), before, strict=True)]

    assert after("collectors/recorder/log.c") == [True, False]
    assert after("src/logpost/cli/record.py") == [True, False]
    assert after("replay/native/split/queues.cpp") == [False, True]
    for file in (
        "collectors/pmpi/README.md",
        "collectors/workloads/em3d.c",
        "src/logpost/cli/report.py",
        "analyzer/x.md",
    ):
        assert after(file) == [False, False]


def test_the_readmes_table_is_of_the_outcomes_that_are_kept(tmp_path: Path) -> None:
    tests = [
        suite.Test("coll", "a", 2),
        suite.Test("coll", "b", 2),
        suite.Test("rma", "c", 2),
        suite.Test("rma", "d", 2),
    ]
    good = Outcome("coll/a 2", without=True, with_collector=True, archive=True, analyzed=True, faults={"lost": 3})
    kept.append(tmp_path / "old.jsonl", Outcome("coll/a 2", without=True))
    kept.append(tmp_path / "old.jsonl", Outcome("rma/d 2", without=True, archive=True, refused="too large"))
    kept.append(tmp_path / "this.jsonl", good)
    kept.append(tmp_path / "this.jsonl", Outcome("rma/c 2", built=False))
    table = readme.lines({"mpich": (tests, kept.newest(tmp_path, "this"))})
    assert table[2:] == [
        "| `coll` | MPICH | 1 of 2 | 1 | 1 | 1 | 1 | 0 | 1 | 0 | 1 |",
        "| `rma` | MPICH | 2 of 2 | 1 | 1 | 1 | 0 | 1 | 0 | 1 | 0 |",
        "| all | MPICH | 3 of 4 | 2 | 2 | 2 | 1 | 1 | 1 | 1 | 1 |",
        "",
        "- faults: `coll/a 2` under MPICH: lost 3",
        "- regression: `rma/d 2` under MPICH (earlier recorder)",
        "- not analyzed: `rma/d 2` under MPICH (earlier recorder): too large",
    ]
    file = tmp_path / "README.md"
    file.write_text(f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n")
    readme.write(file, table)
    readme.write(file, table)
    assert file.read_text() == "\n".join(["before", readme.BEGIN, "", *table, "", readme.END, "after", ""])
    file.write_text("nothing")
    with pytest.raises(InputError, match=r"README.md has no lines `<!-- table: "):
        readme.write(file, table)


def test_what_matches_no_test_and_what_cannot_be_had_is_said(tmp_path: Path) -> None:
    having_the_suite(tmp_path)
    with pytest.raises(InputError, match=r"--only nowhere matches no test; .* testlist"):
        conformance.conform(tmp_path, "mpich", "nowhere", VERSIONS)
    with pytest.raises(InputError, match=r"false failed for the conformance suite; .*log"):
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
    folder = having_the_suite(tmp_path)
    (folder / "testlist").write_text("red3 4\n")  # and no Makefile
    with pytest.raises(InputError, match=r"no test passes .* under mpich: .*; see "):
        conformance.conform(tmp_path, "mpich", "red3", VERSIONS)
    assert kept.read(tmp_path / "mpich" / "r.jsonl") == {
        "coll/red3 4": Outcome("coll/red3 4", built=False, analyzer="a")
    }


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
    with pytest.raises(InputError, match=r"has no test/unit; clone https://.*/tests-sos .* LOGPOST_"):
        tests_sos.tests(tmp_path / "cache")
