"""A run on disk: what is refused, and in which words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from logpost.analyzer.machine.estimate import TOTAL
from logpost.analyzer.run import place as run_place
from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run, RunWriter
from logpost.errors import InputError
from logpost.machines import LOCALITIES, load_machine, replay_parameters
from logpost.machines.parameters import PARAMETERS, UNLIMITED


@pytest.fixture
def run(runs: dict[str, Run], tmp_path: Path) -> Path:
    """A copy of a real run, to be damaged."""
    shutil.copytree(runs["pipit-ping-pong"].path, tmp_path / "a.run")
    return tmp_path / "a.run"


def test_every_table_has_its_declared_columns_and_types(runs: dict[str, Run]) -> None:
    for name, table in schema.TABLES.items():
        for run in runs.values():
            assert run.table(name).collect_schema() == table.schema, (run.path, name)


def test_columns_that_a_run_is_older_than_are_null(run: Path) -> None:
    file = run / "findings.parquet"
    pl.read_parquet(file).drop("path_share").write_parquet(file)
    findings = Run.open(run).table("findings").collect()
    assert findings.schema == schema.FINDINGS.schema
    assert findings["path_share"].null_count() == findings.height


def test_no_declared_column_lacks_a_sentence_and_every_time_has_its_unit() -> None:
    for table in schema.TABLES.values():
        for column in table.columns:
            assert column.sentence, (table.name, column.name)
            assert column.name.endswith("_ps") == (column.unit == "ps"), (table.name, column.name)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a run: .* manifest\.json; .*`logpost analyze"):
        Run.open(tmp_path)


def test_a_run_of_another_format_version_is_refused(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["format_version"] = 99
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"newer logpost \(run format 99, this is 7\); analyze"):
        Run.open(run)


def test_a_run_of_version_1_is_refused_with_the_way_out(run: Path) -> None:
    # Version 1 had other keys as well: the version is what is said.
    (run / "manifest.json").write_text('{"format_version": 1, "no_longer_there": 0}')
    with pytest.raises(InputError, match=r"a\.run: .* older logpost \(run format 1, .* 7\); analyze .* again$"):
        Run.open(run)


def test_a_table_that_an_older_run_of_this_version_lacks_is_empty(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["tables"].remove("load")
    (run / "manifest.json").write_text(json.dumps(manifest))
    (run / "load.parquet").unlink()
    assert Run.open(run).table("load").collect().equals(schema.LOAD.empty())


def test_a_run_is_replaced_whole(run: Path) -> None:
    (run / "left_over").write_text("of the old run")
    old = Run.open(run)
    manifest = old.manifest.model_copy(update={"messages": 12345})
    frames = {name: old.table(name).collect() for name in schema.TABLES}
    with RunWriter(run, force=True) as writer:
        for name, frame in frames.items():
            writer.write(name, frame)
        writer.finish(manifest)
    assert Run.open(run).manifest.messages == 12345
    assert not (run / "left_over").exists()
    assert [entry.name for entry in run.parent.iterdir()] == [run.name]


def test_a_replaced_run_is_left_to_the_caller_that_removes_it(run: Path) -> None:
    (run / "left_over").write_text("of the old run")
    old = Run.open(run)
    with RunWriter(run, force=True, leave_replaced=True) as writer:
        for name in schema.TABLES:
            writer.write(name, old.table(name).collect())
        writer.finish(old.manifest)
    assert not (run / "left_over").exists()
    assert (writer.path / "left_over").is_file()


def test_what_is_written_in_the_background_is_in_the_finished_run(run: Path) -> None:
    old = Run.open(run)
    with RunWriter(run, force=True) as writer:
        frames = {name: writer.write_in_background(name, old.table(name).collect()) for name in schema.TABLES}
        writer.finish(old.manifest)
    new = Run.open(run)
    assert all(new.table(name).collect().equals(frame) for name, frame in frames.items())


def test_what_cannot_be_written_in_the_background_ends_the_run(run: Path, tmp_path: Path) -> None:
    manifest = Run.open(run).manifest

    def fail() -> None:
        raise OSError("disk full")

    def write() -> None:
        with RunWriter(tmp_path / "new.run") as writer:
            writer.in_background(fail)
            writer.finish(manifest)

    with pytest.raises(OSError, match="disk full"):
        write()
    assert not (tmp_path / "new.run").exists()


def test_a_run_that_cannot_be_replaced_is_as_before(run: Path) -> None:
    def fail() -> None:
        with RunWriter(run, force=True) as writer:
            (writer.path / "half").write_text("...")
            raise RuntimeError("stop")

    before = sorted(entry.name for entry in run.iterdir())
    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert sorted(entry.name for entry in run.iterdir()) == before
    assert [entry.name for entry in run.parent.iterdir()] == [run.name]


def test_a_file_system_without_exchange_replaces_by_two_renames(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_place, "_exchanged", lambda one, other: False)
    new = tmp_path / ".a.run.new"
    new.mkdir()
    (new / "manifest.json").write_text("{}")
    run_place.put_in_place(new, run)
    assert [entry.name for entry in run.iterdir()] == ["manifest.json"]
    assert [entry.name for entry in tmp_path.iterdir()] == [run.name]


def test_a_run_holds_the_machine_that_its_messages_were_split_with(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        values = {
            (v.locality, v.parameter, v.up_to_bytes): v.value
            for v in run.manifest.machine.values
            if v.parameter not in ("eager_limit", TOTAL)
        }
        found = replay_parameters(load_machine(run.machine_file))
        for row, c in enumerate(found.class_id):
            if int(found.class_origin[c]) == int(c):
                upper = None if found.max_bytes[row] == UNLIMITED else int(found.max_bytes[row])
                for parameter, column in PARAMETERS.items():
                    value = values.pop((LOCALITIES[c], parameter, upper))
                    assert value == float(getattr(found, column)[row]), (name, c, parameter)
        assert not values, name


def test_row_groups_carry_statistics_and_calls_are_sorted_by_location_and_time(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        calls = run.table("calls").collect()
        assert calls["call"].to_list() == list(range(calls.height)), name
        assert calls.select("location", "enter_ps").equals(calls.select("location", "enter_ps").sort("*")), name
        metadata = pq.ParquetFile(run.path / "calls.parquet").metadata
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            columns = map(group.column, range(metadata.num_columns))
            ranges = {column.path_in_schema for column in columns if column.is_stats_set}
            # What rows are chosen by; not the exposed times.
            assert ranges == {"call", "location", "region", "callpath", "enter_ps", "leave_ps"}, name


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
