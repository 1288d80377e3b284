"""What an experiment is: its name, its place in a paper, what it needs, and the function that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Result

PAPERS: dict[str, str] = {
    "LOGPC": "Moritz & Frank, LoGPC: Modeling Network Contention in Message-Passing Programs",
    "SENS": "Chong et al., The Sensitivity of Communication Mechanisms to Bandwidth and Latency",
    "LOG3P": "Cameron, Ge & Sun, log_nP and log_3P",
    "OVL": "Iancu & Strohmaier, Optimizing Communication Overlap for High-Speed Networks",
    "LOGP": "Culler, Liu, Martin & Yoshikawa, LogP Performance Assessment of Fast Network Interfaces",
}
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
