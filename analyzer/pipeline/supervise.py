"""Analyze in a child process, so that a crash or a hang inside libotf2 ends as an error message.

libotf2 trusts its input: on damaged archives it can follow a wild offset, and no exception handler helps against that.
The isolation is a child process per archive. It writes the run into a temporary directory next to its final place; when
it dies, or makes no progress, the parent removes that directory and says what happened. Progress
is judged by the child's own processor time: on a starved machine a healthy reader may get no processor for minutes.
This process imports neither libotf2 nor a table library.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from logpost.address_space import way_out
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.worker_process import worker
from logpost.analyzer.run.place import refuse_occupied
from logpost.errors import InputError

STALL_CPU_S = 60.0
"""Reading is stopped when the reader used so much processor time without a further event; a healthy one reads millions
in a second of it."""
SILENCE_S = 1800.0
"""Reading is stopped when no further event was read for so long, however little processor time the reader got."""
LOOK_S = 0.5
"""Time between two looks at the child when it says nothing."""

OnProgress = Callable[[str, int, int], None]


@dataclass
class _Watch:
    """What the child has reported so far."""

    phase: str = "starting"
    done: int = -1
    cpu_s: float = 0.0
    """Processor time that the child used."""
    cpu_at_progress_s: float = 0.0
    silent_s: float = 0.0
    """Time that was waited for a further event."""
    temporary: Path | None = None
    error: str | None = None
    run: str | None = None

    def take(self, message: dict[str, Any], on_progress: OnProgress) -> None:
        """Note one line of the child."""
        if "temporary" in message:
            self.temporary = Path(message["temporary"])
        elif "error" in message:
            self.error = message["error"]
        elif "run" in message:
            self.run = message["run"]
        else:
            self.cpu_s = message["cpu_s"]
            if (message["phase"], message["done"]) != (self.phase, self.done):
                self.cpu_at_progress_s, self.silent_s = self.cpu_s, 0.0
            self.phase, self.done = message["phase"], message["done"]
            on_progress(message["phase"], message["done"], message["total"])

    def wait(self, seconds: float) -> None:
        """Count time in which the child was watched; a longer gap is one in which this process was stopped itself."""
        self.silent_s += min(seconds, 2 * LOOK_S)

    def stalled(self) -> str | None:
        """Why reading is stopped; nothing while it makes progress or may still."""
        if self.phase != "reading":
            return None
        after = f"after {max(0, self.done)} events"
        used = self.cpu_s - self.cpu_at_progress_s
        if used > STALL_CPU_S:
            return (
                f"reading stopped: no further events in {used:.0f} s of processor time {after}; "
                "the archive is damaged: copy it again, or check it with otf2-print"
            )
        if self.silent_s > SILENCE_S:
            return (
                f"reading stopped: no further events in {self.silent_s:.0f} s {after}, with {used:.0f} s of processor "
                "time; the file system does not answer, or the machine is overloaded: copy the archive to a local "
                "disk, or analyze it when less runs"
            )
        return None


def analyze(request: Request, on_progress: OnProgress = lambda _phase, _done, _total: None) -> Path:
    """Analyze an archive; the path of the finished run.

    Raises:
        InputError: the archive is damaged or unreadable, the run exists, the machine does not fit.
    """
    refuse_occupied(Path(request.run), force=request.force)
    begun = worker(limited=request.memory is not None)
    receive, child = begun.says, begun.process
    watch = _Watch()
    try:
        begun.ask(asdict(request))
        _follow(receive, child, watch, request, on_progress)
        if watch.run is not None:
            _remove(watch)  # the run that was replaced; concurrently, the system takes the child's memory back
        status = child.wait()
    except BaseException:
        child.kill()
        child.wait()
        _remove(watch)
        raise
    finally:
        os.close(receive)
    if watch.run is not None and status == 0:
        return Path(watch.run)
    _remove(watch)
    raise InputError(watch.error or _death(request, watch, status))


def _follow(
    receive: int, child: subprocess.Popen[bytes], watch: _Watch, request: Request, on_progress: OnProgress
) -> None:
    """Pass the child's lines on until it closes its end or stalls."""
    pending = b""
    looked = time.monotonic()
    while True:
        ready, _, _ = select.select([receive], [], [], LOOK_S)
        before, looked = looked, time.monotonic()
        watch.wait(looked - before)
        if ready:
            data = os.read(receive, 1 << 16)
            if not data:
                return
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                watch.take(json.loads(line), on_progress)
        reason = watch.stalled()
        if reason is not None:
            child.kill()
            watch.error = f"{request.archive}: {reason}"
            return


def _remove(watch: _Watch) -> None:
    if watch.temporary is not None:
        shutil.rmtree(watch.temporary, ignore_errors=True)


def _death(request: Request, watch: _Watch, status: int) -> str:
    limited = way_out()
    if limited is not None:
        return f"{request.archive}: the analysis ended while {watch.phase}, probably for want of memory; {limited}"
    if status < 0:
        name = signal.Signals(-status).name
        if watch.phase in ("starting", "reading") and -status != signal.SIGKILL:
            return (
                f"{request.archive}: the OTF2 library crashed ({name}) after {max(0, watch.done)} events; "
                "the archive is damaged: copy it again, or check it with otf2-print"
            )
        if -status == signal.SIGKILL:
            return (
                f"{request.archive}: the analysis was killed ({name}) while {watch.phase}; "
                "if memory ran out, analyze on a larger machine"
            )
        return f"{request.archive}: the analysis crashed ({name}) while {watch.phase}; this is a bug in logpost"
    return f"{request.archive}: the analysis failed while {watch.phase} (status {status}); see the message above"
