"""The engines that can run the tasks of an archive."""

from __future__ import annotations

from enum import Enum


class Workers(str, Enum):
    """Who runs the tasks."""

    local = "local"
    slurm = "slurm"
