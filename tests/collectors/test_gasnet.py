"""`logpost import gasnet`: what lines become, clocks by active messages, damage, and counts against the text itself."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.archives import SHARED
from tests.cli.command import logpost
from tests.collectors import recording
from tests.collectors.gasnet_traces import Trace

from logpost.collectors.assemble import find_assembler
from logpost.collectors.gasnet.importing import import_gasnet
from logpost.errors import InputError

SAMPLES = sorted((SHARED / "traces" / "gasnet").glob("*"))


def _import(tmp_path: Path, *traces: Trace) -> tuple[recording.Trace, dict[str, Any]]:
    made = import_gasnet([trace.write(tmp_path) for trace in traces], tmp_path / "archive")
    return recording.read(made.path), made.summary


def _offsets(archive: Path) -> dict[int, tuple[int, float]]:
    """Per location offset and standard deviation, as otf2-print shows them."""
    done = subprocess.run(
        ["otf2-print", "-C", str(archive / "traces.otf2")], capture_output=True, text=True, check=True
    )
    found = re.findall(r"^CLOCK_OFFSET\s+(\d+)\s+Time: \d+, Offset: ([+-]?\d+), StdDev: ([\d.e+-]+)", done.stdout, re.M)
    return {int(location): (int(offset), float(error)) for location, offset, error in found}


def test_a_put_is_issued_at_its_line_and_complete_after_the_wait(tmp_path: Path) -> None:
    """The put's line is at 100 us. That of the wait is at 180 us and says 50 us: it began at 130."""
    origin = Trace(0)
    origin.at(100, "(P) PUT_NB: sz =     64,  peer = TM0:1", place="/src/heat.c:41")
    origin.at(180, "(S) WAIT_SYNCNB: waittime = 50.000us", place="/src/heat.c:42")
    trace, summary = _import(tmp_path, origin, Trace(1).at(90, "(W) Team TM0:1 scratch: size=0 symmetric_offset=0"))
    (put,) = trace.on(0, "RMA_PUT")
    assert (put.time, put.number("Bytes")) == (100, 64)
    assert "Target: 1" in put.text or "Remote: 1" in put.text
    (done,) = trace.on(0, "RMA_OP_COMPLETE_NON_BLOCKING")
    assert done.time == 180
    enters = {event.region: event for event in trace.on(0, "ENTER")}
    assert enters["gasnet_put_nb"].time == 100
    assert enters["gasnet_wait_syncnb"].time == 130
    (leave,) = (event for event in trace.on(0, "LEAVE") if event.region == "gasnet_wait_syncnb")
    assert leave.time == 180
    assert "logpost:calling_context" in enters["gasnet_put_nb"].attributes
    assert (summary["puts"], summary["put_bytes"], summary["waits"]) == (1, 64, 1)


def test_a_handler_that_runs_during_a_wait_lies_within_it(tmp_path: Path) -> None:
    """The wait lasts from 130 to 180 us, the handler from 150 to 152: the file has the handler first."""
    waiting = Trace(0).handle(150, 152, peer=1)
    waiting.at(180, "(S) WAIT_SYNCNBI_ALL: waittime = 50.000us")
    trace, _ = _import(tmp_path, waiting, Trace(1).send(140, peer=0))
    regions = [
        (event.kind, event.region, event.time)
        for event in trace.events
        if event.kind in ("ENTER", "LEAVE") and event.location == 0
    ]
    assert regions == [
        ("ENTER", "heat", 130),
        ("ENTER", "gasnet_wait_syncnbi_all", 130),
        ("ENTER", "gasnet_amrequest_short_handler", 150),
        ("LEAVE", "gasnet_amrequest_short_handler", 152),
        ("LEAVE", "gasnet_wait_syncnbi_all", 180),
        ("LEAVE", "heat", 180),
    ]


def test_clocks_are_aligned_by_messages_both_ways(tmp_path: Path) -> None:
    """Process 1's clock is ahead. There: 1160 - 100 = 1060 us at least; back: 221 - 1161 = -940.

    The middle is (1060 + 940) / 2 = 1000 us, the error at most (1060 - 940) / 2 = 60. A slower message there (1090)
    says nothing more.
    """
    first = Trace(0).send(100, peer=1).send(110, peer=1, arguments=" 0x2").handle(221, 222, peer=1)
    second = Trace(1).handle(1160, 1161, peer=0).send(1161, peer=0).handle(1200, 1201, peer=0, arguments=" 0x2")
    trace, summary = _import(tmp_path, first, second)
    assert _offsets(tmp_path / "archive") == {0: (0, 0.0), 1: (-1000, 60.0)}
    assert (summary["clock_error_us"], summary["clock_pairs"]) == (60, 3)
    # otf2-print applies the offsets
    assert [event.time for event in trace.on(1, "MPI_RECV")] == [160, 200]
    (sent,) = trace.on(1, "MPI_SEND")
    assert (sent.time, sent.number("Tag")) == (161, 71)


