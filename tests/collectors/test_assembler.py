"""The assembler on raw logs made in code: clocks of several hosts, ranks without logs, damage."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.collectors import raw_logs, recording
from tests.collectors.raw_logs import MONOTONIC, RECV, SEND, TSC, Log
from tests.said import facts

from logpost.collectors import assemble
from logpost.errors import InputError


def _archive(tmp_path: Path, *logs: Log) -> assemble.Archive:
    raw = raw_logs.write(tmp_path / "raw", *logs)
    return assemble.assemble(assemble.find_assembler(), raw, tmp_path)


def _offsets(archive: Path) -> dict[int, list[tuple[int, int]]]:
    """Per location the (time, offset) of its clock offsets, as otf2-print shows them."""
    done = subprocess.run(
        ["otf2-print", "-C", str(archive / "traces.otf2")], capture_output=True, text=True, check=True
    )
    found: dict[int, list[tuple[int, int]]] = {}
    for match in re.finditer(r"^CLOCK_OFFSET\s+(\d+)\s+Time: (\d+), Offset: ([+-]?\d+)", done.stdout, re.MULTILINE):
        found.setdefault(int(match[1]), []).append((int(match[2]), int(match[3])))
    return found


def _two_hosts() -> tuple[Log, Log]:
    """Host a: 2 GHz TSC that was 0 at its boot. Host b: 1 GHz clock, 5 s behind in its own seconds, 1 ppm fast."""
    a = Log(0, 2, host="a", boot="boot-a", clock=TSC)
    b = Log(1, 2, host="b", boot="boot-b", clock=TSC)
    # a's clock runs for 10 s: 2e10 ticks
    a.sync(20_000_000_000, 10_000_000_000, 1_000_000_000_000)
    a.sync(40_000_000_000, 20_000_000_000, 1_010_000_000_000)
    # b: ticks of 1 GHz; in the same 10 s its own CLOCK_MONOTONIC_RAW counts 10.00001 s
    b.sync(5_000_000_000, 5_000_000_000, 1_000_000_000_000)
    b.sync(15_000_010_000, 15_000_010_000, 1_010_000_000_000)
    return a, b


def test_offsets_of_two_hosts(tmp_path: Path) -> None:
    a, b = _two_hosts()
    a.call("MPI_Init", 20_000_000_000, 20_000_002_000)
    b.call("MPI_Init", 5_000_000_000, 5_000_001_000)
    # at the start: b's 5.0 s is a's 10 s (2e10 ticks), measured within 2000 ns
    b.offset(4_999_999_000, 5_000_001_000, 20_000_000_000)
    # at the end, 10 s later: b's clock shows 15.00001 s, a's 20 s
    b.offset(15_000_009_000, 15_000_011_000, 40_000_000_000)
    # a sends at 15 s of its clock (3e10), b receives 1 ms later: b's own 10.001000005 s (+ half of the drift, 5 us)
    a.message(SEND, 30_000_000_000, 30_000_000_100, 1, 7, 64)
    b.message(RECV, 10_000_000_000, 10_001_005_000, 0, 7, 64)
    a.call("MPI_Finalize", 39_999_000_000, 40_000_000_000)
    b.call("MPI_Finalize", 15_000_000_000, 15_000_010_000)
    made = _archive(tmp_path, a, b)
    assert made.warnings == []
    # the archive counts a's ticks, 2 per ns; b's clock is stretched to them around its first reading of 5e9
    assert made.summary["ticks_per_second"] == 2_000_000_000
    offsets = _offsets(made.path)
    ((start, first), (end, last)) = offsets[1]
    # b's 5e9 stays 5e9; what a calls 2e10 is 1.5e10 more
    assert (start, first) == (5_000_000_000, 15_000_000_000)
    # 10.00001 s of b are 20,000,020,000 ticks of 0.5 ns: 25,000,020,000; what a calls 4e10 is 14,999,980,000 more
    assert (end, last) == (25_000_020_000, 14_999_980_000)
    assert offsets[0][0][1] == 0
    trace = recording.read(made.path)
    (send,) = trace.on(0, "MPI_SEND")
    (receive,) = trace.on(1, "MPI_RECV")
    # otf2-print applies the offsets: 1 ms after 15 s is 2,000,000 ticks after 3e10 (+ the send's 0)
    assert send.time == 30_000_000_000
    assert abs(receive.time - 30_002_000_000) <= 10


def test_one_host_has_one_clock(tmp_path: Path) -> None:
    """The exchange of processes on one host only checks: an offset within the round trip is noise, not an offset."""
    a, b = Log(0, 2), Log(1, 2)
    for log in (a, b):
        log.sync(1_000_000, 1_000_000, 10**15)
        log.sync(1_001_000_000, 1_001_000_000, 10**15 + 10**9)
        log.call("MPI_Init", 2_000_000, 3_000_000)
    b.offset(2_500_000, 2_500_800, 2_500_700)  # the answer arrived late: the middle is 300 off
    for log in (a, b):
        log.call("MPI_Finalize", 4_000_000, 5_000_000)
    made = _archive(tmp_path, a, b)
    assert made.warnings == []
    assert [offset for _, offset in _offsets(made.path)[1]] == [0]
    # a counter that really differs is believed, and said
    c, d = Log(0, 2), Log(1, 2)
    for log, shift in ((c, 0), (d, 50_000)):
        log.sync(1_000_000 + shift, 1_000_000, 10**15)
        log.sync(1_001_000_000 + shift, 1_001_000_000, 10**15 + 10**9)
        log.call("MPI_Init", 2_000_000 + shift, 3_000_000 + shift)
    d.offset(2_550_000, 2_550_800, 2_500_400)
    made = _archive(tmp_path / "second", c, d)
    assert [offset for _, offset in _offsets(made.path)[1]] == [-50_000]
    (warning,) = made.warnings
    assert warning.startswith("rank 1: its clock differs from rank 0's")


@pytest.mark.parametrize("ticks", [2, 999_999, 10**18], ids=["0.1 Hz", "backwards", "10^17 Hz"])
def test_a_rate_that_no_clock_has_is_not_measured(tmp_path: Path, ticks: int) -> None:
    """A damaged log: 1 or -1 ticks in 10 s, or 10^18. The archive's clock has whole ticks per second, 10^12 at most."""
    log = Log(0, 1, clock=TSC)
    log.sync(1 if ticks == 2 else 1_000_000, 10**9, 10**15)
    log.sync(ticks, 11 * 10**9, 10**15 + 10**10)
    log.call("MPI_Init", 1_000_000, 1_001_000)
    log.call("MPI_Finalize", 1_002_000, 1_003_000)
    made = _archive(tmp_path, log)
    (warning,) = made.warnings
    assert facts(warning) == ["1 GHz"]
    assert made.summary["ticks_per_second"] == 10**9


