"""What is no bug ends in one line and exit status 2: narrow encodings, full disks, little memory, damaged runs, odd
paths."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.two_phases import two_phases
from tests.cli.command import logpost, logpost_process

from logpost.analyzer.run.schema import TABLES
from logpost.cli.output import HANDLER, tolerate_encoding


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_phases().write(tmp_path_factory.mktemp("mishaps") / "late.run").path


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The line that a refused command printed."""
    assert done.returncode == 2, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("logpost: ")
    return lines[0]


def test_characters_that_an_encoding_lacks_are_spelled() -> None:
    tolerate_encoding()
    assert "5 µs ± 1 → \udcff\u4e2d".encode("ascii", HANDLER) == rb"5 us +- 1 -> \udcff\u4e2d"


@pytest.mark.slow
def test_a_terminal_with_a_narrow_encoding_shows_the_report(run: Path) -> None:
    done = logpost_process("report", run, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "Findings" in done.stdout


@pytest.mark.slow
def test_a_locale_of_ascii_shows_the_report(run: Path) -> None:
    done = logpost_process("report", run, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "Findings" in done.stdout


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(run: Path) -> None:
    paths = os.pathsep.join(path for path in sys.path if path)
    words = [sys.executable, "-m", "logpost.cli.app", "report", str(run)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        assert (process.wait(timeout=120), said) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["report", "--json"]])
def test_a_full_device_is_said(run: Path, words: list[str]) -> None:
    words = [*words, str(run)] if "report" in words else words
    with open("/dev/full", "w") as full:
        done = logpost_process(*words, stdout=full)
    assert "No space left on device" in one_line(done)


def test_a_limit_on_the_address_space_is_named_before_libraries_abort(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (400_000_000, 800_000_000))
    assert "limited to 0.4 GB: raise the limit with `ulimit -v`" in one_line(logpost("report", run))
    assert logpost("--version").returncode == 0


@pytest.mark.parametrize("kib", [400_000, 600_000, 800_000, 1_500_000])
@pytest.mark.parametrize("verb", ["report", "analyze"])
def test_a_process_under_such_a_limit_ends_at_once(run: Path, kib: int, verb: str) -> None:
    command = f'ulimit -v {kib} && exec "$0" -m logpost.cli.app {verb} "$1"'
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        ["bash", "-c", command, sys.executable, run],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "the address space is limited to" in one_line(done)


def halved(data: bytes) -> bytes:
    return data[: len(data) // 2]


def garbled(data: bytes) -> bytes:
    noise = random.Random(5)
    end = len(data) * 3 // 4
    return data[:end] + bytes(noise.randrange(256) for _ in data[end:])


def emptied(_data: bytes) -> bytes:
    return b""


@pytest.mark.slow
@pytest.mark.parametrize("broken", [halved, garbled, emptied])
def test_a_damaged_table_is_named(run: Path, tmp_path: Path, broken: object) -> None:
    assert callable(broken)
    for name in TABLES:
        copy = tmp_path / f"{name}.run"
        shutil.copytree(run, copy)
        table = copy / f"{name}.parquet"
        table.write_bytes(broken(table.read_bytes()))
        assert f"{table} cannot be read" in one_line(logpost("report", copy))


def test_an_error_over_a_damaged_run_is_no_traceback(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "a.run"
    shutil.copytree(run, copy)
    file = copy / "locations.parquet"
    pl.read_parquet(file).with_columns(rank=pl.lit(None, pl.Int32)).write_parquet(file)
    assert "locations.parquet is damaged: 2 of 2 rows have no rank" in one_line(logpost("report", copy))


def test_a_column_that_this_version_writes_may_not_be_missing(traces: Path, tmp_path: Path) -> None:
    copy = tmp_path / "a.run"
    assert logpost("analyze", traces / "pipit-ping-pong", "-o", copy).returncode == 0
    file = copy / "pairs.parquet"
    pl.read_parquet(file).drop("late_sender_ps").write_parquet(file)
    done = logpost("report", copy, "--html", tmp_path / "a.html")
    assert "pairs.parquet is damaged: it has no column late_sender_ps" in one_line(done)


@pytest.mark.parametrize("name", ["a[1].run", "what?.run", "*.run", "\x1b[31mred.run", "two\nlines.run"])
def test_a_run_may_have_any_name(run: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(run, tmp_path / name)
    done = logpost("report", tmp_path / name)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    missing = one_line(logpost("report", tmp_path / f"no {name}"))
    assert "\x1b" not in missing


def test_a_path_outside_utf8_is_refused_and_escaped(run: Path, tmp_path: Path) -> None:
    place = tmp_path / os.fsdecode(b"caf\xe9")
    place.mkdir()
    shutil.copytree(run, place / "a.run")
    line = one_line(logpost("report", place / "a.run"))
    assert r"caf\udce9/a.run: the path of a run must be UTF-8" in line
    assert logpost("report", "a.run", cwd=place).returncode == 0


def test_links_in_a_circle_are_damage(traces: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    shutil.copytree(traces / "pipit-ping-pong", archive)
    definitions = archive / "traces.def"
    definitions.unlink()
    definitions.symlink_to(definitions.name)
    assert "the global definitions cannot be opened" in one_line(logpost("analyze", archive, "-o", tmp_path / "a.run"))


def test_names_outside_utf8_are_shown(traces: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    shutil.copytree(traces / "pipit-ping-pong", archive)
    definitions = archive / "traces.def"
    # As long as before: a definition states its length.
    definitions.write_bytes(definitions.read_bytes().replace(b"MPI_Send", b"MPI_\xff\xfend"))
    for words in (
        ["analyze", archive, "-o", "a.run"],
        ["report", "a.run"],
        ["report", "a.run", "--html", "a.html"],
        ["export", "a.run", "--to", "perfetto", "-o", "a.pftrace"],
    ):
        done = logpost(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.search(r"MPI_\S{1,12}nd", page)
    assert "MPI_Send" not in page


def test_an_archive_may_lie_under_a_path_outside_utf8(traces: Path, tmp_path: Path) -> None:
    archive = tmp_path / os.fsdecode(b"caf\xe9\x1b")
    shutil.copytree(traces / "pipit-ping-pong", archive)
    done = logpost("analyze", archive, "-o", tmp_path / "a.run")
    assert done.returncode == 0, done.stderr
    shown = logpost("report", tmp_path / "a.run")
    assert r"caf\udce9\x1b" in shown.stdout
    page = logpost("report", tmp_path / "a.run", "--html", tmp_path / "a.html")
    assert page.returncode == 0, page.stderr
    (archive / "traces.otf2").write_bytes(b"")
    assert r"caf\udce9\x1b" in one_line(logpost("analyze", archive, "-o", tmp_path / "b.run"))
