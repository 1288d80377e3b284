"""Building and starting workloads: cache, missing compilers, compile errors, and the verb on top."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from logpost.cli.workloads import app
from logpost.collectors.mpi import launcher_of
from logpost.collectors.workloads.build import build, launch_environment
from logpost.collectors.workloads.catalogue import FOLDER, WORKLOADS, Program, workload
from logpost.errors import InputError


def fake_compiler(
    folder: Path, name: str = "mpicc", script: str = 'while [ "$1" != -o ]; do shift; done; echo x > "$2"'
) -> Path:
    """A compiler that writes one line and counts its calls in `calls`."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho . >> {folder}/calls\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing of MPI in it but what the test puts there, and an empty cache."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_every_workload_has_sources_paper_and_examples() -> None:
    for entry in WORKLOADS:
        assert entry.what
        assert entry.paper
        assert entry.quick
        assert entry.demo
        for program in entry.programs:
            assert len(program.files()) >= 2, program
    assert {entry.name for entry in WORKLOADS} <= {path.name for path in FOLDER.iterdir()}


def test_builds_once_per_sources_and_compiler(tools: Path) -> None:
    fake_compiler(tools)
    program = workload("em3d").program()
    first = build(program)
    assert build(program) == first
    assert (tools / "calls").read_text() == ".\n"
    other = fake_compiler(tools, "mpicc.other")
    assert build(program, str(other)) != first


def test_says_what_to_install_without_a_compiler(tools: Path) -> None:
    with pytest.raises(InputError, match=r"mpicc is not on PATH: .*openmpi-bin and libopenmpi-dev"):
        build(workload("em3d").program())
    with pytest.raises(InputError, match=r"oshcc is not on PATH: .*OpenSHMEM"):
        build(workload("em3d").program("em3d_shmem"))


def test_shows_the_first_error_of_the_compiler_and_leaves_nothing(tools: Path, tmp_path: Path) -> None:
    fake_compiler(tools, script="echo 'x.c:1: warning: w' >&2; echo 'x.c:2: error: no such thing' >&2; exit 1")
    with pytest.raises(InputError, match=r"could not compile em3d: x\.c:2: error: no such thing"):
        build(workload("em3d").program(), folder=tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"unknown workload em4d; use one of em3d, "):
        workload("em4d")
    with pytest.raises(InputError, match=r"has no program x; choose from em3d, em3d_shmem"):
        workload("em3d").program("x")


def test_the_launcher_is_that_of_the_compiler(tools: Path) -> None:
    fake_compiler(tools, "mpicc.mpich")
    fake_compiler(tools, "mpirun.mpich")
    fake_compiler(tools, "oshcc")
    assert launcher_of("mpicc.mpich", "mpi") == str(tools / "mpirun.mpich")
    assert launcher_of("oshcc", "shmem") == "oshrun"  # no launcher next to it: the one on PATH


def test_a_setting_of_the_user_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_rmaps_base_oversubscribe", "0")
    assert launch_environment(Program("x", ()))["OMPI_MCA_rmaps_base_oversubscribe"] == "0"
    monkeypatch.delenv("OMPI_MCA_memory", raising=False)
    assert launch_environment(Program("x", (), "shmem"))["OMPI_MCA_memory"] == "^patcher"
    assert "OMPI_MCA_memory" not in launch_environment(Program("x", ())) or "OMPI_MCA_memory" in os.environ


def test_verbs_list_and_show() -> None:
    runner = CliRunner()
    names = runner.invoke(app, ["list", "--quiet"])
    assert names.output.split() == [entry.name for entry in WORKLOADS]
    listed = json.loads(runner.invoke(app, ["list", "--json"]).output)["workloads"]
    assert [entry["paper"] for entry in listed] == [entry.paper for entry in WORKLOADS]
    shown = runner.invoke(app, ["show", "em3d"]).output
    assert "LoGPC 5.3" in shown
    assert "logpost record -- mpirun -n 4 $(logpost workloads build em3d -q) --order original" in shown
    assert runner.invoke(app, ["show", "em3d", "--quiet"]).output.strip() == str(FOLDER / "em3d")


def test_verb_build_prints_the_path(tools: Path, tmp_path: Path) -> None:
    fake_compiler(tools)
    runner = CliRunner()
    done = runner.invoke(app, ["build", "em3d", "-q", "-o", str(tmp_path / "here")])
    assert done.exit_code == 0
    assert done.output.strip() == str(tmp_path / "here" / "em3d")


def test_verb_run_passes_arguments_and_exit_status(tools: Path) -> None:
    fake_compiler(tools)
    fake_compiler(tools, "mpirun", f'printf "%s\\n" "$@" > {tools}/arguments; exit 5')
    done = CliRunner().invoke(app, ["run", "-n", "3", "em3d", "--", "--order", "improved"])
    assert done.exit_code == 5
    words = (tools / "arguments").read_text().split()
    assert words[:2] == ["-n", "3"]
    assert words[3:] == ["--order", "improved"]
