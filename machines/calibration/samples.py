"""The file that the calibration programs' measurements are kept in, and its rules. The one declaration of its keys.

JSON lines. The first line is the `host` line; every other line is one measured point:

    {"family": "one_way", "locality": "same_socket", "bytes": 1024, …keys of the family…,
     "minimum_s": 1.1e-6, "median_s": 1.2e-6, "mean_s": 1.25e-6, "half_width_s": 3e-8,
     "samples": 300, "batches": 6, "rounds_s": [1.2e-6, 1.21e-6, …], "reached": true}

`median_s` is the estimate; `half_width_s` is the half width of its 95 % confidence interval over *rounds* (separate
launches of the program, spread over the whole calibration: see ``statistics``), so it holds the drift of a shared
machine and not only the scatter within a batch. `reached` says that ±5 % was reached. `rounds_s` are the rounds' own
medians, for error propagation. `minimum_s` is the smallest sample, `mean_s` the mean of all. Times are seconds, sizes
bytes.

`locality` is a locality class of the machine file, of the farthest pair that took part: `self`, `same_socket`,
`same_node`, `other_node`. Family, locality, bytes and the family's keys together name a point, which is in a file
once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from logpost.errors import InputError
from logpost.machines.calibration.statistics import Statistics
from logpost.machines.localities import LOCALITIES
from logpost.whole_file import write_whole

Key: TypeAlias = "int | float | str"

SIDES = ("send", "blocking_send", "receive")
PATTERNS = ("neighbour", "cross_section")
TRANSFERS = ("self", "remote", "memory_copy")
FORMS = ("datatype", "packed", "contiguous")
OPERATIONS = ("put", "get")
DELAYED = ("protocol", "silent_receiver")
"""Families whose times hold a delay that was made on purpose; measured in the first passes only."""


@dataclass(frozen=True)
class Family:
    """What one kind of point measures, and which keys it has besides locality and bytes.

    ``keys``: type of each key; a tuple lists the texts that are allowed. ``values``: further numbers that do not name
    the point.
    """

    name: str
    measures: str
    keys: Mapping[str, type | tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, type] = field(default_factory=dict)


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family(
            "signature",
            # LOGP 3.2. Issuing handles the replies that have arrived, as an Active Message request does. The request
            # has `bytes` bytes, the reply 8 (LOGP's bulk store). The time includes delta_s exactly: the real time of
            # the computation is measured in the same batch, and the difference to delta_s subtracted.
            "cost(M, Delta): time per request of issuing `burst` requests with `delta_s` computation after each",
            {"burst": int, "delta_s": float},
        ),
        Family(
            "one_to_many",
            "cost(M, 0) when the requests go to `peers` ranks one after another, time per request",
            {"burst": int, "peers": int},
        ),
        Family(
            "many_to_one",
            "cost(M, 0) when `peers` ranks send requests to one rank at the same time, time per request of one of them",
            {"burst": int, "peers": int},
        ),
        Family(
            "round_trip",
            "time of a request of `bytes` bytes until its reply of 8 bytes is handled (2 (o_s + L + o_r) for 8 bytes)",
        ),
        Family(
            "stream",
            # MPI_Send and MPI_Recv, the difference between 128 in a row and one: max(g, o_s, o_r) of LogP.
            "time per message of `bytes` bytes when one rank of a pair sends to the other and gets no replies",
        ),
        Family(
            "receive_overhead",
            # Replies wait: after the last request the requester computes for delta_s > RTT before it handles the first.
            "o_r: time per reply of handling `burst` replies (8 bytes) that have arrived, `delta_s` after the requests",
            {"burst": int, "delta_s": float},
        ),
        Family(
            "message_overhead",
            # send: MPI_Isend; its completion is not timed. blocking_send: MPI_Send to a posted receive; for a
            # rendezvous it holds the whole transfer. receive: MPI_Recv of a message that has arrived; for a rendezvous,
            # of one whose sender is waiting, which holds the handshake's second half and the transfer.
            "o(n): time within the call",
            {"side": SIDES},
        ),
        Family("one_way", "T(n): half of the ping-pong round trip with `bytes` bytes in both directions"),
        Family(
            "burst_overhead",
            # OVL 2.1, Fig. 6-E. send: MPI_Isend; receive: MPI_Irecv posted before the messages arrive.
            "o(S, b): time per initiation in a burst of `burst` non-blocking calls without computation between them",
            {"burst": int, "side": ("send", "receive")},
        ),
        Family(
            "blocking_depth",
            # depth 0: no call waited up to longest. Times are those of the initiations before the depth.
            "HD: `depth` initiations in a burst return at once, the next ones wait for a transfer to finish",
            {},
            {"depth": int, "longest": int},
        ),
        Family(
            "pattern_gap",
            # Divide by bytes for G. Pairs stream at the same time, windows of non-blocking messages in one direction.
            # lowest_s and highest_s are the fastest and the slowest pair (highest and lowest bandwidth: G^h and G^l).
            "G(P, S) S: time per message of a pair (median pair) when `pairs` pairs of `peers` ranks stream at once",
            {"peers": int, "pairs": int, "pattern": PATTERNS},
            {"lowest_s": float, "highest_s": float},
        ),
        Family(
            "distance",
            # Of --contention: rank 0 with the rank `partner`, on another host.
            "half of the ping-pong round trip of `bytes` bytes with the rank `partner`",
            {"partner": int},
        ),
        Family(
            "across",
            # Of --contention: one rank of each host; windows of non-blocking messages from one half of the hosts.
            "time per message of a pair (median pair) when `pairs` pairs across the network's middle stream at once",
            {"pairs": int},
            {"lowest_s": float, "highest_s": float},
        ),
        Family(
            "layout",
            # transfer self: T00, a message to oneself; remote: T01, half round trip; memory_copy: T_mem (form
            # contiguous), or the program's own gather loop (form packed). form datatype: MPI_Type_vector at both ends;
            # packed: gathered by the program, sent contiguous, scattered by the receiver; contiguous:
            # stride_bytes = block_bytes.
            "log3P: half round trip of `bytes` bytes of data in blocks of `block_bytes`, one every `stride_bytes`",
            {"transfer": TRANSFERS, "form": FORMS, "stride_bytes": int, "block_bytes": int},
        ),
        Family(
            "one_sided",
            # Within MPI_Finalize of a program that had windows, through one that is made as its own were. One end has
            # just written the data; the target waits in MPI_Recv.
            "time of MPI_Put or MPI_Get of `bytes` bytes until MPI_Win_flush ends",
            {"operation": OPERATIONS},
        ),
        Family("reduction", "time of MPI_Reduce_local on `bytes` bytes of doubles by MPI_SUM"),
        Family(
            "used_layout",
            # Within MPI_Finalize: layouts that the program used and the grid of MPI_Init has not. As layout's remote;
            # and self; form contiguous: the same bytes without gaps, in the same passes.
            "half round trip of `bytes` bytes in blocks of `block_bytes`, one every `stride_bytes`, as the program had",
            {
                "transfer": ("self", "remote"),
                "form": ("datatype", "contiguous"),
                "stride_bytes": int,
                "block_bytes": int,
            },
        ),
        Family(
            "protocol",
            # Eager: a small fraction of delay_s. Rendezvous: at least delay_s. The sizes come from a bisection: the
            # largest eager size and the smallest rendezvous size are neighbors. The receiver calls MPI now and then
            # before it posts the receive, so that only a handshake waits.
            "time within MPI_Send when the receive is posted `delay_s` after the send begins",
            {"delay_s": float},
        ),
        Family(
            "silent_receiver",
            # What waits here and not in protocol is eager, but ends only when the receiver's library took the data.
            "the same with a receiver that does not call MPI for `delay_s` before it posts the receive",
            {"delay_s": float},
        ),
    )
}
"""Families by name."""

TIMES = ("minimum_s", "median_s", "mean_s", "half_width_s")
COUNTS = ("samples", "batches")
AT_LEAST_ONE = frozenset({"burst", "peers", "pairs", "longest", "stride_bytes", "block_bytes"})
"""Keys of which there cannot be none; sizes and depths may be 0."""
SHORTEST_S, LONGEST_S = 1e-30, 1e6
"""Of times that are not 0. No calibration approaches either, and between them quotients and squares are numbers."""
LARGEST = 2**63 - 1
"""Of whole numbers: what a machine file and a table can hold."""


@dataclass(frozen=True)
class Host:
    """Where, with what and when: the first line of the file."""

    hosts: tuple[str, ...]
    cpus: tuple[str, ...]
    sockets: tuple[int, ...]
    mpi_library: str
    clock: str
    clock_resolution_s: float
    ranks: int
    date: str
    launcher: str = ""
    compiler: str = ""
    measured: str = "logpost calibrate"
    """By what, as sources name it."""


@dataclass(frozen=True)
class Sample:
    """One measured point; see ``FAMILIES`` for what its time is. ``keys`` also holds the family's further values."""

    family: str
    locality: str
    bytes: int
    keys: Mapping[str, Key]
    time: Statistics

    def __getitem__(self, key: str) -> Key:
        return self.keys[key]

    @property
    def name(self) -> tuple[Key, ...]:
        """Family, locality, bytes and the keys that name the point."""
        return (self.family, self.locality, self.bytes, *(self.keys[key] for key in FAMILIES[self.family].keys))

    def record(self) -> dict[str, Any]:
        """The object of the file's line."""
        return {
            "family": self.family,
            "locality": self.locality,
            "bytes": self.bytes,
            **self.keys,
            **{name: getattr(self.time, name) for name in (*TIMES, *COUNTS)},
            "rounds_s": list(self.time.rounds_s),
            "reached": self.time.reached,
        }


