"""What questions need of a run besides its program: read from its tables once, and kept next to the program's graph.

The next question reads no table and no machine file: neither polars nor pydantic is imported where it needs nothing
else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from logpost.analyzer.machine.known_network import KnownNetwork
from logpost.analyzer.predict.whatif.bounds import Bounded
from logpost.analyzer.predict.whatif.mapping import Seats
from logpost.analyzer.run.place import MACHINE, MANIFEST
from logpost.errors import InputError
from logpost.machines import Log3PTable, Quality, ReplayParameters
from logpost.machines.parameters import BeyondLogGP
from logpost.replay import _native
from logpost.whole_file import write_whole

FILE = "questions.json"


@dataclass(frozen=True)
class Extract:
    """Of one run."""

    label: str
    """the machine of the run, for people"""
    machine: ReplayParameters
    asynchronous_progress: bool
    library: Mapping[str, str]
    """what its profile states"""
    bounded: list[Bounded]
    """values of the machine that nothing measured"""
    notes: list[str]
    """what holds for each prediction of the run"""
    choices: list[str]
    """what is said of receives that named no sender"""
    tick_ps: float
    """of the clock"""
    communicates: bool
    locations: int
    callpaths: int
    calls: int
    messages: int
    open_receives: int
    """messages whose receives named no sender and could have taken another one's"""
    regions: list[str]
    """by call path: the place in the code"""
    has_topology: bool
    """whether its machine states one"""
    seats: Seats | None
    """where the ranks sat; None where they or nodes are not known"""
    network: KnownNetwork | None = None
    """between them; None: no question replayed its contention yet, or seats are not known"""


_CLASSES = (Extract, ReplayParameters, Log3PTable, BeyondLogGP, Quality, Bounded, Seats, KnownNetwork)
_WRITTEN = {one.__name__: one for one in _CLASSES}
_CLASS, _TYPE = " class", " type"


def key_of(run: Path) -> str:
    """Of a run's tables, its manifest and machine, and the build of logpost: what is kept with them holds for these.

    Raises:
        OSError: there is no such directory.
    """
    files = sorted(one for one in run.iterdir() if one.suffix == ".parquet" or one.name in (MANIFEST, MACHINE))
    parts = [f"{one.name} {_version(one)}" for one in (*files, Path(_native.__file__), Path(__file__))]
    return sha256("\n".join(parts).encode()).hexdigest()


def _version(file: Path) -> str:
    found = file.stat()
    return f"{found.st_size} {found.st_mtime_ns}"


def kept_extract(run: Path, key: str) -> Extract | None:
    """The extract that a question about a run left there; None: there is none, or the run is another one by now."""
    try:
        written, found = json.loads((run / FILE).read_bytes(), object_hook=_read)
        return found if written == key and isinstance(found, Extract) else None
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None


def keep(extract: Extract, run: Path, key: str) -> None:
    """Leave it there, for the next question; where that cannot be written, it is read anew."""
    try:
        write_whole(run / FILE, json.dumps([key, extract], default=_plain))
    except (InputError, OSError):
        return


def _plain(value: Any) -> dict[str, Any]:
    if isinstance(value, np.ndarray):
        return {_TYPE: value.dtype.str, "shape": value.shape, "values": value.ravel().tolist()}
    if isinstance(value, Mapping):
        return dict(value)
    return {_CLASS: type(value).__name__, **{one.name: getattr(value, one.name) for one in fields(value)}}


def _read(found: dict[str, Any]) -> Any:
    if _TYPE in found:
        return np.array(found["values"], dtype=found[_TYPE]).reshape(found["shape"])
    return _WRITTEN[found.pop(_CLASS)](**found) if _CLASS in found else found
