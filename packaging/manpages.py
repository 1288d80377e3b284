"""Write the manual pages, logpost(1) and one of each verb, from the command line's own help.

usage: python packaging/manpages.py FOLDER    `man -l FOLDER/logpost.1` shows one
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

import logpost
from logpost.cli.app import build
from logpost.cli.overview import EXAMPLE, EXIT_STATUS, OPTIONS, VERBS


def pages() -> Iterator[tuple[str, str]]:
    """Each page's file name and its text."""
    yield "logpost.1", _overview()
    for verb in VERBS:
        app: Any = typer.main.get_command(build(verb))
        yield f"logpost-{verb}.1", _verb(verb, app.commands[verb])


def _overview() -> str:
    return _page(
        "logpost",
        "analyze the communication of MPI and PGAS programs",
        [
            ("SYNOPSIS", [".B logpost", ".I VERB", "[OPTIONS] [ARGUMENTS]..."]),
            ("DESCRIPTION", _paragraphs(logpost.__doc__ or "")),
            ("VERBS", [line for verb, text in VERBS.items() for line in _item(f"logpost-{verb}(1)", text)]),
            ("OPTIONS", [line for names, text in OPTIONS.items() for line in _item(names, text)]),
            ("EXAMPLES", _examples([EXAMPLE])),
            ("EXIT STATUS", [_escaped(EXIT_STATUS)]),
        ],
    )


def _verb(verb: str, command: Any) -> str:
    """The page of a verb; the verbs of a group are sections."""
    name = f"logpost-{verb}"
    parts = getattr(command, "commands", {})
    if not parts:
        return _page(name, VERBS[verb], [*_command(f"logpost {verb}", command), _see_also()])
    text, examples = _help(command)
    sections = [("SYNOPSIS", [f".B logpost {verb}", ".I VERB", "[OPTIONS] [ARGUMENTS]..."])]
    sections.append(("DESCRIPTION", [*_paragraphs(text), *_examples(examples)]))
    for part, one in parts.items():
        own = _command(f"logpost {verb} {part}", one)
        sections.append((f"LOGPOST {verb} {part}".upper(), [line for _, lines in own for line in lines]))
    return _page(name, VERBS[verb], [*sections, _see_also()])


def _command(words: str, command: Any) -> list[tuple[str, list[str]]]:
    """Synopsis, description, options and examples of one command."""
    text, examples = _help(command)
    context = typer.Context(command)
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    records = [(_argument(one), one.help or "") for one in arguments]
    options = (one for one in command.params if one.param_type_name == "option" and not one.hidden)
    shown = (one.get_help_record(context) for one in options)
    records += [(names.replace(" <bool>", ""), said) for names, said in shown]
    named = " ".join(map(_argument, arguments))
    return [
        ("SYNOPSIS", [".PP", f".B {words}", _escaped(f"[OPTIONS] {named}".strip())]),
        ("DESCRIPTION", [".PP", *_paragraphs(text)]),
        ("ARGUMENTS AND OPTIONS", [line for names, said in records for line in _item(names, said)]),
        ("EXAMPLES", _examples(examples)),
    ]


def _argument(argument: Any) -> str:
    """As in a synopsis: `[NAME]...`."""
    name = str(argument.metavar or argument.name.upper())
    name = name if argument.required or name.startswith("[") else f"[{name}]"
    return name if argument.nargs == 1 or name.endswith("...") else f"{name}..."


def _help(command: Any) -> tuple[str, list[str]]:
    """The description without its examples, and these."""
    paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n|(?=Example: )", (command.help or "").strip())]
    examples = [one.partition(": ")[2] for one in paragraphs if one.startswith(("Example: ", "Then: "))]
    return "\n\n".join(one for one in paragraphs if not one.startswith(("Example: ", "Then: "))), examples


def _see_also() -> tuple[str, list[str]]:
    return "SEE ALSO", [".BR logpost (1)"]


def _page(name: str, summary: str, sections: Iterable[tuple[str, list[str]]]) -> str:
    """A page of man(7) macros; it has no date, so that the same version makes the same bytes."""
    head = [
        f'.TH {name.upper()} 1 "" "logpost {logpost.__version__}" "User Commands"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(summary.rstrip('.'))}",
    ]
    body = [line for title, lines in sections if lines for line in (f'.SH "{title}"', *_without_first_break(lines))]
    return "\n".join([*head, *body]) + "\n"


def _without_first_break(lines: list[str]) -> list[str]:
    """A section begins a paragraph."""
    return lines[1:] if lines and lines[0] == ".PP" else lines


def _paragraphs(text: str) -> list[str]:
    several = [_escaped(" ".join(one.split())) for one in text.split("\n\n") if one.strip()]
    return [line for one in several for line in (".PP", one)][1:]


def _item(term: str, text: str) -> list[str]:
    return [".TP", f".B {_escaped(term)}", _escaped(" ".join(text.split()) or "\\&")]


def _examples(examples: list[str]) -> list[str]:
    return [line for one in examples for line in (".PP", ".nf", _escaped(one), ".fi")]


def _escaped(text: str) -> str:
    """Text that troff prints as it is; backticks of the help are left out."""
    plain = text.replace("`", "").replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def write(folder: Path) -> None:
    """Write every page into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python packaging/manpages.py FOLDER")
    write(Path(sys.argv[1]))
