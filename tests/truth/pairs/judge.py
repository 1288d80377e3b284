"""Records and analyzes the variant with the loss and compares the first finding; only the command line is used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.real_network.trial import machine_file
from tests.truth.expected import Span, Verdict, first_finding, verdict

from .build import MissingError, build, environment, launcher
from .catalogue import Pair
from .measure import gain

GAIN = "gain.json"
"""Low, middle and high of a pair's measured gain, next to its recording."""
COMMAND_S = 600.0
"""A command on archives of a second or two that lasts longer hangs."""


def logpost(*words: object, variables: Mapping[str, str] | None = None) -> str:
    """What `logpost WORDS` prints; its error where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "logpost.cli.app", *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(variables or {})},
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"logpost {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def report(archive: Path, run: Path, *options: object) -> dict[str, Any]:
    """The JSON report of an archive's run."""
    logpost("analyze", archive, "-o", run, "--force", *options)
    found: dict[str, Any] = json.loads(logpost("report", run, "--json"))
    return found


def recorded(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Path:
    """The archive of a recording of a program."""
    before = set(folder.glob("*/traces.otf2"))
    logpost("record", "-q", "-o", folder, "--", *command, variables=variables)
    (archive,) = set(folder.glob("*/traces.otf2")) - before
    return archive


def judged(pair: Pair, folder: Path, runs: int) -> Verdict:
    """Builds a pair, measures its gain with so many runs of each variant, and compares the first finding."""
    place = folder / pair.name
    place.mkdir(exist_ok=True, parents=True)
    with launcher(pair, folder) as launch:
        lossy, fixed = build(pair, folder, launch)
        variables = environment(pair, folder)
        true = gain(lossy, fixed, variables, runs) if runs else Span(0, 0, 0)
        recorded(lossy, place, variables)
    (place / GAIN).write_text(json.dumps([true.low, true.middle, true.high]))
    return judged_again(pair, folder)


def judged_again(pair: Pair, folder: Path) -> Verdict:
    """The first finding that this release states of a pair's recording that is kept there, with the gain measured then.

    Raises:
        MissingError: the pair was not measured there.
    """
    place = folder / pair.name
    if not (place / GAIN).exists():
        raise MissingError(f"{place / GAIN} is missing: run --keep {folder} measures it")
    true = Span(*json.loads((place / GAIN).read_text()))
    archive = max(place.glob("*/traces.otf2"), key=lambda one: one.stat().st_mtime)
    options: list[object] = []
    if pair.network is not None:
        machine = place / "network.toml"
        machine.write_text(machine_file(pair.network))
        options = ["--machine", machine]
    found = report(archive, place / "lossy.run", *options)
    return verdict(pair.name, pair.ranks, true, first_finding(found), pair.expected)
