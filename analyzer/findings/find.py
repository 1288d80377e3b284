"""Every finder over one run. Apart from the package, so that a report, which needs its words, loads no arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import polars as pl

from logpost.analyzer.findings.combined import without_alternatives
from logpost.analyzer.findings.covered import with_coverage
from logpost.analyzer.findings.cures import (
    collective_cost,
    crowded_exchange,
    destination_order,
    every_root,
    hot_link,
    kept_handles,
    larger_blocks,
    larger_epochs,
    late_ranks,
    late_receiver,
    lock_epochs,
    long_visits,
    many_small_messages,
    missed_overlap,
    needless_barrier,
    needless_fence,
    one_exchange,
    receive_order,
    serial_distribution,
    serial_exchange,
    serial_part,
    shared_cores,
    shared_nic,
    spread_load,
    start_up_skew,
    strided_datatype,
    synchronous_sends,
    thread_imbalance,
    transfers_in_a_row,
    two_as_one,
    unattended,
    uneven_computation,
    uneven_steps,
    unexplained,
    wavefront,
    window_waits,
)
from logpost.analyzer.findings.evidence.root_causes import RootCauses
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MIN_SHARE, Finding, frame, in_order
from logpost.analyzer.findings.gain_interval import sure, with_intervals
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.manifest import Manifest

FINDERS: tuple[Callable[[Evidence], Iterable[Finding]], ...] = (
    hot_link.find,
    shared_nic.find,
    spread_load.find,
    shared_cores.find,
    uneven_computation.find,
    long_visits.find,
    uneven_steps.find,
    late_ranks.find,
    needless_barrier.find,
    needless_fence.find,
    thread_imbalance.find,
    serial_part.find,
    collective_cost.find,
    wavefront.find,
    start_up_skew.find,
    window_waits.find,
    strided_datatype.find,
    two_as_one.find,
    every_root.find,
    kept_handles.find,
    late_receiver.find,
    many_small_messages.find,
    larger_blocks.find,
    larger_epochs.find,
    unattended.find,
    missed_overlap.find,
    synchronous_sends.find,
    destination_order.find,
    crowded_exchange.find,
    receive_order.find,
    serial_exchange.find,
    serial_distribution.find,
    one_exchange.find,
    transfers_in_a_row.find,
    lock_epochs.find,
    unexplained.find,
)


def kinds_of(find: Callable[[Evidence], Iterable[Finding]]) -> tuple[str, ...]:
    """The kinds of findings that a finder reports."""
    cure = sys.modules[find.__module__]
    kinds: tuple[str, ...] = getattr(cure, "KINDS", None) or (cure.KIND,)
    return kinds


def find_all(
    tables: Mapping[str, pl.LazyFrame],
    manifest: Manifest,
    run: Run | None = None,
    concurrent: int | None = None,
    faults: Faults | None = None,
) -> pl.DataFrame:
    """Every finding of a run, the one that gains most first, as a frame of `schema.FINDINGS`.

    Arguments:
        tables: every other table of `schema.TABLES`, lazily; `messages` may have 10^7 rows and is read in chunks, by
            columns, and only where the small tables say that a pattern could cost anything.
        manifest: of the run; its windows, hosts and machine are used.
        run: whose program is replayed on its machine; None: no replay but of measured times.
        concurrent: how many finders may read tables at the same time; None: all.
        faults: collects what fails; None: that raises.
    """
    faults = faults or Faults(raises=True)
    evidence = Evidence(tables, manifest, run=run)
    if evidence.slowest_program_ps == 0:
        return frame([], {})
    said = stated(evidence, concurrent, faults)
    whole = sum(evidence.program_ps.values())
    return frame(faults.guard("coverage", lambda: with_coverage(said, whole), said), evidence.places)


def stated(evidence: Evidence, concurrent: int | None = None, faults: Faults | None = None) -> list[Finding]:
    """The findings that a run states, with the intervals of their gains."""
    faults = faults or Faults(raises=True)
    found = with_intervals(evidence, findings_of(evidence, concurrent, faults), faults)
    return [one for one in found if faults.guard(f"words of {one.kind}", partial(_is_said, one, evidence), False)]


def findings_of(evidence: Evidence, concurrent: int | None = None, faults: Faults | None = None) -> list[Finding]:
    """The same as findings, with what only the analysis has, in the order of the table; without the
    intervals of those gains whose statement does not depend on them."""
    faults = faults or Faults(raises=True)

    def found_by(find: Callable[[Evidence], Iterable[Finding]]) -> list[Finding]:
        return faults.guard(f"finder {find.__module__.rpartition('.')[2]}", lambda: list(find(evidence)), [])

    # Side by side: each waits for tables by turns, and what they share is only read.
    with ThreadPoolExecutor(max_workers=min(concurrent or len(FINDERS), len(FINDERS))) as pool:
        found = pool.map(found_by, FINDERS)
        every = [finding for findings in found for finding in findings if finding.gain >= MIN_SHARE]
    every = sure(evidence, every, faults)
    every = faults.guard("combining of cures", lambda: without_alternatives(every), every)
    return in_order(faults.guard("causes of findings", lambda: RootCauses(evidence).of(every), every))


def _is_said(finding: Finding, evidence: Evidence) -> bool:
    """Whether words are made from it, and no error."""
    return not frame([finding], evidence.places).is_empty()
