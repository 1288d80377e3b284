"""How an archive is divided among its tasks. Imports nothing native, and as little as it can."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

import logpost

STEPS = (("decode",), ("number", "match"), ("join",))
"""Stages in their order: a task needs all tasks of the step before its stage's."""
STAGES = tuple(stage for step in STEPS for stage in step)
OF_ALL = ("number",)
"""Stages of one task, which is of all blocks; others have one for each block."""


class Plan(NamedTuple):
    """What every task of one archive knows; a tuple, because importing data classes costs more than running a task.

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

    def tasks(self, stage: str) -> range:
        """The numbers of a stage's tasks."""
        return range(1 if stage in OF_ALL else self.blocks)

    def text(self) -> str:
        """The plan as one argument of a command."""
        return json.dumps(self._asdict())

    @classmethod
    def of_text(cls, text: str) -> Plan:
        """The plan of an argument."""
        return cls(**json.loads(text))


def make_plan(archive: str, folder: str | os.PathLike[str], blocks: int, *, offsets: bool) -> Plan:
    """The plan of an archive as it is now: names, sizes and times of its files are part of the key."""
    import hashlib

    place = os.path.abspath(archive)
    facts = [logpost.__version__, place, blocks, offsets]
    root = place if os.path.isdir(place) else os.path.dirname(place)
    for directory, inner, names in os.walk(root):
        inner.sort()
        for name in sorted(names):
            if os.path.splitext(name)[1] in (".otf2", ".def", ".evt"):
                status = os.stat(os.path.join(directory, name), follow_symlinks=False)
                facts.append((os.path.relpath(os.path.join(directory, name), root), status.st_size, status.st_mtime_ns))
    digest = hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).digest()
    return Plan(place, os.path.abspath(folder), blocks, offsets, int.from_bytes(digest[:8], "little"))
