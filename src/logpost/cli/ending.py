"""SIGTERM and SIGHUP end a verb as Ctrl-C does: open files are closed, temporary files removed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from logpost.collectors.descendants import descendants, signal_all

GRACE_S = 5.0
"""Time that programs have to end after SIGTERM."""
AGAIN_S = 0.1
"""Until it is looked whether further ones were started."""


@contextmanager
def cleaned_up_on_signals(*, with_programs: bool = False) -> Iterator[None]:
    """In the block SIGTERM (of a batch system, at the end of a job's time) and SIGHUP (of a terminal that is closed)
    unwind it and end the program with 128 + signal, the status that a shell gives. One that is ignored (nohup) stays
    so; further ones do not disturb the unwinding.

    `with_programs`: programs that other threads of this process wait for end, too, as do those that such a thread would
    begin next.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    taken = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def end(number: int, _frame: FrameType | None) -> None:
        for one in taken:
            signal.signal(one, signal.SIG_IGN)
        if with_programs:
            threading.Thread(target=_end_programs, daemon=True).start()
        raise SystemExit(128 + number)

    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])


def _end_programs() -> None:
    """Send SIGTERM to all programs that this process started, kill those that do not end, and repeat until it ends."""
    signalled: dict[int, tuple[str, float]] = {}
    while True:
        now = time.monotonic()
        found = descendants(os.getpid())
        fresh = {pid: started for pid, started in found.items() if signalled.get(pid, ("", 0.0))[0] != started}
        signalled |= {pid: (started, now) for pid, started in fresh.items()}
        signal_all(fresh, signal.SIGTERM)
        signal_all({pid: one for pid, one in found.items() if now - signalled[pid][1] > GRACE_S}, signal.SIGKILL)
        time.sleep(AGAIN_S)
