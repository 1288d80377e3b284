"""Damaged archives and failing analyses: one line, no dead process, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from logpost.analyzer.pipeline import supervise
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.pipeline.worker_process import Worker
from logpost.errors import InputError

pytestmark = pytest.mark.slow


@pytest.fixture
def archive(traces: Path, tmp_path: Path) -> Path:
    """A copy of a small real archive, to be damaged."""
    copy = tmp_path / "ping-pong"
    shutil.copytree(traces / "pipit-ping-pong", copy)
    return copy


def leftovers(folder: Path) -> list[str]:
    """Runs, finished or not, below a folder."""
    return [path.name for path in folder.iterdir() if ".run" in path.name]


def test_a_run_appears_only_whole(archive: Path, tmp_path: Path) -> None:
    phases: list[str] = []
    run = analyze(Request(str(archive), str(tmp_path / "a.run")), lambda phase, _done, _total: phases.append(phase))
    assert (run / "manifest.json").is_file()
    assert leftovers(tmp_path) == ["a.run"]
    assert phases[0] == "reading"
    assert "looking for hotspots" in phases


def test_an_existing_run_is_kept_unless_forced(archive: Path, tmp_path: Path) -> None:
    request = Request(str(archive), str(tmp_path / "a.run"))
    analyze(request)
    before = (tmp_path / "a.run" / "manifest.json").stat().st_mtime_ns
    with pytest.raises(InputError, match=r"a\.run already exists; pass --force to overwrite it"):
        analyze(request)
    assert (tmp_path / "a.run" / "manifest.json").stat().st_mtime_ns == before
    analyze(Request(str(archive), str(tmp_path / "a.run"), force=True))
    assert leftovers(tmp_path) == ["a.run"]


def test_force_does_not_remove_what_is_no_run(archive: Path, tmp_path: Path) -> None:
    precious = tmp_path / "thesis.run"
    precious.mkdir()
    (precious / "chapter1.tex").write_text("...")
    with pytest.raises(InputError, match=r"thesis\.run exists .* not a run; .* -o"):
        analyze(Request(str(archive), str(precious), force=True))
    assert (precious / "chapter1.tex").exists()


@pytest.mark.parametrize(
    "victim",
    ["traces/0.evt", "traces.otf2", "traces.def"],
)
@pytest.mark.parametrize("damage", ["cut", "zeros", "noise", "empty", "gone"])
def test_damage_ends_in_a_run_or_in_one_line(archive: Path, tmp_path: Path, victim: str, damage: str) -> None:
    file = archive / victim
    data = bytearray(file.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "zeros":
        data[len(data) // 3 : 2 * len(data) // 3] = bytes(2 * len(data) // 3 - len(data) // 3)
    elif damage == "noise":
        # A stride that leaves the high bytes of the anchor's number of properties: libotf2 allocates as many at once.
        for i in range(16, len(data), 11):
            data[i] ^= (i * 73) & 0xFF
    elif damage == "empty":
        data = bytearray()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(data)
    try:
        analyze(Request(str(archive), str(tmp_path / "a.run")))
    except InputError as error:
        refusal = str(error)
    else:
        refusal = ""
    assert "\n" not in refusal
    assert "bug in logpost" not in refusal
    assert leftovers(tmp_path) == ([] if refusal else ["a.run"])


WORKER = """
import json, os, signal, sys, time

def send(**fields):
    os.write(int(sys.argv[1]), json.dumps(fields).encode() + b"\\n")

send(phase="reading", done=7, total=10, cpu_s=time.process_time())
"""


def with_worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    """Runs `code` in place of the real worker; it has reported that it read 7 events."""
    (tmp_path / "fake_worker.py").write_text(WORKER + code)
    real = subprocess.Popen

    def start(command: list[str], **options: object) -> object:
        return real([command[0], str(tmp_path / "fake_worker.py"), *command[3:]], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", start)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS])
def test_a_crash_while_reading_blames_the_archive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: signal.Signals
) -> None:
    with_worker(monkeypatch, tmp_path, f"os.kill(os.getpid(), {int(number)}); time.sleep(60)")
    with pytest.raises(InputError, match=rf"x: the OTF2 library crashed \({number.name}\) after 7 events; .* damaged"):
        analyze(Request("x", str(tmp_path / "a.run")))


def test_a_reader_that_works_without_progress_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_worker(monkeypatch, tmp_path, 'while True: send(phase="reading", done=7, total=10, cpu_s=time.process_time())')
    monkeypatch.setattr(supervise, "STALL_CPU_S", 1.0)
    refusal = "x: reading stopped: .* 1 s of processor time after 7 .*damaged"
    with pytest.raises(InputError, match=refusal):
        analyze(Request("x", str(tmp_path / "a.run")))


STARVED = """
for _ in range(20):
    time.sleep(0.1)
    send(phase="reading", done=7, total=10, cpu_s=time.process_time())
send(run="a.run")
"""


def test_a_reader_without_processor_time_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """2 s without progress, in which the reader mostly sleeps, are no sign of damage at a limit of 1 s."""
    with_worker(monkeypatch, tmp_path, STARVED)
    monkeypatch.setattr(supervise, "STALL_CPU_S", 1.0)
    assert analyze(Request("x", str(tmp_path / "a.run"))) == Path("a.run")


def test_a_reader_that_waits_for_ever_blames_no_archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_worker(monkeypatch, tmp_path, "time.sleep(600)")
    monkeypatch.setattr(supervise, "SILENCE_S", 1.2)
    refusal = r"x: reading stopped: .* \d s after 7 events, .*; the file system "
    with pytest.raises(InputError, match=refusal):
        analyze(Request("x", str(tmp_path / "a.run")))


def test_a_process_that_was_stopped_did_not_wait() -> None:
    """An hour in the background of a shell (Ctrl-Z) counts as one look at the reader."""
    watch = supervise._Watch()
    watch.take({"phase": "reading", "done": 7, "total": 10, "cpu_s": 1.0}, lambda _phase, _done, _total: None)
    watch.wait(3600.0)
    assert watch.stalled() is None
    for _ in range(4000):
        watch.wait(0.5)
    assert watch.stalled() is not None


def test_being_killed_later_says_what_was_done_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unfinished = tmp_path / ".a.run.half"
    with_worker(
        monkeypatch,
        tmp_path,
        f"""
os.mkdir({str(unfinished)!r})
send(temporary={str(unfinished)!r})
send(phase="splitting messages", done=1, total=2, cpu_s=0.0)
os.kill(os.getpid(), signal.SIGKILL)
""",
    )
    with pytest.raises(InputError, match=r"killed \(SIGKILL\) while splitting messages; .*memory"):
        analyze(Request("x", str(tmp_path / "a.run")))
    assert not unfinished.exists()


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_run_that_cannot_be_written_says_where(archive: Path) -> None:
    with pytest.raises(InputError, match=r"/dev/full/a\.run cannot be written: .*; choose another place with -o"):
        analyze(Request(str(archive), "/dev/full/a.run"))


def test_a_worker_whose_parent_was_killed_leaves_nothing(archive: Path, tmp_path: Path) -> None:
    receive, send = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-m", "logpost.analyzer.pipeline.worker", str(send)],
        pass_fds=[send],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(send)
        Worker(process, receive, limited=False).ask(asdict(Request(str(archive), str(tmp_path / "a.run"))))
        with os.fdopen(receive) as lines:
            next(line for line in lines if "temporary" in json.loads(line))
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 1
    assert said == b""
    assert leftovers(tmp_path) == []
