"""Start a calibration program with the user's launcher, and leave no process behind, however logpost ends.

A launcher that receives SIGTERM takes its ranks with it, those on other nodes, too. One that does not end in
time is killed, and so are the ranks of this node that outlive it.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from logpost.collectors.calibration.failure import OURS, trouble
from logpost.collectors.descendants import alive, descendants, signal_all
from logpost.errors import InputError

GRACE_S = 5.0
"""Time that a launcher has for ending its ranks, and killed ones to be gone: on busy cores they are not at once."""
LOOK_S = 0.01
"""Between two looks whether they are."""


def run_program(command: Sequence[str], patience_s: float) -> None:
    """Run to the end.

    Raises InputError when the command cannot be started, fails (with the trouble that it reported), or is not done
    after `patience_s`. It does not outlive any other exception, either.
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
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread alone
        return
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if callable(signal.getsignal(n))]
    handlers = {number: signal.signal(number, lambda number, _frame: received.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for one in received:
            signal.raise_signal(one)


def _end(launcher: subprocess.Popen[str]) -> None:
    ranks = descendants(launcher.pid)
    launcher.terminate()
    try:
        launcher.communicate(timeout=GRACE_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        ranks |= descendants(launcher.pid)
        launcher.kill()
        launcher.wait()
    signal_all(ranks, signal.SIGKILL)
    until = time.monotonic() + GRACE_S
    while alive(ranks) and time.monotonic() < until:
        time.sleep(LOOK_S)
    for stream in (launcher.stdout, launcher.stderr):
        if stream is not None:
            stream.close()
