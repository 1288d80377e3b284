"""What `make conformance` runs ends in time, and none of its processes outlives it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.conformance import warm
from tests.conformance.bounded import in_time

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
# A process in a separate session, as ranks are, that ignores requests to end; its number is written to a file.
LEAVES = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open("left.tmp", "w") as out:
        out.write(str(os.getpid()))
    os.rename("left.tmp", "left")
    time.sleep(600)
while not os.path.exists("left"):
    time.sleep(0.01)
print("No Errors", flush=True)
time.sleep(float(sys.argv[1]))
"""
RUNS = f"""
import os, signal, sys
from pathlib import Path
from tests.conformance.bounded import in_time
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
in_time([sys.executable, "-c", {LEAVES!r}, "600"], Path(sys.argv[1]), 600.0, dict(os.environ))
"""


def _left(folder: Path) -> int:
    until = time.monotonic() + 60
    while not (folder / "left").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    return int((folder / "left").read_text())


def _ended(process: int, within_s: float) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_output_and_exit_status_of_a_command_and_of_a_function(tmp_path: Path) -> None:
    surroundings = {**os.environ, "CHOSEN": "yes"}
    assert in_time([sys.executable, "-c", "print('No Errors')"], tmp_path, 60.0, surroundings) == ("No Errors\n", 0)
    assert in_time(["sh", "-c", "echo $CHOSEN; pwd; exit 3"], tmp_path, 60.0, surroundings) == (f"yes\n{tmp_path}\n", 3)
    assert in_time(["sh", "-c", "kill -9 $$"], tmp_path, 60.0, surroundings) == ("", -9)
    assert in_time(["/no/such"], tmp_path, 60.0, surroundings)[1] == 127

    def says() -> int:
        os.system("echo $CHOSEN")
        raise SystemExit(2)

    assert in_time(says, tmp_path, 60.0, surroundings) == ("yes\n", 2)
    assert in_time(lambda: 1 // 0, tmp_path, 60.0, surroundings)[1] == 1


def test_a_program_past_its_time_is_requested_to_end_and_its_output_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)"]
    assert in_time(command, tmp_path, 1.0, os.environ) == ("1\n", -signal.SIGTERM)


def test_what_a_program_leaves_behind_is_killed(tmp_path: Path) -> None:
    assert in_time([sys.executable, "-c", LEAVES, "0"], tmp_path, 60.0, os.environ) == ("No Errors\n", 0)
    assert _ended(_left(tmp_path), 0.1)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_process_behind(tmp_path: Path, sign: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", RUNS, str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL) as run:
        left = _left(tmp_path)
        assert not _ended(left, 0.2)
        run.send_signal(sign)
        assert run.wait(30) != 0
    assert _ended(left, 30.0)


def test_logpost_in_a_fork_ends_as_it_does_from_the_shell(tmp_path: Path) -> None:
    said, status = in_time(warm.record("--keep", "much", "--", "true"), tmp_path, 60.0, os.environ)
    assert status == 2
    assert said.startswith("logpost: ")
    said, status = in_time(warm.analyze(tmp_path / "none.otf2", tmp_path / "run"), tmp_path, 60.0, os.environ)
    assert status == 2
    assert "none.otf2" in warm.reason(said)
    assert not warm.reason(said).startswith("{")
    assert warm.reason("Segmentation fault\n") == "Segmentation fault"
    assert warm.reason("") == ""
