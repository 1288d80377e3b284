"""Recording switched off and on while the program runs, by each rank at its own instant: calls in a gap are counted,
and messages around it are paired rightly."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost import collectors
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.mpi

INCLUDE = f"-I{Path(collectors.__file__).parent}"
ROUNDS = 40
SENT = 2 * ROUNDS + 1 + ROUNDS // 5
"""Messages of each rank of switched.c: one ahead and a persistent one a round, a last one, one on each duplicate."""


def _stated(trace: recording.Trace) -> dict[str, int]:
    found = re.findall(r"^Property name\s+LOGPOST::OFF_(\S+)\nProperty value\s+(\d+)$", trace.info, re.MULTILINE)
    return {name: int(value) for name, value in found}


@pytest.mark.parametrize("how", ["pcontrol", "header"])
def test_each_rank_switches_at_its_own_instant(mpi: str, tmp_path: Path, how: str) -> None:
    """Three ranks, off in a third of 40 rounds each. A message paired with another round's shows by its size; every
    half of the 3 x 2 x 89 is recorded, skipped or left out."""
    program = recording.build("switched.c", mpi, tmp_path, INCLUDE)
    done = recording.run(mpi, tmp_path, 3, program, how, str(ROUNDS))
    assert (done.status, done.out) == (0, f"rounds {ROUNDS}\n"), done.err
    trace = done.read()
    stated = _stated(trace)
    for rank in range(3):
        modes = [event.text.split()[-1] for event in trace.on(rank, "MEASUREMENT_ON_OFF")]
        assert len(modes) > 8
        assert modes == ["OFF", "ON"] * (len(modes) // 2)
        assert trace.calls(rank)[-1] == "MPI_Finalize", "the end of a program is always recorded"
    sends = sum(len(trace.on(rank, "MPI_SEND", "MPI_ISEND")) for rank in range(3))
    receives = sum(len(trace.on(rank, "MPI_RECV", "MPI_IRECV")) for rank in range(3))
    assert sends == receives, "each message has both halves"
    halves = stated["SENDS"] + stated["RECEIVES"] + stated["HALVES_LEFT_OUT"]
    assert 3 * 2 * SENT == sends + receives + halves
    assert stated["INEXACT"] == 0
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    counted = {count.name: count.count for count in run.manifest.quality if count.count}
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
    assert not {"bytes_differ", "message_while_off", "collective_while_off"} & set(counted)
    assert counted["skipped_calls"] == stated["CALLS"]
    assert run.manifest.messages == sends
    assert f"{stated['CALLS']:,} calls" in run.manifest.overwritten[0]
    _sums_hold(run)


def _sums_hold(run: Run) -> None:
    """Times add up to the whole; outside of the program, which shares are of, is the time without records alone."""
    accounting = run.table("accounting").collect()
    locations = run.table("locations").collect()
    assert accounting["exposed_ps"].sum() == (locations["last_ps"] - locations["first_ps"]).sum()
    gaps = (
        run.table("calls")
        .join(run.table("regions").filter(kind="not_recorded"), on="region", how="semi")
        .join(run.table("locations"), on="location")
        .select(
            begin=pl.max_horizontal("enter_ps", "begin_ps"),
            end=pl.min_horizontal("leave_ps", "end_ps"),
        )
        .filter(pl.col("begin") < pl.col("end"))
        .collect()
    )
    assert gaps.height >= 12
    assert accounting.filter(phase="outside")["exposed_ps"].sum() == (gaps["end"] - gaps["begin"]).sum()


def test_a_program_that_never_switches_has_no_gap(mpi: str, tmp_path: Path) -> None:
    program = recording.build("switched.c", mpi, tmp_path, INCLUDE)
    done = recording.run(mpi, tmp_path, 2, program, "never", "6")
    trace = done.read()
    assert trace.on(0, "MEASUREMENT_ON_OFF") == []
    assert _stated(trace) == {}


def _pauses(window: Path) -> int:
    """How often the rank of a window has slept so far, which keeps.c does once a round."""
    process = window.name.split(".")[-4]
    status = Path("/proc", process, "status").read_text()
    return int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])


def _let_run(windows: list[Path], seconds: float, rounds: int) -> None:
    """So long, and on a busy machine, where a round may take a tenth of a second, until each rank made so many."""
    until = {window: _pauses(window) + rounds for window in windows}
    limit = time.monotonic() + 100
    time.sleep(seconds)
    while any(_pauses(window) < pauses for window, pauses in until.items()):
        assert time.monotonic() < limit, "the program does not continue"
        time.sleep(0.01)


def test_a_file_switches(openmpi: str, tmp_path: Path) -> None:
    """Off, since there is no file; on when it says so; off when it is gone. Of keeps.c, with a pause a round, each rank
    makes 3 x 600 calls for messages and 150 barriers, besides Init, Comm_rank, Comm_size, Barrier and Finalize: more
    than a window of the size here."""
    program, switch = recording.build("keeps.c", openmpi, tmp_path), tmp_path / "switch"
    words = [sys.executable, "-m", "logpost.cli.app", "record", "-o", str(tmp_path), "--switch", str(switch)]
    words += [
        "--calibrate",
        "none",
        "--",
        recording.LAUNCHERS[openmpi],
        "-n",
        "2",
        str(program),
        "600",
        "finalize",
        "2500",
    ]
    environment = {**recording.environment(), "LOGPOST_WINDOW_KIB": "64"}
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as recorder:
        until = time.monotonic() + 100
        while len(windows := list(tmp_path.glob("*.raw/*.window"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        _let_run(windows, 0.3, 10)
        switch.write_text("on\n")
        _let_run(windows, 0.6, 30)
        switch.unlink()
        _, said = recorder.communicate(timeout=300)
    assert recorder.returncode == 0, said
    assert "recording was off at times, for " in said
    (archive,) = tmp_path.glob("logpost_*/traces.otf2")
    trace = recording.read(archive.parent)
    for rank in (0, 1):
        modes = [event.text.split()[-1] for event in trace.on(rank, "MEASUREMENT_ON_OFF")]
        assert modes == ["OFF", "ON"] * 2
    made = 2 * (3 * 600 + 600 // 4 + 5)
    assert sum(len(trace.calls(rank)) for rank in (0, 1)) + _stated(trace)["CALLS"] == made
    assert sum(len(trace.on(rank, "MPI_SEND")) for rank in (0, 1)) > 10
    run = Run.open(analyze(Request(str(archive.parent), str(tmp_path / "a.run"))))
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--switch", "/nowhere/file"),
            "--switch /nowhere/file: there is no directory /nowhere; make it",
        ),
        (("--switch", "/tmp"), "--switch /tmp is a directory; name a file"),
        (("--switch", "/" + "x" * 1001), "is too long; name another file"),
    ],
)
def test_what_cannot_switch_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = recording.record(tmp_path, "true", options=options)
    assert done.status == 2
    assert said in done.err