def test_barriers_are_collectives_blocking_or_not(tmp_path: Path) -> None:
    def process(rank: int) -> Trace:
        trace = Trace(rank)
        trace.at(100 + rank, "(B) BARRIER(team=GASNET_TEAM_ALL,id=0,flags=9)")
        trace.at(150, "(B) BARRIER: single-phase barrier time = 48.100us")
        trace.at(200, "(B) COLL_BARRIER_NB: TM=TM0 flags=0")
        return trace.at(260, "(S) WAIT_SYNCNB: waittime = 55.000us")

    trace, summary = _import(tmp_path, process(0), process(1))
    for location in (0, 1):
        (blocking,) = trace.on(location, "MPI_COLLECTIVE_END")
        assert (blocking.time, blocking.operation) == (150, "BARRIER")
        (other,) = trace.on(location, "NON_BLOCKING_COLLECTIVE_COMPLETE")
        assert (other.time, other.operation) == (260, "BARRIER")
    assert summary["barriers"] == 4
    assert any("not aligned" in warning for warning in summary["warnings"])


def test_what_a_header_lacks_is_not_noted(tmp_path: Path) -> None:
    """libotf2 takes a property without a value for one to be removed, and fails where there is none."""
    traces = [Trace(rank).at(100, f"(P) PUT_NB: sz =     64,  peer = TM0:{1 - rank}") for rank in (0, 1)]
    for trace in traces:
        trace.lines = [line for line in trace.lines if "TRACEMASK" not in line and "CONFIG_STRING" not in line]
    made, summary = _import(tmp_path, *traces)
    assert len(made.on(0, "RMA_PUT")) == 1
    assert not any("TRACEMASK" in warning and "without" in warning for warning in summary["warnings"])


def test_a_time_far_away_takes_no_memory(tmp_path: Path) -> None:
    """Lags are kept by parts of 10 s: 136 years of them would be 3.4 GB; here is a limit of 0.5 GB."""
    far = 2**32 * 10**6
    first = Trace(0).send(100, peer=1).handle(far + 200, far + 202, peer=1)
    second = Trace(1, host="other").handle(150, 152, peer=0).send(far, peer=0)
    files = [str(trace.write(tmp_path)) for trace in (first, second)]
    limited = ["bash", "-c", 'ulimit -v 500000 && exec "$0" "$@"']
    command = [*limited, str(find_assembler()), "--gasnet", str(tmp_path / "a"), *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    offsets = _offsets(tmp_path / "a")
    assert offsets[0][0] == 0


def test_what_a_file_lacks_is_counted_and_said(tmp_path: Path) -> None:
    """Rank 1 of 3 has no file, one file ends within a line, a line is of no known form, a team is a part."""
    first = Trace(0, size=3, mask="GPRWBA").at(100, "(P) PUT_NB: sz =      8,  peer = TM0:1")
    first.at(110, "(P) PUT_NB: sz =      8,  peer = TM1001:0").at(120, "(P) PUT: of a form that is not known")
    first.lines.append("what the program printed")
    last = Trace(2, size=3).at(100, "(G) GET: sz =     16,  peer = TM0:0").at(200, "(G) GET: sz =     16,  peer = T")
    made = import_gasnet([first.write(tmp_path), last.write(tmp_path, end="")], tmp_path / "archive")
    for warning, part in zip(
        [re.sub(r"\S*/", "", warning) for warning in made.warnings],
        [
            r"the clocks of 1 processes .* \(record with A in GASNET_TRACEMASK\)",
            "1 of 3 processes have no file here;",
            "1 files end within a line;",
            r"2 lines of unknown form .*: trace-0: 0 0\.000120s> \(P\) PUT: ",
            "1 transfers and messages to teams",
            "GASNET_TRACEMASK GPRWBA is without S: ",
            "1 nonblocking transfers have no end",
        ],
        strict=True,
    ):
        assert re.match(part, warning)
    assert [made.summary[key] for key in ("processes", "recorded", "puts", "gets", "get_bytes")] == [3, 2, 1, 1, 16]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (Trace(0), r"trace-0 and \S+trace-0 both .* process 0; .* one run"),
        (Trace(1, size=4), r"heat on 2 .*, \S+trace-1 of /opt/app/heat on 4; .* one run"),
        (Trace(1, program="/opt/app/cg"), "trace-1 of /opt/app/cg on 2; .* one run"),
        (Trace(7), "trace-7 is no trace of GASNet: .* process"),
    ],
    ids=["same process", "another size", "another program", "no such process"],
)
def test_files_that_are_not_of_one_run(second: Trace, message: str, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    files = [Trace(0).at(1, "(X) AMPOLL").write(tmp_path), second.at(1, "(X) AMPOLL").write(tmp_path / "other")]
    with pytest.raises(InputError, match=message):
        import_gasnet(files, tmp_path / "archive")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "trace-0"]


