"""What `analyze` is asked for. Imports no table library: the supervising process reads it too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """An archive to analyze, and how.

    Attributes:
        archive: anchor file or directory.
        run: directory to write.
        machine: name or file of a machine; None: estimate it from the trace.
        threads: 0: as many as the process may use.
        force: overwrite a run that is there.
        asynchronous_progress: a posted receive answers rendezvous requests outside of MPI calls too.
    """

    archive: str
    run: str
    machine: str | None = None
    threads: int = 0
    force: bool = False
    asynchronous_progress: bool = False
