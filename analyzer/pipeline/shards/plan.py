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
SPLIT = (
    ("meet",),
    ("choose", "wait"),
    ("operate",),
    *((f"{does}{number}",) for number in range(1, ROUNDS + 1) for does in ("leave", "reply")),
    ("account",),
    ("write",),
)
STEPS = READ + SPLIT
"""Stages in their order: a task needs all tasks of the step before its stage's."""
STAGES = tuple(stage for step in STEPS for stage in step)
OF_ALL = ("number", "choose", "wait")
"""Stages of one task, which is of all blocks; others have one for each block."""
OF_MACHINES = (".toml", ".json", ".txt")
"""Ends of the names of files next to an archive that say on which machine it was recorded."""
UNCOUNTED = ("choose", "wait")
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
        if not self.machine and any(stage in step for step in SPLIT):
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
    given = (request.machine, request.topology)
    of_machine = [os.path.realpath(file) for file in given if file and os.path.isfile(file)]
    for directory, inner, names in os.walk(root):
        inner.sort()
        if directory == root:
            of_machine += [os.path.join(root, name) for name in sorted(names) if name.endswith(OF_MACHINES)]
        facts += [
            _fact(os.path.join(directory, name)) for name in sorted(names) if name.endswith((".otf2", ".def", ".evt"))
        ]
    # Times that a logical clock corrects are not those of the blocks.
    machine = "" if request.clock.value == "clc" else _machine_text(request)
    of_split = [*facts, machine, *map(_fact, of_machine)]
    return Plan(place, os.path.abspath(folder), blocks, offsets, _digest(facts), machine, _digest(of_split))


def _fact(file: str) -> tuple[str, int, int]:
    """Name, size and time of a file."""
    status = os.stat(file, follow_symlinks=False)
    return os.path.abspath(file), status.st_size, status.st_mtime_ns


def _machine_text(request: Request) -> str:
    """What a request says of the machine; names of files are as the user wrote them, which the machine's text keeps."""
    said = {
        "archive": request.archive,
        "machine": request.machine,
        "topology": request.topology,
        "asynchronous_progress": request.asynchronous_progress,
        "model": request.model.value,
    }
    return json.dumps({"directory": os.getcwd(), "said": said})


def _digest(facts: list[object]) -> int:
    import hashlib

    digest = hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).digest()
    return int.from_bytes(digest[:8], "little")
