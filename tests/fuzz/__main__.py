"""`python -m tests.fuzz [SECONDS] [FIRST-SEED] [SUBJECT…]`: rounds until the time is over, as many at once as it has
processors (`taskset`); exit status 1 where a round ended in another way than by an answer or one line of refusal."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

from tests.fuzz.rounds import Round, apart, play, play_batch
from tests.fuzz.subjects import SUBJECTS

import logpost.cli

BATCH = 64
"""Rounds of one process. What one leaves behind in a process may concern the next: a finding is played again alone."""


def _rounds(folder: Path, first: int, step: int, end: float, kinds: list[str]) -> str:
    """Rounds of every `step`-th seed until the end; the table of how they ended, a line each."""
    counts: Counter[tuple[str, str]] = Counter()
    seed = first
    while time.monotonic() < end:
        batch = [_round(folder, kinds, of, first % step) for of in range(seed, seed + BATCH * step, step)]
        together = [each for each in batch if not each.subject.forks]
        left = [together, *([each] for each in batch if each.subject.forks)]
        while left and time.monotonic() < end:
            rounds = left.pop(0)
            endings = play_batch(rounds, folder / f"said-{first % step}", end)
            for each, ending in zip(rounds, endings, strict=False):
                outcome = "wrong" if ending.wrong else "accepted" if ending.accepted else "refused"
                counts[each.sound.name, outcome] += 1
                if ending.wrong:
                    _keep(folder, each, ending.wrong)
            if rest := rounds[len(endings) :]:
                left.insert(0, rest)
        seed += BATCH * step
    return "".join(f"{kind}\t{outcome}\t{count}\n" for (kind, outcome), count in counts.items())


def _keep(folder: Path, each: Round, wrong: str) -> None:
    kept = folder / f"seed-{each.seed}"
    shutil.rmtree(kept, ignore_errors=True)
    each.scratch.rename(kept)
    alone = play(each.subject, each.sound, each.scratch, each.seed).wrong or "nothing"
    print(f"seed {each.seed} ({each.sound.name}): {wrong}\nalone: {alone}\n", file=sys.stderr, flush=True)


def _round(folder: Path, kinds: list[str], seed: int, player: int) -> Round:
    kind = kinds[seed % len(kinds)]
    # A separate name: nothing that a process remembers of a path is another round's.
    return Round(SUBJECTS[kind], folder / kind, folder / f"scratch-{player}-{seed}", seed)


def _import_all() -> None:
    """Every verb and what the verbs import when they run, so that each round's process has it. The table library's
    own threads start at its first use."""
    for module in pkgutil.iter_modules(logpost.cli.__path__):
        importlib.import_module(f"logpost.cli.{module.name}")
    for name in ("analyzer", "dashboards.report", "dashboards.figures", "collectors.gasnet", "machines", "replay"):
        package = importlib.import_module(f"logpost.{name}")
        for found in pkgutil.walk_packages(package.__path__, f"logpost.{name}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)


def _prepared(kind: str, folder: Path) -> str:
    SUBJECTS[kind].prepare(folder)
    return "prepared"


def main(words: list[str]) -> int:
    """Prepare sound files, play rounds, print how many of each kind ended how."""
    _import_all()
    seconds = float(words[0]) if words else 60
    first = int(words[1]) if len(words) > 1 else int(time.time()) * 100_000
    kinds = words[2:] or list(SUBJECTS)
    folder = Path(tempfile.mkdtemp(prefix="logpost-fuzz-"))
    for kind in kinds:
        (folder / kind).mkdir()
        if apart(partial(_prepared, kind, folder / kind), folder / "prepared"):
            print((folder / "prepared").read_text(), file=sys.stderr)
            return 1
    print(f"seeds from {first}; changed files of rounds that are wrong stay in {folder}", flush=True)
    end, step = time.monotonic() + seconds, len(os.sched_getaffinity(0))
    players = [_player(folder, first + i, step, end, kinds) for i in range(step)]
    counts: Counter[tuple[str, str]] = Counter()
    for child, table in players:
        os.waitpid(child, 0)
        for line in table.read_text().splitlines():
            kind, outcome, count = line.split("\t")
            counts[kind, outcome] += int(count)
    print(f"{'file':12}{'accepted':>10}{'refused':>10}{'wrong':>10}")
    for kind in kinds:
        print(f"{kind:12}" + "".join(f"{counts[kind, outcome]:10,}" for outcome in ("accepted", "refused", "wrong")))
    wrong = sum(count for (_, outcome), count in counts.items() if outcome == "wrong")
    print(f"{sum(counts.values()):,} rounds, {wrong:,} wrong")
    if not wrong:
        shutil.rmtree(folder)
    return int(wrong > 0)


def _player(folder: Path, first: int, step: int, end: float, kinds: list[str]) -> tuple[int, Path]:
    table = folder / f"table-{first % step}"
    child = os.fork()
    if child == 0:
        table.write_text(_rounds(folder, first, step, end, kinds))
        os._exit(0)
    return child, table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
