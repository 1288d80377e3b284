"""The module file, the srun that records, and Slurm's prolog and epilog, with stand-ins for what a site has."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.collectors import recording
from tests.collectors.conftest import require

SITE = Path(__file__).resolve().parents[2] / "packaging" / "site"
SRUN = '#!/bin/sh\nexec mpirun.openmpi --oversubscribe "$@"\n'  # its -n is that of Slurm's
RUNUSER = '#!/bin/sh\nshift 3\nexec "$@"\n'
MODULES = """\
proc module-whatis {text} {}
proc conflict {name} {}
proc prepend-path {name value} { puts "$name $value" }
"""


@pytest.fixture
def site(tmp_path: Path) -> dict[str, str]:
    """The environment of a job: srun before Slurm's, `logpost`, and a folder in the place of /dev/shm."""
    programs = {
        "bin/logpost": f'#!/bin/sh\nexec {sys.executable} -m logpost.cli.app "$@"\n',
        "slurm/srun": SRUN,
        "slurm/runuser": RUNUSER,
        "libexec/srun": (SITE / "srun").read_text().replace("/dev/shm", str(tmp_path / "shm")),
    }
    for name, text in programs.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    (tmp_path / "shm").mkdir()
    (tmp_path / "work").mkdir()
    return recording.environment(
        PATH=os.pathsep.join([*(str(tmp_path / one) for one in ("libexec", "bin", "slurm")), os.environ["PATH"]]),
        PYTHONPATH=os.pathsep.join(path for path in sys.path if path),
        LOGPOST_SHM=str(tmp_path / "shm"),
        SLURM_JOB_UID=str(os.getuid()),
        SLURM_JOB_ID="42",
        SLURM_JOB_USER="user",
        SLURM_JOB_WORK_DIR=str(tmp_path / "work"),
    )


def run(words: list[object], folder: Path, site: dict[str, str], **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words], cwd=folder, env=site | more, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("keep", "expected"), [(None, ["bin"]), ("10min", ["bin", "libexec"])])
def test_the_module_sets_the_paths(keep: str | None, expected: list[str], tmp_path: Path) -> None:
    if shutil.which("tclsh") is None:
        pytest.skip("no tclsh")
    given = {} if keep is None else {"LOGPOST_KEEP": keep}
    text = MODULES + (SITE / "modulefile").read_text()
    (tmp_path / "module.tcl").write_text(text)
    done = run(["tclsh", "module.tcl"], tmp_path, {"PATH": os.environ["PATH"]}, **given)
    assert done.returncode == 0, done.stderr
    paths = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("PATH ")]
    assert paths == [f"/opt/logpost/0.1.0/{name}" for name in expected]


@pytest.mark.mpi
def test_a_job_that_wants_it_is_recorded_in_memory(site: dict[str, str], tmp_path: Path) -> None:
    program = recording.build("blocking.c", require("openmpi"), tmp_path)
    plain = run(["srun", "-n", "2", program], tmp_path, site)
    assert (plain.returncode, list(tmp_path.glob("logpost-42"))) == (0, []), plain.stderr
    assert run([SITE / "prolog"], tmp_path, site).returncode == 0
    assert (tmp_path / "shm" / "logpost-42").stat().st_mode & 0o777 == 0o700
    done = run(["srun", "-n", "2", program], tmp_path, site, LOGPOST_KEEP="5MB", LOGPOST_HANG="10min")
    assert done.returncode == 0, done.stderr
    (anchor,) = (tmp_path / "logpost-42").glob("logpost_blocking_2_*/traces.otf2")
    assert recording.read(anchor.parent).calls(0)[0] == "MPI_Init"
    assert run([SITE / "epilog"], tmp_path, site).returncode == 0
    assert list((tmp_path / "shm").iterdir()) == []
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.mpi
def test_what_a_killed_recording_left_becomes_an_archive(site: dict[str, str], tmp_path: Path) -> None:
    program = recording.build("death.c", require("openmpi"), tmp_path)
    assert run([SITE / "prolog"], tmp_path, site).returncode == 0
    child = subprocess.Popen(["srun", "-n", "2", program, "hang"], cwd=tmp_path, env=site | {"LOGPOST_KEEP": "5MB"})
    rings = tmp_path / "shm" / "logpost-42"
    deadline = time.monotonic() + 100
    # 50 messages of 48 bytes and the definitions before them are more than 2,500 bytes.
    while sum(_used(path) > 2500 for path in rings.rglob("*.window")) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    logs = list(rings.glob("*.raw/*.raw"))
    child.kill()
    child.wait()
    for log in logs:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(log.name.split(".")[-4]), signal.SIGKILL)
    assert len(logs) == 2
    time.sleep(0.3)
    done = run([SITE / "epilog"], tmp_path, site)
    assert done.returncode == 0, done.stderr
    (anchor,) = (tmp_path / "work").glob("logpost-42-*/*/traces.otf2")
    assert recording.read(anchor.parent).calls(0)[0] == "MPI_Init"
    assert list((tmp_path / "shm").iterdir()) == []


def _used(path: Path) -> int:
    return len(path.read_bytes().rstrip(b"\0"))


def test_no_srun_behind_it_is_one_line(site: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "libexec" / "srun"
    done = run([program, "-n", "2", "true"], tmp_path, site, PATH=str(program.parent))
    assert (done.returncode, done.stderr) == (127, f"logpost: no srun on PATH behind {program.parent}\n")
