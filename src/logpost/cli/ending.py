"""SIGTERM and SIGHUP end a verb as Ctrl-C does: open files are closed, temporary files removed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def cleaned_up_on_signals() -> Iterator[None]:
    """In the block SIGTERM (of a batch system, at the end of a job's time) and SIGHUP (of a terminal that is closed)
    unwind it and end the program with 128 + signal, the status that a shell gives. One that is ignored (nohup) stays
    so; further ones do not disturb the unwinding."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    taken = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def end(number: int, _frame: FrameType | None) -> None:
        for one in taken:
            signal.signal(one, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])
