"""The papers' printed numbers, each with the value of logpost's models, and its assumption.

A claim computes its number on demand, by the models: nothing here is a stored result. Printed numbers are
documentation; a claim that does not reproduce stays, with what the formula gives instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from logpost.replay.models.papers.claim import Claim, Paper
from logpost.replay.models.papers.log3p import LOG3P
from logpost.replay.models.papers.logp import LOGP
from logpost.replay.models.papers.logpc import LOGPC
from logpost.replay.models.papers.ovl import OVL
from logpost.replay.models.papers.sens import SENS

PAPERS: tuple[Paper, ...] = (LOGPC, LOG3P, OVL, LOGP, SENS)


def all_claims() -> Iterator[tuple[Paper, Claim]]:
    """Every claim with its paper."""
    for paper in PAPERS:
        for claim in paper.claims:
            yield paper, claim


__all__ = ["PAPERS", "Claim", "Paper", "all_claims"]
