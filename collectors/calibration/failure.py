"""Explain a failed launcher: the sentence of its output that names the problem, and a way out."""

from __future__ import annotations

import re

OURS = "calibration: "
"""What the lines of the calibration programs begin with."""
_RULE = re.compile(r"[-=*]{10,}")
_TROUBLE = re.compile(
    "error|cannot|couldn't|could not|unable|fail|fault|abort|not found|no such|not enough|as root|unrecogni|unknown"
    "|invalid",
    re.IGNORECASE,
)
_LONGEST = 240
"""Characters of what a launcher wrote."""
_WAYS_OUT = (
    (
        "at least 2 ranks",
        "if the launcher started more, the compiler belongs to another MPI: pass the right one with --compiler",
    ),
    ("run as root", "set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, or run as another user"),
    ("not enough slots", "start fewer ranks, or name more hosts"),
)


def trouble(stdout: str, stderr: str) -> str:
    """Empty when nothing was written about any.

    A line of our own programs is preferred; else the first sentence that sounds like trouble, on stderr and then on
    stdout; else the last one of either.
    """
    sentences, more = _sentences(stderr), _sentences(stdout)
    last = (sentences or more)[-1:]
    sentences += more
    ours = [sentence for sentence in sentences if sentence.startswith(OURS)]
    sounding = [sentence for sentence in sentences if _TROUBLE.search(sentence)]
    chosen = (ours[-1:] or sounding or last or [""])[0].rstrip(".:")
    shown = chosen if len(chosen) <= _LONGEST else f"{chosen[:_LONGEST].rstrip()} …"
    ways = [way for sign, way in _WAYS_OUT if sign in chosen]
    return "; ".join([shown, *ways])


def _sentences(written: str) -> list[str]:
    """Lines; within a banner (Open MPI's text between two rules) paragraphs, because it breaks its lines."""
    found: list[str] = []
    in_banner = continues = False
    for line in (raw.strip() for raw in written.splitlines()):
        if _RULE.fullmatch(line):
            in_banner, continues = not in_banner, False
        elif not line.strip("-*= "):
            continues = False
        elif in_banner and continues:
            found[-1] += f" {line}"
        else:
            found.append(line)
            continues = True
    return found
