"""How sure a prediction is: what the machine's intervals and what the model does not explain make of it.

    interval = T - sqrt(sum of falls^2), T + sqrt(sum of rises^2)

- The machine: for each of its values that states an uncertainty and that the scenario changes, a replay at both ends.
  An end is another recorded machine: the graph is calibrated anew under it, since what of a measured time is latency
  depends on it, and the planned value moves along (`x4` of a longer latency adds more).
- The residual of messages on the predicted critical path, which the replay lets stay: as if it changed in the
  proportion in which the modelled communication on the path changes, at most once more or to nothing.
- What the path spends within calls that no model describes (`other`: nonblocking collective operations, polls; without
  start-up and finalization), and steps of negative duration (the recorded event was before the model's): as if all of
  it were the value that is changed; where that grows, what no model describes may also be a wait that it swallows.
  Where the scenario states a value that is unknown for the recorded machine, all of it may be that value's, and vanish.
- Gaps of collective operations: their messages queue at NICs among themselves, not with those that the trace shows.
  Each latency of a path with such an operation may wait for a gap.
- What the recorded times contradict of the model, on the recorded or the predicted path, as a share of what is modelled
  there, of the predicted change: the machine is too slow by it. The deficit of the split is another one: it knows
  rules that the replay does not take (networks that match synchronous sends), and messages that no rank waits for.
- The replay: REPLAYED, with contention CONTENDED, of the predicted change, or of what the steps of the predicted path
  take more and less, as a sum of both, where that is more: another network may make some messages faster, others
  slower.
  Where everything is explained, programs still take another order there.
- The library: where neither its profile nor the trace decides a property, up to what replays under its other
  alternatives find, summed over the properties. That is not an error of measurement, and is added as it is.
- Contention: what messages on the predicted path wait longer than as recorded, as far as the trace contradicts or does
  not confirm such waits on the machine that it was recorded on (`NetworkFit`), a fall; the time of messages there
  beyond the model, a rise. And up to what a replay finds in which messages share their sender's NIC instead of taking
  turns there, calibrated likewise: networks do either.
- Receives of any sender (`any_source`): each keeps the message that it took, where on the planned machine another one
  might arrive first. What messages in flight add to the path, or no longer do, is then hidden by none to all of it: up
  to the whole change, in the proportion of such receives among all.
- The clock: a step of it at each message and collective operation of the path, and at both ends.
- The order of messages, a fall, where the replay keeps the recorded one at every NIC: where messages overtake each
  other, the earlier one waits for the later one. A replay in which it does not takes less: by as much more than it does
  for the recorded scenario. Where NICs take messages as they arrive, what that changes towards the length in recorded
  order, and half of it to the other side: of messages that arrive at about the same time it hardly shows which one is
  first. Where an order is not taken because it is on the wrong side of the recorded length, up to that one's length.
  Where requests complete in a found order: how much longer or shorter the recorded program is in the order found for
  it. With contention, where requests complete in any order, a fall: how much longer the recorded program is in the
  order of the scenario's messages, since the recorded order costs as much there.

Unchanged, every term is 0. Where everything that changes costs more, no program is said to take less, and the other way
round (``direction``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.analyzer.predict.whatif.direction import bounded
from logpost.analyzer.predict.whatif.extract import Extract
from logpost.machines import LOCALITIES
from logpost.machines.parameters import COLUMNS
from logpost.replay.graph import Engine, Outcome, Scenario
from logpost.replay.graph.cost_direction import direction
from logpost.replay.graph.engine import ORDER_MATTERS

MODELLED = (
    "send_overhead",
    "latency",
    "serialization",
    "endpoint_contention",
    "network_contention",
    "recv_overhead",
    "handshake",
    "collective",
)
IN_FLIGHT = ("latency", "serialization", "endpoint_contention", "network_contention", "handshake")
REPLAYED = 0.05
"""How far a predicted change is off where nothing else is to blame: by less in three of four simulated predictions with
an exact machine (docs/accuracy.md)."""
CONTENDED = 0.1
"""The same where messages wait for NICs and links that others use: by less in 32 of the 46 predictions of another
length in the table of `tests.benchmarks network` (docs/accuracy.md); a choice, not a measured quantile."""
MOST_CALLS = 500_000
"""Larger programs are not calibrated anew at the ends of the machine's values: the change's error moves the planned
value alone."""


@dataclass(frozen=True)
class Doubts:
    """What a trace says of how well it is explained."""

    tick_ps: float
    recalibrates: bool
    """whether the program is small enough for it"""
    open_receives: float = 0.0
    """share of the messages whose receives named no sender and could have taken another one's"""

    @classmethod
    def of(cls, extract: Extract) -> Doubts:
        """Those of a run."""
        return cls(
            tick_ps=extract.tick_ps,
            recalibrates=extract.calls <= MOST_CALLS,
            open_receives=extract.open_receives / max(1, extract.messages),
        )


