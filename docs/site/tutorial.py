"""Make the page of the tutorial: its commands run next to its packed archives, each with its output below."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from catalogue import SCRIPT, figure
from stage import ROOT
from transcript import transcribed

import logpost

PAGE = "docs/tutorial.md"
ARCHIVES = ROOT / "docs" / "tutorial"


def write(pages: Path, work: Path) -> None:
    """Write the page below `pages`; its commands run in `work`.

    Raises:
        InputError: a command ends with another exit status than 0.
    """
    work.mkdir(parents=True, exist_ok=True)
    for packed in ARCHIVES.glob("*.tar.xz"):
        shutil.copy(packed, work)
    text = transcribed((ROOT / PAGE).read_text(encoding="utf-8"), work, _timeline)
    (pages / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (pages / PAGE).write_text(text, encoding="utf-8")


def unpack(work: Path) -> None:
    """The archives of the tutorial's two orders of communication, in `work`."""
    for packed in sorted(ARCHIVES.glob("*.tar.xz")):
        with tarfile.open(packed) as tar:
            # Debian 12's Python 3.11.2 has no filters; the files are the repository's own.
            if hasattr(tarfile, "data_filter"):
                tar.extraction_filter = tarfile.data_filter
            tar.extractall(work)


def _timeline(run: Path) -> str:
    """Each row is a rank, each colour what took most of its time then."""
    return f'<script src="../{SCRIPT}"></script>\n\n{figure(logpost.open_run(run), run.stem)}'
