"""The one exception that the command line turns into a line on stderr and exit status 2."""

from __future__ import annotations


class InputError(Exception):
    """Bad input from a user: an archive, a file, a value.

    The message is one line and says what is wrong, which value it is, and the way out
    ("run.lp already exists; pass --force to overwrite it").
    """

    def __str__(self) -> str:
        """The message with line breaks folded, so that it stays one line whatever it quotes."""
        return " ".join(super().__str__().split())
