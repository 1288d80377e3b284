"""Analyses beyond their limit of memory: the run is the same, byte for byte, and nothing is left behind.

What differs from run to run even so is the manifest's `memory`.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.run_contents import contents
from tests.archives import ROOT
from tests.said import says

from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.replay._native import is_in_memory

pytestmark = pytest.mark.slow

NOTHING_FITS = 1
"""A limit of one byte, as the command line would refuse it: all that can be in the file is there."""


def assert_same_run(archive: Path, tmp_path: Path, reference: Path, **options: Any) -> None:
    """Analyzed without memory, an archive gives the run that it gives with it."""
    run = analyze(Request(str(archive), str(tmp_path / "spilled.run"), memory=NOTHING_FITS, **options))
    expected, used = contents(reference)
    found, memory = contents(run)
    assert used["spilled_bytes"] == 0
    assert memory["limit_bytes"] == NOTHING_FITS
    assert memory["spilled_bytes"] > 0
    assert memory["peak_bytes"] > 0
    assert found.keys() == expected.keys()
    assert [name for name, bytes_ in found.items() if bytes_ != expected[name]] == []
    assert [path.name for path in tmp_path.iterdir()] == ["spilled.run"]


@pytest.mark.parametrize(
    "name",
    [
        "scorep-npb-cg-W-nocomp-8",
        "scorep-lulesh-nocomp-8",
        "scorep-prk-rma-stencil-8",
        "scorep-shmem-stencil-4",
        "tracer-stencil4d-32",
        "eztrace-blocking-2",
        "tau-requests-2",
    ],
)
def test_a_run_is_the_same_whatever_the_limit(name: str, traces: Path, runs: dict[str, Run], tmp_path: Path) -> None:
    (anchor,) = (traces / name).glob("*.otf2")
    assert_same_run(anchor, tmp_path, runs[name].path)


def test_so_is_one_with_corrected_clocks(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    archive = traces / "scorep-npb-cg-W-nocomp-8"
    plain, spilled = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("spilled")
    reference = analyze(Request(str(archive), str(plain / "a.run"), clock=ClockMode.clc))
    assert_same_run(archive, spilled, reference, clock=ClockMode.clc)


@pytest.fixture(scope="session")
def halo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated archive of many locations."""
    folder = tmp_path_factory.mktemp("halo")
    flags = ["-lotf2"]
    if config := shutil.which("otf2-config"):
        flags = subprocess.run(
            [config, "--cflags", "--ldflags", "--libs"], capture_output=True, text=True, check=True
        ).stdout.split()
    source = ROOT / "tests" / "benchmarks" / "halo_archive.c"
    subprocess.run([os.environ.get("CC", "cc"), source, "-o", folder / "generate", *flags], check=True)
    subprocess.run([folder / "generate", folder / "halo", "64", "100000"], check=True, capture_output=True)
    return folder / "halo"


def test_many_locations_and_threads(halo: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    plain, spilled = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("spilled")
    reference = analyze(Request(str(halo), str(plain / "a.run"), threads=1))
    assert_same_run(halo, spilled, reference, threads=3)


def worker(request: Request, **options: Any) -> subprocess.Popen[str]:
    """The process that analyzes, as `supervise` starts it; its lines are its output."""
    process = subprocess.Popen(
        [sys.executable, "-m", "logpost.analyzer.pipeline.worker", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(asdict(request)))
    process.stdin.close()
    return process


def test_a_full_disk_is_one_line_that_names_the_folder(halo: Path, tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    run = tmp_path / "folder" / "a.run"
    with worker(Request(str(halo), str(run), memory=NOTHING_FITS), preexec_fn=small_files) as process:
        assert process.stdout is not None
        *_, last = process.stdout
    assert process.returncode == 2
    error = json.loads(last)["error"]
    assert error.startswith(f"{run} cannot be written: {run.parent}: no room for 68 MB ")
    assert "File too large" in error
    assert says(error, "--spill", "--memory")
    assert error.endswith(" -o")
    assert list(run.parent.iterdir()) == []


def test_a_killed_analysis_leaves_no_file(halo: Path, tmp_path: Path) -> None:
    request = Request(str(halo), str(tmp_path / "a.run"), memory=NOTHING_FITS)
    with worker(request) as process:
        assert process.stdout is not None
        files = Path(f"/proc/{process.pid}/fd")
        while not any("(deleted)" in os.readlink(file) for file in files.iterdir()):
            assert process.poll() is None, "it ended before it spilled anything"
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    # The tables of the unfinished run are its parent's to remove; the file has no name.
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".parquet"] == []


@pytest.mark.skipif(not is_in_memory("/dev/shm"), reason="/dev/shm is no memory here")
def test_memory_is_no_place_to_spill_unasked(halo: Path, tmp_path: Path) -> None:
    folder = Path("/dev/shm") / f"logpost-test-{os.getpid()}"
    folder.mkdir()
    try:
        # Without a limit of the user's own there is none there.
        assert contents(analyze(Request(str(halo), str(folder / "a.run"))))[1]["limit_bytes"] is None
        with pytest.raises(InputError, match=r"is in memory \(tmpfs\).* folder .* --spill"):
            analyze(Request(str(halo), str(folder / "b.run"), memory=NOTHING_FITS))
        spilled = analyze(Request(str(halo), str(folder / "c.run"), memory=NOTHING_FITS, spill=str(folder)))
        assert contents(spilled)[1]["spilled_bytes"] > 0
    finally:
        shutil.rmtree(folder)
