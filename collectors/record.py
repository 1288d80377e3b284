"""Record an MPI or OpenSHMEM program: preload the interposer, run the command unchanged, make the archive.

The program has priority. Whatever is missing is found out before it starts; once it runs, nothing here may stop or
change it, and its exit status is returned whatever becomes of the archive.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from logpost.collectors import assemble, coarray, mpi, profilers, shmem, site, snapshot
from logpost.collectors.calibration.within_init import left_in
from logpost.collectors.keep import Keep
from logpost.collectors.pmpi import interposer, prototypes
from logpost.collectors.watch import Watcher
from logpost.errors import InputError

Say = Callable[[str], None]
NOTHING_RECORDED = 2  # exit status of a recording without any call, where the command itself ended well


@dataclass(frozen=True)
class Settings:
    """How to record. Sizes are per thread that calls MPI."""

    output: Path = Path()
    mpi: str | None = None
    stack_depth: int = 16
    sample_hz: float = 100.0
    """Samples of the code between calls, per second of a thread's processor time; 0: none."""
    window_kib: int = 256
    limit_mib: int | None = None
    keep: Keep | None = None
    """Bounds of the ring that each process records into; None: all is kept."""
    keep_in: Path | None = None
    """Where raw logs and rings are while the program runs; None: next to the archive."""
    calibrate_s: float | None = None
    """Time for measuring the machine within MPI_Init; None: it is not measured."""
    layouts_s: float = 0.0
    """Time for measuring, within MPI_Finalize, layouts that the program used; 0: none is measured then."""
    topology: str | None = None
    """Text of a tool or the user about the network, kept with the archive; None: what Slurm prints."""
    io: bool = False
    """Calls of the C library on files are regions."""
    functions: bool = False
    """Functions of programs compiled with -finstrument-functions are regions; their call paths replace stacks."""
    switch: Path | None = None
    """Recording is on while this file says so; None: there is none."""
    keep_raw: bool = False
    hang_s: float | None = None
    """Make an archive of the run so far when a thread sits in one call for so long; None: never."""
    dump_signal: int | None = None
    """Make one when this signal arrives, which the program then does not get."""
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))


@dataclass(frozen=True)
class Recording:
    """The result of a recording: the program's exit status, and the archive if there is one."""

    status: int
    archive: assemble.Archive | None


