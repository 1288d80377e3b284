"""The cache of compiled helpers: whole folders or none, keys that follow what a helper is made of, errors in a line."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from logpost.collectors import build
from logpost.errors import InputError


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    wanted = tmp_path / "cache" / "helper"

    def fails(place: Path) -> None:
        (place / "half").write_text("x")
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        build.kept(wanted, fails)
    assert list(wanted.parent.iterdir()) == []
    made = []

    def make(place: Path) -> None:
        made.append(place)
        (place / "whole").write_text("x")

    assert build.kept(wanted, make) == build.kept(wanted, make) == wanted
    assert (wanted / "whole").exists()
    assert len(made) == 1


def test_the_faster_process_wins(tmp_path: Path) -> None:
    wanted = tmp_path / "helper"

    def make(place: Path) -> None:
        wanted.mkdir()
        (wanted / "theirs").touch()
        (place / "ours").touch()

    assert [path.name for path in build.kept(wanted, make).iterdir()] == ["theirs"]


@pytest.mark.slow
def test_a_process_waits_while_another_one_builds(tmp_path: Path) -> None:
    wanted, begun = tmp_path / "helper", tmp_path / "begun"
    theirs = textwrap.dedent(
        f"""
        import time
        from pathlib import Path
        from logpost.collectors import build

        def make(place):
            Path({str(begun)!r}).touch()
            time.sleep(0.5)
            (place / "theirs").touch()

        build.kept(Path({str(wanted)!r}), make)
        """
    )

    def make(place: Path) -> None:
        (place / "ours").touch()

    with subprocess.Popen([sys.executable, "-c", theirs]) as other:
        while not begun.exists():
            assert other.poll() is None
            time.sleep(0.01)
        found = build.kept(wanted, make)
    assert [path.name for path in found.iterdir()] == ["theirs"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "helper"]


def test_a_process_that_waits_in_vain_builds_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "LONGEST_WAIT", 0.1)
    with (tmp_path / "helper.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = build.kept(tmp_path / "helper", lambda place: (place / "ours").touch())
    assert [path.name for path in found.iterdir()] == ["ours"]


def test_a_cache_that_cannot_be_written_to_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot write to the cache .*; set XDG_CACHE_HOME"):
        build.kept(tmp_path / "file" / "helper", lambda place: None)


def test_keys_follow_contents_names_and_words(tmp_path: Path) -> None:
    one, other = tmp_path / "a" / "x.c", tmp_path / "b" / "x.c"
    for path in (one, other):
        path.parent.mkdir()
        path.write_text("int x;")
    assert build.key_of([one]) == build.key_of([other])
    assert build.key_of([one], below=tmp_path) != build.key_of([other], below=tmp_path)
    assert build.key_of([one], ["-O2"]) != build.key_of([one])
    before = build.key_of([one])
    one.write_text("int y;")
    assert build.key_of([one]) != before


def test_identity_of_a_compiler_changes_with_it(tmp_path: Path) -> None:
    wrapper = tmp_path / "mpicc"
    wrapper.touch()
    before = build.identity_of(str(wrapper))
    os.utime(wrapper, (1, 1))
    assert build.identity_of(str(wrapper)) != before


def test_the_first_error_is_in_the_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no helper: x\.c:1: error: bad$"):
        build.run_compiler(["sh", "-c", "echo note >&2; echo 'x.c:1: error: bad' >&2; exit 1"], "no helper")
    with pytest.raises(InputError, match="no helper: no message, exit status 3"):
        build.run_compiler(["sh", "-c", "exit 3"], "no helper")
