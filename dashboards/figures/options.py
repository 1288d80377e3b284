"""Options of the command line in sentences: a browser would break a line behind their hyphens.

They are marked for a style (class `option`) and keep their characters, so that a copy is valid in a shell; a
hyphen that does not break would be another character.
"""

from __future__ import annotations

import re

from markupsafe import Markup

from logpost.dashboards.figures.labels import prose

OPTION = re.compile(r"(?<![\w/-])(--[a-z][a-z0-9-]{1,30})(?![\w-])")
"""Short enough for a line: a longer word is a name from a trace, which may break anywhere."""


def pieces(text: str) -> list[str]:
    """Sentences as `prose` has them, in pieces: every second one is an option."""
    return OPTION.split(prose(text))


def marked(text: str) -> Markup:
    """Sentences for a page, with options that do not break."""
    return Markup("").join(
        Markup('<span class="option">{}</span>').format(piece) if i % 2 else piece
        for i, piece in enumerate(pieces(text))
    )
