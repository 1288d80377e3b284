"""`logpost doctor`: what this machine has, what is missing, and which verbs that disables."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer


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
    missing = [m for m in ("logpost.replay._native", "logpost.analyzer._native") if importlib.util.find_spec(m) is None]
    if missing:
        return Check("native cores", "missing", f"{', '.join(missing)} not built", "run `make setup`, or pip install .")
    return Check("native cores", "ok", "logpost.replay and logpost.analyzer")


def _interposer() -> Check:
    from logpost.collectors import mpi
    from logpost.collectors.pmpi import interposer
    from logpost.errors import InputError

    if shutil.which("mpirun") is None:
        return Check("interposer", "missing", "no mpirun", "install an MPI: apt install openmpi-bin libopenmpi-dev")
    try:
        target = mpi.find(["mpirun"])
        return Check("interposer", "ok", f"{target}: {interposer.build(target)}")
    except InputError as error:
        return Check("interposer", "missing", "cannot be built", str(error))


def _assembler() -> Check:
    from logpost.collectors.assemble import find_assembler
    from logpost.errors import InputError

    try:
        return Check("assembler", "ok", str(find_assembler()))
    except InputError as error:
        return Check("assembler", "missing", "cannot be built", str(error))


def _simgrid() -> Check:
    from logpost.collectors.testbed import build
    from logpost.errors import InputError

    try:
        launcher = build.find_smpimain()
        return Check("SimGrid", "ok", f"{build.find_smpicc()} ({build.version()}), {launcher}")
    except InputError:
        return Check("SimGrid", "note", "not on PATH", "needed only by the testbed: apt install libsimgrid-dev")


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
        _interposer(),
        _assembler(),
        _program(
            "otf2-print", "otf2-print", "needed only to inspect archives by hand: apt install otf2-tools", needed=False
        ),
        _simgrid(),
        _clock(),
        _cores(),
    ]


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only what is missing.")] = False,
) -> None:
    """Say what this machine has and what is missing. Exit status 2 if a verb cannot work.

    Example: logpost doctor
    """
    found = checks()
    missing = [check for check in found if check.status == "missing"]
    if as_json:
        typer.echo(json.dumps({"checks": [asdict(check) for check in found]}, indent=1))
    else:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        style = {"ok": "green", "missing": "bold red", "note": "yellow"}
        table = Table("", "what", "found", "way out", show_edge=False)
        for check in missing if quiet else found:
            table.add_row(
                Text(check.status, style[check.status]), Text(check.name), Text(check.found), Text(check.way_out)
            )
        if table.row_count:
            Console().print(table)
    if missing:
        raise typer.Exit(2)
