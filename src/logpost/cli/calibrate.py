"""`logpost calibrate`: measure this machine with real MPI programs, and write its machine file."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from logpost.cli.output import print_json
from logpost.cli.short_help import with_common_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from logpost.machines.calibration.agreement import Agreement
    from logpost.machines.calibration.compose import Calibration
    from logpost.machines.values.quantity import Quantity

# What follows `--` belongs to the launcher, options included.
COMMAND_SETTINGS: dict[str, Any] = {
    "cls": with_common_options(
        "--output", "--thorough", "--contention", "--topology", "--page", "--against", "--force"
    ),
    "context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False},
}

TABLE_NAMES = {"loggp": "LogGP", "log3p": "log3P"}
"""Names of a machine file's tables as the terminal shows them."""
MOST_LINES = 8
"""The longest list on the terminal; the file and the page have every entry."""


def command(
    launcher: Annotated[
        list[str] | None, typer.Argument(help="The launcher without a program: mpirun -n 2 --map-by node")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The machine file to write.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the machine (default: the name of the file).")
    ] = None,
    topology: Annotated[
        str | None,
        typer.Option(
            "--topology",
            metavar="FILE|KIND:NUMBERS",
            help="The network of the machine file, as for analyze: `scontrol show topology`, ibnetdiscover, ...",
        ),
    ] = None,
    contention: Annotated[
        bool,
        typer.Option(
            "--contention",
            help="Also measure the links of --topology: latency per hop, and bandwidth across the middle.",
        ),
    ] = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Run for up to 20 minutes: more sizes, more rounds, narrower intervals.")
    ] = False,
    compiler: Annotated[
        str | None, typer.Option("--compiler", help="Your MPI's mpicc (default: the one in the launcher's folder).")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Also write the plots as one self-contained HTML file.")
    ] = None,
    samples: Annotated[
        Path | None, typer.Option("--samples", help="Extract values from kept samples instead of measuring.")
    ] = None,
    keep_samples: Annotated[
        Path | None, typer.Option("--keep-samples", help="Keep the samples in this file (JSON lines).")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", help="List the values whose intervals do not overlap those of this machine file."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the machine file, the page and the kept samples.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")] = False,
) -> None:
    """Measure this machine: LogGP, o(S, b), G(P, S) and log3P values with intervals, in a machine file.

    logpost builds its programs with your mpicc and starts them with the launcher after --.
    Two ranks suffice; place them where your messages travel: on two nodes for the
    network, on one node for shared memory. A calibration lasts at most 3 minutes.

    --contention needs a rank on each of several hosts; those on both sides of the network's middle stream at once.

    Example: logpost calibrate -o my-cluster.toml --page my-cluster.html -- mpirun -n 2 --map-by node

    Example: logpost calibrate -o net.toml --contention --topology fabric.txt -- mpirun -n 16 --map-by node
    """
    from logpost.cli.ending import cleaned_up_on_signals
    from logpost.cli.progress import progress_bar
    from logpost.collectors.calibration.measure import measure
    from logpost.errors import InputError
    from logpost.machines.calibration.agreement import agree
    from logpost.machines.calibration.compose import calibration, machine_name
    from logpost.machines.calibration.samples import read, write
    from logpost.machines.schema.load import load_machine
    from logpost.machines.schema.save import save_machine
    from logpost.machines.site.topology import read_topology
    from logpost.whole_file import refuse_existing

    if output is None:
        raise InputError("calibrate needs an output file; pass -o my-cluster.toml")
    if (samples is None) == (not launcher):
        raise InputError("calibrate needs either a launcher after -- (mpirun -n 2) or --samples FILE with kept samples")
    if contention and topology is None:
        raise InputError("--contention measures the links of a known network; pass --topology FILE, too")
    site = None if topology is None else read_topology(topology)
    if name is not None and name != machine_name(name):
        raise InputError(f"{name!r} is not a valid machine name; pass --name {machine_name(name)}")
    _writable("-o", output)
    _writable("--page", page)
    _writable("--keep-samples", keep_samples)
    _different({"-o": output, "--page": page, "--keep-samples": keep_samples, "--samples": samples})
    for path in (output, page, keep_samples):
        if path is not None:
            refuse_existing(path, force=force)
    other = None if against is None else load_machine(against)
    with cleaned_up_on_signals(), progress_bar(quiet=quiet or as_json) as progress:
        if samples is not None:
            measured = read(samples)
            if keep_samples is not None:
                write(keep_samples, measured)
        else:
            measured = measure(
                launcher or [],
                output=keep_samples,
                folder=(keep_samples or output).parent,
                compiler=compiler,
                thorough=thorough,
                topology=site.topology if contention and site is not None else None,
                report=lambda _program, fraction, message: progress(message, round(100 * fraction), 100),
            )
        progress("extracting", 0, 0)
        found = calibration(measured, name=name or machine_name(output.stem), site=site)
        save_machine(found.machine, output)
        if page is not None:
            from logpost.dashboards.report.calibration import write_calibration

            progress("drawing", 0, 0)
            try:
                write_calibration(found, page)
            except InputError as error:
                raise InputError(f"{error} (the machine file {output} is written)") from error
    agreement = None if other is None else agree(found.machine, other)
    if as_json:
        print_json(_document(found, output, agreement), ascii_only=False)
    elif not quiet:
        _print(found, output, page, agreement, against)


