"""`logpost analyze`: an archive becomes a run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.analyzer.pipeline.memory_limit import parse
from logpost.analyzer.pipeline.shards.engine import STALL_S, Workers
from logpost.analyzer.run.place import MANIFEST
from logpost.cli.selection import FromOption, PhaseOption, RegionOption, ToOption, requested, selection
from logpost.cli.short_help import with_common_options
from logpost.errors import InputError
from logpost.replay.cost.message_models import MessageModel

COMMAND_SETTINGS: dict[str, Any] = {
    "cls": with_common_options("--output", "--machine", "--memory", "--region", "--force", "--quiet")
}


def the_archive(place: Path) -> tuple[Path, int]:
    """The archive that a path names, and how many there were to choose from.

    It is the path itself, or the newest archive in a directory that `record -o` was given.
    """
    if place.is_dir() and not any(place.glob("*.otf2")):
        inside = sorted((anchor.stat().st_mtime_ns, anchor.parent) for anchor in place.glob("*/*.otf2"))
        if inside:
            return inside[-1][1], len(inside)
    return place, 1


def incomplete(run: Path) -> list[str]:
    """What the manifest says of a recording that ended early, or began late; read without the table libraries."""
    manifest = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
    return [*manifest.get("ended_early", []), *manifest.get("overwritten", [])]


def faults(run: Path) -> list[str]:
    """What of logpost failed; read without the table libraries."""
    from logpost.analyzer.words.fault_text import fault_texts

    known = json.loads((run / MANIFEST).read_text(encoding="utf-8")).get("faults", [])
    return fault_texts((fault["part"], fault["error"]) for fault in known)


def beyond_the_limit(run: Path) -> list[str]:
    """That the analysis took more memory than it may, if it did; read without the table libraries."""
    used = json.loads((run / MANIFEST).read_text(encoding="utf-8")).get("memory") or {}
    limit, peak = used.get("limit_bytes"), used.get("peak_bytes", 0)
    if limit is None or peak <= limit:
        return []
    return [
        f"the analysis took {peak / 10**6:.0f} MB of memory at its peak, beyond its limit of {limit / 10**6:.0f} MB: "
        "what has no place in the file (libraries, sums for each location and window) needs that much; the run is whole"
    ]


def command(
    archive: Annotated[
        Path, typer.Argument(help="The archive: its anchor file (*.otf2), its directory, or what record -o was given.")
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write the run.")] = None,
    machine: Annotated[
        str | None,
        typer.Option("-m", "--machine", help="Machine: a name of `logpost machines list`, a file, or `estimate`."),
    ] = None,
    topology: Annotated[
        str | None,
        typer.Option(
            "--topology",
            metavar="FILE|KIND:NUMBERS",
            help="The network between nodes: output of `scontrol show topology` or ibnetdiscover, a TOML file "
            "whose table is topology, or e.g. fat-tree:16x4.",
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=0, help="Number of threads; 0: one per core.")] = 0,
    async_progress: Annotated[
        bool,
        typer.Option("--async-progress", help="The MPI library progresses rendezvous outside MPI calls, too."),
    ] = False,
    model: Annotated[
        MessageModel,
        typer.Option("--model", help="Split messages under this model of the LogP family; full: their union."),
    ] = MessageModel.full,
    clock: Annotated[
        ClockMode,
        typer.Option(
            "--clock",
            help="Correct times: not at all, by the archive's clock offsets, or then by the controlled logical clock.",
        ),
    ] = ClockMode.offsets,
    pack: Annotated[
        str | None,
        typer.Option(
            "--pack", metavar="REGEX", help="User regions whose names match pack data by hand: shown as middleware."
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Stay below this resident memory, e.g. 4GB; data beyond it is kept in a file. Default: three quarters "
            "of what the machine, the cgroup or the Slurm job has.",
        ),
    ] = None,
    spill: Annotated[
        Path | None,
        typer.Option("--spill", metavar="FOLDER", help="Where that file is made; default: next to the run."),
    ] = None,
    shards: Annotated[
        int,
        typer.Option(min=1, help="Read the archive as so many blocks, each in a separate process; see docs/scale.md."),
    ] = 1,
    workers: Annotated[
        Workers,
        typer.Option(
            "--workers",
            help="The readers of the blocks: processes here; slurm: srun; array: jobs, by a script for sbatch; dask: "
            "the workers of --scheduler, or of a cluster here.",
        ),
    ] = Workers.local,
    stall: Annotated[
        float,
        typer.Option("--stall", min=1, metavar="SECONDS", help="Begin a block again that shows no progress so long."),
    ] = STALL_S,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Of Dask, as tcp://host:8786; default: a cluster here."),
    ] = None,
    begin: FromOption = None,
    end: ToOption = None,
    region: RegionOption = None,
    phase: PhaseOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing run.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors.")] = False,
) -> None:
    """Read an OTF2 archive, split every message into its causes, and write a run.

    Without --machine, the machine recorded with the trace is used (`logpost record --calibrate`); where there is
    none, the LogGP parameters are estimated from the trace itself, and labelled so.

    --topology states the network that messages share. Without it, it is that of the machine's file, else the one that
    record found (Slurm's); where there is none, contention in the network is 0.

    --model leaves of the machine's values only those that the model knows: what it has no term for is residual.

    --clock clc moves what a wrong clock shows as received before it was sent, and keeps intervals elsewhere within 1 %.

    --pack names the code that copies strided data into buffers and out of them, as in `--pack '^(un)?pack_'`.

    --shards N reads, and replays the queues of messages, in N processes that share a folder; after a failure, the same
    command continues with the missing blocks. --workers array writes a script for sbatch that does so; the same command
    without --workers then continues.

    --memory changes no result: the run is the same whatever the limit. The file has no name and is gone with the
    analysis, however that ends.

    Example: logpost analyze big_trace -o big.run --memory 4GB --spill /scratch/me

    Example: logpost analyze scorep_app_64_trace -o app.run --machine my-cluster.toml --topology fabric.txt
    """
    from logpost.analyzer.pipeline.request import Request, archive_name
    from logpost.analyzer.pipeline.shards.analyze import analyze_sharded, prepare_job_array
    from logpost.analyzer.pipeline.shards.workers import engine_of
    from logpost.analyzer.pipeline.supervise import analyze
    from logpost.cli.progress import progress_bar

    if not archive.exists():
        raise InputError(f"{archive} does not exist; give the archive's anchor file (*.otf2) or its directory")
    if pack is not None:
        from logpost.analyzer.pipeline.pack_pattern import compiled

        compiled(pack)
    limit = parse(memory) if memory is not None else None
    if spill is not None and not spill.is_dir():
        raise InputError(f"--spill {spill} is no directory; make it, or name another one")
    if workers is not Workers.local and shards == 1:
        raise InputError(f"--workers {workers.value} reads blocks; say how many with --shards")
    if scheduler is not None and workers is not Workers.dask:
        raise InputError("--scheduler is Dask's; give --workers dask, too")
    chosen = selection(begin, end, region, phase)
    place, (archive, choices) = archive, the_archive(archive)
    if choices > 1:
        print(f"logpost: {place} holds {choices} archives; the newest is taken: {archive.name}", file=sys.stderr)
    run = output or Path(f"{archive_name(archive)}.run")
    whole = requested(
        Request(
            str(archive),
            str(run),
            machine,
            threads,
            force,
            asynchronous_progress=async_progress,
            model=model,
            clock=clock,
            pack=pack,
            topology=topology,
            memory=limit,
            spill=str(spill) if spill is not None else None,
        ),
        chosen,
    )
    if workers is Workers.array:
        script = prepare_job_array(whole, shards, stall)
        typer.echo(f"next: sbatch {script}\nthen: this command without --workers array, when the jobs have ended")
        return
    engine = engine_of(workers, scheduler)
    with progress_bar(quiet=quiet) as report:
        written = analyze(whole, report) if shards == 1 else analyze_sharded(whole, shards, engine, report, stall)
    if not quiet:
        for sentence in [*incomplete(written), *beyond_the_limit(written), *faults(written)]:
            print(f"logpost: {sentence}", file=sys.stderr)
        typer.echo(f"run: {written}\nnext: logpost report {written}")