def interval_ps(engine: Engine, scenario: Scenario, before: Outcome, after: Outcome, doubts: Doubts) -> tuple[int, int]:
    """Lower and upper end of the predicted makespan."""
    return intervals_ps(engine, [scenario], before, [after], doubts)[0]


def intervals_ps(
    engine: Engine, scenarios: Sequence[Scenario], before: Outcome, afters: Sequence[Outcome], doubts: Doubts
) -> list[tuple[int, int]]:
    """The same of several scenarios, whose replays share their passes."""
    of_machine = _of_machine(engine, scenarios, afters, recalibrate=doubts.recalibrates)
    of_order = _of_order(engine, scenarios, before, afters)
    of_contention = _of_contention(engine, scenarios, afters)
    of_library = _of_library(engine, scenarios, afters)
    of_models = list(zip(of_contention, of_library, strict=True))
    return [
        _interval(engine, *one, before, doubts)
        for one in zip(scenarios, afters, of_machine, of_order, of_models, strict=True)
    ]


def _interval(
    engine: Engine,
    scenario: Scenario,
    after: Outcome,
    of_machine: Sequence[tuple[int, int]],
    of_order: float,
    of_models: tuple[tuple[float, float], tuple[int, int]],
    before: Outcome,
    doubts: Doubts,
) -> tuple[int, int]:
    rises = falls = 0.0
    for low, high in of_machine:
        rises += max(low, high, 0) ** 2
        falls += max(-low, -high, 0) ** 2
    falls += of_order**2
    order_rise, order_fall = _of_other_order(engine, after)
    rises, falls = rises + order_rise**2, falls + order_fall**2
    rise, fall = _of_unmodelled(engine.recorded, scenario, (before, after))
    rises, falls = rises + rise**2, falls + fall**2
    rise, fall = _of_open_receives(before, after, doubts.open_receives)
    rises, falls = rises + rise**2, falls + fall**2
    changed = max(abs(after.makespan_ps - before.makespan_ps), after.moved_ps)
    (contention_rise, contention_fall), (library_rise, library_fall) = of_models
    rises, falls = rises + contention_rise, falls + contention_fall
    clock = doubts.tick_ps * (after.path_messages + 2) if _differs(engine.recorded, scenario) else 0.0
    gaps = _of_gaps(engine.recorded, scenario, after)
    replayed = (CONTENDED if engine.contends(scenario) else REPLAYED) * changed
    misses = engine.order_misses * after.makespan_ps if _differs(engine.recorded, scenario) else 0.0
    for one in (
        _of_residual(before, after),
        _contradicted(before, after) * changed,
        replayed,
        gaps,
        misses,
        clock,
    ):
        rises += one**2
        falls += one**2
    interval = (
        max(0, math.floor(after.makespan_ps - math.sqrt(falls)) - library_fall),
        math.ceil(after.makespan_ps + math.sqrt(rises)) + library_rise,
    )
    towards = direction(engine.recorded, scenario)
    if not engine.contends(scenario):
        return bounded(interval, before.makespan_ps, after.makespan_ps, towards)
    # A link may be free because a message arrives later; no replay in recorded order shows whether it is.
    if (after.makespan_ps - before.makespan_ps) * towards < 0:
        return min(interval[0], before.makespan_ps), max(interval[1], before.makespan_ps)
    return interval


