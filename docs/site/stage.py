"""Collect the pages of the site: those of its navigation, and every file of the project that these link to.

Pages keep their places, so that a link works in the repository and on the site alike, and no text exists twice.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
_PAGE = re.compile(r"^ +- .*?([\w./-]+\.md)$", re.MULTILINE)


def pages_of(config: str) -> list[str]:
    """Paths of the pages in the navigation of a mkdocs configuration."""
    return _PAGE.findall(config)


def stage(pages: Iterable[str], folder: Path) -> None:
    """Copy pages of the project, and what they link to, directly or not, to the same places under `folder`.

    A page that is already there was generated, and is only read for its links.
    """
    waiting = list(pages)
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        target = folder / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
        if not name.endswith(".md"):
            continue
        for link in _LINK.findall(target.read_text(encoding="utf-8")):
            if ":" in link:
                continue
            linked = (ROOT / name).parent.joinpath(link).resolve()
            path = linked.relative_to(ROOT).as_posix() if linked.is_relative_to(ROOT) else ""
            # What is neither a file nor a generated page is left to mkdocs, which reports the broken link.
            if path and path not in seen and (linked.is_file() or (folder / path).is_file()):
                seen.add(path)
                waiting.append(path)
