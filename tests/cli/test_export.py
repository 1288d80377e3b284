"""`logpost export` from outside: what it writes, says and returns."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import logpost
from tests.dashboards.synthetic import make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "em3d.run"
    make_run(path)
    return path


def test_csv_is_written_to_a_directory_named_like_the_run(run: Path, tmp_path: Path) -> None:
    done = logpost("export", run, "--to", "csv", "--table", "pairs", "--table", "load", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("em3d_csv: 2 tables, ")
    assert {file.name for file in (tmp_path / "em3d_csv").iterdir()} == {
        "pairs.csv", "load.csv", "columns.csv", "README.md", "manifest.json"
    }  # fmt: skip


def test_perfetto_states_its_size_as_json(run: Path, tmp_path: Path) -> None:
    done = logpost("export", run, "--to", "perfetto", "-o", "a.pftrace", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    # 4 ranks: per iteration 4 halo messages and 3 blocks to rank 0; 12 iterations.
    assert facts["flows"] == 12 * 7
    assert facts["bytes"] == (tmp_path / "a.pftrace").stat().st_size


def test_quiet_prints_nothing(run: Path, tmp_path: Path) -> None:
    done = logpost("export", run, "--to", "perfetto", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "em3d.pftrace").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "csv", "--table", "x"], "unknown table 'x'; a run has locations, "),
        (["--to", "perfetto", "--table", "pairs"], "--table belongs to --to csv, not to --to perfetto"),
        (["--to", "csv", "-o", "."], "already exists; pass --force to overwrite it"),
    ],
)
def test_mistakes_are_one_line_and_status_2(run: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = logpost("export", run, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("logpost: ")
    assert done.stderr.count("\n") == 1


def test_what_is_not_a_run_is_named(tmp_path: Path) -> None:
    done = logpost("export", tmp_path, "--to", "csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "is not a run" in done.stderr


def test_goal_writes_a_schedule_and_its_map(traces: Path, tmp_path: Path) -> None:
    logpost("analyze", traces / "pipit-ping-pong", "-o", tmp_path / "ping.run", "-q")
    done = logpost("export", "ping.run", "--to", "goal", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    text = (tmp_path / "ping.goal").read_text()
    messages = pl.read_parquet(tmp_path / "ping.run" / "messages.parquet").height
    assert (facts["ranks"], facts["left_out"]) == (2, {})
    assert facts["sends"] == facts["recvs"] == text.count(": send ") == messages
    assert facts["bytes"] == len(text)
    assert (tmp_path / "ping.goal.map.parquet").is_file()


def test_options_of_goal_belong_to_goal(run: Path, tmp_path: Path) -> None:
    for option in (("--unit", "ps"), ("--map", "a.csv")):
        done = logpost("export", run, "--to", "csv", *option, cwd=tmp_path)
        assert done.returncode == 2
        assert f"{option[0]} belongs to --to goal, not to --to csv; " in done.stderr
