"""`logpost scorep`: what a site that measures with Score-P needs in addition to `record --with scorep`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from logpost.cli.output import print_json
from logpost.errors import InputError

if TYPE_CHECKING:
    from logpost.analyzer.export.scorep_filter import Proposal
    from logpost.analyzer.run.directory import Run

app = typer.Typer(no_args_is_help=True, help="Filters for Score-P.\n\nExample: logpost scorep filter app.run")


@app.command("filter")
def propose_filter(
    source: Annotated[Path, typer.Argument(help="A run, or an archive, with user functions in it.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the filter file here.")] = None,
    percent: Annotated[
        float, typer.Option("--percent", min=0, max=100, help="Least share of the archive's bytes per function.")
    ] = 1.0,
    time_per_visit: Annotated[
        str, typer.Option("--time-per-visit", metavar="TIME", help="Longest own time per visit.")
    ] = "1us",
    visits: Annotated[int, typer.Option("--visits", min=0, help="Least number of visits.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object; bytes, and times in seconds.")
    ] = False,
) -> None:
    """Propose a filter file for Score-P: functions with many visits, little time each, and no MPI beneath.

    Without -o the file is written to standard output. Limits and types are those of scorep-score -g.

    Example: logpost scorep filter app.run -o app.filter

    Then: logpost record --with scorep --filter app.filter -- mpirun -n 4 ./app
    """
    from logpost.analyzer.export.scorep_filter import filter_text, propose
    from logpost.cli.selection import moment
    from logpost.whole_file import refuse_existing, write_whole

    if output is not None:
        refuse_existing(output, force=force)
    limit = moment("--time-per-visit", time_per_visit).ps
    if limit is None:
        raise InputError(f"--time-per-visit {time_per_visit} is no time; write it with a unit, as in 1us")
    with tempfile.TemporaryDirectory(prefix="logpost-filter-") as scratch:
        run = _opened(source, Path(scratch))
        proposal = propose(run, share=percent / 100, time_per_visit_ps=limit, visits=visits)
    if not proposal.user_functions:
        raise InputError(
            f"{source} has no user function that a filter could leave out: the program was not instrumented by the "
            "compiler, or every function has MPI beneath"
        )
    text = filter_text(proposal, source.name)
    if output is not None:
        write_whole(output, text)
    if as_json:
        print_json({**_document(proposal), "filter": text})
        return
    if output is None:
        typer.echo(text, nl=False)
    for line in _summary(proposal, output):
        print(f"logpost: {line}", file=sys.stderr)


def _opened(source: Path, scratch: Path) -> Run:
    """The run, or that of an archive, analyzed into a folder for the time being."""
    from logpost.analyzer.pipeline.request import Request
    from logpost.analyzer.pipeline.supervise import analyze
    from logpost.analyzer.run.directory import Run
    from logpost.analyzer.run.place import MANIFEST
    from logpost.cli.analyze import the_archive
    from logpost.cli.progress import progress_bar

    if not source.exists():
        raise InputError(f"{source} does not exist; give a run, or an archive (*.otf2 or its directory)")
    if (source / MANIFEST).is_file():
        return Run.open(source)
    with progress_bar(quiet=False) as report:
        return Run.open(analyze(Request(str(the_archive(source)[0]), str(scratch / "filter.run")), report))


def _memory(largest: int, locations: int) -> str:
    from logpost.collectors.scorep.archive import memory_for
    from logpost.collectors.scorep.variables import in_mib

    return in_mib(memory_for(largest, locations))


def _document(proposal: Proposal) -> dict[str, Any]:
    return {
        "functions": [
            {
                "name": f.name,
                "file": f.file,
                "visits": f.visits,
                "time_per_visit_s": f.time_per_visit_ns / 1e9,
                "bytes": f.bytes,
            }
            for f in proposal.functions
        ],
        "user_functions": proposal.user_functions,
        "archive_bytes": proposal.bytes,
        "saved_bytes": proposal.saved,
        "largest_process_bytes": {"before": proposal.largest_before, "after": proposal.largest_after},
        "total_memory": {
            "before": _memory(proposal.largest_before, proposal.locations),
            "after": _memory(proposal.largest_after, proposal.locations),
        },
    }


def _summary(proposal: Proposal, output: Path | None) -> list[str]:
    count = len(proposal.functions)
    if not count:
        return [f"none of {proposal.user_functions} functions that could be left out is within the limits"]
    share = 100 * proposal.saved / proposal.bytes
    after = _memory(proposal.largest_after, proposal.locations)
    return [
        f"{count} of {proposal.user_functions} functions that could be left out save {proposal.saved} of "
        f"{proposal.bytes} bytes ({share:.0f} %)",
        f"SCOREP_TOTAL_MEMORY={_memory(proposal.largest_before, proposal.locations)} without, {after} with the filter",
        *([f"next: logpost record --with scorep --filter {output} --memory {after} -- ..."] if output else []),
    ]
