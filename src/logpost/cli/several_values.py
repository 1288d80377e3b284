"""Options that take all words up to the next option: `--with b1.run b2.run`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


def repeated(words: list[str], option: str) -> list[str]:
    """The words with `option` before each of its values, as click reads an option of several values."""
    out: list[str] = []
    inside = False
    for word in words:
        if inside and not word.startswith("-"):
            out += [word] if out[-1] == option else [option, word]
            continue
        inside = word == option or word.startswith(f"{option}=")
        out.append(word)
    return out


def with_several_values(option: str) -> type[TyperCommand]:
    """The class of a command whose `option` takes several values."""

    class Command(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, repeated(args, option))

    return Command
