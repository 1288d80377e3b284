"""OVL's exhaustive search on the machine that the experiments run on, with the model fed by its calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logpost.errors import InputError
from logpost.experiments.framework.context import Context
from logpost.experiments.support.overlap_runs import Decomposed, Searched, choice, decompositions
from logpost.experiments.support.this_machine import Program, calibrated, locality, run_here

if TYPE_CHECKING:
    from logpost.machines.calibration.compose import Calibration
    from logpost.replay.models.overlap_profile import OverlapProfile

PEERS = ("--mechanism", "two-sided", "--topology", "multiple", "--peers", "1")
MORE_WORK = 9


def search_here(context: Context) -> list[Searched]:
    """Exhaustive search for some volumes, times in us.

    Raises:
        InputError: no MPI, or a calibration without o(S, b) or G(P, S).
    """
    profile = here_profile(calibrated(context))
    found = []
    for V in context.size((2**17, 2**20), (2**17,)):
        cases = decompositions(V, context.size(64, 16), context.size((1, 4, 16), (1, 8)))
        whole = Decomposed(V, V, 1)
        programs = [_program(context, case) for case in cases]
        programs += [_program(context, whole, "A"), _program(context, whole, "A", MORE_WORK)]
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


def here_profile(calibration: Calibration) -> OverlapProfile:
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
            raise InputError(f"the calibration of this machine has no {name}: the overlap model cannot be used")
    depth = calibration.machine.overlap.HD
    assert latency is not None
    return OverlapProfile.from_tables(
        overhead=[(float(S), float(b), sides["send"][S, b] + sides["receive"][S, b]) for S, b in sorted(both)],
        gap=[(float(g.processors), float(g.size), "N", "l", g.G.value * 1e6) for g in gaps if g.level == "lowest"],
        L_roundtrip=2.0 * latency.base() * 1e-6,
        unit=MICROSECOND,
        HD=float("inf") if depth is None else depth.base(),
    )