@dataclass(frozen=True)
class Samples:
    """A whole file: the host and its points."""

    host: Host
    points: tuple[Sample, ...]

    def of(self, family: str, **keys: Key) -> list[Sample]:
        """The points of a family whose locality, bytes or keys are as given."""
        _known(family)
        found = (p for p in self.points if p.family == family)
        return [p for p in found if all(_of(p, key) == value for key, value in keys.items())]

    def localities(self) -> list[str]:
        """Locality classes that were measured, from near to far."""
        present = {p.locality for p in self.points}
        return [name for name in LOCALITIES if name in present]


def read(path: Path | str) -> Samples:
    """Read and check a samples file.

    Raises InputError naming file, line and what is wrong there: no JSON, an unknown family, a missing key or one of
    another type, a time that is negative, not 0 and below SHORTEST_S, or above LONGEST_S, a whole number beyond
    LARGEST, a minimum above the median, a point that is there twice.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(
            f"cannot read the samples {path}: {error.strerror}; name the file that --keep-samples wrote"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text; name the file that --keep-samples wrote") from error
    if not lines:
        raise InputError(f"{path} is empty: no samples; measure again with logpost calibrate")
    host = parse_host(parse_line(lines[0], f"{path}, line 1"), f"{path}, line 1")
    points: dict[tuple[Key, ...], Sample] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        point = parse(parse_line(line, where), where)
        if point.name in points:
            raise InputError(f"{where}: duplicate point {point.name}; keep one")
        points[point.name] = point
    return Samples(host, tuple(points.values()))


def write(path: Path | str, samples: Samples) -> None:
    """Write a samples file, whole or not at all. Raises InputError when it cannot be written."""
    path = Path(path)
    host = {"family": "host", **{name: _plain(getattr(samples.host, name)) for name in Host.__dataclass_fields__}}
    lines = [json.dumps(record) for record in (host, *(p.record() for p in samples.points))]
    write_whole(path, "\n".join(lines) + "\n")


def parse_line(line: str, where: str) -> Mapping[str, Any]:
    """A line as its object. Raises InputError as ``read`` does."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:  # also a number of too many digits, and lists in lists without end
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error).partition(";")[0]
        raise InputError(f"{where} is not JSON ({reason}): the file is damaged; measure again") from error
    if not isinstance(record, dict):
        raise InputError(f"{where} must be a JSON object, not {type(record).__name__}: measure again")
    return record


