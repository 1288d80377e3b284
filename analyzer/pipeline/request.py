"""The request to `analyze`. Imports no table library, because the supervising process reads it, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.analyzer.run.roi import RegionOfInterest
from logpost.errors import printable
from logpost.replay.cost.message_models import MessageModel


@dataclass(frozen=True)
class Request:
    """An archive to analyze, and how.

    Attributes:
        archive: anchor file or directory.
        run: directory to write.
        machine: name or file of a machine, or `estimate`; None: the one recorded with the trace, else an estimate.
        topology: file or kind of the network; None: the machine's, else the one recorded with the trace.
        threads: 0: as many as the process may use.
        force: overwrite a run that is there.
        memory: limit of resident memory in bytes; None: see `memory_limit.default_bytes`.
        spill: directory for what exceeds it; None: next to the run.
        roi: what the aggregates and findings are about.
        asynchronous_progress: a posted receive sends the CTS of a rendezvous outside of MPI calls too.
        model: what messages are split under.
        clock: how far the times of the archive are corrected.
        shards: the plan whose blocks other processes have read (`shards.plan.Plan`, as text); None: read here.
        pack: regular expression of user regions that pack data by hand; None: none is known.
    """

    archive: str
    run: str
    machine: str | None = None
    threads: int = 0
    force: bool = False
    asynchronous_progress: bool = False
    model: MessageModel = MessageModel.full
    clock: ClockMode = ClockMode.offsets
    pack: str | None = None
    topology: str | None = None
    memory: int | None = None
    spill: str | None = None
    shards: str | None = None
    roi: RegionOfInterest = field(default_factory=RegionOfInterest)


def archive_name(archive: Path) -> str:
    """What people call an archive: its directory, or its anchor file where that has another name."""
    place = archive.absolute()
    if place.suffix != ".otf2":
        return printable(place.name)
    return printable(place.stem if place.stem != "traces" else place.parent.name)
