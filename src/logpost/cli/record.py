"""`logpost record`: run an unmodified MPI program and leave an OTF2 archive."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from logpost.machines.calibration.while_recording import Outcome

# What follows `--` belongs to the program, options included.
COMMAND_SETTINGS: dict[str, Any] = {
    "context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False}
}


def command(
    program: Annotated[
        list[str] | None, typer.Argument(help="The command as you would run it: mpirun -n 4 ./app args")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Directory for the archive [default: here].")
    ] = None,
    recover: Annotated[
        Path | None, typer.Option("--recover", help="Assemble the archive from raw logs that a killed recording left.")
    ] = None,
    mpi: Annotated[
        str | None, typer.Option("--mpi", help="Path of your MPI's mpicc, or openmpi, mpich, abi [default: detected].")
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option("-m", "--machine", help="Machine file to keep with the archive; the same as --calibrate FILE."),
    ] = None,
    calibrate: Annotated[
        str | None,
        typer.Option(
            "--calibrate",
            metavar="quick|none|FILE",
            help="quick: measure the machine inside MPI_Init, at most 0.5 s; none; or a machine file "
            "(`logpost calibrate`) to keep with the archive. [default: quick]",
        ),
    ] = None,
    stack: Annotated[
        int,
        typer.Option("--stack", min=0, max=64, help="Callers to keep per call; 1: only the direct caller, 0: none."),
    ] = 16,
    window: Annotated[
        int, typer.Option("--window", min=64, max=1 << 20, help="Mapped memory per thread that calls MPI, in KiB.")
    ] = 256,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Stop recording a thread when its raw log reaches this many MiB."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="TIME|SIZE",
            help="Flight recorder: each process keeps its last 60s, 10min, 500MB (or 10min,2GB) in a ring; what is "
            "overwritten is counted, and every report says so. Sets --dump-signal USR2. A time alone: at most 500MB.",
        ),
    ] = None,
    keep_in: Annotated[
        Path | None,
        typer.Option(
            "--keep-in", metavar="DIR", help="Where the rings are, such as /dev/shm [default: the archive's folder]."
        ),
    ] = None,
    hang: Annotated[
        str | None,
        typer.Option(
            "--hang",
            metavar="TIME",
            help="When a rank of this host sits in one call for so long (90s, 10min, 1h): make an archive of the run "
            "so far, once. The program continues.",
        ),
    ] = None,
    dump_signal: Annotated[
        str | None,
        typer.Option(
            "--dump-signal",
            metavar="USR1|USR2",
            help="When record gets this signal: make an archive of the run so far. The program does not get it. "
            "[default: USR2 with --keep]",
        ),
    ] = None,
    switch: Annotated[
        Path | None,
        typer.Option(
            "--switch",
            metavar="FILE",
            help="Record while FILE says `on`: echo on > FILE, echo off > FILE, at any time; without FILE, off. Each "
            "process looks every 0.1 s. A program may switch by MPI_Pcontrol(1) and (0), too.",
        ),
    ] = None,
    functions: Annotated[
        bool,
        typer.Option(
            "--functions",
            help="Functions that were compiled with -finstrument-functions become regions. They are the call path "
            "then: no stacks are kept.",
        ),
    ] = False,
    keep_raw: Annotated[bool, typer.Option("--keep-raw", help="Keep the raw logs in the archive's folder.")] = False,
    measure_with: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="scorep", help="Measure with your site's Score-P; the program must be instrumented."
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", metavar="SIZE", help="Score-P's memory per process, as in 500M [default: estimated]."),
    ] = None,
    filter_file: Annotated[
        Path | None, typer.Option("--filter", help="Score-P's filter file; `logpost scorep filter` proposes one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was recorded as JSON on standard error.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only problems.")] = False,
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

    Example: logpost record --with scorep --memory 500M -- mpirun -n 4 ./app-scorep
    """
    from logpost.cli.next_step import analyze_next
    from logpost.collectors import record as recorder
    from logpost.collectors.assemble import Archive
    from logpost.collectors.calibration.within_init import BUDGET_S
    from logpost.collectors.keep import keep as bounds
    from logpost.collectors.watch import seconds, signal_number
    from logpost.errors import InputError

    if measure_with not in (None, "scorep"):
        raise InputError(f"--with {measure_with} is not known; write --with scorep, or leave it out")
    if measure_with is None and (memory is not None or filter_file is not None):
        raise InputError(f"{'--memory' if memory else '--filter'} is Score-P's; write --with scorep, too")
    if machine is not None and calibrate is not None:
        raise InputError(
            f"--machine {machine} and --calibrate {calibrate} both say where the machine comes from; keep one"
        )
    quick = machine is None and calibrate in (None, "quick")
    named = machine if machine is not None else None if calibrate in (None, "quick", "none") else calibrate
    described = None
    if named is not None:
        from logpost.machines.schema.load import find_machine_file, load_machine_file

        described = find_machine_file(named)
        load_machine_file(described)  # before the program runs: a faulty file must not cost a recording

    def say(text: str) -> None:
        print(f"logpost: {text}", file=sys.stderr, flush=True)

    def hush(text: str) -> None:
        if not quiet:
            say(text)

    def report(archive: Archive) -> None:
        for warning in archive.warnings:
            say(warning)
        if described is not None:
            from logpost.machines.schema.load import RECORDED

            shutil.copyfile(described, archive.path / RECORDED)
        s, measured = archive.summary, archive.calibration
        if measured is not None:
            # A single rank has no messages to explain; any other reason is a problem.
            (say if measured.reason and measured.ranks != 1 else hush)(measured.sentence())
        if s.get("stopped"):
            say(f"{s['stopped']} threads stopped recording before the program ended (full disk or --limit)")
        if s.get("overwritten_calls"):
            hush(f"the rings have overwritten {s['overwritten_calls']} calls; the archive holds the later ones")
        if s.get("skipped_calls"):
            hush(f"recording was off at times, for {s['skipped_calls']} calls; the archive says when")
        if as_json:
            print(json.dumps({"archive": str(archive.path), **s, **_calibrated(measured)}), file=sys.stderr, flush=True)
        else:
            anchor = archive.path / "traces.otf2"
            hush(f"{s['recorded']} of {s['ranks']} ranks, {s['calls']} calls, {s['events']} events in {anchor}")
            hush(analyze_next(archive.path))

    if measure_with is not None:
        not_scoreps = {
            "--recover": recover is not None,
            "--mpi": mpi is not None,
            "--calibrate quick": calibrate == "quick",
            "--limit": limit is not None,
            "--keep": keep is not None,
            "--keep-in": keep_in is not None,
            "--hang": hang is not None,
            "--dump-signal": dump_signal is not None,
            "--switch": switch is not None,
            "--functions": functions,
            "--keep-raw": keep_raw,
        }
        for option, given in not_scoreps.items():
            if given:
                raise InputError(
                    f"{option} is not for Score-P, which has a separate recorder; leave out it or --with scorep"
                )
        from logpost.cli.record_scorep import measure

        raise typer.Exit(measure(program or [], output, memory, filter_file, described, say, hush, as_json=as_json))
    if recover is not None:
        if program:
            raise InputError("--recover takes a directory and no program; record the program separately")
        for archive in recorder.recover(recover, output, hush, measured=described is None and calibrate != "none"):
            report(archive)
        return
    if keep is not None and limit is not None:
        raise InputError(f"--limit {limit} stops a recording that --keep {keep} is to bound; leave one out")
    if keep_in is not None and keep is None:
        raise InputError(f"--keep-in {keep_in} is about rings; write --keep 10min, too, or leave it out")
    settings = recorder.Settings(
        output=output or Path(),
        mpi=mpi,
        stack_depth=stack,
        window_kib=window,
        limit_mib=limit,
        keep=None if keep is None else bounds(keep),
        keep_in=keep_in,
        calibrate_s=BUDGET_S if quick else None,
        hang_s=None if hang is None else seconds(hang),
        dump_signal=signal_number(dump_signal or "USR2") if dump_signal or keep else None,
        functions=functions,
        switch=switch,
        keep_raw=keep_raw,
    )
    result = recorder.record(program or [], settings, say, hush)
    if result.archive is not None:
        report(result.archive)
    raise typer.Exit(result.status)


def _calibrated(measured: Outcome | None) -> dict[str, object]:
    return {} if measured is None else {"calibration": dataclasses.asdict(measured)}
