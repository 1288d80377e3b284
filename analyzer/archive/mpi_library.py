"""Where an archive states its MPI library."""

from __future__ import annotations

LIBRARY = "LOGPOST::MPI"
"""The archive's property with the version of its MPI library, as `logpost record` writes it."""
SIMULATION = "LOGPOST::SIMULATION"
"""Likewise, with the simulation that the archive was recorded in; empty: none."""
