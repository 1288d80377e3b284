"""The child process of `supervise`: analyzes one archive and reports progress to its parent, line by line.

Run as `python -m logpost.analyzer.pipeline.worker FD`, with the file descriptor to write to; the options are JSON from
the standard input, which is empty where there is nothing to analyze after all.
Each line is a JSON object: {"temporary": path}, {"phase": name, "done": n, "total": n, "cpu_s": seconds of processor
time used so far}, {"error": message} or {"run": path}.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from logpost.analyzer.pipeline.read_ahead import ReadAhead
    from logpost.analyzer.pipeline.request import Request

Report = Callable[[str, int, int], None]

HEARTBEAT_S = 0.1
"""Seconds between two signs of life: ten a second, so that a stop is noticed at once."""


def built(request: Request, source: ReadAhead, report: Report, temporary: Callable[[Path], None]) -> Path:
    """The path of the finished run; what the system refuses is an error of the user's input, as all others.

    Raises:
        InputError: the archive is damaged or unreadable, the machine does not fit, the run cannot be written.
    """
    from logpost.analyzer.pipeline.build import build_run
    from logpost.errors import InputError
    from logpost.whole_file import cannot_write

    try:
        return build_run(request, source, report, temporary)
    except OSError as error:
        raise cannot_write(request.run, error, "choose another place with -o") from None
    except MemoryError:
        raise InputError(f"{request.archive} needs more memory than this machine has; use a larger one") from None


def _orphaned(unfinished: list[Path]) -> None:
    """End at once when the pipe is closed: the parent was killed, and with it what would remove the directory."""
    for _ in range(3):  # other threads may still make files in it
        for directory in unfinished:
            shutil.rmtree(directory, ignore_errors=True)
    os._exit(1)


def main(descriptor: int, read_options: Callable[[], str]) -> int:
    """Analyze; exit status 0 when the run is written, or there is none to be made, 2 for bad input.

    Arguments:
        descriptor: to write lines to.
        read_options: returns the options as JSON; waits for them.
    """
    # The parent ends this process itself on Ctrl-C, and then removes what was written.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # One archive, and the process ends: looking for cycles would walk all imported modules again and again.
    gc.disable()
    from logpost.errors import InputError

    with os.fdopen(descriptor, "w", buffering=1) as pipe:
        lock = threading.Lock()
        state: dict[str, Any] = {"phase": "reading", "done": 0, "total": 0}
        unfinished: list[Path] = []

        def send(**fields: Any) -> None:
            with lock:
                try:
                    pipe.write(json.dumps(fields) + "\n")
                except BrokenPipeError:
                    _orphaned(unfinished)

        from logpost.analyzer.archive.clock_mode import ClockMode
        from logpost.analyzer.pipeline.read_ahead import ReadAhead
        from logpost.analyzer.pipeline.request import Request
        from logpost.analyzer.pipeline.spill_place import spill_for
        from logpost.analyzer.run.roi import RegionOfInterest
        from logpost.replay.cost.message_models import MessageModel

        # The command line is still being understood.
        threading.Thread(target=import_module, args=["logpost.analyzer.pipeline.build"], daemon=True).start()
        text = read_options()
        if not text:
            return 0
        options = json.loads(text)
        clock = ClockMode(options["clock"])
        given = {
            "roi": RegionOfInterest(**options["roi"]),
            "model": MessageModel(options["model"]),
            "clock": clock,
        }
        spill = spill_for(options["run"], options["memory"], options["spill"])
        source = ReadAhead(options["archive"], options["threads"], clock, spill, options["shards"])
        ended = threading.Event()

        def report(phase: str, done: int, total: int) -> None:
            changed = phase != state["phase"]
            state.update(phase=phase, done=done, total=total)
            if changed:
                send(**state, cpu_s=time.process_time())

        def begun(temporary: Path) -> None:
            unfinished.append(temporary)
            send(temporary=str(temporary))

        def beat() -> None:
            while not ended.wait(HEARTBEAT_S):
                now = dict(state)
                if now["phase"] == "reading":
                    now.update(done=source.progress.events, total=source.progress.declared)
                send(**now, cpu_s=time.process_time())

        send(**state, cpu_s=time.process_time())
        heart = threading.Thread(target=beat)
        heart.start()
        try:
            request = Request(**{**options, **given})
            result = {"run": str(built(request, source, report, begun))}
        except InputError as error:
            result = {"error": str(error)}
        finally:
            ended.set()
            heart.join()
        send(**result)
        return 2 if "error" in result else 0


if __name__ == "__main__":
    code = main(int(sys.argv[1]), sys.stdin.read)
    sys.stdout.flush()
    sys.stderr.flush()
    # All is written: to take the interpreter and its tables apart would only keep the parent waiting.
    os._exit(code)