def test_clocks_of_two_kinds(tmp_path: Path) -> None:
    """A host without a good TSC counts ns; the archive has its times in rank 0's ticks."""
    a = Log(0, 2, host="a", boot="boot-a", clock=TSC)
    b = Log(1, 2, host="b", boot="boot-b", clock=MONOTONIC)
    a.sync(0, 0, 10**15)
    a.sync(3_000_000_000, 1_000_000_000, 10**15 + 10**9)
    b.sync(0, 0, 10**15)
    a.call("MPI_Init", 300, 600)
    b.call("MPI_Init", 100, 200)
    b.offset(100, 200, 450)
    made = _archive(tmp_path, a, b)
    assert made.summary["ticks_per_second"] == 3_000_000_000
    init = [e for e in recording.read(made.path).on(1, "LEAVE") if e.region == "MPI_Init"]
    # 200 ns are 600 ticks; a's 450 was in the middle of 300 and 600: offset 0
    assert init[0].time == 600


def test_ranks_without_logs_keep_their_places(tmp_path: Path) -> None:
    a, c = Log(0, 3), Log(2, 3)
    for log in (a, c):
        log.sync(1_000_000, 1_000_000, 10**15)
        log.sync(1_001_000_000, 1_001_000_000, 10**15 + 10**9)
        log.call("MPI_Init", 2_000_000, 3_000_000)
    a.message(SEND, 4_000_000, 4_100_000, 1, 5, 8)
    c.message(RECV, 4_000_000, 4_200_000, 1, 5, 8)
    made = _archive(tmp_path, a, c)
    assert made.summary["ranks"] == 3
    assert made.summary["recorded"] == 2
    assert made.warnings == ["1 of 3 ranks left no log"]
    trace = recording.read(made.path)
    (send,) = trace.on(0, "MPI_SEND")
    assert send.number("Receiver") == 1
    (nothing,) = trace.on(1)
    assert nothing.kind == "MEASUREMENT_ON_OFF", "a location without a file of events upsets readers"
    assert [line.split('"')[1] for line in trace.defined("LOCATION_GROUP")][:3] == [f"MPI Rank {r}" for r in range(3)]


