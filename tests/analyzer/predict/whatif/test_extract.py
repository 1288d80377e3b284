"""What a question reads of a run's tables is kept for the next one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.machines.builders import stated

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Ask, lengths, predict
from logpost.analyzer.predict.whatif.extract import FILE, Extract, _plain, keep, kept_extract, key_of
from logpost.analyzer.predict.whatif.extracted import extract_of
from logpost.analyzer.predict.whatif.network_use import network_change
from logpost.analyzer.predict.whatif.plan import Plan, Rebuilt
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.machines import library_names, load_machine, replay_parameters

ASK = Ask(settings=("L=x4",), contention=False)
CONTENDED = Ask(settings=("L=x4",))
TOPOLOGY = '[topology]\nkind = "crossbar"\nnodes = 8\n'


@pytest.fixture
def run(traces: Path, tmp_path: Path) -> Path:
    """A run without questions so far, of a machine whose values state no intervals."""
    return _run(traces / "pipit-ping-pong", tmp_path)


@pytest.fixture
def wired(traces: Path, tmp_path: Path) -> Path:
    """Likewise, of ranks on several nodes."""
    return _run(traces / "tracer-stencil4d-32", tmp_path)


def _run(archive: Path, tmp_path: Path) -> Path:
    machine = tmp_path / "machine.toml"
    values = 'library = "logp"\n[loggp.other_node]\nL = 2000\no_s = 500\no_r = 500\nG = 0.1\n' + TOPOLOGY
    machine.write_text(stated("sure", ("ns", "ns/B", "B"), values))
    return analyze(Request(str(archive), str(tmp_path / "a.run"), machine=str(machine)))


def _text(extract: Extract | None) -> str:
    return json.dumps(extract, default=_plain)


def test_it_is_kept_as_it_is_read(runs: dict[str, Run], tmp_path: Path) -> None:
    for name, run in runs.items():
        extract = extract_of(run)
        keep(extract, tmp_path, name)
        found = kept_extract(tmp_path, name)
        assert found is not None
        assert _text(found) == _text(extract)
        assert found.machine.L_ps.dtype == extract.machine.L_ps.dtype


def test_values_of_every_machine_are_kept(runs: dict[str, Run], tmp_path: Path) -> None:
    extract = extract_of(runs["pipit-ping-pong"])
    for name in library_names():
        try:
            machine = replay_parameters(load_machine(name))
        except InputError:  # it states too little for any replay
            continue
        keep(replace(extract, machine=machine), tmp_path, name)
        assert _text(kept_extract(tmp_path, name)) == _text(replace(extract, machine=machine))


@pytest.mark.parametrize("ask", [ASK, CONTENDED])
def test_the_next_question_opens_no_run(run: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    first, short = predict(run, ask), lengths(run, ask)
    monkeypatch.setattr("logpost.analyzer.run.directory.Run.open", None)
    second = predict(run, ask)
    assert second.network == first.network
    assert (second.measured_ps, second.predicted_ps, second.interval_ps, second.regions, second.notes) == (
        first.measured_ps,
        first.predicted_ps,
        first.interval_ps,
        first.regions,
        first.notes,
    )
    assert lengths(run, ask) == short


def test_nor_does_one_that_replays_contention(wired: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Plan(Rebuilt(wired), CONTENDED)
    first = network_change(before, *before.rebuilt.outcomes(True, [before.planned]))
    assert first.modelled
    monkeypatch.setattr("logpost.analyzer.run.directory.Run.open", None)
    after = Plan(Rebuilt(wired), CONTENDED)
    assert network_change(after, *after.rebuilt.outcomes(True, [after.planned])) == first
    assert after.engine().makespans([after.planned]) == before.engine().makespans([before.planned])


@pytest.mark.parametrize("ask", [ASK, CONTENDED])
def test_the_next_question_imports_no_table_library(run: Path, ask: Ask) -> None:
    predict(run, ask)
    script = (
        "import sys; from pathlib import Path\n"
        "from logpost.analyzer.predict.whatif import Ask, predict\n"
        f"predict(Path({str(run)!r}), Ask(settings=('L=x4',), contention={ask.contention}))\n"
        "print({'polars', 'pydantic', 'pyarrow'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "set()\n"


@pytest.mark.parametrize("damage", ["", "[]", '["key", {" class": "Extract"}]', "{"])
def test_a_damaged_one_is_read_anew(run: Path, damage: str) -> None:
    first = predict(run, ASK)
    (run / FILE).write_text(damage.replace("key", key_of(run)))
    assert predict(run, ASK).predicted_ps == first.predicted_ps
    assert kept_extract(run, key_of(run)) is not None


def test_one_of_other_tables_is_read_anew(run: Path) -> None:
    predict(run, ASK)
    written = (run / FILE).stat().st_ino
    os.utime(run / "calls.parquet", ns=(1, 1))
    predict(run, ASK)
    assert (run / FILE).stat().st_ino != written


def test_where_it_cannot_be_written_each_question_reads_the_tables(run: Path) -> None:
    (run / FILE).mkdir()
    assert predict(run, ASK).predicted_ps == predict(run, ASK).predicted_ps
    assert (run / FILE).is_dir()


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no manifest\.json"):
        predict(tmp_path, ASK)
    with pytest.raises(InputError, match=r"has no manifest\.json"):
        predict(tmp_path / "nowhere", ASK)
