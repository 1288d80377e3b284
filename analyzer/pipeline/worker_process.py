"""The process that analyzes an archive, from this side: begun early, given its work later.

Starting Python and the reader costs as much time as parsing the command line: both are done at once. A process that
    receives no work ends when this one does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

SETTINGS = {
    # The system's allocator gives back the memory of one batch of rows; Arrow's own keeps it for the next.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # Eight to a core, as by default, hold 7 % of the peak: each keeps what its threads freed last. With one to a core,
    # threads that wait for an arena take 3 % of the time of thousands of locations.
    "MALLOC_ARENA_MAX": str(2 * len(os.sched_getaffinity(0))),
    # Threads of numpy's linear algebra, of which there is none, would wait busily when they start.
    "OPENBLAS_NUM_THREADS": "1",
    # It would look through all that is installed for plugins, which have no part in an analysis.
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}
"""Of the libraries' environment, unless the user has set something else."""
GIVES_BACK = {"_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"}
"""Within a limit of memory, that of polars (jemalloc), too: it keeps for ten seconds what is free, 150 of 600 MB at the
end. To fault it in again would take a quarter of an analysis that has memory enough."""


@dataclass(frozen=True)
class Worker:
    """A process that runs `logpost.analyzer.pipeline.worker`."""

    process: subprocess.Popen[bytes]
    says: int
    """descriptor from which its lines are read"""
    limited: bool
    """whether its allocators were set for a limit of memory"""

    def ask(self, options: dict[str, Any]) -> None:
        """Send it what to analyze."""
        assert self.process.stdin is not None
        try:
            with self.process.stdin as pipe:
                pipe.write(json.dumps(options).encode())
        except BrokenPipeError:
            pass  # it died, as the reader of its lines finds out

    def end(self) -> None:
        """End it; it received no work."""
        self.process.kill()
        with self.process:
            os.close(self.says)


_early: list[Worker] = []


def begin_early(*, limited: bool = False) -> None:
    """Begin a process that will be needed. `limited`, whether within a limit of memory, may be a guess: `worker`
    begins another process where the request says otherwise."""
    _early.append(_begun(limited=limited))


def worker(*, limited: bool = False) -> Worker:
    """A process that waits for work: the one that was begun early, if there is one of this kind."""
    while _early:
        begun = _early.pop()
        if begun.limited == limited:
            return begun
        begun.end()
    return _begun(limited=limited)


def _begun(*, limited: bool) -> Worker:
    says, send = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "logpost.analyzer.pipeline.worker", str(send)],
        pass_fds=[send],
        stdin=subprocess.PIPE,
        env={**SETTINGS, **(GIVES_BACK if limited else {}), **os.environ},
    )
    os.close(send)
    return Worker(process, says, limited)
