"""`logpost record`: run an unmodified MPI program and leave an OTF2 archive. `recording/` has its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from logpost.cli.recording import calls as calls_option
from logpost.cli.recording import keep as keep_option
from logpost.cli.recording import machine as machine_option
from logpost.cli.recording import output as output_option
from logpost.cli.recording import scorep as scorep_option
from logpost.cli.recording import so_far as so_far_option
from logpost.cli.recording import switch as switch_option
from logpost.cli.short_help import with_common_options

# What follows `--` belongs to the program, options included.
COMMAND_SETTINGS: dict[str, Any] = {
    "cls": with_common_options("--output", "--keep", "--io", "--functions", "--with"),
    "context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False},
}


def command(
    program: Annotated[
        list[str] | None, typer.Argument(help="The command as you would run it: mpirun -n 4 ./app args")
    ] = None,
    output: output_option.Output = None,
    recover: output_option.Recover = None,
    mpi: calls_option.Mpi = None,
    machine: machine_option.Machine = None,
    calibrate: machine_option.Calibrate = None,
    calibrate_layouts: machine_option.CalibrateLayouts = None,
    topology: machine_option.Topology = None,
    stack: calls_option.Stack = 16,
    sample: calls_option.Sample = 100,
    window: calls_option.Window = 256,
    limit: keep_option.Limit = None,
    keep: keep_option.Keep = None,
    keep_in: keep_option.KeepIn = None,
    hang: so_far_option.Hang = None,
    dump_signal: so_far_option.DumpSignal = None,
    switch: switch_option.Switch = None,
    io: calls_option.Io = False,
    functions: calls_option.Functions = False,
    keep_raw: output_option.KeepRaw = False,
    measure_with: scorep_option.With = None,
    memory: scorep_option.Memory = None,
    filter_file: scorep_option.Filter = None,
    as_json: output_option.AsJson = False,
    quiet: output_option.Quiet = False,
) -> None:
    """Run an unmodified, dynamically linked MPI program and leave an OTF2 archive of its communication.

    The program's output is untouched, and record exits with its status; logpost's messages go to standard error.
    The archive is logpost_<program>_<ranks>_<time>/traces.otf2 in the output directory. A program that crashes or is
    killed is recorded up to its last completed call. Each recording gets a new directory; none is overwritten.

    Inside MPI_Init, at most 0.5 s go into messages between pairs of ranks: the machine that they show is kept with the
    archive, and analyze takes it. Where ranks outnumber cores nothing is measured, and record says so.
    Exit status 2 although the program succeeded: it made no MPI call.

    --with scorep sets Score-P's variables for a trace (yours win), runs an instrumented program and names its archive.

    Example: logpost record -o traces -- mpirun -n 4 ./app input.txt

    Example: logpost record --keep 10min --hang 5min -- mpirun -n 64 ./production

    Example: logpost record --topology fabric.txt -- mpirun -n 64 ./app

    Example: logpost record --sample 500 -- mpirun -n 4 ./app

    Example: logpost record --io -- mpirun -n 4 ./app input.bin

    Example: logpost record --with scorep --memory 500M -- mpirun -n 4 ./app-scorep
    """
    from logpost.collectors import record as recorder
    from logpost.collectors.calibration.within_init import BUDGET_S
    from logpost.errors import InputError

    scorep_option.refuse_unknown(measure_with, memory, filter_file)
    source = machine_option.source(machine, calibrate)
    layouts_s = machine_option.layouts_s(calibrate_layouts, source)

    def say(text: str) -> None:
        print(f"logpost: {text}", file=sys.stderr, flush=True)

    def hush(text: str) -> None:
        if not quiet:
            say(text)

    if measure_with is not None:
        ours = {
            "--recover": recover is not None,
            "--mpi": mpi is not None,
            "--calibrate quick": calibrate == "quick",
            "--calibrate-layouts": calibrate_layouts is not None,
            "--topology": topology is not None,
            "--limit": limit is not None,
            "--keep": keep is not None,
            "--keep-in": keep_in is not None,
            "--hang": hang is not None,
            "--dump-signal": dump_signal is not None,
            "--switch": switch is not None,
            "--io": io,
            "--functions": functions,
            "--keep-raw": keep_raw,
        }
        scorep_option.refuse_ours(ours)
        from logpost.cli.record_scorep import measure

        raise typer.Exit(measure(program or [], output, memory, filter_file, source.file, say, hush, as_json=as_json))
    if recover is not None:
        if program:
            raise InputError("--recover takes a directory and no program; record the program separately")
        measured = source.file is None and calibrate != "none"
        for archive in recorder.recover(recover, output, hush, measured=measured):
            output_option.report(archive, source.file, say, hush, as_json=as_json)
        return
    settings = recorder.Settings(
        keep=keep_option.bounds(keep, keep_in, limit),
        keep_in=keep_in,
        limit_mib=limit,
        output=output or Path(),
        mpi=mpi,
        stack_depth=stack,
        sample_hz=sample,
        window_kib=window,
        calibrate_s=BUDGET_S if source.measured else None,
        layouts_s=layouts_s,
        topology=machine_option.topology_text(topology),
        hang_s=so_far_option.hang_seconds(hang),
        dump_signal=so_far_option.number(dump_signal, ring=bool(keep)),
        io=io,
        functions=functions,
        switch=switch,
        keep_raw=keep_raw,
    )
    result = recorder.record(program or [], settings, say, hush)
    if result.archive is not None:
        output_option.report(result.archive, source.file, say, hush, as_json=as_json)
    raise typer.Exit(result.status)
