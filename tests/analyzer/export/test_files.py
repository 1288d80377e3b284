"""Where exports go: a file takes its place when it is complete; a pipe, a device or a link stays what it is."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

from logpost.analyzer.export.files import atomic_output


def test_a_pipe_stays_a_pipe_and_gets_the_bytes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with atomic_output(pipe, force=False, directory=False) as work:
        work.write_bytes(b"text")
        assert work.stat().st_size == 4
    reader.join(10)
    assert read == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_link_stays_a_link_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "real").write_text("old")
    (tmp_path / "link").symlink_to("there/real")
    with atomic_output(tmp_path / "link", force=True, directory=False) as work:
        work.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "real").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["link", "there"]
    assert os.listdir(tmp_path / "there") == ["real"]
