"""The packed archives are what the table next to them says, and small."""

from __future__ import annotations

import re
import tarfile
from pathlib import PurePosixPath

from .archives import DATA, name_of, packed

MOST_BYTES = 4_000_000


def listed() -> dict[str, str]:
    """Archive -> licence, from the table in `tests/data/README.md`."""
    rows = re.findall(r"^\| `([^`]+)` \|[^|]+\| ([^|]+) \|", (DATA / "README.md").read_text(encoding="utf-8"), re.M)
    return dict(rows)


def test_every_archive_has_its_origin_and_a_licence_whose_notice_is_kept() -> None:
    table = listed()
    assert sorted(table) == sorted(name_of(file) for file in packed())
    notices = (DATA / "LICENSES.md").read_text(encoding="utf-8")
    for name, licence in table.items():
        assert licence == "own measurement" or f"## {licence}" in notices, (name, licence)


def test_an_archive_holds_one_folder_of_its_name_with_anchor_definitions_and_events_only() -> None:
    for file in packed():
        with tarfile.open(file) as tar:
            members = [PurePosixPath(member.name) for member in tar if member.isfile()]
        assert {member.parts[0] for member in members} == {name_of(file)}
        assert {member.suffix for member in members} <= {".otf2", ".def", ".evt"}, file.name
        assert len([member for member in members if member.suffix == ".otf2"]) == 1, file.name


def test_together_they_are_small() -> None:
    assert sum(file.stat().st_size for file in packed()) < MOST_BYTES
