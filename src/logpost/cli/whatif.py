"""`logpost whatif`: what a run would have taken on another machine, or with other computation."""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from logpost.cli.output import print_json
from logpost.cli.schedule_unit import Unit
from logpost.cli.short_help import with_common_options


class Rules(str, Enum):
    """Of another simulator."""

    loggopsim = "loggopsim"


COMMAND_SETTINGS: dict[str, Any] = {"cls": with_common_options("--set", "--machine", "--without", "--html", "--json")}

if TYPE_CHECKING:
    from logpost.analyzer.predict.whatif import Ask
    from logpost.analyzer.run.directory import Run


def _advise_overlap(run: Run, *, top: int, as_json: bool) -> None:
    from logpost.analyzer.predict.whatif.overlap import overlap_advice
    from logpost.analyzer.render.whatif import overlap as overlap_text

    found = overlap_advice(run)
    if as_json:
        print_json(overlap_text.as_json(found))
        return
    from rich.console import Console

    overlap_text.print_overlap(found, Console(highlight=False), top)


def _remove(run: Run, number: int, *, as_json: bool) -> None:
    from logpost.analyzer.findings.cured import cured
    from logpost.analyzer.render.whatif import cured as cured_text

    found = cured(run, number - 1)
    if as_json:
        print_json(cured_text.as_json(found, number))
        return
    from rich.console import Console

    cured_text.print_cured(found, number, Console(highlight=False))


def _list_cures(run: Run, *, as_json: bool) -> None:
    from logpost.analyzer.findings.tried import tried
    from logpost.analyzer.render.whatif import cures as cures_text

    found = tried(run)
    if as_json:
        print_json(cures_text.as_json(found))
        return
    from rich.console import Console

    cures_text.print_cures(found, Console(highlight=False))


def _quick(run: Path, ask: Ask, *, as_json: bool) -> None:
    from logpost.analyzer.predict.whatif import lengths

    found = lengths(run, ask)
    if as_json:
        print_json(asdict(found))
        return
    from rich.console import Console

    from logpost.analyzer.render.whatif.text import print_lengths

    print_lengths(found, Console(highlight=False))


def _by_other_rules(path: Path, machine: str | None, settings: list[str], unit: Unit | None, *, as_json: bool) -> None:
    from logpost.analyzer.export.goal import UNITS
    from logpost.analyzer.export.loggopsim import scheduled_run
    from logpost.analyzer.predict.loggopsim import scheduled
    from logpost.analyzer.run.directory import Run
    from logpost.errors import InputError

    if not path.is_file():
        if unit is not None:
            raise InputError("--unit is of a schedule's times, and a run states its own; leave it out")
        found = scheduled_run(Run.open(path), machine, settings)
    elif machine is None:
        raise InputError(f"{path} states no machine; add --machine NAME")
    else:
        found = scheduled(path, machine, settings, unit_ps=UNITS[(unit or Unit.ns).value])
    if as_json:
        print_json(asdict(found))
        return
    from rich.console import Console

    from logpost.analyzer.render.whatif.text import print_scheduled

    print_scheduled(found, Console(highlight=False))


