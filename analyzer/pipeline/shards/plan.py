"""How an archive is divided among its tasks. Imports nothing native, and as little as it can."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

import logpost

if TYPE_CHECKING:
    from logpost.analyzer.pipeline.request import Request

READ = (("decode",), ("number", "match"), ("join",))
ROUNDS = 3
"""Of the queues' replays, as the replay engine has them; the later ones find nothing to do where no handshake waits."""
SPLIT = (("choose",), *((f"{does}{number}",) for number in range(1, ROUNDS + 1) for does in ("leave", "reply")))
STEPS = READ + SPLIT
"""Stages in their order: a task needs all tasks of the step before its stage's."""
STAGES = tuple(stage for step in STEPS for stage in step)
OF_ALL = ("number", "choose")
"""Stages of one task, which is of all blocks; others have one for each block."""
UNCOUNTED = ("choose",)
"""Stages much of whose work counts nothing: a task that uses processor time makes progress."""


class Plan(NamedTuple):
    """What every task of one archive knows; a tuple, because importing data classes costs more than running a task.

    Attributes:
        archive: anchor file or directory.
        folder: where the files of the blocks are; shared by all machines.
        blocks: how many blocks the locations are shared out to.
        offsets: whether the archive's own clock offsets are applied.
        key: of archive, blocks and clock, 64 bits: files of another key are not taken.
        machine: what the request says of the machine, as JSON; empty: messages are not replayed as blocks.
        split: of all these, likewise.
    """

    archive: str
    folder: str
    blocks: int
    offsets: bool
    key: int
    machine: str = ""
    split: int = 0

    def tasks(self, stage: str) -> range:
        """The numbers of a stage's tasks."""
        if not self.machine and (stage,) in SPLIT:
            return range(0)
        return range(1 if stage in OF_ALL else self.blocks)

    def text(self) -> str:
        """The plan as one argument of a command."""
        return json.dumps(self._asdict())

    @classmethod
    def of_text(cls, text: str) -> Plan:
        """The plan of an argument."""
        return cls(**json.loads(text))


def make_plan(request: Request, folder: str | os.PathLike[str], blocks: int) -> Plan:
    """The plan of an archive as it is now: names, sizes and times of its files are part of the key."""
    place = os.path.abspath(request.archive)
    offsets = request.clock.value != "none"
    facts: list[object] = [logpost.__version__, place, blocks, offsets]
    root = place if os.path.isdir(place) else os.path.dirname(place)
    for directory, inner, names in os.walk(root):
        inner.sort()
        for name in sorted(names):
            if os.path.splitext(name)[1] in (".otf2", ".def", ".evt"):
                status = os.stat(os.path.join(directory, name), follow_symlinks=False)
                facts.append((os.path.relpath(os.path.join(directory, name), root), status.st_size, status.st_mtime_ns))
    # Times that a logical clock corrects are not those of the blocks.
    machine = "" if request.clock.value == "clc" else _machine_text(request)
    return Plan(place, os.path.abspath(folder), blocks, offsets, _digest(facts), machine, _digest([*facts, machine]))


def _machine_text(request: Request) -> str:
    """What a request says of the machine; its files as any process finds them."""
    files = (request.machine, request.topology)
    machine, topology = (os.path.abspath(file) if file and os.path.exists(file) else file for file in files)
    said = {
        "machine": machine,
        "topology": topology,
        "asynchronous_progress": request.asynchronous_progress,
        "model": request.model.value,
    }
    return json.dumps(said)


def _digest(facts: list[object]) -> int:
    import hashlib

    digest = hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).digest()
    return int.from_bytes(digest[:8], "little")