def _of_open_receives(before: Outcome, after: Outcome, share: float) -> tuple[float, float]:
    """Rise and fall of messages that receives of any sender would take in another order."""
    changed = after.makespan_ps - before.makespan_ps
    in_flight = sum(after.path_ps[part] - before.path_ps[part] for part in IN_FLIGHT)
    return share * max(0, min(-changed, -in_flight)), share * max(0, min(changed, in_flight))


def _of_other_order(engine: Engine, after: Outcome) -> tuple[float, float]:
    """Rise and fall of the order of messages and requests: up to the recorded one, which is certain to be possible, and
    half as far to the other side; where the recorded one is taken, up to the one that was found."""
    if engine.kept_ps is not None:
        apart = engine.kept_ps - after.makespan_ps
        return (apart, apart / 2) if apart > 0 else (-apart / 2, -apart)
    apart = 0 if engine.found_ps is None else engine.found_ps - after.makespan_ps
    return max(apart, 0), max(-apart, 0)


def _of_machine(
    engine: Engine, scenarios: Sequence[Scenario], afters: Sequence[Outcome], *, recalibrate: bool
) -> list[list[tuple[int, int]]]:
    """By scenario, what both ends of each value add to the makespan."""
    added: list[dict[tuple[str, float], int]] = [{} for _ in scenarios]
    passes: dict[tuple[str, float, bytes], tuple[Engine, list[int], list[Scenario]]] = {}
    for i, scenario in enumerate(scenarios):
        for column in COLUMNS:
            if not np.any(scenario.errors.get(column, np.zeros(1)) > 0):
                continue
            for sign in (-1.0, 1.0):
                if scenario.follows is None or not recalibrate:
                    by, moved = np.zeros(1), _moved(scenario, column, sign * scenario.errors[column])
                else:
                    by, moved = _at_end(engine.recorded, scenario, column, sign)
                key = (column, sign, by.tobytes())
                if key not in passes:
                    anew = engine.ran_as(_moved(engine.recorded, column, by)) if by.any() else engine
                    passes[key] = (anew, [], [])
                passes[key][1].append(i)
                passes[key][2].append(moved)
    for key in list(passes):  # an engine at a time holds its graph
        column, sign, _ = key
        anew, numbers, moved_ones = passes.pop(key)
        for i, makespan in zip(numbers, _makespans(anew, moved_ones, reorder=engine.reordered), strict=True):
            added[i][column, sign] = makespan - afters[i].makespan_ps
    return [
        [(found[column, -1.0], found[column, 1.0]) for column in COLUMNS if (column, 1.0) in found] for found in added
    ]


def _makespans(engine: Engine, scenarios: Sequence[Scenario], *, reorder: bool) -> list[int]:
    """Where NICs take messages in the order in which they arrive, or in the order of the engine's graph."""
    if not reorder or engine.reordered:
        return engine.makespans(scenarios)
    used = engine.in_arrival_order(scenarios)
    return [one.makespans([scenario])[0] for one, scenario in zip(used, scenarios, strict=True)]


def _at_end(recorded: Scenario, scenario: Scenario, column: str, sign: float) -> tuple[NDArray[np.float64], Scenario]:
    """By how much the recorded machine moves to one end of a value's interval, and the planned one that follows."""
    assert scenario.follows is not None
    value = getattr(recorded.machine, column)
    changes = scenario.errors[column] > 0
    error = np.where(changes, np.nan_to_num(recorded.machine.errors[column], nan=0.0), 0.0)
    by = np.maximum(value + sign * error, 0.0) - value
    follows = scenario.follows.get(column, np.ones(value.shape))
    return by, _moved(scenario, column, follows * by)


def _moved(scenario: Scenario, column: str, by: Any) -> Scenario:
    values = getattr(scenario.machine, column)
    moved = np.maximum(values + by, 0.0)
    columns: dict[str, Any] = {
        column: np.rint(moved).astype(values.dtype) if values.dtype.kind == "i" else moved.astype(values.dtype)
    }
    return replace(scenario, machine=replace(scenario.machine, **columns))


