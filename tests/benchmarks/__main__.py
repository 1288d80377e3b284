"""`python -m tests.benchmarks [NAME...] [--OPTION VALUE...]`: runs every benchmark of this folder, or those that are
named; the options are for the one that is named."""

from __future__ import annotations

import importlib
import pkgutil
import sys
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
    missed = 0
    for name in wanted:
        print(f"== {name}", flush=True)
        benchmark = importlib.import_module(f"tests.benchmarks.{name}").main
        missed += int(benchmark(options) if options else benchmark())
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
