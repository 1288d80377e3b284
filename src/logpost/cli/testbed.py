"""`logpost testbed`: run a real MPI program in simulated time on a machine of the library."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from logpost.cli.output import print_json
from logpost.cli.schedule_unit import Unit
from logpost.cli.short_help import with_common_options

if TYPE_CHECKING:
    from logpost.testbed import TestbedRun

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Run an MPI program in simulated time on a machine. Example: logpost testbed run -m alewife -n 32 -w em3d",
)

_ARGUMENTS = "logpost.testbed.arguments"


class _ProgramBehindDashes(TyperCommand):
    """Everything after the first -- belongs to the program."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            args, ctx.meta[_ARGUMENTS] = args[:place], args[place + 1 :]
        return super().parse_args(ctx, args)


SOURCES = typer.Argument(None, metavar="[FILE.c]...", help="The program's C files.", show_default=False)
MACHINE = typer.Option(..., "--machine", "-m", help="A machine of `logpost machines list`, or a machine file.")
RANKS = typer.Option(..., "--ranks", "-n", min=1, help="Ranks to simulate.")
WORKLOAD = typer.Option(None, "--workload", "-w", help="One of `logpost workloads list` instead of C files.")
OUTPUT = typer.Option(Path(), "--output", "-o", help="Directory for the archives (default: here).")
MAPPING = typer.Option(
    None,
    "--mapping",
    help="block[:RANKS_PER_NODE], random, or a file with a node number per rank (default: the machine file's).",
)
SEED = typer.Option(None, "--seed", help="Seed of --mapping random (default: 1).")
SET = typer.Option(
    [], "--set", "-s", metavar="NAME=VALUE", help="Override a value of the machine file, e.g. latency=2us. Repeatable."
)
SWEEP = typer.Option(
    [],
    "--sweep",
    metavar="NAME=FROM:TO:COUNT",
    help="One run per value; or NAME=A,B,C. Even steps for bisection, else geometric (:lin, :log). Repeatable: a grid.",
)
SCHEDULE = typer.Argument(..., metavar="FILE.goal", help="The schedule, in GOAL's text form.", show_default=False)
UNIT = typer.Option(None, "--unit", help="Unit of the schedule's times (default: what it says, else ns).")
JSON = typer.Option(False, "--json", help="Print one JSON object on standard error instead of text.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print only what the program prints.")


