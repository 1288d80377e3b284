"""`python -m tests.truth.pairs run [NAME…] [--runs K] [--keep DIR]` measures pairs and prints the table;
`judge [NAME…] --keep DIR` judges what is kept there again; `build [NAME…]` only builds them; `list` prints them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.truth.expected import HEADER, Verdict, line, summary

from .build import MissingError, build
from .catalogue import Pair, pairs
from .judge import judged, judged_again

RUNS = 7
"""Of each variant: the smallest and the largest of 7 gains hold the true median with 98 %."""


def main(words: Sequence[str]) -> int:
    """Exit status 1 where a pair does not build or run."""
    parser = argparse.ArgumentParser(prog="tests.truth.pairs", description=__doc__)
    parser.add_argument("verb", choices=["run", "judge", "build", "list"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each variant (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep programs, archives and runs there")
    chosen = parser.parse_args(words)
    found = pairs(chosen.names)
    if chosen.verb == "list":
        print("\n".join(rows(found)))
        return 0
    with ExitStack() as stack:
        folder = chosen.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="logpost-pairs-")))
        folder = folder.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        if chosen.verb == "build":
            for pair in found:
                build(pair, folder)
            return 0
        if chosen.verb == "judge":
            return table(found, lambda pair: judged_again(pair, folder))
        runs = f"; {chosen.runs} runs of each variant"
        print(f"load {_load()} on {os.cpu_count()} cores at the beginning{runs}\n", flush=True)
        failed = table(found, lambda pair: judged(pair, folder, chosen.runs))
        print(f"load {_load()} at the end")
        return failed


def rows(found: Sequence[Pair]) -> list[str]:
    """A row of `docs/pairs.md` a pair."""
    return [
        f"| {pair.name} | {pair.language} | {pair.ranks} | {pair.what} | {', '.join(pair.expected.cures)} |"
        for pair in found
    ]


def table(found: Sequence[Pair], judge: Callable[[Pair], Verdict]) -> int:
    """Prints a line as soon as a pair is judged; what could not be follows."""
    verdicts: list[Verdict] = []
    failures: list[str] = []
    print(HEADER, flush=True)
    for pair in found:
        try:
            verdicts.append(judge(pair))
            print(line(verdicts[-1]), flush=True)
        except MissingError as missing:
            failures.append(f"{pair.name}: not run: {missing}")
        except Exception:
            failures.append(f"{pair.name}: {traceback.format_exc()}")
    print(f"\n{summary(verdicts)}")
    for failure in failures:
        print(failure, file=sys.stderr)
    return int(bool(failures))


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
