"""A test without a marker cannot start MPI, the simulator or a browser; what markers follow from."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from . import tiers


def test_a_test_without_a_marker_sees_no_mpi_simulator_or_browser() -> None:
    for command in ("mpirun", "mpirun.openmpi", "mpirun.mpich", "mpiexec", "mpicc", "oshrun", "smpirun", "chromium"):
        assert shutil.which(command) is None, command


def test_everything_else_is_there() -> None:
    for command in ("sh", "python3", "cc"):
        assert shutil.which(command) is not None, command
    assert subprocess.run(["sh", "-c", "echo here"], capture_output=True, text=True, check=True).stdout == "here\n"


@pytest.mark.mpi
def test_a_test_with_a_marker_sees_the_whole_path() -> None:
    if any(shutil.which(command, path=os.defpath) for command in ("mpirun", "mpirun.openmpi", "mpirun.mpich")):
        assert any(shutil.which(command) for command in ("mpirun", "mpirun.openmpi", "mpirun.mpich"))
    else:
        pytest.skip("no mpirun on this machine")


def test_a_directory_with_a_forbidden_command_is_replaced_by_links_to_the_others(tmp_path: Path) -> None:
    clean, mixed = tmp_path / "clean", tmp_path / "mixed"
    for file in (clean / "make", mixed / "mpirun", mixed / "mpirun.openmpi", mixed / "smpicc", mixed / "grep"):
        file.parent.mkdir(exist_ok=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    links = tmp_path / "links"
    links.mkdir()
    path = tiers.path_without(links, f"{clean}:{mixed}:{tmp_path / 'missing'}")
    first, second = path.split(":")
    assert first == str(clean)
    assert [os.path.dirname(second), *os.listdir(second)] == [str(links), "grep"]
    assert shutil.which("grep", path=path) == os.path.join(second, "grep")
    made = os.stat(second)
    assert tiers.path_without(links, path) == path
    assert tiers.path_without(links, f"{clean}:{mixed}") == path  # the same directory, not made anew
    assert (os.stat(second).st_ino, len(os.listdir(links))) == (made.st_ino, 1)
    (mixed / "sed").write_text("#!/bin/sh\n")
    assert sorted(os.listdir(tiers.path_without(links, str(mixed)))) == ["grep", "sed"]


@pytest.mark.parametrize(
    ("fixtures", "names", "folder", "expected"),
    [
        (frozenset({"mpi", "tmp_path"}), frozenset(), "collectors", {"mpi"}),
        (frozenset({"visit"}), frozenset(), "browser", {"browser"}),
        (frozenset(), frozenset(), "collectors/testbed", {"testbed"}),
        (frozenset(), frozenset({"judge"}), "truth", {"slow"}),
        (frozenset(), frozenset({"Simulated", "pick"}), "machines/calibration", {"testbed"}),
        (frozenset({"analyzed", "runs"}), frozenset(), "analyzer", {"slow"}),
        (frozenset({"traces"}), frozenset({"logpost"}), "cli", set()),
    ],
)
def test_markers(fixtures: frozenset[str], names: frozenset[str], folder: str, expected: set[str]) -> None:
    assert tiers.markers(fixtures, names, folder) == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("no mpicc and mpirun here", True),
        ("smpirun and smpicc are not installed (libsimgrid-dev)", True),
        ("SimGrid (libsimgrid-dev) is not installed", True),
        ("gfortran is not installed", False),
    ],
)
def test_a_skip_for_lack_of_what_the_tier_hides_is_recognized(reason: str, expected: bool) -> None:
    assert tiers.names_something_forbidden(reason) == expected
