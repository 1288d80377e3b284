"""The hash of every table and JSON of every archive and written program."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from tests.archives import ROOT, not_packed, unpack

WHATIFS = (
    ("--set", "L=x2"),
    ("--set", "G=x4", "--no-contention"),
    ("--set", "o=x3", "--set", "g=x5"),  # messages arrive, and requests complete, in another order
    ("--mapping", "cyclic"),
    ("--mapping", "block"),
    ("--scale-compute", "rank:0=0.5"),
    ("--set", "topology=mesh:128", "--set", "per_hop=1us", "--set", "link_bandwidth=1GB/s"),  # messages share links
    ("--set", "topology=mesh:128", "--set", "per_hop=1us", "--set", "link_bandwidth=1GB/s", "--set", "nics_per_node=1"),
    ("--set", "progress=asynchronous"),
)
VOLATILE = {"logpost", "version", "created", "path", "run", "archive", "seconds", "command", "runs"}
"""Keys of JSON output whose value is the place or the time of the run."""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _steady(value: Any) -> Any:
    """JSON without the place and time of the run."""
    if isinstance(value, dict):
        return {key: _steady(one) for key, one in value.items() if key not in VOLATILE}
    return [_steady(one) for one in value] if isinstance(value, list) else value


def _called(command: list[str], *args: str) -> subprocess.CompletedProcess[str]:
    """A verb, by a command; an empty one is this checkout, in this process."""
    if command:
        return subprocess.run([*command, *args], capture_output=True, text=True, check=False)
    from logpost.cli.app import main as logpost

    out, err = io.StringIO(), io.StringIO()
    status: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        sys.argv = ["logpost", *args]
        try:
            logpost()
        except SystemExit as end:
            status = end.code or 0
        except Exception as fault:  # as the interpreter ends on it
            status = 1
            print(repr(fault), file=err)
    return subprocess.CompletedProcess(args, status if isinstance(status, int) else 1, out.getvalue(), err.getvalue())


def _said(command: list[str], verb: str, run: str, *args: str) -> str:
    """The hash of the JSON of a verb, without the place of the run; exit status and error where it prints none."""
    done = _called(command, verb, run, *args, "--json")
    place = str(Path(run).parent)
    try:
        said = json.loads(done.stdout.replace(place, ""))
    except json.JSONDecodeError:
        return f"status {done.returncode} {_digest(done.stderr.replace(place, '').encode())}"
    return _digest(json.dumps(_steady(said), sort_keys=True).encode())


def _tables(run: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(run.rglob("*.parquet")):
        frame = pl.read_parquet(file, hive_partitioning=False)
        yield str(file.relative_to(run)), _digest(frame.write_ipc(None, compression="uncompressed").getvalue())


def _analyzed(command: list[str], anchor: Path, machine: Path | None, run: Path) -> int:
    """The exit status of `analyze`; in this process without its child."""
    chosen = str(machine) if machine else None
    if command:
        words = ["analyze", str(anchor), "-o", str(run), *(["--machine", chosen] if chosen else [])]
        return subprocess.run([*command, *words], capture_output=True, check=False).returncode
    from tests.analyzer.in_process import analyze

    from logpost.analyzer.pipeline.request import Request
    from logpost.errors import InputError

    try:
        analyze(Request(archive=str(anchor), run=str(run), machine=chosen), held=False, faulty=True)
    except InputError:
        return 2
    return 0


def _of(command: list[str], anchor: Path, machine: Path | None, run: Path) -> list[tuple[str, str]]:
    name = run.stem
    status = _analyzed(command, anchor, machine, run)
    found = [(f"{name} analyze", f"status {status}")]
    if status == 0:
        found += [(f"{name} table {table}", digest) for table, digest in _tables(run)]
        found.append((f"{name} report", _said(command, "report", str(run), "--full")))
        found += [
            (f"{name} whatif {' '.join(change)}", _said(command, "whatif", str(run), *change)) for change in WHATIFS
        ]
    return found


def _inputs(folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Anchor file and machine file of every archive and written program."""
    unpack(folder)
    for archive in sorted([*folder.iterdir(), *not_packed()], key=lambda one: one.name):
        yield from ((anchor, None) for anchor in sorted(archive.glob("*.otf2"))[:1])
    written = folder / "written"
    subprocess.run([ROOT / "build" / "dev" / "truth" / "simulate", written], check=True, stdout=subprocess.DEVNULL)
    for program in sorted(written.iterdir()):
        yield from ((anchor, program / "machine.toml") for anchor in program.glob("*.otf2"))


def frozen(command: list[str], jobs: int, only: str = "") -> dict[str, str]:
    """The hash of every table and answer.

    Args:
        command: the words that start logpost; none: this checkout, in separate processes.
        jobs: archives that are analyzed at the same time.
        only: regular expression that the names of archives and programs have.
    """
    of_this_checkout = partial(ProcessPoolExecutor, mp_context=multiprocessing.get_context("spawn"))
    workers: Callable[[int], Executor] = ThreadPoolExecutor if command else of_this_checkout
    with tempfile.TemporaryDirectory() as place, workers(jobs) as pool:
        folder = Path(place)
        (folder / "in").mkdir()
        runs = [(anchor, machine, folder / f"{anchor.parent.name}.run") for anchor, machine in _inputs(folder / "in")]
        runs = [one for one in runs if re.search(only, one[2].stem)]
        found = dict(pair for pairs in pool.map(partial(_of, command), *zip(*runs, strict=True)) for pair in pairs)
        programs = [run for _, machine, run in runs if machine and run.exists()]
        cured = [(run, run.with_name(f"{run.stem}.cured.run")) for run in programs]
        pairs = [(before, after) for before, after in cured if after.exists()]
        before, after = ([str(pair[side]) for pair in pairs] for side in (0, 1))
        compared = pool.map(partial(_said, command, "compare"), before, after)
        return found | {f"{before.stem} compare": digest for (before, _), digest in zip(pairs, compared, strict=True)}
