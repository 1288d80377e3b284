"""What the analysis writes of every archive and written program, as hashes: `python -m tests.oracle --help`.

A change of structure leaves all of it identical. Freeze before the change, compare after it; each difference is listed
with its reason in the commit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
from tests.archives import ROOT, beside_the_checkout, unpack

WHATIFS = (("--set", "L=x2"), ("--set", "G=x4", "--no-contention"))
VOLATILE = {"logpost", "version", "created", "path", "run", "archive", "seconds", "command", "runs"}
"""Keys of JSON output whose value is the place or the time of the run."""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _steady(value: Any) -> Any:
    """JSON without the place and time of the run."""
    if isinstance(value, dict):
        return {key: _steady(one) for key, one in value.items() if key not in VOLATILE}
    return [_steady(one) for one in value] if isinstance(value, list) else value


def _said(command: list[str], verb: str, run: str, *args: str) -> str:
    """The hash of the JSON of a verb, without the place of the run; exit status and error where it prints none."""
    done = subprocess.run([*command, verb, run, *args, "--json"], capture_output=True, text=True, check=False)
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


def _of(command: list[str], anchor: Path, machine: Path | None, run: Path) -> list[tuple[str, str]]:
    name = run.stem
    chosen = ("--machine", str(machine)) if machine else ()
    done = subprocess.run([*command, "analyze", str(anchor), "-o", str(run), *chosen], capture_output=True, check=False)
    found = [(f"{name} analyze", f"status {done.returncode}")]
    if done.returncode == 0:
        found += [(f"{name} table {table}", digest) for table, digest in _tables(run)]
        found.append((f"{name} report", _said(command, "report", str(run))))
        found += [
            (f"{name} whatif {' '.join(change)}", _said(command, "whatif", str(run), *change)) for change in WHATIFS
        ]
    return found


def _inputs(folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Anchor file and machine file of every archive and written program."""
    unpack(folder)
    for archive in sorted([*folder.iterdir(), *beside_the_checkout()], key=lambda one: one.name):
        yield from ((anchor, None) for anchor in sorted(archive.glob("*.otf2"))[:1])
    written = folder / "written"
    subprocess.run([ROOT / "build" / "dev" / "truth" / "simulate", written], check=True, stdout=subprocess.DEVNULL)
    for program in sorted(written.iterdir()):
        yield from ((anchor, program / "machine.toml") for anchor in program.glob("*.otf2"))


def frozen(command: list[str], jobs: int) -> dict[str, str]:
    """The hash of every table and answer.

    Args:
        command: the words that start logpost.
        jobs: archives that are analyzed at the same time.
    """
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(jobs) as pool:
        folder = Path(place)
        (folder / "in").mkdir()
        runs = [(anchor, machine, folder / f"{anchor.parent.name}.run") for anchor, machine in _inputs(folder / "in")]
        found = dict(pair for pairs in pool.map(lambda one: _of(command, *one), runs) for pair in pairs)
        programs = [run for _, machine, run in runs if machine and run.exists()]
        cured = [(run, run.with_name(f"{run.stem}.cured.run")) for run in programs]
        pairs = [(before, after) for before, after in cured if after.exists()]
        compared = pool.map(lambda pair: _said(command, "compare", str(pair[0]), str(pair[1])), pairs)
        return found | {f"{before.stem} compare": digest for (before, _), digest in zip(pairs, compared, strict=True)}


def main(args: list[str]) -> int:
    """Writes or compares a file of hashes; 1 where one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("verb", choices=("freeze", "compare"))
    parser.add_argument("file", type=Path, help="JSON of hashes: written, or compared with")
    parser.add_argument("--logpost", default=f"{sys.executable} -m logpost.cli", help="the command of another checkout")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="archives at the same time")
    chosen = parser.parse_args(args)
    found = frozen(chosen.logpost.split(), chosen.jobs)
    if chosen.verb == "freeze":
        chosen.file.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
        print(f"{chosen.file}: {len(found)} hashes")
        return 0
    before = json.loads(chosen.file.read_text())
    differing = sorted(key for key in before.keys() | found.keys() if before.get(key) != found.get(key))
    for key in differing:
        print(f"{key}: {before.get(key, 'absent')} -> {found.get(key, 'absent')}")
    print(f"{len(differing)} of {len(before)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
