"""Start a calibration program with the user's launcher, and leave no process behind, however logpost ends.

A launcher that is asked to end (SIGTERM) takes its ranks with it, those on other nodes, too. One that does not end in
time is killed, and so are the ranks of this node that outlive it.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from logpost.collectors.calibration.failure import OURS, trouble
from logpost.errors import InputError

GRACE_S = 5.0
"""Time that a launcher has for ending its ranks."""


def run_program(command: Sequence[str], patience_s: float) -> None:
    """Run to the end.

    Raises InputError when the command cannot be started, fails (with the trouble that it told of), or is not done after
    `patience_s`. It does not outlive any other exception, either.
    """
    process: subprocess.Popen[str] | None = None
    try:
        with _signals_held():
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
        out, err = process.communicate(timeout=patience_s)
    except BaseException as error:
        if process is not None:
            _end(process)
        if isinstance(error, OSError) and process is None:
            raise InputError(f"cannot start {command[0]}: {error}") from error
        if isinstance(error, subprocess.TimeoutExpired):
            raise InputError(
                f"a calibration program did not finish in {patience_s:.0f} s ({shlex.join(command)}); does the "
                "launcher start other programs?"
            ) from error
        raise
    _check(command[0], process.returncode, out, err)


def _check(launcher: str, status: int, out: str, err: str) -> None:
    # A simulator's launcher ends with status 0 also when its program aborts.
    if status == 0 and OURS not in f"{out}{err}":
        return
    how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    raise InputError(f"{launcher} ended {how}: {trouble(out, err) or 'no message'}")


@contextmanager
def _signals_held() -> Iterator[None]:
    """What signal handlers do (raise an exception, as Ctrl-C's) they do after the block, not in it: a process that was
    started must not get lost before it has a name."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread alone
        return
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if callable(signal.getsignal(n))]
    handlers = {number: signal.signal(number, lambda number, _frame: came.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for one in came:
            signal.raise_signal(one)


def _end(launcher: subprocess.Popen[str]) -> None:
    ranks = _descendants(launcher.pid)
    launcher.terminate()
    try:
        launcher.communicate(timeout=GRACE_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        ranks |= _descendants(launcher.pid)
        launcher.kill()
        launcher.wait()
    for pid, started in ranks.items():
        if _parent_and_start(pid)[1] == started:  # else another process has its number by now
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    for stream in (launcher.stdout, launcher.stderr):
        if stream is not None:
            stream.close()


def _descendants(pid: int) -> dict[int, str]:
    """Processes of this node that a process started, and theirs, with their start; none where there is no /proc."""
    family = {pid: _parent_and_start(pid)[1]}
    others = {int(name): _parent_and_start(int(name)) for name in _names(Path("/proc")) if name.isdecimal()}
    while found := {p: start for p, (parent, start) in others.items() if parent in family and p not in family}:
        family |= found
    del family[pid]
    return family


def _names(folder: Path) -> list[str]:
    return os.listdir(folder) if folder.is_dir() else []


def _parent_and_start(pid: int) -> tuple[int, str]:
    """Parent and start time (clock ticks since boot) of a process; 0 and nothing when it has ended."""
    try:
        # pid (name) state parent …; the name may hold blanks and brackets, and the start is the 22nd of all.
        after_name = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0, ""
    return (0, "") if after_name[0] == "Z" else (int(after_name[1]), after_name[19])
