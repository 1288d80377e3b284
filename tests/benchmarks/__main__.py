"""`python -m tests.benchmarks [NAME...] [--OPTION VALUE...]`: runs every benchmark of this folder, or those that are
named; the options are for the one that is named. Ends with a table of the bars met and of each duration; one that
fails does not keep the others from running."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path


def main() -> int:
    """A benchmark is a module with `main()`, which prints a table of ratios and returns 1 where a bar is missed."""
    here = Path(__file__).parent
    names = sorted(module.name for module in pkgutil.iter_modules([str(here)]) if not module.name.startswith("_"))
    first = next((i for i, one in enumerate(sys.argv) if i > 0 and one.startswith("--")), len(sys.argv))
    named, options = sys.argv[1:first], sys.argv[first:]
    wanted = named or names
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        print(f"no benchmark called {', '.join(unknown)}; there are: {', '.join(names)}", file=sys.stderr)
        return 2
    if options and len(named) != 1:
        print(f"{options[0]}: name the one benchmark that it is for", file=sys.stderr)
        return 2
    if len(wanted) == 1:
        return _run(wanted[0], options)
    results = [(name, *_run_apart(name)) for name in wanted]
    print("== all")
    for name, result, seconds in results:
        print(f"{name:<16} {result:<12} {seconds / 60:6.1f} min")
    return 0 if all(result == MET for _, result, _ in results) else 1


MET = "bars met"
FAILED = 3
"""Exit status of a benchmark that did not finish."""


def _run(name: str, options: Sequence[str]) -> int:
    """Exit status of a benchmark."""
    print(f"== {name}", flush=True)
    try:
        benchmark = importlib.import_module(f"tests.benchmarks.{name}").main
        return int(bool(benchmark(options) if options else benchmark()))
    except Exception:
        traceback.print_exc()
        return FAILED


def _run_apart(name: str) -> tuple[str, float]:
    """The result of a benchmark, and its seconds, from a separate process: memory that one benchmark leaves behind
    would count as the next one's, and as that of every process that it starts."""
    began = time.monotonic()
    status = subprocess.run([sys.executable, "-m", "tests.benchmarks", name]).returncode
    return {0: MET, 1: "bars missed"}.get(status, "failed"), time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