def parse_host(record: Mapping[str, Any], where: str) -> Host:
    """The host line as a ``Host``. Raises InputError as ``read`` does."""
    if record.get("family") != "host":
        raise InputError(f"{where}: the first line must be the host line, not family {_short(record.get('family'))}")
    ranks = _number(record, "ranks", int, where, least=1)
    lists = {name: record.get(name) for name in ("hosts", "cpus", "sockets")}
    for name, entries in lists.items():
        wanted = int if name == "sockets" else str
        if not isinstance(entries, list) or len(entries) != ranks or not all(isinstance(e, wanted) for e in entries):
            raise InputError(f"{where}: {name} must be a list with one {wanted.__name__} for each of the {ranks} ranks")
    texts = {name: record.get(name, "") for name in ("mpi_library", "clock", "date", "launcher", "compiler")}
    if "measured" in record:
        texts["measured"] = record["measured"]
    for name, text in texts.items():
        if not isinstance(text, str) or (not text and name not in ("launcher", "compiler")):
            raise InputError(f"{where}: {name} must be a text, not {_short(text)}")
    return Host(
        **{name: tuple(entries) for name, entries in lists.items() if entries is not None},  # type: ignore[arg-type]
        clock_resolution_s=_number(record, "clock_resolution_s", float, where),
        ranks=int(ranks),
        **texts,
    )


