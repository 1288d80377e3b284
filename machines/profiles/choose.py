"""Which profile belongs to what an archive states of its MPI library."""

from __future__ import annotations

import re

from logpost.machines.profiles.load import load_profile, profile_names
from logpost.machines.profiles.profile import LibraryProfile


def profile_of_library(version: str, simulation: str = "") -> LibraryProfile | None:
    """The profile of the library that calls itself so (MPI_Get_library_version); None: no profile is of it.

    Arguments:
        version: what the archive states of its library.
        simulation: what it states of a simulation, whose rules replace the library's; empty: it was none.
    """
    profiles = [load_profile(name) for name in profile_names()]
    patterns = [(one, one.recognized_in_simulation, simulation) for one in profiles]
    patterns += [(one, one.recognized_by, version) for one in profiles]
    return next((one for one, pattern, text in patterns if pattern is not None and re.search(pattern, text)), None)
