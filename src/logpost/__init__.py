"""Where every microsecond of an MPI or PGAS program's communication went, and what another machine would change."""

from __future__ import annotations

__version__ = "0.1.0"
