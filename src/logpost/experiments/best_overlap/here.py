"""OVL's exhaustive search on the machine that the experiments run on, with the model fed by its calibration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from logpost.errors import InputError
from logpost.experiments.best_overlap.decomposition import Decomposed, case_text, decompositions, size_text, whole
from logpost.experiments.best_overlap.loss_map import loss_map
from logpost.experiments.best_overlap.search import Searched, choice, choices_cells, loss_cell, times_cells
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Claim, Column, Figure, Number, Origin, Part, Table
from logpost.experiments.support.launches import Program, run_here
from logpost.experiments.support.this_machine import calibrated, locality

if TYPE_CHECKING:
    from logpost.machines.calibration.compose import Calibration
    from logpost.replay.models.overlap_profile import OverlapProfile

PEERS = ("--mechanism", "two-sided", "--topology", "multiple", "--peers", "1")
MORE_WORK = 9
"""Passes over the data, to separate a pass from the rest of the program; the result is time over passes."""


def this_machine(context: Context) -> Part:
    """The search, or why there is none."""
    try:
        searches = _search(context)
    except InputError as error:
        return Part(tables=(Table("This machine", (Column("not measured", Origin.SETTING),), ((str(error),),)),))
    claims = _overheads(_profile(calibrated(context)), context)
    table = Table(
        "This machine, two ranks that fetch from each other, two-sided MPI",
        (
            Column("problem", Origin.SETTING),
            Column("t_V / G V", Origin.DERIVED),
            Column("best S × b", Origin.SETTING),
            Column("model's S × b", Origin.SETTING),
            Column("blocking", Origin.MEASURED),
            Column("best", Origin.MEASURED),
            Column("model's choice", Origin.MEASURED),
            Column("loss", Origin.DERIVED),
        ),
        tuple(
            (
                f"V = {size_text(one.V)}",
                Number(one.ratio, digits=2),
                *choices_cells(one),
                *times_cells(one),
                loss_cell(one, one.chosen),
            )
            for one in searches
        ),
        note="o(S, b), G(2, S) and L from this machine's calibration. Messages through shared memory are "
        "copied by the processors, so there is nothing to overlap with: what finer messages gain is cache.",
    )
    tables = (table, _then_and_now(_profile(calibrated(context))))
    if len(searches) == 1:
        return Part(tables=tables, claims=claims)
    last = searches[-1]
    said = f"Best {case_text(last.best)}, model's choice {case_text(last.chosen)}."
    return Part(
        tables=tables,
        claims=claims,
        figures=(Figure("This machine: loss of each decomposition", loss_map(searches, said)),),
    )


def _then_and_now(profile: OverlapProfile) -> Table:
    """The values that 2.1 prints, and this machine's."""
    from logpost.machines import load_machine

    machines = [load_machine(name) for name in ("elan3", "elan4", "infiniband_opteron")]
    classes = [one.loggp.of("other_node") for one in machines]
    latencies = [None if one is None else one.range[0].round_trip_L for one in classes]
    depths = [one.overlap.HD for one in machines]
    here = profile.L_roundtrip
    return Table(
        "Values of overlap, then and now",
        (
            Column("quantity", Origin.SETTING),
            *(Column(one.title, Origin.PAPER) for one in machines),
            Column("this machine", Origin.MEASURED),
        ),
        (
            (
                "L, round trip",
                *(None if L is None else Number(L.base() * 1e-6, "us") for L in latencies),
                None if callable(here) else Number(here, "us"),
            ),
            (
                "queue depth HD",
                *(None if HD is None else Number(HD.base()) for HD in depths),
                "none found" if math.isinf(profile.HD) else Number(profile.HD),
            ),
        ),
        note="o(S, b) and G(P, S) of the paper's machines are graphs.",
    )