def command(
    run: Annotated[Path, typer.Argument(help="The run to replay; with --rules also a GOAL schedule.")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            metavar="NAME=VALUE",
            help="Change a parameter: L, o, o_s, o_r, g, G, eager_limit, as a value (L=5us, G=10GB/s), a factor "
            "(L=x2) or a difference (L=+450us), of all localities or one (other_node.L=x2); "
            "of the network: topology=torus:4x4x2 (mesh, ring, "
            "crossbar, hypercube, fat-tree, dragonfly), per_hop, link_bandwidth, bisection, nics_per_node; or "
            "progress=asynchronous, layout=contiguous, network=ideal, overlap=perfect. May be repeated.",
        ),
    ] = None,
    machine: Annotated[
        str | None, typer.Option("--machine", "-m", metavar="NAME|FILE", help="Replay on this machine.")
    ] = None,
    scale_compute: Annotated[
        list[str] | None,
        typer.Option(
            "--scale-compute",
            metavar="[WHERE=]F",
            help="Multiply the time between calls: 0.5 everywhere, solve=0.5 in a region, rank:3=0.5 on a rank, "
            "node:1=0.5 on a node (its number or name), 0: no time. May be repeated.",
        ),
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep",
            metavar="NAME=A:B:N",
            help="Replay N values of a parameter, e.g. L=1us:100us:11 or L=x0.1:x10:11 (geometric; :lin for even "
            "steps), and say how much of it the program bears.",
        ),
    ] = None,
    breakpoints: Annotated[
        bool,
        typer.Option(
            "--breakpoints",
            help="With --sweep: also find every value at which the critical path changes.",
        ),
    ] = False,
    grid: Annotated[
        str | None,
        typer.Option(
            "--grid",
            metavar="N=A:B:N,M=C:D:M",
            help="Replay all pairs of two parameters' values, e.g. L=x0.5:x8:5,G=x0.5:x8:5: the makespan over both, "
            "SENS's regions, and where it has grown by 5 and 10 %.",
        ),
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option(
            "--mapping",
            metavar="FILE|KIND",
            help="Place the ranks otherwise: block, cyclic, random[:SEED], a file with a node of the network per line, "
            "rank by rank, or best: a placement for the run's messages is sought, and replayed.",
        ),
    ] = None,
    rankfile: Annotated[
        Path | None,
        typer.Option(
            "--rankfile",
            metavar="FILE",
            help="Write the mapping as a rankfile for Open MPI, and as FILE.mpich for MPICH (mpiexec -f).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="RUN",
            help="Write the predicted execution as a run, marked as predicted: for report, compare, dashboard, export.",
        ),
    ] = None,
    contention: Annotated[
        bool,
        typer.Option(
            "--contention/--no-contention",
            help="Let messages share the links of the machine's topology, or keep recorded waits as they are.",
        ),
    ] = True,
    overlap: Annotated[
        bool,
        typer.Option(
            "--overlap",
            help="Advise message size S and burst b of nonblocking exchanges, with the gain by replay; nothing else.",
        ),
    ] = False,
    without: Annotated[
        int | None,
        typer.Option(
            "--without",
            min=1,
            metavar="N",
            help="Replay without the cause of finding N of `logpost report`: imbalance shared out, small messages "
            "aggregated, destinations spread, late ranks on time; nothing else.",
        ),
    ] = None,
    cures: Annotated[
        bool,
        typer.Option(
            "--cures",
            help="List every cure that was replayed at a place of the program with what it saves, also those that save "
            "too little to be a finding; nothing else.",
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Print the program's length alone: no interval, path, sensitivities or regions."),
    ] = False,
    rules: Annotated[
        Rules | None,
        typer.Option(
            "--rules",
            help="Replay by the rules of LogGOPSim: arriving messages take the receiver's processor before their "
            "receive is posted. Of a run's schedule or a GOAL file, with --machine and --set; nothing else.",
        ),
    ] = None,
    unit: Annotated[
        Unit | None, typer.Option("--unit", help="With --rules: unit of a GOAL file's times (default: ns).")
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Also write one self-contained HTML file.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the HTML file, the rankfile, and the run of -o.")
    ] = False,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Show the N regions that change most.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; times in picoseconds.")] = False,
) -> None:
    """Predict what a run would have taken on another network, another machine, or with faster computation.

    The recorded messages, their order and the control flow stay as they are. With nothing changed, the replay gives
    back the measured times.

    Example: logpost whatif app.run --set L=x2

    Example: logpost whatif app.run --machine cluster.toml --scale-compute solve=0.5

    Example: logpost whatif app.run --sweep L=x0.1:x100:13 --html latency.html

    Example: logpost whatif app.run --sweep L=1us:1ms:13 --breakpoints

    Example: logpost whatif app.run --grid L=1us:100us:8,G=0.1ns/B:10ns/B:8

    Example: logpost whatif app.run --set topology=fat-tree:16x4 --set link_bandwidth=x2

    Example: logpost whatif app.run --mapping best --rankfile app.ranks

    Example: logpost whatif app.run --overlap

    Example: logpost whatif app.run --without 1

    Example: logpost whatif app.run --cures

    Example: logpost whatif app.run --set L=x2 --quick

    Example: logpost whatif app.goal --rules loggopsim --machine alewife

    Example: logpost whatif app.run --set L=x2 -o slow.run && logpost compare app.run slow.run
    """
    from logpost.analyzer.predict.whatif import Ask, predict
    from logpost.analyzer.run.place import refuse_occupied
    from logpost.errors import InputError
    from logpost.whole_file import refuse_existing

    if rankfile is not None and mapping is None:
        raise InputError(f"--rankfile {rankfile} needs a mapping to write; add --mapping best")
    if rules is not None:
        if any((scale_compute, sweep, grid, mapping, output, html, overlap, cures, without, quick)):
            raise InputError("--rules takes --machine, --set, --unit and --json; leave out all else")
        _by_other_rules(run, machine, settings or [], unit, as_json=as_json)
        return
    if breakpoints and sweep is None:
        raise InputError("--breakpoints belongs to --sweep; add --sweep NAME=A:B:N, or leave it out")
    if unit is not None:
        raise InputError("--unit belongs to --rules; leave it out")
    if overlap or cures or without is not None:
        alone = "--overlap" if overlap else "--cures" if cures else "--without"
        if overlap + cures + (without is not None) > 1 or any(
            (settings, machine, scale_compute, sweep, grid, mapping, output, html)
        ):
            raise InputError(f"{alone} is about the run as it was recorded; give it alone")
        from logpost.analyzer.run.directory import Run

        opened = Run.open(run)
        if without is not None:
            _remove(opened, without, as_json=as_json)
        elif cures:
            _list_cures(opened, as_json=as_json)
        else:
            _advise_overlap(opened, top=top, as_json=as_json)
        return
    question = Ask(
        tuple(settings or ()), machine, tuple(scale_compute or ()), sweep, mapping, contention, grid, breakpoints
    )
    if quick:
        if any((sweep, grid, rankfile, output, html)):
            raise InputError("--quick prints a length alone; leave out --sweep, --grid, --rankfile, -o and --html")
        _quick(run, question, as_json=as_json)
        return
    if output is not None:
        refuse_occupied(output, force=force)
    if html is not None:
        refuse_existing(html, force=force)
    found = predict(run, question)
    if rankfile is not None and found.seats is not None:
        from logpost.analyzer.predict.whatif.rankfile import write_rankfile

        write_rankfile(found.plan.run, found.seats, rankfile, force=force)
    if output is not None:
        from logpost.analyzer.predict.whatif.predicted_run import write_predicted
        from logpost.cli.progress import progress_bar

        with progress_bar(quiet=as_json) as report:
            write_predicted(found, output, force=force, report=report)
    if html is not None:
        from logpost.dashboards.report.whatif import write_whatif

        write_whatif(found.plan.run, found, html)
    if as_json:
        from logpost.analyzer.render.whatif.json import as_json as object_of

        print_json(object_of(found))
    else:
        from rich.console import Console

        from logpost.analyzer.render.whatif.text import print_prediction

        console = Console(highlight=False)
        print_prediction(found, console, top=top)
        if output is not None:
            console.print(f"The predicted run is {output}.", markup=False, soft_wrap=True)
