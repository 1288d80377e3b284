"""Run something for a limited time, and leave none of its processes behind.

A keeper is the parent of the command and the child of this process. A process whose parent ends becomes the keeper's
child, whatever session it is in. When the work ends, its time is over or this process dies, the keeper kills all of
its children.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
STOP_S = 20.0  # after the time limit: mpirun ends its ranks, and record assembles what they left
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
WATCHED = (signal.SIGCHLD, *STOPS)

Work = Sequence[str] | Callable[[], int]
"""A command, or a function that runs in a separate process and returns an exit status."""


@dataclass(frozen=True)
class _Job:
    work: Work
    where: Path
    limit_s: float
    environment: Mapping[str, str]
    output: int


def in_time(work: Work, where: Path, limit_s: float, environment: Mapping[str, str]) -> tuple[str, int | None]:
    """Run a command or a function in a folder; its output and exit status, negative of a signal.

    None: it did not end at SIGTERM after its time.
    """
    with tempfile.TemporaryFile() as output:
        reading, writing = os.pipe()
        parent, keeper = os.getpid(), _fork()
        if keeper == 0:
            os.close(reading)
            _keep(_Job(work, where, limit_s, environment, output.fileno()), parent, writing)
        os.close(writing)
        try:
            with os.fdopen(reading, "rb") as pipe:
                status = json.loads(pipe.read() or b"null")
        except BaseException:
            os.kill(keeper, signal.SIGTERM)
            raise
        finally:
            os.waitpid(keeper, 0)
        return _text(output), status


def _text(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode(errors="replace")


def _fork() -> int:
    with warnings.catch_warnings():  # other threads, such as an allocator's, hold no lock that a child needs
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _keep(job: _Job, parent: int, writing: int) -> NoReturn:
    """Be the keeper: run the job, kill what it leaves, write its status."""
    try:
        prctl = ctypes.CDLL(None).prctl
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() == parent:
            status = _wait(_start(job, before, writing), job.limit_s)
            _kill_all()
            os.write(writing, json.dumps(status).encode())
    finally:
        os._exit(0)


def _start(job: _Job, mask: set[int], writing: int) -> int:
    child = _fork()
    if child:
        return child
    status = 127
    try:
        os.close(writing)
        os.setsid()
        for number in STOPS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(job.output, 1)
        os.dup2(job.output, 2)
        os.chdir(job.where)
        if callable(job.work):
            os.environ.clear()
            os.environ.update(job.environment)
            status = _called(job.work)
        else:
            os.execvpe(job.work[0], list(job.work), job.environment)
    except OSError as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(status)


def _called(work: Callable[[], int]) -> int:
    sys.stdout, sys.stderr = (os.fdopen(descriptor, "w", closefd=False) for descriptor in (1, 2))
    try:
        status = work()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _wait(child: int, limit_s: float) -> int | None:
    """The exit status of the child; None: it did not end in time, or this process received a signal."""
    terminated, until = False, time.monotonic() + limit_s
    while True:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                return os.waitstatus_to_exitcode(ended[1])
        left_s = until - time.monotonic()
        if left_s <= 0:
            if terminated:
                return None
            os.killpg(child, signal.SIGTERM)
            terminated, until = True, time.monotonic() + STOP_S
            continue
        got = signal.sigtimedwait(WATCHED, left_s)
        if got is not None and got.si_signo in STOPS:
            return None


def _kill_all() -> None:
    """Kill every process below this one, until there is none."""
    while True:
        for process in _below(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _below(ancestor: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = list(children.get(ancestor, []))
    for process in found:  # grows
        found += children.get(process, [])
    return found
