"""What the interposer measured becomes the archive's machine: from a machine whose times are known exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from tests.said import facts

from logpost.collectors.calibration.recorded import keep
from logpost.machines import load_machine
from logpost.machines.calibration import samples
from logpost.machines.calibration.while_recording import NAME, SOURCE, Outcome, read_outcome
from logpost.machines.values.quantity import Quantity

ROUNDS = 6
SIZES = (1, 64, 4096, 65536)
O_S, O_R = 1e-6, 2e-6
ONE = MappingProxyType({"same_socket": (0, 1)})
LATENCY = {"same_socket": 5e-6, "other_node": 50e-6}
G = 1e-9
SLOWER_BY = tuple(0.01 * number for number in range(ROUNDS))


def _line(family: str, locality: str, size: int, seconds: float, number: int, **keys: object) -> str:
    times = {"minimum_s": seconds, "median_s": seconds, "mean_s": seconds, "half_width_s": 0.0}
    counts = {"samples": 8, "batches": 1, "reached": True, "round": number, "repeat": 1}
    return json.dumps({"family": family, "locality": locality, "bytes": size, **keys, **times, **counts})


def _host(*names: str) -> str:
    places: dict[str, Any] = {"hosts": names, "cpus": ["0"] * len(names), "sockets": [0] * len(names)}
    stated = {"mpi_library": "an MPI", "clock": "MPI_Wtime", "clock_resolution_s": 1e-9, "date": "2026-11-22T12:00:00Z"}
    return json.dumps({"family": "host", "ranks": len(names), **places, **stated})


def _points(locality: str, slower_by: Sequence[float] = SLOWER_BY) -> Iterator[str]:
    """T(n) = o_s + L + (n - 1) G + o_r. The rounds are 0, 1, 2, … % slower: an interval of their whole range."""
    for number, more in enumerate(slower_by):
        slower = 1.0 + more
        for size in SIZES:
            way = (O_S + LATENCY[locality] + (size - 1) * G + O_R) * slower
            yield _line("one_way", locality, size, way, number)
            yield _line("message_overhead", locality, size, O_S * slower, number, side="send")
            yield _line("message_overhead", locality, size, O_R * slower, number, side="receive")


def _about(began_ns: int, reason: str, pairs: Mapping[str, tuple[int, int]], share: float) -> dict[str, object]:
    return {
        "budget_s": 0.5,
        "began_ns": began_ns,
        "took_s": 0.1,
        "ranks": 4,
        "processor_share": share,
        "reason": reason,
        "pairs": dict(pairs),
    }


def _left(
    folder: Path,
    *lines: str,
    began_ns: int = 1,
    reason: str = "",
    pairs: Mapping[str, tuple[int, int]] = ONE,
    share: float = 1.0,
) -> Path:
    folder.mkdir(exist_ok=True)
    about = _about(began_ns, reason, pairs, share)
    path = folder / f"calibration.{began_ns:016x}.jsonl"
    path.write_text("\n".join([json.dumps(about), *lines]) + "\n")
    return folder


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    folder = tmp_path / "archive"
    folder.mkdir()
    return folder


def _seconds(quantity: object) -> float:
    assert isinstance(quantity, Quantity)
    return 1e-12 * quantity.base()


def test_each_class_has_its_values_and_the_pair_that_gave_them(tmp_path: Path, archive: Path) -> None:
    near, far = _points("same_socket"), _points("other_node")
    both = {"same_socket": (0, 1), "other_node": (0, 3)}
    raw = _left(tmp_path / "raw", _host("a", "a"), *near, _host("a", "b"), *far, pairs=both)
    found = keep(raw, archive)
    assert found == read_outcome(archive) == Outcome("", 0.5, 0.1, 4, both)
    machine = load_machine(archive / "machine.toml")
    assert machine.name == NAME
    assert facts(machine.notes[0]) == ["100 ms", "MPI_Init", "0", "1", "0", "3"]
    assert {source.text for source in machine.sources.values()} == {f"{SOURCE} with an MPI"}
    middle = 1.01  # the lower quartile of 6 rounds that are 0 to 5 % slower
    for locality, latency in LATENCY.items():
        (row,) = getattr(machine.loggp, locality).range
        assert _seconds(row.o_s) == pytest.approx(O_S * middle, rel=1e-5)
        assert _seconds(row.o_r) == pytest.approx(O_R * middle, rel=1e-5)
        assert _seconds(row.L) == pytest.approx(latency * middle, rel=1e-5)
        assert _seconds(row.G) == pytest.approx(G * middle, rel=1e-5)
        assert row.L.interval == pytest.approx((1e6 * latency, 1e6 * latency * 1.05), rel=1e-5)
    host = samples.read(archive / "calibration.jsonl").host
    assert host.hosts == ("a", "a", "b"), "ranks 0, 1 and 3, once each"


def _layouts() -> Iterator[str]:
    """1 KiB: copied in 1 us, to oneself in 3, to the other rank in 9; in blocks of 8 B 4 us more, of 64 B 2 us;
    to oneself, half as much again."""
    dense: dict[str, object] = {"form": "contiguous", "stride_bytes": 8, "block_bytes": 8}
    for number in range(ROUNDS):
        yield _line("layout", "self", 1024, 1e-6, number, transfer="memory_copy", **dense)
        yield _line("layout", "self", 1024, 3e-6, number, transfer="self", **dense)
        yield _line("layout", "same_socket", 1024, 9e-6, number, transfer="remote", **dense)
        for block, more in ((8, 4e-6), (64, 2e-6)):
            sparse: dict[str, object] = {"form": "datatype", "stride_bytes": 256, "block_bytes": block}
            yield _line("layout", "same_socket", 1024, 9e-6 + more, number, transfer="remote", **sparse)
            yield _line("layout", "self", 1024, 3e-6 + 1.5 * more, number, transfer="self", **sparse)


def test_log3p_is_kept_by_size_block_and_stride(tmp_path: Path, archive: Path) -> None:
    found = keep(_left(tmp_path / "raw", _host("a", "a"), *_points("same_socket"), *_layouts()), archive)
    assert found == Outcome("", 0.5, 0.1, 4, {"same_socket": (0, 1)}), "messages to oneself have no pair"
    dense, *strided = load_machine(archive / "machine.toml").log3p.point
    assert _seconds(dense.o_mw) == pytest.approx(3e-6 - 1e-6)
    assert _seconds(dense.o_net) == pytest.approx(9e-6 - 2e-6)
    assert [(p.block_bytes, p.stride_bytes) for p in strided] == [(8, 256), (64, 256)]
    assert [_seconds(p.l_mw) for p in strided] == pytest.approx([4e-6, 2e-6])
    assert [_seconds(p.l_mw_self) for p in strided] == pytest.approx([6e-6, 3e-6])


def _used(share: float = 1.0, reason: str = "", rounds: int = ROUNDS) -> tuple[str, ...]:
    """4000 B in blocks of 40 B: 12 us, contiguous 9 us; and 1 KiB as in _layouts, where it was measured too."""
    lines = [_host("a", "a")]
    for number in range(rounds):
        for size, block, stride, time in ((4000, 40, 200, 12e-6), (1024, 8, 256, 10e-6)):
            keys: dict[str, object] = {"transfer": "remote", "stride_bytes": stride, "block_bytes": block}
            for form, seconds in (("contiguous", 9e-6), ("datatype", time)):
                lines.append(_line("used_layout", "same_socket", size, seconds, number, form=form, **keys))
                keys_of_self = {**keys, "transfer": "self"}
                lines.append(_line("used_layout", "self", size, seconds - 5e-6, number, form=form, **keys_of_self))
    return json.dumps(_about(1, reason, ONE, share)), *lines


@pytest.mark.parametrize("left", [True, False], ids=["measured", "none"])
def test_a_layout_that_the_program_used_is_kept_alone(tmp_path: Path, archive: Path, left: bool) -> None:
    raw = _left(tmp_path / "raw", _host("a", "a"), *_points("same_socket"), *_layouts())
    if left:
        (raw / "layouts.0000000000000001.jsonl").write_text("\n".join(_used()) + "\n")
    assert keep(raw, archive) is not None
    machine = load_machine(archive / "machine.toml")
    strided = [point for point in machine.log3p.point if point.l_mw is not None]
    found = {(p.size_bytes, p.block_bytes, p.stride_bytes, p.alone): _seconds(p.l_mw) for p in strided}
    grid = {(1024, 8, 256, False): 4e-6, (1024, 64, 256, False): 2e-6}
    assert found == pytest.approx({**grid, **({(4000, 40, 200, True): 3e-6} if left else {})})
    assert [_seconds(p.l_mw_self) for p in strided if p.alone] == pytest.approx([3e-6] if left else [])
    assert any("MPI_Finalize" in note for note in machine.notes) == left


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_used(share=0.5, rounds=5), "ranks had their processors for 50 % of 5 passes"),
        (_used(reason="a call of the MPI library failed")[:1], "a call of the MPI library failed"),
        (("{",), "is not JSON"),
    ],
    ids=["other load", "failed", "damaged"],
)
def test_layouts_that_were_not_measured_leave_the_machine(
    tmp_path: Path, archive: Path, text: tuple[str, ...], reason: str
) -> None:
    raw = _left(tmp_path / "raw", _host("a", "a"), *_points("same_socket"), *_layouts())
    (raw / "layouts.0000000000000001.jsonl").write_text("\n".join(text) + "\n")
    found = keep(raw, archive)
    assert found is not None
    assert found.reason == ""
    machine = load_machine(archive / "machine.toml")
    assert not any(p.alone for p in machine.log3p.point)
    assert reason in machine.notes[1]


def test_the_first_world_that_measured_counts(tmp_path: Path, archive: Path) -> None:
    """A script starts three programs: one rank, then two that measure."""
    raw = tmp_path / "raw"
    _left(raw, began_ns=1, reason="one rank sends no messages", pairs={})
    _left(raw, _host("first", "first"), *_points("same_socket"), began_ns=2)
    _left(raw, _host("second", "second"), *_points("same_socket"), began_ns=3)
    assert keep(raw, archive) == Outcome("", 0.5, 0.1, 4, {"same_socket": (0, 1)})
    assert samples.read(archive / "calibration.jsonl").host.hosts == ("first", "first")


def test_a_class_that_the_time_did_not_suffice_for_is_left_out(tmp_path: Path, archive: Path) -> None:
    near, both = _points("same_socket"), {"same_socket": (0, 1), "other_node": (0, 3)}
    found = keep(_left(tmp_path / "raw", _host("a", "a"), *near, _host("a", "b"), pairs=both), archive)
    assert found == Outcome("", 0.5, 0.1, 4, {"same_socket": (0, 1)})
    assert load_machine(archive / "machine.toml").loggp.other_node is None


@pytest.mark.parametrize("worst", [0.05, 1.0, 4.0])
def test_noise_widens_intervals_and_moves_no_value(tmp_path: Path, archive: Path, worst: float) -> None:
    # Two of six rounds last up to five times as long: values are the lower quartile, intervals reach over all rounds.
    rounds = (0.0, 0.0, 0.01, 0.01, worst, worst)
    assert keep(_left(tmp_path / "raw", _host("a", "a"), *_points("same_socket", rounds)), archive) is not None
    same_socket = load_machine(archive / "machine.toml").loggp.same_socket
    assert same_socket is not None
    (row,) = same_socket.range
    for value, truth in ((row.L, LATENCY["same_socket"]), (row.o_s, O_S), (row.o_r, O_R)):
        assert value is not None
        assert _seconds(value) == pytest.approx(truth, rel=0.011)
        assert value.interval is not None
        assert value.interval[1] == pytest.approx(1e6 * truth * (1 + worst), rel=1e-3)


def test_a_measurement_under_other_load_says_so(tmp_path: Path, archive: Path) -> None:
    raw = _left(tmp_path / "raw", _host("a", "a"), *_points("same_socket"), share=0.5)
    assert keep(raw, archive) is not None
    note = load_machine(archive / "machine.toml").notes[1]
    assert note.startswith("Other load: ")
    assert facts(note) == ["50 %", "6"]


def test_too_few_passes_under_other_load_make_no_machine(tmp_path: Path, archive: Path) -> None:
    points = _points("same_socket", (0.0, 0.01, 0.02, 0.03, 0.04))
    found = keep(_left(tmp_path / "raw", _host("a", "a"), *points, share=0.5), archive)
    assert found is not None
    assert "there was other load" in found.reason
    assert facts(found.reason)[-2:] == ["5", "6"]
    assert not (archive / "machine.toml").exists()


def test_nothing_is_left_without_a_request(tmp_path: Path, archive: Path) -> None:
    (tmp_path / "raw").mkdir()
    assert keep(tmp_path / "raw", archive) is None
    assert not list(archive.iterdir())


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ((_host("a", "a"),), "within 0.5 s there was no time "),
        ((), "there are no samples"),
        (
            (_host("a", "a"), _line("one_way", "same_socket", 1, 8e-6, 0)),
            r"samples of 0.1 s make no machine \(.*: loggp.same_socket: .* share 0 sizes; .* 3\)$",
        ),
        (
            (_host("a", "a"), '{"family": "one_way", "loc'),
            r"^calibration\.0{15}1\.jsonl, line 3 is not JSON .*damaged; measure again$",
        ),
    ],
    ids=["no time", "no pair", "too few", "cut off"],
)
def test_what_makes_no_machine_is_said(tmp_path: Path, archive: Path, lines: tuple[str, ...], reason: str) -> None:
    found = keep(_left(tmp_path / "raw", *lines), archive)
    assert found is not None
    assert re.search(reason, found.reason)
    assert found.sentence() == f"the machine was not measured while recording: {found.reason}"
    assert not (archive / "machine.toml").exists()
    assert read_outcome(archive) == found


_SHARED = (
    "ranks had their processors for 69 % of the measurement: there was other load, or this MPI sleeps while it waits"
)


def test_few_passes_under_other_load_give_no_machine(tmp_path: Path, archive: Path) -> None:
    """Five passes do not show how far their median is off: six are the fewest that enclose it with 95 %."""
    points = [line for line in _points("same_socket") if json.loads(line)["round"] < 5]
    found = keep(_left(tmp_path / "raw", _host("a", "a"), *points, share=0.69), archive)
    assert found is not None
    assert found == Outcome(found.reason, 0.5, 0.1, 4)
    assert found.reason.startswith(f"{_SHARED}, ")
    assert facts(found.reason)[-2:] == ["5", "6"]
    assert sorted(p.name for p in archive.iterdir()) == ["calibration.json", "calibration.jsonl"]


def test_passes_that_other_load_made_longer_widen_the_interval_and_leave_the_value(
    tmp_path: Path, archive: Path
) -> None:
    """Eight passes: three quiet ones of O_S, five in which everything lasted 3 to 40 times as long."""
    slower = [40.0, 1.0, 9.0, 1.0, 3.0, 1.0, 20.0, 5.0]
    lines = []
    for number, factor in enumerate(slower):
        for size in SIZES:
            way = (O_S + LATENCY["same_socket"] + (size - 1) * G + O_R) * factor
            lines.append(_line("one_way", "same_socket", size, way, number))
            lines.append(_line("message_overhead", "same_socket", size, O_S * factor, number, side="send"))
            lines.append(_line("message_overhead", "same_socket", size, O_R * factor, number, side="receive"))
    found = keep(_left(tmp_path / "raw", _host("a", "a"), *lines, share=0.4), archive)
    assert found is not None
    assert found.reason == ""
    machine = load_machine(archive / "machine.toml")
    assert machine.notes[1].startswith("Other load: ranks had their processors for 40 % ")
    assert machine.loggp.same_socket is not None
    (row,) = machine.loggp.same_socket.range
    assert _seconds(row.o_s) == pytest.approx(O_S, rel=1e-5)
    assert isinstance(row.o_s, Quantity)
    # Of 8 passes the interval reaches to the largest: the median's, floor(8 / 6) = 1 from either end.
    assert row.o_s.interval == pytest.approx((1e6 * O_S, 40e6 * O_S), rel=1e-5)


def test_a_first_line_of_something_else_is_said(tmp_path: Path, archive: Path) -> None:
    (tmp_path / "calibration.1.jsonl").write_text('{"budget_s": 0.5}\n')
    found = keep(tmp_path, archive)
    assert found is not None
    assert found.reason == "calibration.1.jsonl, line 1 does not describe a measurement ('began_ns')"
