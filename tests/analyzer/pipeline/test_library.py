"""Which library profile a run follows: its machine's, else that of the library that the archive states."""

from __future__ import annotations

from tests.machines.builders import machine

from logpost.analyzer.archive.mpi_library import LIBRARY
from logpost.analyzer.pipeline.library import library_used
from logpost.machines.profiles.load import load_profile

SMPI = {LIBRARY: "SMPI Version 3.32. Copyright The SimGrid Team 2007-2022"}


def test_the_archives_library_chooses_the_profile() -> None:
    used = library_used(machine(), SMPI)
    assert used is not None
    assert (used.profile, used.stated_by, used.version) == ("simgrid", "archive", SMPI[LIBRARY])
    stated = load_profile("simgrid").properties
    assert {name: one.value for name, one in used.properties.items()} == {
        name: one.value for name, one in stated.items()
    }
    assert all(one.source for one in used.properties.values())


def test_the_machines_file_precedes_the_archive() -> None:
    used = library_used(machine(library="logp"), SMPI)
    assert used is not None
    assert (used.profile, used.stated_by) == ("logp", "machine")


def test_an_unknown_library_has_no_profile() -> None:
    assert library_used(None, {}) is None
    assert library_used(machine(), {LIBRARY: "Some MPI 1.0"}) is None
