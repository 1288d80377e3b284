"""The one exception that the command line turns into a line on stderr and exit status 2."""

from __future__ import annotations

from collections.abc import Iterable


class InputError(Exception):
    """Bad input from a user: an archive, a file, a value.

    The message is one line and says what is wrong, which value it is, and the way out
    ("run.lp already exists; pass --force to overwrite it").
    """

    def __str__(self) -> str:
        """The message with line breaks folded and control characters escaped: one line, whatever it quotes."""
        return printable(" ".join(super().__str__().split()))


def printable(text: str) -> str:
    """The text with control characters, and bytes that are no UTF-8 (as a path holds them), as backslash escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of an error's line: `; did you mean alewife?` for a name close to a known one, else nothing."""
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
