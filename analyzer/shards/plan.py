"""How an archive is shared out, as its tasks are told on their command line. Imports nothing native."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import logpost


@dataclass(frozen=True)
class Plan:
    """What every task of one archive knows.

    Attributes:
        archive: anchor file or directory.
        folder: where the files of the blocks are; shared by all machines.
        blocks: how many blocks the locations are shared out to.
        offsets: whether the archive's own clock offsets are applied.
        key: of archive, blocks and clock, 64 bits: files of another key are not taken.
    """

    archive: str
    folder: str
    blocks: int
    offsets: bool
    key: int

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages in their order: a task of one needs all tasks of the stage before it."""
        return ("decode", "match")

    def text(self) -> str:
        """The plan as one argument of a command."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> Plan:
        """The plan of an argument."""
        return cls(**json.loads(text))


def make_plan(archive: str, folder: Path, blocks: int, *, offsets: bool) -> Plan:
    """The plan of an archive as it is now: names, sizes and times of its files are part of the key."""
    place = Path(archive).absolute()
    facts = [logpost.__version__, str(place), blocks, offsets]
    root = place if place.is_dir() else place.parent
    for directory, inner, names in os.walk(root):
        inner.sort()
        for name in sorted(names):
            if Path(name).suffix in (".otf2", ".def", ".evt"):
                status = os.stat(os.path.join(directory, name), follow_symlinks=False)
                facts.append((os.path.relpath(os.path.join(directory, name), root), status.st_size, status.st_mtime_ns))
    digest = hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).digest()
    return Plan(str(place), str(folder.absolute()), blocks, offsets, int.from_bytes(digest[:8], "little"))
