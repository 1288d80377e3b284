"""The shell commands of the project's pages, block by block.

A block is fenced (` ```sh `) or indented by four spaces; of a job in YAML, it is the lines of each `script` and `run`.
Drawings, tables of files and Python are no commands; those of ` ```console ` run when the site is made.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", "machines/*.md", "collectors/**/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?<=\n\n)(?:    [^\n]*\n|\n(?=    ))+")
_PYTHON = re.compile(r"(?:from|import) ")


@dataclass(frozen=True)
class Block:
    """Commands that follow one another in one folder."""

    page: str
    number: int
    """the block's place among those of its page"""
    commands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}#{self.number}"


def blocks(page: str, language: str = "sh") -> list[Block]:
    """Those of a page, a path below the project's folder; `language` is `sh` or `python`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [several for several in _texts(text, language) if several]
    return [Block(page, number, tuple(several)) for number, several in enumerate(found, 1)]


def _texts(text: str, language: str) -> Iterator[list[str]]:
    for match in re.finditer(f"{_FENCE.pattern}|{_INDENTED.pattern}", text, _FENCE.flags):
        kind, fenced = match[1], match[2]
        if fenced is None:
            body = textwrap.dedent(match[0])
            kind = "python" if _PYTHON.match(body) else "sh"
        else:
            body = fenced
        if language == "python":
            if kind == "python":
                yield [body]
        elif kind == "yaml":
            for job in _scripts(yaml.safe_load(body)):
                yield _lines(job)
        elif kind == "sh":
            yield _lines(body)


def _lines(text: str) -> list[str]:
    """Commands without their comments; a script of several lines with conditions is one command."""
    if re.search(r"^(?:if|for|while|status=)", text, re.MULTILINE):
        return [text.strip()]
    commands = (re.sub(r"(?:^|\s{2,}|(?<=\S) )#.*", "", line).strip() for line in text.splitlines())
    return [command for command in commands if command]


def _scripts(node: object) -> Iterator[str]:
    """What a job of GitLab (`script`) or GitHub (`run`) runs."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "script" and isinstance(value, list):
                yield from map(str, value)
            elif key == "run":
                yield str(value)
            else:
                yield from _scripts(value)
    elif isinstance(node, list):
        for one in node:
            yield from _scripts(one)
