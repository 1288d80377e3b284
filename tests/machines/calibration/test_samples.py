"""The samples file: what it says is read back, and what is wrong in it is named with its line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from logpost.errors import InputError
from logpost.machines.calibration.samples import FAMILIES, Host, Samples, read, write

HOST = {
    "family": "host",
    "ranks": 2,
    "hosts": ["n1", "n2"],
    "cpus": ["0", "0-3,8"],
    "sockets": [0, -1],
    "mpi_library": "Open MPI v4.1.4",
    "clock": "MPI_Wtime",
    "clock_resolution_s": 2e-8,
    "date": "2026-11-21T12:00:00Z",
}
KEYS: dict[str, dict[str, Any]] = {
    "signature": {"burst": 8, "delta_s": 1e-6},
    "one_to_many": {"burst": 8, "peers": 3},
    "many_to_one": {"burst": 8, "peers": 3},
    "round_trip": {},
    "stream": {},
    "receive_overhead": {"burst": 8, "delta_s": 1e-4},
    "message_overhead": {"side": "send"},
    "one_way": {},
    "burst_overhead": {"burst": 16, "side": "receive"},
    "blocking_depth": {"depth": 32, "longest": 256},
    "one_sided": {"operation": "get"},
    "reduction": {},
    "distance": {"partner": 3},
    "across": {"pairs": 2, "lowest_s": 1e-6, "highest_s": 2e-6},
    "pattern_gap": {"peers": 4, "pairs": 2, "pattern": "neighbour", "lowest_s": 1e-6, "highest_s": 2e-6},
    "layout": {"transfer": "self", "form": "datatype", "stride_bytes": 64, "block_bytes": 8},
    "used_layout": {"transfer": "remote", "form": "datatype", "stride_bytes": 64, "block_bytes": 8},
    "protocol": {"delay_s": 1e-3},
    "silent_receiver": {"delay_s": 1e-3},
}


def _line(family: str = "one_way", **changes: Any) -> dict[str, Any]:
    record = {"family": family, "locality": "same_socket", "bytes": 1024, **KEYS.get(family, {})}
    record |= {
        "minimum_s": 1e-6,
        "median_s": 1.2e-6,
        "mean_s": 1.3e-6,
        "half_width_s": 1e-8,
        "samples": 300,
        "batches": 6,
    }
    return {**record, "rounds_s": [1.1e-6, 1.2e-6, 1.3e-6], "reached": True, **changes}


def _file(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "samples.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (HOST, *records)))
    return path


def test_every_family_is_read_back_as_written(tmp_path: Path) -> None:
    assert set(KEYS) == set(FAMILIES)
    first = read(_file(tmp_path, *(_line(family) for family in KEYS)))
    write(tmp_path / "again.jsonl", first)
    assert read(tmp_path / "again.jsonl") == first
    assert [p.record() for p in first.points] == [_line(family) for family in KEYS]
    assert first.host.hosts == ("n1", "n2")


def test_points_by_family_and_keys(tmp_path: Path) -> None:
    found = read(_file(tmp_path, _line(bytes=8), _line(bytes=16, locality="other_node"), _line("signature")))
    assert [p.bytes for p in found.of("one_way")] == [8, 16]
    assert [p.bytes for p in found.of("one_way", locality="other_node")] == [16]
    assert found.of("signature", burst=8)[0]["delta_s"] == 1e-6
    assert found.of("signature", burst=9) == []
    assert found.localities() == ["same_socket", "other_node"]


def test_the_same_point_twice(tmp_path: Path) -> None:
    path = _file(tmp_path, _line(), _line("signature"), _line(median_s=2e-6))
    with pytest.raises(InputError, match=r"line 4: duplicate point \('one_way', 'same_socket', 1024\); keep one"):
        read(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"family": "ping"}, "line 2: unknown family 'ping'; .* signature"),
        ({"locality": "near"}, "line 2: locality 'near' .* self, same_socket"),
        ({"bytes": 1.5}, r"bytes must be a whole number .* 0, not 1\.5"),
        ({"bytes": True}, "bytes must be a whole number"),
        ({"median_s": -1e-6}, "median_s must be a number of at least 0, not -1e-06"),
        ({"median_s": float("nan")}, "median_s must be a number .* 0, not nan"),
        ({"mean_s": "fast"}, "mean_s must be a number .* 0, not 'fast'"),
        ({"minimum_s": 2e-6}, "minimum_s = 2e-06 is above median_s = 1.2e-06"),
        ({"samples": 0}, "samples must be a whole number .* 1, not 0"),
        ({"median_s": 1e300}, r"median_s must be 0 or from 1e-30 to 1e\+06 s, not 1e\+300"),
        ({"minimum_s": 5e-324}, r"line 2: minimum_s must be 0 or from 1e-30 to 1e\+06 s, not 5e-324"),
        ({"half_width_s": float("inf")}, r"half_width_s must be 0 or from 1e-30 to 1e\+06 s, not inf"),
        ({"median_s": 10**400}, r"line 2: median_s must be 0 or from 1e-30 to 1e\+06 s, not 10{59}…$"),
        ({"bytes": 10**30}, "line 2: bytes must be a whole .* 9223372036854775807, not 10{30}$"),
        ({"rounds_s": [1e300]}, r"line 2: rounds_s must be a list .* 1e\+06 s, not \[1e\+300\]"),
        ({"rounds_s": [10**400]}, r"line 2: rounds_s must be a list .* 1e\+06 s, not \[10{58}…$"),
        ({"rounds_s": []}, r"rounds_s must be a list .* 1e\+06 s, not \[\]"),
        ({"rounds_s": [-1.0]}, "rounds_s must be a list of times"),
        ({"reached": 1}, "reached must be true or false, not 1"),
    ],
)
def test_malformed_values(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(_file(tmp_path, _line(**changes)))


@pytest.mark.parametrize(
    ("family", "key"),
    [
        ("signature", "burst"),
        ("one_to_many", "peers"),
        ("blocking_depth", "longest"),
        ("pattern_gap", "pairs"),
        ("layout", "stride_bytes"),
        ("layout", "block_bytes"),
    ],
)
def test_none_of_what_there_must_be_one_of(tmp_path: Path, family: str, key: str) -> None:
    with pytest.raises(InputError, match=r"must be a whole number .* 1, not 0"):
        read(_file(tmp_path, _line(family, **{key: 0})))


def test_a_depth_of_none_is_one_that_was_not_found(tmp_path: Path) -> None:
    (point,) = read(_file(tmp_path, _line("blocking_depth", depth=0))).points
    assert point["depth"] == 0


@pytest.mark.parametrize("missing", ["bytes", "half_width_s", "batches"])
def test_missing_values(tmp_path: Path, missing: str) -> None:
    with pytest.raises(InputError, match=f"line 2: {missing} is missing"):
        read(_file(tmp_path, {key: value for key, value in _line().items() if key != missing}))


def test_a_key_that_is_none_of_the_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"side of message_overhead is 'both', .* send, blocking_send, receive"):
        read(_file(tmp_path, _line("message_overhead", side="both")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: no samples"),
        ("{", "line 1 is not JSON"),
        ("[1]\n", "line 1 must be a JSON object, not list"),
        ("1" * 5000, r"line 1 is not JSON \(Exceeds the limit .*\): .*damaged"),
        ("[" * 100_000, "line 1 is not JSON .*: the file is damaged"),
        (json.dumps(_line()) + "\n", "line 1: .* host line, not family 'one_way'"),
        (json.dumps({**HOST, "ranks": 3}), "hosts must be a list .* the 3 ranks"),
        (json.dumps({**HOST, "date": ""}), "date must be a text, not ''"),
        (json.dumps({**HOST, "sockets": ["0", "1"]}), "sockets must be a list .* the 2 ranks"),
    ],
)
def test_malformed_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the samples .*none\.jsonl"):
        read(tmp_path / "none.jsonl")


def test_unknown_family_is_refused() -> None:
    empty = Samples(Host((), (), (), "m", "c", 0.0, 0, "d"), ())
    with pytest.raises(InputError, match="unknown family 'ping'"):
        empty.of("ping")


def test_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing replacement leaves the old file as it was."""
    path = _file(tmp_path, _line())
    before = path.read_text()

    def refuse(source: str, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match=r"samples\.jsonl cannot be written: disk full; .*another place"):
        write(path, Samples(read(path).host, ()))
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]
