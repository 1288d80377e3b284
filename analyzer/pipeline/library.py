"""Which library profile a run follows: the machine file's, else that of the MPI library that the archive states."""

from __future__ import annotations

from collections.abc import Mapping

from logpost.analyzer.archive.mpi_library import LIBRARY, SIMULATION
from logpost.analyzer.run import manifest as m
from logpost.machines import Machine
from logpost.machines.profiles.choose import profile_of_library


def library_used(machine: Machine | None, properties: Mapping[str, str]) -> m.LibraryUsed | None:
    """The profile with what it states; None: the machine has none, and the archive's library is unknown.

    Arguments:
        machine: that the run uses; None: an estimate.
        properties: of the archive.
    """
    version = properties.get(LIBRARY, "")
    by_machine = None if machine is None else machine.library
    profile = by_machine or profile_of_library(version, properties.get(SIMULATION, ""))
    if profile is None:
        return None
    return m.LibraryUsed(
        profile=profile.name,
        title=profile.title,
        stated_by="archive" if by_machine is None else "machine",
        version=version,
        properties={name: m.LibraryProperty(**one.model_dump()) for name, one in profile.properties.items()},
    )
