"""Words that the project's names, comments, messages and documentation do not use: `words.txt`.

`python packaging/words.py` prints each of them with what to write instead.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = "packaging/words.txt"
UNREAD = (
    WORDS,
    "tests/packaging/test_words.py",
    "tests/data/*",
    "machines/library/*",
    "docs/tutorial/*",
    "*.pyi",
    "*.ipynb",
    "*.svg",
    "LICENSE*",
)
"""Data, quotations of sources, and stubs, whose text is that of the bindings."""

_EDGE = {"start": r"(?<![^\W_])", "end": r"(?![^\W_])"}
_BLANK = r"(?:[^\S\n_]|_|(?<=[^\n])\n[^\S\n]*(?://+!?<?|#|\*)?(?=[^\n]))+"


@dataclass(frozen=True)
class Word:
    """A line of `words.txt`."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True)
class Hit:
    """A word in a file."""

    line: int
    text: str
    instead: str


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of `words.txt`, whose edges of words and blanks hold in names and comments, too.

    An edge is one of two: at the start of a word, no letter is before it; at its end, none behind it.
    """
    edges = iter(re.split(r"\\b", pattern))
    text = next(edges)
    for part in edges:
        starts = re.match(r"[\w(_]", part) is not None and not part.startswith(("(?!", "(?=", "(?<"))
        text += _EDGE["start" if starts else "end"] + part
    # A look behind has a fixed width: a blank in it stays one.
    pieces = re.split(r"(\(\?<[!=][^)]*\))", text)
    text = "".join(one if one.startswith(("(?<!", "(?<=")) else one.replace(" ", _BLANK) for one in pieces)
    flags = re.MULTILINE if re.search(r"(?<!\\)[A-Z]", pattern) else re.MULTILINE | re.IGNORECASE
    return re.compile(text, flags)


def words(root: Path) -> list[Word]:
    """The lines of `words.txt`.

    Raises:
        ValueError: a line has no replacement.
    """
    found = []
    for number, line in enumerate((root / WORDS).read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        pattern, _, instead = line.rpartition(" => ")
        if not pattern or not instead:
            raise ValueError(f"{WORDS}:{number}: has no replacement; write PATTERN => REPLACEMENT")
        found.append(Word(compiled(pattern), instead))
    return found


def hits(text: str, forbidden: Iterable[Word]) -> list[Hit]:
    """Every forbidden word of a text, in order."""
    found = [
        Hit(text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), word.instead)
        for word in forbidden
        for match in word.pattern.finditer(text)
    ]
    return sorted(found, key=lambda hit: hit.line)


@cache
def _read(name: str) -> bool:
    return not any(fnmatch(name, pattern) for pattern in UNREAD)


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """Path and text of every file of the project whose words count."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    for name in sorted(set(filter(None, listed.split("\0")))):
        path = root / name
        if not _read(name) or path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            yield name, data.decode("utf-8", "replace")


def complaints(root: Path) -> list[str]:
    """A line for each forbidden word of a file or its path."""
    forbidden = words(root)
    return [
        f"{name}:{hit.line}: {hit.text!r}; rather: {hit.instead}"
        for name, text in texts(root)
        for hit in (*hits(name, forbidden), *hits(text, forbidden))
    ]


def main(root: Path = ROOT) -> int:
    """Exit status: 1 where a file has one of the words."""
    said = complaints(root)
    print(*said, sep="\n", end="\n" if said else "")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
