"""Raw logs written in Python after the layout in collectors/recorder/native/rawlog.h: stories for the assembler."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

from logpost.collectors.pmpi import prototypes

MAGIC = 0x34676F6C74736F70
CALL, SEND, RECV, COLL, COMM_NEW = 1, 2, 3, 18, 20
OFF, ON = 32, 33
ABORTS, FINALIZE, LEVEL, DEF_COMM, INFO, SYNC, OFFSET = 40, 23, 24, 64, 67, 68, 69
TSC, MONOTONIC = 1, 2
WORLD, SELF = 1, 2

NUMBERS = {f.name: f.number for f in prototypes.functions()}


@dataclass
class Log:
    """The log of a thread of a process; only thread 0 begins and ends MPI."""

    rank: int
    size: int
    host: str = "a"
    boot: str = "boot-a"
    clock: int = TSC
    binding: str = ""  # cores, as Linux writes them
    world: int = 1000  # process id of the world's rank 0
    process: int = 0
    thread: int = 0
    records: list[bytes] = field(default_factory=list)
    left: bytes = b""  # the window of a process that was killed

    def __post_init__(self) -> None:
        """A process's first log begins with what it is and the predefined communicators."""
        self.process = self.process or self.world + self.rank
        if self.thread:
            return
        clock = {TSC: "rdtsc", MONOTONIC: "CLOCK_MONOTONIC_RAW"}[self.clock]
        text = f"host={self.host}\nboot={self.boot}\ncores=4\nclock={clock}\n"
        text += "executable=/bin/app\ncommand=app\nlibrary=Some MPI\n"
        text += f"binding={self.binding}\n" if self.binding else ""
        data = text.encode() + b"\0"
        self._add(INFO, 0, 0, 0, data + b"\0" * (-len(data) % 8))
        self._comm(1, WORLD, self.world, self.rank, self.size)
        self._comm(2, SELF, self.process, 0, 1)

    def _add(self, kind: int, function: int, enter: int, leave: int, payload: bytes = b"") -> None:
        self.records.append(
            struct.pack("<BBHHHQQ", kind, 0, function, 3 + len(payload) // 8, 0, enter, leave) + payload
        )

    def _comm(self, number: int, flags: int, leader: int, rank: int, size: int) -> None:
        self._add(DEF_COMM, 0, 0, 0, struct.pack("<IIQQQQiiiI", number, flags, leader, 1, 0, 0, rank, size, 0, 0))

    def sync(self, ticks: int, raw_ns: int, real_ns: int) -> None:
        """The clock against CLOCK_MONOTONIC_RAW and the time of day."""
        self._add(SYNC, 0, 0, 0, struct.pack("<QQQ", ticks, raw_ns, real_ns))

    def offset(self, before: int, after: int, reference: int) -> None:
        """One exchange with rank 0."""
        self._add(OFFSET, 0, 0, 0, struct.pack("<QQQ", before, after, reference))

    def call(self, name: str, enter: int, leave: int) -> None:
        """A call with nothing to note."""
        self._add(FINALIZE if name == "MPI_Finalize" else CALL, NUMBERS[name], enter, leave)

    def level(self, enter: int, leave: int, level: int) -> None:
        """A call of MPI_Pcontrol."""
        self._add(LEVEL, NUMBERS["MPI_Pcontrol"], enter, leave, struct.pack("<q", level))

    def off(self, begin: int, end: int, calls: int = 0) -> None:
        """A time without records, in which the thread made so many calls."""
        self._add(OFF, 0, begin, begin)
        self._add(ON, 0, end, end, struct.pack("<QQQQQQQII", calls, 0, 0, 0, 0, 0, begin, 0, 0))

    def message(self, kind: int, enter: int, leave: int, peer: int, tag: int, size: int) -> None:
        """A blocking send or receive in the world."""
        name = {SEND: "MPI_Send", RECV: "MPI_Recv"}[kind]
        self._add(kind, NUMBERS[name], enter, leave, struct.pack("<QiiII", size, peer, tag, 1, 0))

    def collective(self, name: str, enter: int, leave: int, moved: tuple[int, int] = (8, 8)) -> None:
        """A blocking operation in the world, with rank 0 as its root where it has one; the bytes sent and received."""
        root = 0 if name.removeprefix("MPI_") in ("Bcast", "Scatter", "Gather", "Reduce") else -1
        self._add(COLL, NUMBERS[name], enter, leave, struct.pack("<QQIiII", *moved, 1, root, 0, 0))

    def outside(self, name: str, enter: int, leave: int) -> None:
        """A call that makes a communicator of the world's without this member."""
        self._add(COMM_NEW, NUMBERS[name], enter, leave, struct.pack("<II", 1, 0))

    def fails(self, name: str, enter: int, leave: int) -> None:
        """A collective operation in the world that returns an error."""
        self._add(
            CALL, NUMBERS[name], enter, leave, struct.pack("<QQIiII", 0, 0, 1, 0 if name == "MPI_Bcast" else -1, 0, 0)
        )

    def _header(self, flushed: int, opened: int = 0) -> bytes:
        return struct.pack(
            "<QIIQQQQ16x", MAGIC, self.thread, self.clock, self.process, prototypes.table_hash(), flushed, opened
        )

    def text(self) -> bytes:
        """The log's bytes, and some zeros as a file system may leave them behind the end."""
        return self._header(64) + b"".join(self.records) + b"\0" * 4096

    def window(self, flushed: int, records: bytes) -> bytes:
        """A window's bytes: how much of the log is valid (plus 1: the window is not), then records."""
        return self._header(flushed) + records + b"\0" * 4096

    def dies_in(
        self,
        name: str,
        enter: int,
        kind: int,
        peer: int = -1,
        tag: int = -1,
        comm: int = 1,
        exits: tuple[int, int] = (0, 0),
    ) -> None:
        """The call that the process is in when it is killed: its window holds that, and no record.

        `exits`: whether it called exit(), and with which status.
        """
        word = kind | NUMBERS[name] << 16
        flushed = len(self.text()) - 4096
        opened = struct.pack("<QQiiII32xIi", enter, word, peer, tag, comm, 0, *exits)
        self.left = self._header(flushed, 64 + 4096) + b"\0" * 4096 + opened


def write(folder: Path, *logs: Log) -> Path:
    """A directory of raw logs as `logpost record` leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "functions.txt").write_text(prototypes.functions_text("app"))
    (folder / "record.json").write_text('{"program": "app", "time": "20260102_030405"}')
    for log in logs:
        (folder / f"{log.host}.{log.process}.0.{log.thread}.raw").write_bytes(log.text())
        if log.left:
            (folder / f"{log.host}.{log.process}.0.{log.thread}.window").write_bytes(log.left)
    return folder