def _writable(option: str, path: Path | None) -> None:
    """Check before measuring that the output can be written: a missing or read-only directory must not cost minutes."""
    from logpost.errors import InputError

    if path is None:
        return
    if path.exists() and not path.is_file() and not path.is_dir():
        if option == "--page":
            return  # a pipe to a reader of pages; the others are read back, and replaced
        raise InputError(f"{option} {path} cannot be written: it is not a regular file; name a regular or a new file")
    # A link is followed: the file is made where the link says.
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise InputError(
            f"{option} {path} cannot be written: {folder} is not a directory; create it, or choose another"
        )
    if path.is_dir():
        raise InputError(f"{option} {path} cannot be written: it is a directory; name a file in it")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{option} {path} cannot be written: no permission in {folder}; choose another directory")


def _different(files: Mapping[str, Path | None]) -> None:
    """Refuse two outputs with one path, and an output that would overwrite the samples it is computed from."""
    from logpost.errors import InputError

    options: dict[str, str] = {}
    for option, path in files.items():
        if path is None:
            continue
        same = options.setdefault(os.path.realpath(path), option)
        if same != option:
            raise InputError(f"{same} and {option} name the same file, {path}; give each its own")


def _document(found: Calibration, output: Path, agreement: Agreement | None) -> dict[str, Any]:
    from logpost.machines.show.document import values

    document: dict[str, Any] = {
        "machine": str(output),
        "name": found.machine.name,
        "values": values(found.machine),
        "refused": [
            {"place": r.place, "value": r.value, "half_width": r.half_width, "unit": r.unit, "reason": r.reason}
            for r in found.refused
        ],
        "not_extracted": list(found.lacking),
        "not_reached": list(found.not_reached),
        "warning": found.warning,
    }
    if agreement is not None:
        document["against"] = {
            "compared": len(agreement.pairs),
            "agreeing": agreement.agreeing,
            "tables": {
                table: {"compared": count.compared, "agreeing": count.agreeing}
                for table, count in agreement.by_table().items()
            },
            "differing": [
                {"value": p.name, "unit": p.unit, "here": p.a, "there": p.b, "apart": p.apart}
                for p in agreement.differing
            ],
            "only_here": list(agreement.only_a),
            "only_there": list(agreement.only_b),
        }
    return document


