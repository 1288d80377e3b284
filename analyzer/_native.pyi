"""Native core of logpost.analyzer."""

from typing import Any

import logpost.replay._native


def region_kinds() -> list[str]:
    """Names of the codes in regions()['kind']."""

class ArchiveError(ValueError):
    pass

class Progress:
    """Counters of a read under way."""

    def __init__(self) -> None: ...

    @property
    def events(self) -> int: ...

    @property
    def declared(self) -> int: ...

def read(archive: str, threads: int, progress: Progress) -> Trace:
    """
    Reads an archive, given as its anchor file or directory. Raises ArchiveError.
    """

def release_memory() -> None:
    """Gives memory that the core has freed back to the system."""

def find_anchor(path: str) -> str:
    """The anchor file of an archive. Raises ArchiveError."""

class Trace:
    """What the reader leaves of an archive."""

    @property
    def ticks_per_second(self) -> int: ...

    @property
    def length_ps(self) -> int: ...

    def locations(self) -> dict[str, Any]: ...

    def regions(self) -> dict[str, Any]: ...

    def nodes(self) -> dict[str, Any]: ...

    def communicators(self) -> dict[str, Any]: ...

    def callpaths(self) -> dict[str, Any]: ...

    def layouts(self) -> dict[str, Any]: ...

    def profile(self) -> dict[str, Any]: ...

    def one_sided(self) -> dict[str, int]: ...

    def quality(self) -> list[dict[str, Any]]: ...

    def properties(self) -> list[tuple[str, str]]: ...

    def samples(self, limit: int) -> list[dict[str, Any]]:
        """Observations of LogGP parameters, a dict per locality class."""

class Analysis:
    """Rows of a run's tables, in batches."""

    def __init__(self, trace: Trace, parameters: logpost.replay._native.Parameters, threads: int) -> None: ...

    def next_messages(self, limit: int) -> dict[str, Any] | None: ...

    def next_calls(self, limit: int) -> dict[str, Any] | None: ...

    def split_only(self) -> int: ...

    def accounting(self) -> dict[str, Any]: ...

    def exposure(self) -> dict[str, Any]: ...

    def wait_states(self) -> dict[str, Any]: ...

    def pairs(self) -> dict[str, Any]: ...

    def load(self) -> dict[str, Any]: ...

    def collectives(self) -> dict[str, Any]: ...

    def accounted(self) -> list[int]: ...

    @property
    def messages(self) -> int: ...

    @property
    def clock_violations(self) -> int: ...

    @property
    def window_count(self) -> int: ...

    @property
    def window_width_ps(self) -> int: ...