def _overheads(profile: OverlapProfile, context: Context) -> tuple[Claim, ...]:
    """What 2.1 says of o(S, b) on "all networks", of this machine's."""
    sizes = context.size((8, 512, 4096, 32768, 262144), (8, 4096))
    bursts = context.size((1, 4, 16, 64), (1, 4, 16))
    by_size = [float(profile.o(float(S), float(bursts[-1]))) for S in sizes]
    falls = [1.0 - float(profile.o(float(S), float(bursts[-1]))) / float(profile.o(float(S), 1.0)) for S in sizes]
    return (
        Claim(
            "For a fixed burst o grows with the size of the message (this machine)",
            "for all networks",
            ", ".join(f"{o:.3g} us at {size_text(S)}" for S, o in zip(sizes, by_size, strict=True))
            + f", b = {bursts[-1]}",
            by_size == sorted(by_size),
            reason="messages beyond the eager limit are only announced when they are initiated",
        ),
        Claim(
            "For a fixed size o falls with the burst (this machine)",
            "by around 30 % below 128 KB",
            ", ".join(f"{100 * fall:.0f} % at {size_text(S)}" for S, fall in zip(sizes, falls, strict=True))
            + f", b from 1 to {bursts[-1]}",
            min(falls) > 0.0,
            reason="messages through shared memory are copied by the processor that initiates them, one by one",
        ),
    )


def _search(context: Context) -> list[Searched]:
    """Exhaustive search for some volumes, times in us.

    Raises:
        InputError: no MPI, or a calibration without o(S, b) or G(P, S).
    """
    profile = _profile(calibrated(context))
    found = []
    for V in context.size((2**17, 2**20), (2**17,)):
        cases = decompositions(V, context.size(64, 16), context.size((1, 4, 16), (1, 8)))
        programs = [_program(context, case) for case in cases]
        programs += [_program(context, whole(V), "A"), _program(context, whole(V), "A", MORE_WORK)]
        runs = run_here(context, f"overlap of {V} B on this machine", programs, 2)
        *measured, base, more = (one["fastest_us"].least for one in runs)
        times = dict(zip(cases, measured, strict=True))
        # Each pass over the data costs the same: t_V from a program with more of them.
        t_V = max(more - base, 0.0) / (MORE_WORK - 1)
        communication = float(profile.G(2.0, V)) * V
        found.append(Searched(V, t_V / communication, base, times, choice(profile, V, t_V, "balanced", times)))
    return found


def _program(context: Context, case: Decomposed, pattern: str = "E", work: int = 1) -> Program:
    arguments = ("--pattern", pattern, *PEERS, "--work", str(work), "--repeat", str(context.size(100, 20)))
    return Program("overlap", (*arguments, "--volume", str(case.V), "--size", str(case.S), "--burst", str(case.b)), 2)


def _profile(calibration: Calibration) -> OverlapProfile:
    """o(S, b) = o_s + o_r (initiation of a send and of a receive), G(P, S) and L, us.

    Raises:
        InputError: what the calibration lacks.
    """
    from logpost.replay.models.overlap_profile import OverlapProfile
    from logpost.replay.models.units import MICROSECOND

    samples, where = calibration.samples, locality(calibration.machine)
    sides = {
        side: {
            (s.bytes, int(s["burst"])): s.time.median_s * 1e6
            for s in samples.of("burst_overhead", locality=where, side=side)
        }
        for side in ("send", "receive")
    }
    both = sides["send"].keys() & sides["receive"].keys()
    gaps = [gap for gap in calibration.gaps if gap.pattern == "nearest-neighbour"]
    table = calibration.machine.loggp.of(where)
    latency = None if table is None else next((r.L for r in table.range if r.L is not None), None)
    for name, known in (("o(S, b)", both), ("G(P, S)", gaps), ("L", latency)):
        if not known:
            raise InputError(f"the calibration of this machine has no {name}, which the overlap model needs")
    depth = calibration.machine.overlap.HD
    assert latency is not None
    return OverlapProfile.from_tables(
        overhead=[(float(S), float(b), sides["send"][S, b] + sides["receive"][S, b]) for S, b in sorted(both)],
        gap=[(float(g.processors), float(g.size), "N", "l", g.G.value * 1e6) for g in gaps if g.level == "lowest"],
        L_roundtrip=2.0 * latency.base() * 1e-6,
        unit=MICROSECOND,
        HD=float("inf") if depth is None else depth.base(),
    )
