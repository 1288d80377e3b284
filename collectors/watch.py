"""While a program is recorded: an archive of the run so far on a signal, or when a thread sits in one call too long.

The watcher is a thread of `logpost record`, not of the program. It looks at the windows of this host's processes
from outside, 16 bytes each; other hosts' windows reach a network file system too late to be of use.
"""

from __future__ import annotations

import re
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

from logpost.collectors import snapshot
from logpost.errors import InputError

UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_SIGNALS = {"USR1": signal.SIGUSR1, "USR2": signal.SIGUSR2}


def seconds(text: str) -> float:
    """The seconds that `--hang` means: 90s, 10min, 1h."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|min|h)", text)
    if match is None or not float(match[1]):
        raise InputError(f"--hang {text} is no time; write it as 90s, 10min or 1h")
    return float(match[1]) * UNITS[match[2]]


def signal_number(text: str) -> int:
    """The signal that `--dump-signal` names."""
    found = _SIGNALS.get(text.removeprefix("SIG"))
    if found is None:
        raise InputError(f"--dump-signal {text} is neither USR1 nor USR2; take the one that the program does not use")
    return found


class Watcher:
    """Makes archives of the run so far; `take` gets what the archive's name ends with, and why it is made."""

    def __init__(self, raw: Path, hang_s: float | None, take: Callable[[str, str], None]) -> None:
        self._raw, self._hang, self._take = raw, hang_s, take
        self._wake = threading.Event()
        self._requested = self._ended = False
        self._seen: dict[Path, tuple[int, int, float]] = {}
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin, after the program was started."""
        self._thread.start()

    def ask(self) -> None:
        """Make an archive now; may be called in a signal handler."""
        self._requested = True
        self._wake.set()

    def end(self) -> None:
        """The program has ended; an archive that is being made is finished first."""
        self._ended = True
        self._wake.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended:
            self._wake.wait(1.0 if self._hang is None else min(1.0, self._hang / 4))
            self._wake.clear()
            if not self._ended and self._program_requests():
                self._take("dump", "the program requested the run so far")
            if self._requested and not self._ended:
                self._requested = False
                self._take("dump", "a signal requested the run so far")
            if self._hang is not None and not self._ended and self._hangs(self._hang):
                self._take("hang", f"a rank has been in one call for {self._hang:g} s")
                self._hang = None  # the first archive shows the hang; later ones would show the same

    def _program_requests(self) -> bool:
        """Whether some process has called logpost_dump() since the last look."""
        requests = list(self._raw.glob("*.request"))
        for path in requests:
            path.unlink(missing_ok=True)
        return bool(requests)

    def _hangs(self, limit_s: float) -> bool:
        for path in self._raw.glob("*.window"):
            if not path.name.startswith(socket.gethostname().replace("/", "_") + "."):
                continue
            try:
                now = time.monotonic()
                seen = self._seen.get(path)
                state = snapshot.state(path)
                if seen is None or seen[:2] != state:
                    self._seen[path] = (*state, now)
                elif now - seen[2] >= limit_s and snapshot.read(path).inside:
                    return True
            except (OSError, ValueError, struct.error):  # being made, or gone
                continue
        return False
