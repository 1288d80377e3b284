"""Where every microsecond of an MPI or PGAS program's communication went, and what another machine would change."""

from __future__ import annotations

import importlib
import os
from typing import Any

__version__ = "0.1.0"


def open_run(path: str | os.PathLike[str]) -> Any:
    """Open a run for a notebook: its tables are polars frames, and `.plot` makes the dashboard's figures.

    An `OpenRun` of `logpost.dashboards.notebook`, which is imported only now: the package's root stays light, and
    below every layer.

    Raises:
        InputError: it is no run.
    """
    return importlib.import_module("logpost.dashboards.notebook").open_run(path)
