"""What recording adds to a call, of each collector: at most 40 ns, in one table.

The smallest of many short blocks stands for a quiet machine; two ranks need a core each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.benchmarks import _overhead_coarray, _overhead_files, _overhead_mpi, _overhead_regions, _overhead_shmem
from tests.benchmarks._overhead import show

COLLECTORS = {
    "pmpi": _overhead_mpi.rows,
    "shmem": _overhead_shmem.rows,
    "coarray": _overhead_coarray.rows,
    "regions": _overhead_regions.rows,
    "files": _overhead_files.rows,
}


def main(options: Sequence[str] = ()) -> int:
    """Print the table; 1 when a bar is missed, or nothing could be measured."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks overhead", description=__doc__)
    parser.add_argument("--only", choices=COLLECTORS, help="this collector's rows alone")
    only = parser.parse_args(options).only
    chosen = [COLLECTORS[only]] if only else COLLECTORS.values()
    return int(show(row for rows in chosen for row in rows()) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
