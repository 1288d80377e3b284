"""`python -m tests.benchmarks [NAME...]`: runs every benchmark of this folder, or those that are named."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path


def main() -> int:
    """A benchmark is a module with `main()`, which prints a table of ratios and returns 1 where a bar is missed."""
    here = Path(__file__).parent
    names = sorted(module.name for module in pkgutil.iter_modules([str(here)]) if not module.name.startswith("_"))
    wanted = sys.argv[1:] or names
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        print(f"no benchmark called {', '.join(unknown)}; there are: {', '.join(names)}", file=sys.stderr)
        return 2
    missed = 0
    for name in wanted:
        print(f"== {name}", flush=True)
        missed += int(importlib.import_module(f"tests.benchmarks.{name}").main())
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
