"""Whether waits contain scheduling: time in which the awaited rank had no core."""

from __future__ import annotations

from logpost.analyzer.findings.finding import NOISE
from logpost.analyzer.run.manifest import Hosts


def scheduled(hosts: Hosts) -> str:
    """Why waits contain scheduling: ranks outnumber cores somewhere, or had none for more than noise; empty: they do
    not contain it, as far as is known."""
    if hosts.oversubscribed is True:
        return "ranks outnumber cores"
    if (hosts.without_core or 0.0) > NOISE:
        return "ranks had no core at times"
    return ""
