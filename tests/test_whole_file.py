"""A file that appears whole or not at all."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from logpost.errors import InputError
from logpost.whole_file import whole_file, write_whole


def test_a_block_that_raises_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_whole(path, "first\n")

    def stopped() -> None:
        with whole_file(path, "second\n") as written:
            assert written.read_text() == "second\n"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_text() == "first\n"
    assert os.listdir(tmp_path) == ["page.html"]


def test_the_mode_is_what_the_user_wants_of_new_files(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", "")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_what_a_link_leads_to_is_made_where_it_is(tmp_path: Path) -> None:
    """A file is moved within a directory only: the link and what it leads to may be on different disks."""
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/new")
    with whole_file(tmp_path / "link", "text") as written:
        assert written.parent == tmp_path / "there"
    assert (tmp_path / "there" / "new").read_text() == "text"
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["new"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "text\n")
    reader.join(10)
    assert read == ["text\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no/a cannot be written: No such .* another place"):
        write_whole(tmp_path / "no" / "a", "")
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        write_whole(tmp_path, "")