def _print(
    found: Calibration, output: Path, page: Path | None, agreement: Agreement | None, against: Path | None
) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_values_table(found))

    def say(line: str, style: str | None = None) -> None:
        console.print(line, markup=False, style=style, soft_wrap=True)

    machine = found.machine
    tables = [
        (len(machine.overlap.o), "o(S, b)"),
        (len(machine.overlap.G), "G(P, S, pattern)"),
        (len(machine.log3p.point), "log3P"),
    ]
    counted = ", ".join(f"{name} at {count} points" for count, name in tables if count)
    if counted:
        say(f"Also: {counted}.")
    lines = [refusal.sentence() for refusal in found.refused] + [f"not extracted: {text}" for text in found.lacking]
    _list(say, "Refused, and absent from the file", lines, rest="see the file's notes, or --json")
    if found.not_reached:
        heading = f"±5 % at 95 % confidence not reached by {len(found.not_reached)} of {found.values} values"
        _list(say, heading, list(found.not_reached), rest="the file marks each; --json lists them")
    if agreement is not None:
        _print_agreement(say, agreement, against)
    if found.warning:
        say(f"Warning: {found.warning}.", "bold")
    say(f"{output} written and checked: {found.values} values.")
    if page is not None:
        say(f"{page} written: the plots.")
    # A bare name without .toml would be looked up in the library.
    path = str(output) if output.suffix == ".toml" or "/" in str(output) else f"./{output}"
    say(f"Use it: logpost analyze ARCHIVE -m {shlex.quote(path)}")


def _values_table(found: Calibration) -> Any:
    """The LogGP values by class and size range."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from logpost.machines.localities import LOCALITIES
    from logpost.machines.values.text import shown, size_text

    machine = found.machine
    # Narrow enough for 80 columns, so that no value loses its unit.
    table = Table(title=f"{machine.title}", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("between", "message size", "parameter", "value", "95 % interval"):
        table.add_column(column, justify="right" if column in ("value", "95 % interval") else "left", no_wrap=True)

    def add(between: str, size: str, parameter: str, quantity: Quantity) -> None:
        read = shown(quantity)
        table.add_row(*map(Text, (between, size, parameter, read.value, read.interval)))

    for locality in LOCALITIES:
        values = machine.loggp.of(locality)
        limit = machine.loggp.eager_limit(locality)
        label = locality.replace("_", " ")
        if limit is not None:
            add(label, "", "eager limit", limit)
            label = ""
        for r in values.range if values is not None else ():
            size = "larger" if values is not None and len(values.range) > 1 else "any"
            size = size if r.up_to_bytes is None else f"up to {size_text(r.up_to_bytes)}"
            for parameter in ("L", "o_s", "o_s_per_byte", "o_r", "o_r_per_byte", "g", "G"):
                quantity = getattr(r, parameter)
                if quantity is not None:
                    add(label, size, parameter.replace("_per_byte", " per byte"), quantity)
                    label = size = ""
        table.add_section()
    for parameter, quantity in (("HD", machine.overlap.HD), ("memory copy", machine.memory.copy_rate)):
        if quantity is not None:
            add("", "", parameter, quantity)
    return table


def _list(say: Callable[[str], None], heading: str, lines: list[str], *, rest: str) -> None:
    """The first lines; `rest`: where the others are."""
    if not lines:
        return
    say(f"{heading}:")
    for line in lines[:MOST_LINES]:
        say(f"  {line}")
    if len(lines) > MOST_LINES:
        say(f"  and {len(lines) - MOST_LINES} more ({rest})")


def _print_agreement(say: Callable[[str], None], agreement: Agreement, against: Path | None) -> None:
    from logpost.machines.values.text import value_text

    tables = ", ".join(
        f"{TABLE_NAMES.get(table, table)} {count.agreeing} of {count.compared}"
        for table, count in agreement.by_table().items()
    )
    say(
        f"Against {against}: {agreement.agreeing} of {len(agreement.pairs)} values agree within their intervals "
        f"({agreement.share:.1%}{': ' if tables else ''}{tables})."
    )

    def ends(value: tuple[float, float, float], unit: str) -> str:
        return f"{value_text(value[0], unit)} [{value_text(value[1], unit)}, {value_text(value[2], unit)}]"

    differing = [f"{p.name}: {ends(p.a, p.unit)} here, {ends(p.b, p.unit)} there" for p in agreement.differing]
    _list(say, "Beyond their intervals", differing, rest="see --json")
    for label, names in (("Only here", agreement.only_a), ("Only there", agreement.only_b)):
        _list(say, label, list(names), rest="see --json")
