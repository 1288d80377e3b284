"""Which collectors are usable: what the table's probes find."""

from __future__ import annotations

import ctypes.util
import os
from pathlib import Path

import pytest
from tests.cli.command import logpost

from logpost.collectors import mpi, usable
from logpost.collectors.usable import COLLECTORS, Collector, Usability, look
from logpost.errors import InputError


def _has(found: str) -> usable.Probe:
    return lambda: (found, "")


def _lacks(missing: str) -> usable.Probe:
    return lambda: ("", missing)


def _row(*probes: usable.Probe, part: str = "") -> Usability:
    return look(Collector("x", "X programs: record", probes, "x-dev", "x", "x +mpi", part))


def test_what_is_found_and_what_is_missing_are_gathered() -> None:
    assert _row(_has("a 1.0"), _has("")) == Usability("x", "X programs: record", True, "a 1.0", "", "", "", "")
    lacking = _row(_has("a 1.0"), _lacks("b not on PATH"), _lacks("no libotf2"))
    assert (lacking.usable, lacking.missing) == (False, "b not on PATH; no libotf2")
    assert lacking.way_out == "; ".join(("apt install x-dev", "module load x", "spack install x +mpi"))


def test_a_collector_that_this_version_lacks_is_not_usable() -> None:
    row = _row(_has("all"), part="logpost.collectors.no_such_part")
    assert (row.usable, row.way_out) == (False, "")
    assert "has no such collector" in row.missing
    assert _row(_has("all"), part="logpost.collectors.pmpi").usable


def test_a_score_p_that_does_not_answer_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tool in ("scorep", "scorep-config", "scorep-info"):
        (tmp_path / tool).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    row = look(next(collector for collector in COLLECTORS if collector.name == "scorep"))
    assert row.missing == "scorep-config does not answer"


def test_opencoarrays_is_a_wrapper_or_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usable, "Path", lambda place: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))  # the machine's own caf stays out of it
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    assert usable._coarrays() == ("", "neither caf nor libcaf_mpi was found")
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: "libcaf_mpich.so.3" if name == "caf_mpich" else None)
    assert usable._coarrays() == ("libcaf_mpich.so.3", "")
    debian = tmp_path / "x86_64-linux-gnu" / "open-coarrays" / "openmpi" / "bin" / "caf"
    debian.parent.mkdir(parents=True)
    debian.write_text("")
    assert usable._coarrays() == (str(debian), "")


def test_the_mpi_on_path_precedes_debians_names(monkeypatch: pytest.MonkeyPatch) -> None:
    here, other = mpi.Mpi(mpi.OPENMPI, "5.0.1", (), None), mpi.Mpi(mpi.MPICH, "4.0.2", (), None)

    def find(command: list[str], choice: str | None = None) -> mpi.Mpi:
        return other if choice == mpi.MPICH else here

    monkeypatch.setattr(mpi, "find", find)
    assert usable._mpi(mpi.OPENMPI) is here
    assert usable._mpi(mpi.MPICH) is other

    def nothing(command: list[str], choice: str | None = None) -> mpi.Mpi:
        raise InputError("no MPI")

    monkeypatch.setattr(mpi, "find", nothing)
    assert usable._interposer(mpi.OPENMPI)() == ("", "no MPI")


def test_both_mpis_of_this_machine_are_usable(openmpi: str, mpich: str) -> None:
    done = logpost("doctor", "-q", "--require", "openmpi", "--require", "mpich")
    assert done.returncode == 0, done.stderr