@pytest.mark.slow
def test_a_log_ends_at_its_first_damage(tmp_path: Path) -> None:
    log = Log(0, 1)
    log.sync(1_000_000, 1_000_000, 10**15)
    log.sync(1_001_000_000, 1_001_000_000, 10**15 + 10**9)
    log.call("MPI_Init", 2_000_000, 3_000_000)
    log.call("MPI_Barrier", 4_000_000, 5_000_000)
    whole = len(log.text()) - 4096
    after_comms = 64 + len(log.records[0]) + len(log.records[1])  # file header, the process, MPI_COMM_WORLD
    raw = raw_logs.write(tmp_path / "raw", log)
    file = next(raw.glob("*.raw"))
    assembler = assemble.find_assembler()
    for cut in (*range(8, whole - 80, 56), *range(whole - 80, whole, 8)):  # as a full disk or a copy may leave it
        file.write_bytes(log.text()[:cut])
        if cut < after_comms:
            with pytest.raises(InputError, match="completed MPI_Init"):
                assemble.assemble(assembler, raw, tmp_path)
        else:
            made = assemble.assemble(assembler, raw, tmp_path / f"cut{cut}")
            assert recording.read(made.path).calls(0) == (["MPI_Init"] if cut >= whole - 24 else [])
    text = bytearray(log.text())
    text[whole - 24 + 4 : whole - 24 + 8] = (2**31).to_bytes(4, "little")  # a size beyond the file
    file.write_bytes(text)
    made = assemble.assemble(assembler, raw, tmp_path / "size")
    assert recording.read(made.path).calls(0) == ["MPI_Init"]