def _of_order(engine: Engine, scenarios: Sequence[Scenario], before: Outcome, afters: Sequence[Outcome]) -> list[float]:
    """By scenario; 0 where NICs take messages as they arrive: with contention, and where they were reordered. Of
    requests that complete in any order, one that saves less than is looked at."""
    kept = [not engine.reordered and not engine.contends(scenario) for scenario in scenarios]
    selected = [scenario for scenario, one in zip(scenarios, kept, strict=True) if one]
    if not selected:
        return [
            _of_foreign_order(engine, one, after) if _differs(engine.recorded, one) else 0.0
            for one, after in zip(scenarios, afters, strict=True)
        ]
    recorded, *planned = engine.makespans([engine.recorded, *selected], released=True)
    found = iter(planned)
    return [
        float(max((after.makespan_ps - next(found)) - (before.makespan_ps - recorded), 0)) if one else 0.0
        for after, one in zip(afters, kept, strict=True)
    ]


def _of_foreign_order(engine: Engine, scenario: Scenario, after: Outcome) -> float:
    """Where requests complete in any order, by how much an order that is not the network's own may be too long.

    A program that takes the message that arrives first loses nothing where some messages arrive earlier and others
    later; a replay in the order of another network waits for those that arrive later. What the scenario's order costs
    the recorded program, whose own order is known, the recorded order costs in the scenario."""
    least = 0.0 if engine.reordered or not engine.graph(scenario).chooses else after.makespan_ps * ORDER_MATTERS
    return max(least, float(engine.order_of_elsewhere_ps(scenario)))


def _of_contention(
    engine: Engine, scenarios: Sequence[Scenario], afters: Sequence[Outcome]
) -> list[tuple[float, float]]:
    """By scenario, squares of rise and fall of waits for NICs and links."""
    found = [(0.0, 0.0)] * len(scenarios)
    selected = [i for i, scenario in enumerate(scenarios) if engine.contends(scenario)]
    fit = engine.network_fit if selected else None
    if fit is None:
        return found
    # Without a turn that a message waits for, neither there nor as recorded, both replays are the same, event by event.
    unlike = [i for i in selected if engine.reordered or fit.turns or _turns(afters[i])]
    makespans = engine.with_shared_nics.makespans([scenarios[i] for i in unlike]) if unlike else []
    shared = dict(zip(unlike, makespans, strict=True))
    for i in selected:
        sharing = shared.get(i, afters[i].makespan_ps) - afters[i].makespan_ps
        waited = afters[i].waited_more_ps
        found[i] = (
            max(sharing, 0) ** 2 + fit.too_short_ps(waited) ** 2,
            min(sharing, 0) ** 2 + fit.too_long_ps(waited) ** 2,
        )
    return found


def _turns(outcome: Outcome) -> int:
    """Messages that start at another time where NICs are shared."""
    return 0 if outcome.network is None else outcome.network.turns


def _of_library(engine: Engine, scenarios: Sequence[Scenario], afters: Sequence[Outcome]) -> list[tuple[int, int]]:
    """By scenario, rise and fall of the open properties of the library."""
    rises, falls = [0] * len(scenarios), [0] * len(scenarios)
    for use in engine.library:
        found = [[after.makespan_ps] for after in afters]
        for value in use.possible:
            unlike = [
                i
                for i, scenario in enumerate(scenarios)
                if value != use.value and not engine.is_alike(use, value, scenario)
            ]
            if unlike:
                other = engine.with_library(use, value)
                replayed = _makespans(other, [scenarios[i] for i in unlike], reorder=engine.reordered)
                for i, makespan in zip(unlike, replayed, strict=True):
                    found[i].append(makespan)
        for i, (after, makespans) in enumerate(zip(afters, found, strict=True)):
            falls[i] += after.makespan_ps - min(makespans)
            rises[i] += max(makespans) - after.makespan_ps
    return list(zip(rises, falls, strict=True))


def _of_residual(before: Outcome, after: Outcome) -> float:
    modelled = [sum(outcome.path_ps[part] for part in MODELLED) for outcome in (before, after)]
    residual = abs(after.path_ps["residual"])
    return residual * min(1.0, abs(modelled[1] - modelled[0]) / max(modelled[0], 1))


