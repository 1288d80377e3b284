"""Writes what a run of experiments leaves: experiments.html and experiments.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from logpost.dashboards.report.experiments import write_experiments
from logpost.errors import InputError
from logpost.experiments.framework.host import host_lines
from logpost.experiments.framework.markdown import markdown
from logpost.experiments.framework.page import page_of
from logpost.experiments.framework.runner import Outcome
from logpost.whole_file import write_whole


@dataclass(frozen=True)
class Written:
    """What was written, and on which host."""

    paths: tuple[Path, ...]
    host: tuple[str, ...]


def prepare(folder: Path) -> None:
    """Make the folder before anything runs for minutes.

    Raises:
        InputError: it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be created ({error.strerror}); choose another with -o") from None


def pages(outcomes: Sequence[Outcome], folder: Path, command: str, *, quick: bool, html: bool = False) -> Written:
    """Write both pages, or only that with the figures, into `folder`.

    Raises:
        InputError: a page cannot be written.
    """
    host = host_lines()
    figures, text = folder / "experiments.html", folder / "experiments.md"
    write_experiments(page_of(outcomes, command, host, quick=quick), figures)
    if html:
        return Written((figures,), tuple(host))
    write_whole(text, markdown(outcomes, command, host))
    return Written((figures, text), tuple(host))
