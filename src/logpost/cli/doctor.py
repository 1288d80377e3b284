"""`logpost doctor`: what this machine has, which collectors it can use, and how to get what is missing."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from logpost.cli.output import print_json

if TYPE_CHECKING:
    from logpost.collectors.usable import Usability


@dataclass(frozen=True)
class Check:
    """One check. `status` is ok, missing (a verb cannot work) or note (it works, with a limit)."""

    name: str
    status: str
    found: str
    way_out: str = ""


def _version(command: str) -> str:
    try:
        done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else ""


def _program(name: str, command: str, way_out: str, *, needed: bool) -> Check:
    path = shutil.which(command)
    if path is None:
        return Check(name, "missing" if needed else "note", "not on PATH", way_out)
    return Check(name, "ok", f"{path} ({_version(command)})")


def _native() -> Check:
    missing = [
        m for m in ("logpost.replay._native", "logpost.analyzer.archive._native") if importlib.util.find_spec(m) is None
    ]
    if missing:
        return Check("native cores", "missing", f"{', '.join(missing)} not built", "run `make setup`, or pip install .")
    return Check("native cores", "ok", "logpost.replay and logpost.analyzer")


def _assembler() -> Check:
    from logpost.collectors.assemble import find_assembler
    from logpost.errors import InputError

    try:
        return Check("assembler", "ok", str(find_assembler()))
    except InputError as error:
        return Check("assembler", "missing", "cannot be built", str(error))


def _clock() -> Check:
    try:
        flags = next(
            line.split(":", 1)[1].split()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("flags")
        )
    except (OSError, StopIteration):
        flags = []
    if "constant_tsc" in flags and "nonstop_tsc" in flags:
        return Check("clock", "ok", "the time-stamp counter is constant and nonstop: about 17 ns per reading")
    return Check("clock", "note", "no constant, nonstop time-stamp counter", "CLOCK_MONOTONIC_RAW is used: about 30 ns")


def _cores() -> Check:
    count = len(os.sched_getaffinity(0))
    text = f"{count} for this process"
    if count < 4:
        return Check("cores", "note", text, "when ranks outnumber cores, waits contain scheduling; reports say so")
    return Check("cores", "ok", text)


def checks() -> list[Check]:
    """Every check of doctor, in the order in which a user needs the tools."""
    compiler: Callable[[], str] = lambda: os.environ.get("CC") or ("cc" if shutil.which("cc") else "gcc")  # noqa: E731
    return [
        _native(),
        _program("C compiler", compiler(), "apt install build-essential; cluster: module load gcc", needed=True),
        _program("MPI compiler", "mpicc", "apt install libopenmpi-dev; cluster: module load openmpi", needed=True),
        _program("MPI launcher", "mpirun", "apt install openmpi-bin; cluster: module load openmpi", needed=True),
        _program("OTF2", "otf2-config", "apt install libotf2-trace-dev; cluster: module load otf2", needed=True),
        _assembler(),
        _program(
            "otf2-print", "otf2-print", "needed only to inspect archives by hand: apt install otf2-tools", needed=False
        ),
        _clock(),
        _cores(),
    ]


def command(
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require", metavar="NAME", help="End with status 1 unless this collector is usable; repeatable."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only what is missing.")] = False,
) -> None:
    """Say what this machine has, which collectors are usable, and how to get what is missing (apt, module, spack).

    Exit status 0, whatever is missing; 1 if a collector of --require is not usable.

    Example: logpost doctor

    Example: logpost doctor --require openmpi --require scorep
    """
    from logpost.collectors.usable import COLLECTORS, survey
    from logpost.errors import InputError, suggestion

    names = [collector.name for collector in COLLECTORS]
    for name in require or []:
        if name not in names:
            known = ", ".join(names)
            raise InputError(f"--require {name} is no collector; there are {known}{suggestion(name, names)}")
    found, collectors = checks(), survey()
    if as_json:
        document = {
            "checks": [asdict(check) for check in found],
            "collectors": [{**asdict(one), "way_out": one.way_out} for one in collectors],
        }
        print_json(document)
    else:
        rows = [(check.status, check.name, check.found, check.way_out) for check in found]
        _show("this machine", [row for row in rows if row[0] == "missing" or not quiet])
        usable = [("ok" if one.usable else "missing", one.name, _about(one), one.way_out) for one in collectors]
        _show("collectors", [row for row in usable if row[0] == "missing" or not quiet])
    lacking = [one for one in collectors if one.name in (require or []) and not one.usable]
    for one in lacking:
        way = f"; {one.way_out}" if one.way_out else ""
        print(f"logpost: {one.name} is not usable: {one.missing}{way}", file=sys.stderr)
    if lacking:
        raise typer.Exit(1)


def _about(one: Usability) -> str:
    return f"{one.found if one.usable else one.missing}\nfor {one.records}"


def _show(title: str, rows: list[tuple[str, str, str, str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return
    style = {"ok": "green", "missing": "bold red", "note": "yellow"}
    table = Table("", title, "found", "way out", show_edge=False)
    for status, name, found, way_out in rows:
        table.add_row(Text(status, style[status]), Text(name), Text(found), Text(way_out))
    Console().print(table)
