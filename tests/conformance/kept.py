"""What runs have shown so far: an outcome a line, kept from run to run.

The key of an outcome has all that it depends on. With another recorder a test runs again with the collector; its result
without is known from before as long as the MPI is the same; with another analyzer the archive that was kept is analyzed
again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.conformance.trial import Outcome

MOST_BYTES = 8 * 2**20
"""Bytes of an archive that is kept for another analyzer; larger ones are recorded again."""
_RECORDER = ("collectors", "src/logpost/cli/record.py", "src/logpost/cli/recording")
_NOT_RECORDING = {"calibration", "workloads", "testbed", "gasnet", "scorep"}
_ANALYZER = ("analyzer", "replay", "machines")


def recorder(root: Path) -> str:
    """A digest of the sources that record: not those that measure machines, simulate or import."""
    return _digest(root, _RECORDER, _NOT_RECORDING)


def analyzer(root: Path) -> str:
    """A digest of the sources that analyze."""
    return _digest(root, _ANALYZER, set())


def _digest(root: Path, sources: Iterable[str], without: set[str]) -> str:
    digest = hashlib.sha256()
    for source in sources:
        found = [root / source] if (root / source).is_file() else sorted((root / source).rglob("*"))
        for file in found:
            parts = file.relative_to(root).parts
            if file.is_file() and file.suffix != ".md" and not {"__pycache__", *without} & {*parts}:
                digest.update("/".join(parts).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def version(launcher: str) -> str:
    """A digest of what an MPI says of its version; empty where it says nothing."""
    try:
        said = subprocess.run([launcher, "--version"], capture_output=True, check=False).stdout
    except OSError:
        return ""
    return hashlib.sha256(said).hexdigest()[:16] if said else ""


def read(results: Path) -> dict[str, Outcome]:
    """The last outcome of each test in a file; a last line that was cut off is none."""
    found = {}
    for line in results.read_text().splitlines() if results.exists() else []:
        try:
            one = Outcome(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[one.name] = one
    return found


def append(results: Path, outcome: Outcome) -> None:
    """Keep an outcome; it is whole on the disk, or its line is cut off and none."""
    with results.open("a") as out:
        out.write(json.dumps(dataclasses.asdict(outcome)) + "\n")


def newest(folder: Path, this: str) -> dict[str, tuple[Outcome, bool]]:
    """The outcome of each test under an MPI, and whether it is of this recorder, else of the latest other one."""
    ours = folder / f"{this}.jsonl"
    found: dict[str, tuple[Outcome, bool]] = {}
    for results in sorted(folder.glob("*.jsonl"), key=lambda x: (x == ours, x.stat().st_mtime)):
        found |= {name: (outcome, results == ours) for name, outcome in read(results).items()}
    return found