def record(command: Sequence[str], settings: Settings, say: Say, progress: Say) -> Recording:
    """Run a command under the interposer and assemble what it left.

    Raises InputError only before the program starts. ``say`` gets what went wrong, ``progress`` the rest.
    """
    refuse_missing(command)
    shmem.refuse_others(command)
    if settings.switch is not None:
        refuse_unusable(settings.switch)
    if settings.io:
        interposer.refuse_other_c_libraries()
    target = mpi.find(command, settings.mpi)
    for directory in filter(None, (settings.keep_in, settings.output)):
        make_directory(directory)  # before seconds are spent on what is compiled
    library = interposer.build(target, progress, io=settings.io)
    assembler = assemble.find_assembler(progress)
    raw = _new_raw_directory(command, settings.keep_in or settings.output)
    network = settings.topology if settings.topology is not None else site.slurm_topology()
    if network is not None:
        (raw / site.TOPOLOGY).write_text(network, encoding="utf-8")

    variables = {
        "LD_PRELOAD": profilers.preloads(settings.environment.get("LD_PRELOAD"), command, str(library)),
        "LOGPOST_RAW_DIR": str(raw),
        "LOGPOST_WINDOW_KIB": str(settings.window_kib),
        "LOGPOST_STACK_DEPTH": str(settings.stack_depth),
        "LOGPOST_SAMPLE_HZ": str(settings.sample_hz),
    }
    if settings.limit_mib is not None:
        variables["LOGPOST_LIMIT_MIB"] = str(settings.limit_mib)
    if settings.keep is not None:
        variables |= settings.keep.variables()
    if settings.switch is not None:
        variables["LOGPOST_SWITCH"] = str(settings.switch.absolute())
    if settings.functions:
        variables["LOGPOST_FUNCTIONS"] = "1"
        variables["LOGPOST_STACK_DEPTH"] = "0"  # the functions that are entered are the call path
    for name in (
        "NVTX_INJECTION64_PATH",
        "INTEL_LIBITTNOTIFY64",
    ):  # the listener to markers, unless a tool listens already
        if not settings.environment.get(name):
            variables[name] = str(library)
    if variables.get("INTEL_LIBITTNOTIFY64") and not settings.environment.get("INTEL_ITTNOTIFY_GROUPS"):
        variables["INTEL_ITTNOTIFY_GROUPS"] = "all"  # without it ITT loads the library, and calls nothing there
    if settings.calibrate_s is not None:
        variables["LOGPOST_CALIBRATE"] = str(settings.calibrate_s)
        variables["LOGPOST_CALIBRATE_LAYOUTS"] = str(settings.layouts_s)
    if (static := coarray.static_program(command)) is not None:
        progress(
            f"{static} holds the coarray library in itself, as caf links it: coarray accesses appear as the MPI calls "
            "beneath them; link with mpif90 -fcoarray=lib ... -lcaf_openmpi (or -lcaf_mpich) to see them"
        )

    def take(name: str, why: str) -> None:
        _so_far(assembler, raw, settings, say, name, why)

    watched = settings.hang_s is not None or settings.dump_signal is not None
    watcher = Watcher(raw, settings.hang_s, take) if watched else None
    if settings.dump_signal is not None:
        name = signal.Signals(settings.dump_signal).name.removeprefix("SIG")
        progress(f"for an archive of the run so far: kill -{name} {os.getpid()}")
    if (other := other_launcher(command)) is not None:
        say(f"{other}; else each process may be alone in its MPI_COMM_WORLD")
    started = with_environment(command, target.abi, variables)
    around = dict(variables)
    if carries_environment(command, target.abi):  # a profiler belongs into the program's processes alone
        around["LD_PRELOAD"] = profilers.preloads(settings.environment.get("LD_PRELOAD"), [], str(library))
    status = run(started, {**settings.environment, **around}, watcher=watcher, dump_signal=settings.dump_signal)
    unrecorded = _unrecorded(raw)
    if any(raw.glob("*.raw")):
        for reason in unrecorded:
            say(f"not recorded: {reason}")
        if status:
            say(f"{_whose(command)} ended with exit status {status}; the archive holds the calls that completed before")
        archive = _archive(assembler, raw, settings, say)
        if settings.calibrate_s is not None and archive is not None and archive.calibration is None:
            progress(
                "the machine was not measured while recording: MPI_Init, in which that is done, left no measurement"
            )
        return Recording(status, archive)
    shutil.rmtree(raw, ignore_errors=True)
    for reason in unrecorded or [why_nothing(command, status)]:
        say(f"nothing was recorded: {reason}")
    if status:
        say(f"to try it without the recorder: {shlex.join(command)}")
    return Recording(status or NOTHING_RECORDED, None)


def _unrecorded(raw: Path) -> list[str]:
    """What processes left that started MPI and were not recorded: each reason once, with their number."""
    reasons = Counter(path.read_text(errors="replace") for path in raw.glob("*.unrecorded"))
    return [f"{n} {'process' if n == 1 else 'processes'}: {reason}" for reason, n in sorted(reasons.items())]


def refuse_missing(command: Sequence[str]) -> None:
    """Raise InputError when there is no command, or its first word is no program, and say what it is instead."""
    if not command:
        raise InputError("no command to record; write logpost record -- mpirun -n 4 ./app")
    word = command[0]
    if shutil.which(word) is not None:
        return
    path = Path(word)
    if path.is_dir():
        raise InputError(f"{word} is a directory; name the program, and its launcher: mpirun -n 4 ./app")
    if path.is_file() and not os.access(path, os.X_OK):
        raise InputError(f"{word} is not executable; compile it if it is source text, else: chmod +x {word}")
    if path.is_file():
        raise InputError(f"{word} is not on PATH; name the file as ./{word}")
    raise InputError(f"{word}: no such program; give the launcher, too: logpost record -- mpirun -n 4 ./app")