def test_what_it_refuses(tmp_path: Path) -> None:
    log = Log(0, 1)
    log.sync(1_000_000, 1_000_000, 10**15)
    log.call("MPI_Init", 2_000_000, 3_000_000)
    raw = raw_logs.write(tmp_path / "raw", log)
    assembler = assemble.find_assembler()
    functions = (raw / "functions.txt").read_text()
    (raw / "functions.txt").write_text(re.sub("table [0-9a-f]+", "table 0123456789abcdef", functions))
    with pytest.raises(InputError, match=r"no archive was made of .* other than functions\.txt"):
        assemble.assemble(assembler, raw, tmp_path)
    (raw / "functions.txt").write_text("")
    with pytest.raises(InputError, match="missing or empty"):
        assemble.assemble(assembler, raw, tmp_path)
    (raw / "functions.txt").write_text("\n".join(functions.splitlines()[:50]) + "\n")
    with pytest.raises(InputError, match=r"refers to a function .* not in the table"):
        assemble.assemble(assembler, raw, tmp_path)
    next(raw.glob("*.raw")).write_bytes(b"something else")
    with pytest.raises(InputError, match="completed MPI_Init, so there is nothing to assemble"):
        assemble.assemble(assembler, raw, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["raw"], "nothing half made stays behind"


@pytest.mark.slow
def test_a_log_continues_in_the_window_that_its_process_left(tmp_path: Path) -> None:
    """Log and window hold the same call twice while the window is being emptied; its header shows which counts."""
    log = Log(0, 1)
    log.sync(1_000_000, 1_000_000, 10**15)
    log.sync(1_001_000_000, 1_001_000_000, 10**15 + 10**9)
    log.call("MPI_Init", 2_000_000, 3_000_000)
    before = log.text()[:-4096]
    log.call("MPI_Barrier", 4_000_000, 5_000_000)
    both = log.text()[:-4096]
    raw = raw_logs.write(tmp_path / "raw", log)
    file = next(raw.glob("*.raw"))
    call = both[len(before) :]
    stale_rest = b"\0" * 8 + call  # from an earlier use of the window, behind the zero word that ends it
    assembler = assemble.find_assembler()
    for name, text, window, expected in (
        # killed before the append began, within it, after it; then with an empty window, then with one more call
        ("before", before, log.window(len(before), call), ["MPI_Init", "MPI_Barrier"]),
        ("within", before + call[:8], log.window(len(before), call), ["MPI_Init", "MPI_Barrier"]),
        ("after", both, log.window(len(before), call), ["MPI_Init", "MPI_Barrier"]),
        ("stale", both, log.window(len(both) + 1, call), ["MPI_Init", "MPI_Barrier"]),
        ("empty", both, log.window(len(both), stale_rest), ["MPI_Init", "MPI_Barrier"]),
        ("filled", both, log.window(len(both), call + stale_rest), ["MPI_Init", "MPI_Barrier", "MPI_Barrier"]),
        ("cut log", before[:-8], log.window(len(before), call), []),
    ):
        file.write_bytes(text)
        file.with_suffix(".window").write_bytes(window)
        made = assemble.assemble(assembler, raw, tmp_path / name)
        assert recording.read(made.path).calls(0) == expected, name


def test_logs_are_read_where_the_kernel_gives_no_more_maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with more logs than vm.max_map_count allows: nothing of them is lost."""
    source = tmp_path / "no_maps.c"
    source.write_text(
        "#include <errno.h>\n#include <sys/syscall.h>\n#include <sys/types.h>\n#include <unistd.h>\n"
        "void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {\n"
        "  if (file >= 0) { errno = ENOMEM; return (void *)-1; }\n"
        "  return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);\n}\n"
    )
    library = tmp_path / "no_maps.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    log = Log(0, 1)
    log.sync(1_000_000, 1_000_000, 10**15)
    log.sync(1_001_000_000, 1_001_000_000, 10**15 + 10**9)
    log.call("MPI_Init", 2_000_000, 3_000_000)
    log.call("MPI_Barrier", 4_000_000, 5_000_000)
    mapped = _archive(tmp_path, log)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    read = assemble.assemble(assemble.find_assembler(), tmp_path / "raw", tmp_path)
    monkeypatch.delenv("LD_PRELOAD")
    assert recording.read(mapped.path).calls(0) == recording.read(read.path).calls(0) == ["MPI_Init", "MPI_Barrier"]


def test_archives_made_at_the_same_moment_get_names_of_their_own(tmp_path: Path) -> None:
    """Runs side by side end in the same second: none is lost, none is mixed with another."""
    a, b = Log(0, 2), Log(1, 2)
    for log in (a, b):
        log.sync(1_000_000, 1_000_000, 10**15)
        log.call("MPI_Init", 2_000_000, 3_000_000)
    first = _archive(tmp_path, a, b).path
    raw = next(tmp_path.glob("*.raw"), tmp_path / "raw")
    assembler = assemble.find_assembler()
    with ThreadPoolExecutor(4) as several:
        others = list(several.map(lambda _: assemble.assemble(assembler, raw, tmp_path).path, range(8)))
    assert len({first, *others}) == 9
    assert all((archive / "traces.otf2").is_file() for archive in (first, *others))
