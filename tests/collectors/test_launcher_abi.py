"""Which MPI a launcher belongs to: what is on PATH at the lookup, not what was there before."""

from __future__ import annotations

from pathlib import Path

import pytest

from logpost.collectors.mpi import MPICH, OPENMPI, launcher_abi


def put_launcher(folder: Path, version: str) -> str:
    """A folder for PATH whose mpirun says that version."""
    folder.mkdir()
    (folder / "mpirun").write_text(f"#!/bin/sh\necho '{version}'\n")
    (folder / "mpirun").chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def test_a_launcher_is_looked_up_anew_when_path_has_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert launcher_abi("mpirun") is None
    monkeypatch.setenv("PATH", put_launcher(tmp_path / "one", "mpirun (Open MPI) 4.1.4"))
    assert launcher_abi("mpirun") == OPENMPI
    monkeypatch.setenv("PATH", put_launcher(tmp_path / "other", "HYDRA build details:"))
    assert launcher_abi("mpirun") == MPICH