def test_a_file_of_all_processes_is_refused(tmp_path: Path) -> None:
    mixed = Trace(0).at(10, "(X) AMPOLL")
    mixed.lines += Trace(1).at(11, "(X) AMPOLL").lines
    with pytest.raises(InputError, match=r"of processes 0 and 1; set GASNET_TRACEFILE .* %"):
        import_gasnet([mixed.write(tmp_path)], tmp_path / "archive")


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone cannot be read: No such file"):
        import_gasnet([tmp_path / "gone"], tmp_path / "archive")
    mine = tmp_path / "mine"
    mine.mkdir()
    file = Trace(0, size=1).at(1, "(X) AMPOLL").write(tmp_path)
    with pytest.raises(InputError, match="mine already exists; pass --force to overwrite it"):
        import_gasnet([file], mine)
    with pytest.raises(InputError, match=r"mine holds no archive .* not overwritten"):
        import_gasnet([file], mine, force=True)
    with pytest.raises(InputError, match="trace-0/archive cannot be written"):
        import_gasnet([file], file / "archive")


def test_a_line_that_is_no_utf8_is_counted(tmp_path: Path) -> None:
    file = Trace(0, size=1).at(1, "(X) AMPOLL").write(tmp_path)
    file.write_bytes(file.read_bytes() + b"0 0.000002s> (P) PUT\xed: sz = 8, peer = \xed\n")
    import_gasnet([file], tmp_path / "archive")


def test_threads_are_locations(tmp_path: Path) -> None:
    both = Trace(0, size=1).at(10, "(P) PUT: sz =      8,  peer = TM0:0", thread="(7f3a)")
    both.at(20, "(P) PUT: sz =      8,  peer = TM0:0", thread="(81b0)")
    trace, _ = _import(tmp_path, both)
    assert len({event.location for event in trace.events if event.kind == "RMA_PUT"}) == 2


def test_the_command_line(tmp_path: Path) -> None:
    file = Trace(0, size=1).at(10, "(P) PUT: sz =      8,  peer = TM0:0").write(tmp_path)
    done = logpost("import", "gasnet", file, "-o", "a", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["puts"] == 1
    again = logpost("import", "gasnet", file, "-o", "a", cwd=tmp_path)
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    forced = logpost("import", "gasnet", file, "-o", "a", "--force", cwd=tmp_path)
    assert "1 of 1 processes" in forced.stderr
    assert logpost("analyze", "a", "-o", "a.run", cwd=tmp_path).returncode == 0


def _text(sample: Path) -> str:
    return "".join(
        path.read_text(errors="replace").rpartition("\n")[0] + "\n" for path in sorted(sample.glob("trace-*"))
    )


@pytest.mark.skipif(not SAMPLES, reason="the samples are not part of the checkout")
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_counts_are_those_of_the_text(sample: Path, tmp_path: Path) -> None:
    made = import_gasnet(sorted(sample.glob("trace-*")), tmp_path / "archive")
    text, s = _text(sample), made.summary
    bytes_of = {c: [int(n) for n in re.findall(rf"\({c}\) \w+: sz = +(\d+),", text)] for c in "PG"}
    assert (s["puts"], s["put_bytes"]) == (len(bytes_of["P"]), sum(bytes_of["P"]))
    assert (s["gets"], s["get_bytes"]) == (len(bytes_of["G"]), sum(bytes_of["G"]))
    assert s["atomics"] == len(re.findall(r"\(R\) RATOMIC", text))
    sent = re.findall(r"\(A\) (?:AM(?:REQUEST|REPLY)_\w+: dest|COMMIT_\w+: handler)=.*", text)
    assert s["messages_sent"] == len(sent)
    assert s["message_bytes"] == sum(int(n) for line in sent for n in re.findall(r" nbytes=(\d+)", line))
    assert s["messages_received"] == len(re.findall(r"_HANDLER: client=", text))
    assert s["waits"] == len(re.findall(r"\([SBX]\) \w+: waittime = ", text))
    trace = recording.read(made.path)
    kinds = [event.kind for event in trace.events]
    assert kinds.count("RMA_PUT") == s["puts"]
    assert kinds.count("MPI_SEND") == s["messages_sent"]
    assert kinds.count("ENTER") == kinds.count("LEAVE")