def refuse_unusable(switch: Path) -> None:
    """Raise InputError when a file cannot switch recording: processes would look for it in vain."""
    if len(os.fsencode(switch.absolute())) > 1000:
        raise InputError(f"the path of --switch {switch} is too long; name another file")
    if not switch.parent.is_dir():
        raise InputError(f"--switch {switch}: there is no directory {switch.parent}; make it, or name another file")
    if switch.is_dir():
        raise InputError(f"--switch {switch} is a directory; name a file that says on or off")


def why_nothing(command: Sequence[str], status: int) -> str:
    """The most likely reason why no process of a command left a log."""
    if status:
        ended = f"{_whose(command)} ended with exit status {status}"
        return f"{ended} before a process was seen to start MPI; see its message above"
    path = mpi.program_of(command)
    if path is None or not mpi.is_elf(path) or mpi.is_interpreter(path):
        return (
            "no process of this command was seen to start MPI or OpenSHMEM: none does, or something removed LD_PRELOAD"
        )
    if mpi.is_static(path):
        return (
            f"{path} is statically linked and cannot be recorded; relink it without -static: "
            f"mpicc -o {path.name} with its objects and libraries"
        )
    library = mpi.linked_library(path)
    if library is None:
        return f"{path} links no MPI library: it is not an MPI program, or links MPI statically"
    return other_launcher(command) or (
        f"{path} was not seen to start MPI or OpenSHMEM: it does not, or something removed LD_PRELOAD"
    )


def other_launcher(command: Sequence[str]) -> str | None:
    """What is wrong with a command whose launcher belongs to another MPI than its program links; None: nothing."""
    path = mpi.program_of(command)
    library = mpi.linked_library(path) if path is not None else None
    theirs = mpi.abi_of_soname(library.name) if library is not None else None
    launcher = mpi.launcher_abi(command[0])
    if theirs is None or launcher is None or theirs == launcher:
        return None
    return (
        f"{path} uses {mpi.NAMES[theirs]}, but {command[0]} belongs to {mpi.NAMES[launcher]}; "
        f"start it with the mpirun of {mpi.NAMES[theirs]}"
    )


def _whose(command: Sequence[str]) -> str:
    return Path(command[0]).name if mpi.is_launcher(command[0]) else "the command"


def with_environment(command: Sequence[str], abi: str, variables: dict[str, str]) -> list[str]:
    """Return the command with the launcher's options that carry our variables to the program's processes."""
    if not carries_environment(command, abi):
        return list(command)
    words, theirs = list(command[1:]), variables["LD_PRELOAD"]
    ours = dict(variables)
    for place, word in enumerate(words[:-1]):  # a preload of the user's own keeps working, in front (profilers.py)
        if word == "-x" and words[place + 1].startswith("LD_PRELOAD="):
            words[place + 1] += f":{theirs}"
            ours.pop("LD_PRELOAD", None)
        elif word == "-x" and words[place + 1] == "LD_PRELOAD":  # theirs holds what it is here
            words[place + 1] = f"LD_PRELOAD={theirs}"
            ours.pop("LD_PRELOAD", None)
        elif word in ("-genv", "-env") and words[place + 1] == "LD_PRELOAD":
            ours.pop("LD_PRELOAD", None)
            if place + 2 < len(words):
                words[place + 2] += f":{theirs}"
    return [command[0], *launcher_options(abi, ours), *words]


def carries_environment(command: Sequence[str], abi: str) -> bool:
    """Whether a command begins with a launcher of that MPI, whose options set variables of the program's processes."""
    return mpi.is_launcher(command[0]) and mpi.launcher_abi(command[0]) == abi


def launcher_options(abi: str, variables: Mapping[str, str]) -> list[str]:
    """A launcher's options that carry variables to its program's processes.

    Its own environment has them too; of LD_PRELOAD it may have another value.
    """
    options: list[str] = []
    for name, value in variables.items():
        named = f"{name}={value}" if name == "LD_PRELOAD" else name
        options += ["-x", named] if abi == mpi.OPENMPI else ["-genv", name, value]
    return options


def _with_machine(archive: assemble.Archive, raw: Path) -> assemble.Archive:
    """The archive with what was measured while it was recorded, and what the site states of its network."""
    site.keep(raw, archive.path)
    if not left_in(raw):
        return archive
    from logpost.collectors.calibration import recorded

    return replace(archive, calibration=recorded.keep(raw, archive.path))


