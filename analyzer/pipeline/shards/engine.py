"""The engines that can run the tasks of an archive."""

from __future__ import annotations

from enum import Enum

STALL_S = 300.0
"""A task without any progress for so long is killed: a healthy one reads or writes megabytes each second."""


class Workers(str, Enum):
    """The engine that runs the tasks."""

    local = "local"
    slurm = "slurm"
    array = "array"
    dask = "dask"
