"""The page of the papers' experiments: results that `logpost experiments run all` left, else what each compares."""

from __future__ import annotations

from pathlib import Path

from logpost.experiments.framework.markdown import markdown
from logpost.experiments.framework.registry import experiments
from logpost.experiments.framework.runner import Outcome

PAGE = "docs/experiments.md"
KEPT = "build/experiments"
COMMAND = f"logpost experiments run all -o {KEPT} --force"


def write(pages: Path, kept: Path) -> None:
    """Write the page below `pages`.

    Args:
        pages: the site's pages.
        kept: a folder with an `experiments.md`; without one, each section says how to get its results.
    """
    results = kept / "experiments.md"
    if results.exists():
        text = results.read_text(encoding="utf-8")
    else:
        reason = f"`{COMMAND}`, before `make docs`, puts the results here."
        outcomes = [Outcome(one, 0.0, reason=reason) for one in experiments().values()]
        text = markdown(outcomes, "make docs", ["no results, which need minutes, SimGrid and an MPI"])
    (pages / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (pages / PAGE).write_text(text, encoding="utf-8")
