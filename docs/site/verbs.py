"""Generate a page of each verb from its help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from logpost.cli.app import build
from logpost.cli.overview import EXIT_STATUS, VERBS

PAGES = [f"verbs/{verb}.md" for verb in VERBS]


def write(pages: Path) -> None:
    """Write a page of each verb below `pages`."""
    for verb, page in zip(VERBS, PAGES, strict=True):
        (pages / page).parent.mkdir(parents=True, exist_ok=True)
        (pages / page).write_text(text_of(verb), encoding="utf-8")


def text_of(verb: str) -> str:
    """The page of a verb; the verbs of a group are its sections."""
    app: Any = typer.main.get_command(build(verb))
    command = app.commands[verb]
    parts = list(_command(f"logpost {verb}", command))
    for name, part in getattr(command, "commands", {}).items():
        parts += [f"## {verb} {name}", *_command(f"logpost {verb} {name}", part)]
    return "\n\n".join([f"# {verb}", *parts, f"Exit status: {EXIT_STATUS}."]) + "\n"


def _command(words: str, command: Any) -> Iterator[str]:
    paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n|(?=Example: )", (command.help or "").strip())]
    examples = [one.removeprefix("Example: ") for one in paragraphs if one.startswith("Example: ")]
    yield from (_escaped(one) for one in paragraphs if one and not one.startswith("Example: "))
    if examples:
        yield "```sh\n" + "\n".join(examples) + "\n```"
    if getattr(command, "commands", None):
        return
    context = typer.Context(command, info_name=words)
    rows = []
    for one in command.params:
        if one.param_type_name == "argument":
            name, said = one.metavar or one.name.upper(), one.help or ""
        elif one.hidden:
            continue
        else:
            name, said = one.get_help_record(context)
            name = name.replace(" <bool>", "")
        rows.append(f"| `{name.replace('|', chr(92) + '|')}` | {_escaped(' '.join(said.split()))} |")
    if rows:
        yield "| argument or option | what |\n|---|---|\n" + "\n".join(rows)


def _escaped(text: str) -> str:
    return re.sub(r"([<>|*_\[\]])", r"\\\1", text)
