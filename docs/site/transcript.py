"""Run the commands of a page and put what they print below them: no output of the documentation is typed by hand.

A fenced block ` ```console ` holds commands after `$ `. All of a page run in order, in one folder. A line
`<!-- timeline RUN -->` becomes the timeline of a run that an earlier command wrote.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from logpost.errors import InputError

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIMELINE = re.compile(r"^<!-- timeline (\S+) -->$", re.MULTILINE)


def transcribed(page: str, folder: Path, timeline: Callable[[Path], str]) -> str:
    """The page with the output of its commands, which run in `folder`, and with timelines as HTML.

    Raises:
        InputError: a command ends with another exit status than 0.
    """

    def block(match: re.Match[str]) -> str:
        lines = [line for line in match[1].splitlines() if line.startswith("$ ")]
        shown = "".join(f"{line}\n{output(line[2:], folder)}" for line in lines)
        return f"```console\n{shown}```"

    ran = _BLOCK.sub(block, page)
    return _TIMELINE.sub(lambda match: timeline(folder / match[1]), ran)


def output(command: str, folder: Path) -> str:
    """What a shell command prints in a folder, without trailing blanks; `logpost` is the one that runs this.

    Raises:
        InputError: it ends with another exit status than 0.
    """
    tools = folder / ".bin"
    if not tools.exists():
        tools.mkdir()
        (tools / "logpost").write_text(f'#!/bin/sh\nexec {sys.executable} -m logpost.cli.app "$@"\n', encoding="utf-8")
        (tools / "logpost").chmod(0o755)
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": paths, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise InputError(f"{command}: ended with exit status {done.returncode}: {done.stdout.strip()[-500:]}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
