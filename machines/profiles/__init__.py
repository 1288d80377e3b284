"""What an MPI library does that a trace does not show: named properties, each with a sentence and a source."""

from __future__ import annotations

from logpost.machines.profiles.choose import profile_of_library
from logpost.machines.profiles.load import load_profile, profile_names
from logpost.machines.profiles.profile import ALTERNATIVES, PROPERTIES, LibraryProfile, Stated

__all__ = [
    "ALTERNATIVES",
    "PROPERTIES",
    "LibraryProfile",
    "Stated",
    "load_profile",
    "profile_names",
    "profile_of_library",
]
