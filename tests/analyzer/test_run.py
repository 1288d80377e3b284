"""A run on disk: what is refused, and in which words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from logpost.analyzer import schema
from logpost.analyzer.run import Run, RunWriter
from logpost.errors import InputError


@pytest.fixture
def run(runs: dict[str, Run], tmp_path: Path) -> Path:
    """A copy of a real run, to be damaged."""
    shutil.copytree(runs["pipit-ping-pong"].path, tmp_path / "a.run")
    return tmp_path / "a.run"


def test_every_table_has_its_declared_columns_and_types(runs: dict[str, Run]) -> None:
    for name, table in schema.TABLES.items():
        for run in runs.values():
            assert run.table(name).collect_schema() == table.schema, (run.path, name)


def test_no_declared_column_lacks_a_sentence_and_every_time_has_its_unit() -> None:
    for table in schema.TABLES.values():
        for column in table.columns:
            assert column.sentence, (table.name, column.name)
            assert column.name.endswith("_ps") == (column.unit == "ps"), (table.name, column.name)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a run: it has no manifest\.json; make one with `logpost analyze"):
        Run.open(tmp_path)


def test_a_run_of_another_format_version_is_refused(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["format_version"] = 99
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="has format version 99, this logpost reads 1; analyze the archive again"):
        Run.open(run)


def test_a_damaged_manifest_is_refused_by_key(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["clock"]["length_ps"] = "long"
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"manifest\.json cannot be used: clock\.length_ps: .*; analyze"):
        Run.open(run)


def test_a_run_without_a_table_is_refused_by_name(run: Path) -> None:
    (run / "messages.parquet").unlink()
    with pytest.raises(InputError, match=r"lacks the table messages\.parquet; analyze the archive again"):
        Run.open(run)


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with RunWriter(tmp_path / "b.run") as writer:
            (writer.path / "half").write_text("...")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert list(tmp_path.iterdir()) == []
