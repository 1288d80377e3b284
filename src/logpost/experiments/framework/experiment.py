"""What an experiment is: its name, its place in a paper, what it needs, and the function that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Result
from logpost.replay.models import papers
from logpost.replay.models.papers.items import ITEMS

_TITLES = {paper.key: paper.title for paper in papers.PAPERS}
PAPERS: dict[str, str] = {key: _TITLES[key] for key in ITEMS}
"""Key -> authors and title, in the order in which their experiments are run and shown."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment of a paper."""

    name: str
    """Of the command line: the file's, with dashes."""
    title: str
    """One line: what is compared with what."""
    paper: str
    """A key of PAPERS."""
    where: str
    """Table or figure, and section: "Table 4, section 5.1"."""
    run: Callable[[Context], Result]
    needs: tuple[Need, ...] = ()
    order: int = 0
    """Among the experiments of its paper."""