@app.command(
    cls=with_common_options(
        "--machine", "--ranks", "--workload", "--output", "--set", "--sweep", base=_ProgramBehindDashes
    )
)
def run(
    context: typer.Context,
    sources: list[Path] = SOURCES,
    machine: str = MACHINE,
    ranks: int = RANKS,
    workload: str | None = WORKLOAD,
    output: Path = OUTPUT,
    mapping: str | None = MAPPING,
    seed: int | None = SEED,
    assignments: list[str] = SET,
    sweeps: list[str] = SWEEP,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Compile a program, run it in simulated time on a machine, and leave an OTF2 archive.

    The program prints to standard output, logpost to standard error. The archive's folder also has
    the simulated machine (machine.toml) and network (platform.xml). `logpost testbed settings` lists the settings.

    Example: logpost testbed run --machine alewife --ranks 32 --workload em3d -o runs -- --order original

    Example: logpost testbed run -m alewife -n 32 app.c --sweep bisection=18:3:6 -o runs -- input.txt
    """
    from logpost.cli.ending import cleaned_up_on_signals
    from logpost.errors import InputError
    from logpost.testbed import run_on_testbed
    from logpost.testbed.settings import parse_sweep, product

    say = _teller(quiet=quiet)
    if seed is not None:
        if mapping != "random":
            raise InputError(f"--seed {seed} needs --mapping random; add it, or leave out --seed")
        mapping = f"random:{seed}"
    fixed = _assigned(assignments)
    varied = product([parse_sweep(text) for text in sweeps])
    both = sorted(fixed.keys() & varied[0].keys())
    if both:
        raise InputError(f"{both[0]} is both set and swept; keep one")
    runs: list[tuple[dict[str, str], TestbedRun]] = []
    for number, setting in enumerate(varied, 1):
        label = ",".join(f"{name}={value}" for name, value in setting.items())
        say(f"simulating {ranks} ranks on {machine}{f', {label} ({number} of {len(varied)})' if label else ''}")
        with cleaned_up_on_signals(with_programs=True):
            done = run_on_testbed(
                machine,
                workload=workload,
                sources=sources or [],
                arguments=context.meta.get(_ARGUMENTS, []),
                ranks=ranks,
                mapping=mapping,
                settings={**fixed, **setting},
                output=output / label.replace("/", "-per-") if label else output,
                capture=False,
                say=say,
            )
        runs.append((setting, done))
    if as_json:
        print_json(_document(machine, ranks, fixed, runs), sys.stderr)
    elif not quiet:
        _report(runs)


@app.command()
def goal(
    schedule: Path = SCHEDULE,
    machine: str = MACHINE,
    unit: Unit | None = UNIT,
    output: Path = OUTPUT,
    mapping: str | None = MAPPING,
    assignments: list[str] = SET,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Play a GOAL schedule, as of `logpost export --to goal`, in simulated time, and leave an OTF2 archive.

    Example: logpost testbed goal app.goal --machine alewife -o runs
    """
    from logpost.cli.ending import cleaned_up_on_signals
    from logpost.testbed import play
    from logpost.testbed.goal import heading

    fixed = _assigned(assignments)
    with cleaned_up_on_signals(with_programs=True):
        done = play(
            schedule,
            machine,
            unit=None if unit is None else unit.value,
            mapping=mapping,
            settings=fixed,
            output=output,
            say=_teller(quiet=quiet),
        )
    if as_json:
        print_json(_document(machine, heading(schedule)[0], fixed, [({}, done)]), sys.stderr)
    elif not quiet:
        _report([({}, done)])


@app.command()
def settings(as_json: bool = JSON, quiet: bool = QUIET) -> None:
    """List what --set and --sweep can change.

    Example: logpost testbed settings
    """
    from rich.console import Console
    from rich.table import Table

    from logpost.testbed.settings import names

    if as_json:
        print_json(dict(names()))
    elif quiet:
        print("\n".join(names()))
    else:
        table = Table("name", "what", show_edge=False)
        for name, what in names().items():
            table.add_row(name, what)
        Console().print(table)


def _teller(*, quiet: bool) -> Callable[[str], None]:
    """What says on standard error what is done."""

    def say(text: str) -> None:
        if not quiet:
            print(f"logpost: {text}", file=sys.stderr, flush=True)

    return say


def _assigned(assignments: list[str]) -> dict[str, str]:
    """The values of --set."""
    from logpost.errors import InputError

    fixed: dict[str, str] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text} is not known; write --set NAME=VALUE")
        fixed[name] = value
    return fixed


def _seconds(done: TestbedRun) -> float:
    length, rate = done.summary["length_ticks"], done.summary["ticks_per_second"]
    assert isinstance(length, int)
    assert isinstance(rate, int)
    return length / rate


def _report(runs: list[tuple[dict[str, str], TestbedRun]]) -> None:
    """Print the table of runs, the assumptions and the limits on standard error."""
    from rich.console import Console
    from rich.table import Table

    from logpost.testbed import LIMITS

    console = Console(stderr=True)
    table = Table(show_edge=False)
    for name in runs[0][0]:
        table.add_column(name, justify="right", no_wrap=True)
    for column in ("simulated time", "calls", "took"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("archive", overflow="fold")
    for setting, done in runs:
        anchor = done.archive / "traces.otf2"
        shown = anchor.relative_to(Path.cwd()) if anchor.is_relative_to(Path.cwd()) else anchor
        table.add_row(
            *setting.values(), _time(_seconds(done)), str(done.summary["calls"]), f"{done.host_s:.1f} s", str(shown)
        )
    console.print(table)
    for title, lines in (("assumed", runs[0][1].assumptions), ("limits", LIMITS)):
        if lines:
            console.print(f"{title}: " + "; ".join(lines), markup=False, highlight=False, style="dim")


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.6g} {unit}"
    return f"{seconds / 1e-9:.6g} ns"


def _document(
    machine: str, ranks: int, fixed: dict[str, str], runs: list[tuple[dict[str, str], TestbedRun]]
) -> dict[str, Any]:
    from logpost.testbed import LIMITS

    return {
        "machine": machine,
        "ranks": ranks,
        "set": fixed,
        "runs": [
            {
                "set": setting,
                "archive": str(done.archive),
                "simulated_s": _seconds(done),
                "took_s": done.host_s,
                **done.summary,
            }
            for setting, done in runs
        ],
        "assumptions": list(runs[0][1].assumptions),
        "limits": list(LIMITS),
    }