def _contradicted(before: Outcome, after: Outcome) -> float:
    """Share of the modelled time of a path that the recorded times contradict; of the path that has more of it."""
    return max(one.short_ps / max(sum(one.path_ps[part] for part in MODELLED), 1) for one in (before, after))


def _of_unmodelled(recorded: Scenario, scenario: Scenario, outcomes: tuple[Outcome, Outcome]) -> tuple[float, float]:
    """Rise and fall of what no value of the machine explains, were it the value that changes most; of the recorded or
    the predicted path, whichever has more. Start-up and shut-down, which no network changes, are not in it."""
    later = max(one.path_ps["other"] + one.early_ps for one in outcomes)
    early = max(one.early_ps for one in outcomes)
    by = _most_changed(recorded, scenario) - 1.0
    rise, fall = (early * -by, later * -by) if by < 0.0 else (later * by, early * by + later * min(1.0, by))
    return rise, max(fall, later) if _replaces_unknown(recorded, scenario) else fall


def _most_changed(recorded: Scenario, scenario: Scenario) -> float:
    """The factor of the value that changes most; of a value that was 0, what the setting multiplies it by."""
    factors = [1.0]
    for column in COLUMNS:
        old, new = _in_common_ranges(recorded, scenario, column)
        factors += (new[old > 0] / old[old > 0]).tolist()
        if scenario.follows is not None:
            factors += scenario.follows.get(column, np.ones(1)).tolist()
    return float(max(factors, key=lambda factor: abs(factor - 1.0)))


def _replaces_unknown(recorded: Scenario, scenario: Scenario) -> bool:
    """Whether the scenario states a value that is unknown for the recorded machine: its time there is in what no model
    describes."""
    old, new = recorded.machine, scenario.machine
    mine, theirs = _common_rows(recorded, scenario)
    return any(
        np.any(
            (getattr(old, column)[mine] == 0) & np.isnan(old.errors[column][mine]) & (getattr(new, column)[theirs] > 0)
        )
        for column in COLUMNS
    )


def _in_common_ranges(recorded: Scenario, scenario: Scenario, column: str) -> tuple[Any, Any]:
    """A value of both machines, by class and by each range of sizes in which neither of them changes it."""
    mine, theirs = _common_rows(recorded, scenario)
    return getattr(recorded.machine, column)[mine], getattr(scenario.machine, column)[theirs]


def _common_rows(recorded: Scenario, scenario: Scenario) -> tuple[Any, Any]:
    """The rows of both machines' columns, by class and by each range of sizes in which neither of them changes a
    value."""
    machines = (recorded.machine, scenario.machine)
    sizes = np.array(sorted({size for one in machines for size in one.max_bytes.tolist()}))
    classes = np.arange(len(LOCALITIES))[:, None]
    mine, theirs = (one.row(classes, sizes).ravel() for one in machines)
    return mine, theirs


def _of_gaps(recorded: Scenario, scenario: Scenario, after: Outcome) -> float:
    """Rise or fall of gaps behind other messages, which those of collective operations do not wait for."""
    if not after.path_ps["collective"]:
        return 0.0
    old, new = recorded.machine, scenario.machine
    more = 0.0
    for number, locality in enumerate(LOCALITIES):
        before, then = (
            int(one.g_ps[one.class_start[number] : one.class_start[number + 1]].max(initial=0)) for one in (old, new)
        )
        more += abs(then - before) * after.sensitivities[locality]["L"]
    return more


def _differs(recorded: Scenario, scenario: Scenario) -> bool:
    one, other = recorded.machine, scenario.machine
    return not (
        one.same_messages(other)
        and (recorded.compute, recorded.asynchronous_progress) == (scenario.compute, scenario.asynchronous_progress)
        and not scenario.overlapped
        and scenario.by_location is None
        and scenario.by_callpath is None
        and scenario.elsewhere is None
        and one.log3p == other.log3p
        and one.nics_per_node == other.nics_per_node
    )