def recover(directory: Path, output: Path | None, say: Say, *, measured: bool = True) -> list[assemble.Archive]:
    """Make archives of raw logs that a killed recording left behind; the raw logs stay where they are.

    `measured`: with the machine that was measured while recording.

    Raises InputError when there are none, or when their program still runs.
    """
    assembler = assemble.find_assembler(say)
    made = []
    for raw in assemble.raw_directories(directory):
        alive = assemble.running(raw)
        if alive:
            raise InputError(f"process {alive[0]} still writes to {raw}; recover it when the program has ended")
        archive = assemble.assemble(assembler, raw.absolute(), output or raw.absolute().parent)
        made.append(_with_machine(archive, raw) if measured else archive)
    return made


def _new_raw_directory(command: Sequence[str], output: Path) -> Path:
    about = {"program": mpi.program_name(command), "time": time.strftime("%Y%m%d_%H%M%S"), "command": list(command)}
    attempt = 1
    while True:
        suffix = "" if attempt == 1 else f"_{attempt}"
        raw = output.resolve() / f"logpost_{about['program']}_{about['time']}{suffix}.raw"
        if len(os.fsencode(raw)) > 1000:
            raise InputError(f"the path of {output} is too long for a recording; pass another directory with -o")
        try:
            raw.mkdir()
            (raw / "functions.txt").write_text(prototypes.functions_text(str(about["program"])))
            (raw / "record.json").write_text(json.dumps(about))
        except FileExistsError:
            attempt += 1
            continue
        except OSError as error:
            raise InputError(f"cannot write to {output}: {error.strerror}; pass another directory with -o") from error
        return raw


def make_directory(path: Path) -> None:
    """Make the directory where there is none; InputError where that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{path} is not a directory; pass another one with -o") from None
    except OSError as error:
        raise InputError(f"cannot write to {path}: {error.strerror}; pass another directory with -o") from error


@contextlib.contextmanager
def _signals_go_to(
    child: list[subprocess.Popen[bytes]], watcher: Watcher | None, dump_signal: int | None
) -> Iterator[None]:
    """Leave Ctrl-C to the program (the terminal sends it to both) and pass on what only we were sent."""

    def forward(number: int, frame: FrameType | None) -> None:
        if watcher is not None and number == dump_signal:
            watcher.ask()
        elif number != signal.SIGINT and child and child[0].poll() is None:
            child[0].send_signal(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
    old = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield
    finally:
        for number, handler in old.items():
            # None: of a library that the user preloads into us, too, such as MPICH's
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def run(
    command: list[str],
    environment: dict[str, str],
    stderr: int | None = None,
    *,
    watcher: Watcher | None = None,
    dump_signal: int | None = None,
) -> int:
    """Run the command with our own streams, or another descriptor for standard error.

    Returns its status as a shell gives it (128 + signal).
    """
    child: list[subprocess.Popen[bytes]] = []
    with _signals_go_to(child, watcher, dump_signal):
        child.append(subprocess.Popen(command, env=environment, stderr=stderr))
        if watcher is not None:
            watcher.start()
        status = child[0].wait()
        if watcher is not None:
            watcher.end()
    return status if status >= 0 else 128 - status


def _archive(assembler: Path, raw: Path, settings: Settings, say: Say) -> assemble.Archive | None:
    """Assemble the archive, or say why there is none. Never raises, so that the program's status is returned."""
    try:
        archive = _with_machine(assemble.assemble(assembler, raw, settings.output.resolve()), raw)
    except (InputError, OSError, ValueError) as error:
        say(f"{error}; the raw logs are kept: retry with logpost record --recover {raw}")
        return None
    if not settings.keep_raw:
        shutil.rmtree(raw, ignore_errors=True)
    return archive


def _so_far(assembler: Path, raw: Path, settings: Settings, say: Say, name: str, why: str) -> None:
    """Make the archive of the run so far, or say why there is none. Never raises: the program continues."""
    try:
        archive = _with_machine(snapshot.take(assembler, raw, settings.output.resolve(), name), raw)
    except (InputError, OSError, ValueError) as error:
        say(f"{why}, but no archive was made of it: {error}")
        return
    say(f"{why}: {archive.path} holds it; the program continues")
