"""What the analysis writes of every archive and written program, as hashes: `python -m tests.oracle --help`.

A change of structure leaves all of it identical. Freeze before the change, compare after it; each difference is listed
with its reason in the commit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

from tests.oracle.hashes import frozen


def main(args: list[str]) -> int:
    """Writes or compares a file of hashes; 1 where one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("verb", choices=("freeze", "compare"))
    parser.add_argument("file", type=Path, help="JSON of hashes: written, or compared with")
    parser.add_argument("--logpost", default="", help="the command of another checkout; this one otherwise")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="archives at the same time")
    parser.add_argument("--only", default="", help="archives and programs whose names this regular expression matches")
    chosen = parser.parse_args(args)
    found = frozen(chosen.logpost.split(), chosen.jobs, chosen.only)
    if chosen.verb == "freeze":
        chosen.file.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
        print(f"{chosen.file}: {len(found)} hashes")
        return 0
    before = json.loads(chosen.file.read_text())
    before = {key: value for key, value in before.items() if re.search(chosen.only, key.split()[0])}
    differing = sorted(key for key in before.keys() | found.keys() if before.get(key) != found.get(key))
    for key in differing:
        print(f"{key}: {before.get(key, 'absent')} -> {found.get(key, 'absent')}")
    print(f"{len(differing)} of {len(before)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