def parse(record: Mapping[str, Any], where: str) -> Sample:
    """One line's object as a ``Sample``. Raises InputError as ``read`` does."""
    family = record.get("family")
    if not isinstance(family, str) or family not in FAMILIES:
        raise InputError(f"{where}: unknown family {_short(family)}; the families are {', '.join(FAMILIES)}")
    if record.get("locality") not in LOCALITIES:
        raise InputError(f"{where}: locality {_short(record.get('locality'))} is not one of {', '.join(LOCALITIES)}")
    kind = FAMILIES[family]
    keys: dict[str, Key] = {}
    for key, wanted in (*kind.keys.items(), *kind.values.items()):
        if isinstance(wanted, tuple):
            if record.get(key) not in wanted:
                raise InputError(
                    f"{where}: {key} of {family} is {_short(record.get(key))}, not one of {', '.join(wanted)}"
                )
            keys[key] = record[key]
        else:
            keys[key] = _number(record, key, wanted, where, least=int(key in AT_LEAST_ONE))
    times = {name: _number(record, name, float, where) for name in TIMES}
    if times["minimum_s"] > times["median_s"] * (1 + 1e-9):
        raise InputError(f"{where}: minimum_s = {times['minimum_s']:g} is above median_s = {times['median_s']:g}")
    rounds = record.get("rounds_s", [times["median_s"]])
    if not isinstance(rounds, list) or not rounds or not all(_is_time(r) for r in rounds):
        raise InputError(f"{where}: rounds_s must be a list of times up to {LONGEST_S:g} s, not {_short(rounds)}")
    if not isinstance(record.get("reached"), bool):
        raise InputError(f"{where}: reached must be true or false, not {_short(record.get('reached'))}")
    return Sample(
        family=family,
        locality=record["locality"],
        bytes=int(_number(record, "bytes", int, where)),
        keys=keys,
        time=Statistics(
            **times,
            **{name: int(_number(record, name, int, where, least=1)) for name in COUNTS},
            reached=record["reached"],
            rounds_s=tuple(float(r) for r in rounds),
        ),
    )


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _of(point: Sample, key: str) -> Key:
    if key == "locality":
        return point.locality
    return point.bytes if key == "bytes" else point.keys[key]


def _known(family: str) -> Family:
    if family not in FAMILIES:
        raise InputError(f"unknown family {family!r}; the families are {', '.join(FAMILIES)}")
    return FAMILIES[family]


def _is_time(value: object) -> bool:
    # Compared before it is converted: JSON's whole numbers have no end.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value == 0 or SHORTEST_S <= value <= LONGEST_S


def _number(record: Mapping[str, Any], key: str, kind: type, where: str, least: int = 0) -> Any:
    if key not in record:
        raise InputError(f"{where}: {key} is missing")
    value = record[key]
    number = not isinstance(value, bool) and isinstance(value, int if kind is int else (int, float))
    what = "whole number" if kind is int else "number"
    if not number or not value >= least:
        raise InputError(f"{where}: {key} must be a {what} of at least {least}, not {_short(value)}")
    if kind is int and value > LARGEST:
        raise InputError(f"{where}: {key} must be a whole number of at most {LARGEST}, not {_short(value)}")
    if kind is float and not _is_time(value):
        raise InputError(f"{where}: {key} must be 0 or from {SHORTEST_S:g} to {LONGEST_S:g} s, not {_short(value)}")
    return kind(value)


def _short(value: object) -> str:
    """A value of the file as one line's part, whatever its type."""
    try:
        text = repr(value)
    except ValueError:  # more digits than Python writes
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:60]}…"
