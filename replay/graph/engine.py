"""The engine: one graph for each set of protocols, replayed under many scenarios in one pass."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from logpost.errors import InputError
from logpost.machines import LOCALITIES
from logpost.replay._native import CycleError, Program, Surroundings, WhatIf, path_parts
from logpost.replay.columns import Wide
from logpost.replay.cost.parameters import native_parameters
from logpost.replay.graph.breakpoints import Tangent
from logpost.replay.graph.changes import Scenario
from logpost.replay.graph.cost_direction import direction
from logpost.replay.graph.direction import Direction
from logpost.replay.graph.library import LibraryUse, codes_of, uses_of

PATH_PARTS: tuple[str, ...] = tuple(path_parts())
Found = TypeVar("Found")
MOST_GRAPHS = 4
"""Graphs kept by an engine for repeated scenarios."""
MOST_EDGES = 20_000_000
"""Larger graphs keep the recorded order at NICs: to find another one takes a quarter of a microsecond per edge."""
ORDER_MATTERS = 0.001
"""Of the makespan: where messages that need not wait for those recorded before them save less, they keep the order."""
COVERED = 0.9
"""What share of truths a stated interval is meant to hold."""
SENSITIVITIES = ("L", "o_s", "o_r", "g", "G")


@dataclass(frozen=True)
class StoredGraph:
    """A file that has a program's graph, or will have it once it was built."""

    file: Path
    key: str
    """of all that the graph depends on; a file with another key is written anew"""


@dataclass(frozen=True)
class NetworkUse:
    """How the links between nodes were used. Arrays by link, in the numbers of the given network."""

    messages: int
    delayed: int
    """messages that waited for a NIC or a link"""
    waited_ps: int
    """sum of the waits in the network, over all messages"""
    turns: int
    """messages that start at another time where NICs are shared, and where they take turns there"""
    link_busy_ps: NDArray[np.float64]
    """time of the link's messages at its bandwidth"""
    link_waited_ps: NDArray[np.int64]
    """time that the link's messages waited in the network"""


@dataclass(frozen=True)
class Waits:
    """Of messages between nodes; ps."""

    leaving: float
    """for their sender's NIC and for links"""
    arriving: float
    """for their receiver's NIC"""


@dataclass(frozen=True)
class NetworkFit:
    """What the recorded times say of the waits that the network's model has, summed over the messages between nodes. Of
    a message that was there before anybody needed it they say nothing."""

    confirmed_ps: Waits
    """of messages that were needed at the model's arrival"""
    contradicted_ps: Waits
    """what the recorded times leave no room for"""
    unexplained_ps: float
    """the messages' time beyond the model's"""
    turns: int
    """as `NetworkUse` has it, of the recorded program"""

    def too_long_ps(self, waits: Waits) -> float:
        """How much of other waits may be none."""
        return waits.leaving * _may_be_none(self.confirmed_ps.leaving, self.contradicted_ps.leaving) + (
            waits.arriving * _may_be_none(self.confirmed_ps.arriving, self.contradicted_ps.arriving)
        )

    def too_short_ps(self, waits: Waits) -> float:
        """By how much other waits may be too short; they may be twice as long where the trace confirms none."""
        right = self.confirmed_ps.leaving + self.confirmed_ps.arriving
        checked = right + self.unexplained_ps
        return (waits.leaving + waits.arriving) * (self.unexplained_ps / checked if checked else 1.0)


def _may_be_none(right: float, wrong: float) -> float:
    """How much of a kind of waits may be none: the share that was contradicted; where that is more than what intervals
    leave out, or it is unknown, all: whether there is such a wait is then open."""
    contradicted = wrong / (right + wrong) if right + wrong else 1.0
    return contradicted if contradicted <= 1.0 - COVERED else 1.0


@dataclass(frozen=True)
class Outcome:
    """What a replay found. Arrays by callpath hold sums over all locations."""

    makespan_ps: int
    path_ps: dict[str, int]
    """what a critical path consists of; the sum is the makespan"""
    sensitivities: dict[str, dict[str, float]]
    """derivatives of the makespan: by locality and parameter. Of a time: how often it counts; of G: in bytes"""
    compute_ps: int
    """derivative by a factor of all computation: the computation on the path"""
    moved_ps: int
    """by how much the steps of the path differ from the recorded ones, as a sum of both signs"""
    waited_more_ps: Waits
    """by how much messages on the path wait longer for NICs and links than as recorded"""
    early_ps: int
    """negative steps of the path, as a positive sum: the recorded event is before the model's"""
    short_ps: int
    """by how much steps of the path are below the model's costs, as a positive sum: the recorded times contradict it"""
    path_messages: int
    """messages and collective operations that the path follows"""
    path_compute_by_location_ps: NDArray[np.int64]
    ends_ps: NDArray[np.int64]
    in_calls_ps: tuple[int, ...]
    between_calls_ps: tuple[int, ...]
    network: NetworkUse | None
    """None: contention is not replayed"""
    rebuilt: int
    """messages whose protocol changes: what happens then is the model's, not the trace's"""


def _integers(halves: Wide) -> tuple[int, ...]:
    """Sums of 128 bits as Python's integers."""
    low, high = halves[::2].tolist(), halves[1::2].astype(np.int64).tolist()
    return tuple((above << 64) + below for below, above in zip(low, high, strict=True))


class Engine:
    """Replays of one program that ran as `recorded`; with a `network` that it ran on, contention is replayed."""

    def __init__(
        self,
        program: Program | Callable[[], Program],
        recorded: Scenario,
        *,
        locations: int,
        callpaths: int,
        network: Surroundings | Callable[[], Surroundings | None] | None = None,
        nics_share: bool = False,
        stored: StoredGraph | None = None,
    ) -> None:
        self._program = program
        self.recorded = recorded
        self.locations = locations
        self.callpaths = callpaths
        self._network = network
        self.nics_share = nics_share
        """with contention: whether messages share their sender's NIC, instead of taking turns at it"""
        self.stored = stored
        """where the graph of what was recorded is kept"""
        self.kept_ps: int | None = None
        """where NICs serve messages in a scenario's order of arrival: its makespan in the recorded order"""
        self.found_ps: int | None = None
        """where an order was found for a scenario that is not taken: its makespan in that one"""
        self._reordered_from: Engine | None = None
        self._latest: dict[bool, dict[int, tuple[Scenario, int]]] = {}
        """The latest makespans and those of what was recorded, by whether messages are released, and by the scenario's
        identity"""
        self._graphs: dict[Any, WhatIf] = {}

    @cached_property
    def program(self) -> Program:
        """Read when it is first needed: a stored graph is replayed without it."""
        return self._program() if callable(self._program) else self._program

    @cached_property
    def network(self) -> Surroundings | None:
        """That the program ran on, where contention is replayed; found when it is first needed, likewise."""
        return self._network() if callable(self._network) else self._network

    def ran_as(self, recorded: Scenario) -> Engine:
        """The engine of the same program, had it run on another machine: the trace is calibrated under that one."""
        return self._anew(recorded, self.nics_share)

    @cached_property
    def with_shared_nics(self) -> Engine:
        """The engine of the same program, in which messages share their sender's NIC and take no turns there."""
        return (
            self._anew(self.recorded, True) if self._reordered_from is None else self._reordered_from.with_shared_nics
        )

    @cached_property
    def network_fit(self) -> NetworkFit | None:
        """What the recorded times say of the network's model; None: contention is not replayed."""
        graph = self.graph(self.recorded)
        if not graph.contends:
            return None
        confirmed, contradicted, unexplained, turns = graph.network_fit
        return NetworkFit(Waits(*confirmed), Waits(*contradicted), unexplained, turns)

    def _anew(self, recorded: Scenario, nics_share: bool) -> Engine:
        return Engine(
            self._program,
            recorded,
            locations=self.locations,
            callpaths=self.callpaths,
            network=lambda: self.network,
            nics_share=nics_share,
        )

    def in_arrival_order(self, scenarios: Sequence[Scenario]) -> list[Engine]:
        """For each scenario, the engine whose NICs serve messages in the order of their arrival; one of the
        recorded order where that is the same, or makes no difference, or is found by the replay (contention) anyway, or
        would make a program shorter to which nothing becomes cheaper (or longer, nothing dearer): such an order is the
        model's, and a scenario in the recorded one is certain to be on the right side.

        Raises:
            InputError: the recorded messages wait for each other in a circle.
        """
        first = self.graph(scenarios[0])
        if self.reordered or first.edges > MOST_EDGES or (first.contends and not first.chooses):
            return [self] * len(scenarios)
        return [engine for engine, _ in self._in_their_orders(scenarios)]

    def makespans_in_arrival_order(self, scenarios: Sequence[Scenario]) -> list[int]:
        """The makespans of each scenario by the engine that `in_arrival_order` has for it; ps.

        Raises:
            InputError: the recorded messages wait for each other in a circle.
        """
        if self.reordered or self.graph(scenarios[0]).edges > MOST_EDGES:
            return self.makespans(scenarios)
        return [
            one.makespans([each])[0] if makespan is None else makespan
            for (one, makespan), each in zip(self._in_their_orders(scenarios), scenarios, strict=True)
        ]

    def _in_their_orders(self, scenarios: Sequence[Scenario]) -> list[tuple[Engine, int | None]]:
        """Engines, and makespans where they are known."""
        first = self.graph(scenarios[0])
        if first.chooses:
            return [*self._choosing(scenarios)]
        if first.contends:
            return [(self, makespan) for makespan in self.makespans(scenarios)]
        *kept, kept_before = self.makespans([*scenarios, self.recorded])
        *free, free_before = self.makespans([*scenarios, self.recorded], released=True)
        late = [
            i
            for i, (by, no) in enumerate(zip(kept, free, strict=True))
            if (by - no) - (kept_before - free_before) > ORDER_MATTERS * by
        ]
        found: list[tuple[Engine, int | None]] = [(self, makespan) for makespan in kept]
        for i, one in zip(late, self._in_orders_of([scenarios[i] for i in late], [kept[i] for i in late]), strict=True):
            found[i] = found[i] if one is self else self._on_the_right_side(one, scenarios[i], kept[i], kept_before)
        return found

    def _on_the_right_side(
        self, found: Engine, scenario: Scenario, kept_ps: int, recorded_ps: int, makespan_ps: int | None = None
    ) -> tuple[Engine, int]:
        """The engine of the order that was found, or of the recorded one where that excludes what is found."""
        makespan = found.makespans([scenario])[0] if makespan_ps is None else makespan_ps
        if (makespan - recorded_ps) * direction(self.recorded, scenario) >= 0:
            return found, makespan
        kept = copy.copy(self)
        kept.found_ps = makespan
        return kept, kept_ps

    def _choosing(self, scenarios: Sequence[Scenario]) -> list[tuple[Engine, int]]:
        """Where requests complete, and messages arrive, in an order with another makespan: the makespan changes by
        more than for the recorded scenario, and by more than the error of the order found for the recorded program."""
        kept = self.makespans(scenarios)
        kept_before, before = self._recorded_in_order
        found = self._in_orders_of(scenarios, kept)
        makespans = [
            by if one is self else one.makespans([each])[0]
            for one, each, by in zip(found, scenarios, kept, strict=True)
        ]
        least = max(ORDER_MATTERS, self.order_misses)
        return [
            self._on_the_right_side(one, each, by, kept_before, makespan)
            if _differs(makespan - by, before - kept_before) > least * by
            else (self, by)
            for one, each, makespan, by in zip(found, scenarios, makespans, kept, strict=True)
        ]

    @cached_property
    def library(self) -> tuple[LibraryUse, ...]:
        """The properties of the recorded program's library that make a difference to it."""
        whole = self._reordered_from or self
        return uses_of(whole.graph(whole.recorded).library)

    def with_library(self, use: LibraryUse, value: str) -> Engine:
        """The engine of the same program, had its library this alternative of a property."""
        stated = MappingProxyType({**self.recorded.library, use.name: value})
        return self.ran_as(replace(self.recorded, library=stated))

    def is_alike(self, use: LibraryUse, value: str, scenario: Scenario) -> bool:
        """Whether a scenario's replay is surely the same with this alternative of a property that the trace shows
        nothing of; False: that is not known without a replay."""
        if (value, use.observations) != ("wait", 0):
            return False
        far = use.name == "sends_between_nodes"
        graph = self.graph(scenario)
        return graph.sends_never_wait(native_scenario(scenario), scenario.compute, *_lists(scenario), far=far)

    @property
    def calls(self) -> int:
        """Calls of the locations that are followed."""
        return self.graph(self.recorded).calls

    @property
    def reordered(self) -> bool:
        """Whether messages arrive, or requests complete, in another order than the recorded one."""
        return self.kept_ps is not None

    @property
    def order_misses(self) -> float:
        """What of its makespan the recorded program would take more or less in the order that is found for it, where
        requests complete in any order; else 0."""
        whole = self._reordered_from or self
        if not whole.graph(whole.recorded).chooses:
            return 0.0
        kept, found = whole._recorded_in_order
        return abs(found - kept) / max(1, kept)

    @cached_property
    def _recorded_in_order(self) -> tuple[int, int]:
        """Makespans of the recorded scenario in the recorded order, and in the order of arrivals and completions."""
        kept = self.makespans([self.recorded])[0]
        return kept, self._in_order_of(self.recorded, kept).makespans([self.recorded])[0]

    def order_of_elsewhere_ps(self, scenario: Scenario) -> int:
        """The change of the recorded program's makespan, did requests complete in the order in which messages arrive in
        a scenario; 0 where contention is not replayed, or no requests complete in any order; ps."""
        whole = self._reordered_from or self
        planned, graph = whole.graph(scenario), whole.graph(whole.recorded)
        if not (graph.contends and planned.contends and graph.chooses):
            return 0
        found = graph.in_order_of(self.program, planned, native_scenario(scenario), scenario.compute, *_lists(scenario))
        if found is None:
            return 0
        foreign = whole.ran_as(whole.recorded)
        foreign._graphs[_protocols(whole.recorded)] = found
        return foreign.makespans([whole.recorded])[0] - whole._recorded_in_order[0]

    def _in_orders_of(self, scenarios: Sequence[Scenario], kept_ps: Sequence[int]) -> list[Engine]:
        for scenario in scenarios:  # here, since graphs are kept for all
            self.graph(scenario)
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            return list(pool.map(self._in_order_of, scenarios, kept_ps))

    def _in_order_of(self, scenario: Scenario, kept_ps: int) -> Engine:
        reordered = self.graph(scenario).reordered(
            self.program, native_scenario(scenario), scenario.compute, *_lists(scenario)
        )
        if reordered is None:
            return self
        found = self.ran_as(self.recorded)
        found.kept_ps, found._reordered_from = kept_ps, self
        found._graphs[_protocols(scenario)] = reordered
        return found

    def replay(self, scenarios: Sequence[Scenario]) -> list[Outcome]:
        """An outcome for each scenario; those of the same protocols in one pass.

        Raises:
            InputError: the recorded messages wait for each other in a circle.
        """
        outcomes = self._by_protocols(scenarios, self._pass)
        self._keep(False, {id(one): (one, of.makespan_ps) for one, of in zip(scenarios, outcomes, strict=True)})
        return outcomes

    def makespans(self, scenarios: Sequence[Scenario], *, released: bool = False) -> list[int]:
        """The makespans in picoseconds, and nothing else.

        Args:
            scenarios: what is replayed.
            released: a message does not wait at a NIC for one that was recorded there before it and now arrives later.

        Raises:
            InputError: the recorded messages wait for each other in a circle.
        """

        def found(graph: WhatIf, same: Sequence[Scenario]) -> list[int]:
            makespans: list[int] = graph.makespans(*self._lanes(same), os.cpu_count() or 1, released).tolist()
            return makespans

        # Outcomes, the order of arrivals and a makespan's interval need the same ones, one after the other.
        latest = self._latest.get(released, {})
        new = [one for one in scenarios if id(one) not in latest]
        known = latest | {id(one): (one, by) for one, by in zip(new, self._by_protocols(new, found), strict=True)}
        self._keep(released, {id(one): known[id(one)] for one in scenarios})
        return [known[id(one)][1] for one in scenarios]

    def _keep(self, released: bool, makespans: dict[int, tuple[Scenario, int]]) -> None:
        recorded = id(self.recorded)
        latest = self._latest.get(released, {})
        self._latest[released] = makespans | ({recorded: latest[recorded]} if recorded in latest else {})

    def times(self, scenario: Scenario, *, unexplained: bool = True) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Enters and leaves of all calls of the locations that are followed, by location and call.

        Arguments:
            unexplained: whether calls that move data last what no model explains, too; without it they last nothing.

        Raises:
            InputError: the recorded messages wait for each other in a circle.
        """
        return self.graph(scenario).times(
            native_scenario(scenario), scenario.compute, *_lists(scenario), unexplained=unexplained
        )

    def _by_protocols(
        self, scenarios: Sequence[Scenario], of: Callable[[WhatIf, Sequence[Scenario]], list[Found]]
    ) -> list[Found]:
        groups: dict[Any, list[int]] = {}
        for i, scenario in enumerate(scenarios):
            groups.setdefault(_protocols(scenario), []).append(i)
        found: dict[int, Found] = {}
        for members in groups.values():
            graph = self.graph(scenarios[members[0]])
            found.update(zip(members, of(graph, [scenarios[i] for i in members]), strict=True))
        return [found[i] for i in range(len(scenarios))]

    def _lanes(self, scenarios: Sequence[Scenario]) -> tuple[Any, Any, Any, Any]:
        return (
            [native_scenario(scenario) for scenario in scenarios],
            np.asarray([scenario.compute for scenario in scenarios]),
            _factors([scenario.by_location for scenario in scenarios], self.locations),
            _factors([scenario.by_callpath for scenario in scenarios], self.callpaths),
        )

    def contends(self, scenario: Scenario) -> bool:
        """Whether messages wait for each other in the network: the makespan is then not convex, and has no tangents."""
        return self.graph(scenario).contends

    def tangents(self, direction: Direction, x: Sequence[float]) -> list[Tangent]:
        """Lines that touch the makespan over a parameter, at each x."""
        scenario = direction.scenario
        at_zero, step, unit = (
            native_parameters(machine, asynchronous_progress=scenario.asynchronous_progress)
            for machine in (direction.at_zero, direction.step, direction.unit)
        )
        rows = self.graph(scenario).tangents(
            at_zero,
            step,
            unit,
            scenario.compute,
            _factors([scenario.by_location], self.locations)[0],
            _factors([scenario.by_callpath], self.callpaths)[0],
            np.asarray(x, dtype=np.float64),
            os.cpu_count() or 1,
        )
        return [Tangent(at, *row) for at, row in zip(x, rows.tolist(), strict=True)]

    def graph(self, scenario: Scenario) -> WhatIf:
        """The graph for the scenario's protocols."""
        key = _protocols(scenario)
        if key not in self._graphs:
            if len(self._graphs) == MOST_GRAPHS:
                del self._graphs[list(self._graphs)[1]]  # the first is of what was recorded
            self._graphs[key] = self._on_other_links(scenario) or self._built(scenario)
        return self._graphs[key]

    def _built(self, scenario: Scenario) -> WhatIf:
        as_recorded = self.stored is not None and _protocols(scenario) == _protocols(self.recorded)
        stored = self.stored if as_recorded else None
        if stored is not None:
            found = WhatIf.stored(native_scenario(self.recorded), str(stored.file), stored.key)
            if found is not None:
                return found
        try:
            return WhatIf(
                self.program,
                native_scenario(self.recorded),
                native_scenario(scenario),
                self.network,
                scenario.elsewhere,
                scenario.overlapped,
                self.nics_share,
                *(() if stored is None else (str(stored.file), stored.key)),
            )
        except CycleError as error:
            raise InputError(
                f"the trace contradicts itself: {error}; correct its clocks, or record it again"
            ) from error

    def _on_other_links(self, scenario: Scenario) -> WhatIf | None:
        """A graph that there is, where the scenario differs from its own in how fast links are, and in nothing else
        that a graph depends on."""
        *protocols, elsewhere = _protocols(scenario)
        for (*known, _), graph in self._graphs.items():
            if elsewhere is not None and known == protocols:
                found = graph.on_links(elsewhere)
                if found is not None:
                    return found
        return None

    def _pass(self, graph: WhatIf, scenarios: Sequence[Scenario]) -> list[Outcome]:
        recorded = next((lane for lane, one in enumerate(scenarios) if one is self.recorded), -1)
        found = graph.replay(*self._lanes(scenarios), recorded)
        return [
            Outcome(
                makespan_ps=int(found["makespan_ps"][lane]),
                path_ps=dict(zip(PATH_PARTS, found["path_ps"][lane].tolist(), strict=True)),
                sensitivities={
                    locality: dict(zip(SENSITIVITIES, row, strict=True))
                    for locality, row in zip(LOCALITIES, found["sensitivities"][lane].tolist(), strict=True)
                },
                compute_ps=int(found["path_compute_ps"][lane]),
                moved_ps=int(found["path_moved_ps"][lane]),
                waited_more_ps=Waits(*found["path_waited_more_ps"][lane].tolist()),
                early_ps=int(found["path_early_ps"][lane]),
                short_ps=int(found["path_short_ps"][lane]),
                path_messages=int(found["path_messages"][lane]),
                path_compute_by_location_ps=found["path_compute_by_location_ps"][lane],
                ends_ps=found["ends_ps"][lane],
                in_calls_ps=_integers(found["in_calls_ps"][lane]),
                between_calls_ps=_integers(found["between_calls_ps"][lane]),
                network=NetworkUse(**found["network"][lane]) if found["network"] else None,
                rebuilt=graph.rebuilt,
            )
            for lane in range(len(scenarios))
        ]


def _differs(by: int, anyway: int) -> int:
    """How much farther a time moves than it would anyway, to the same side."""
    return max(by - max(0, anyway), -by - max(0, -anyway))


def _protocols(scenario: Scenario) -> Any:
    return (
        *scenario.machine.eager_limit_bytes.tolist(),
        scenario.asynchronous_progress,
        scenario.overlapped,
        scenario.machine.nics_per_node,
        scenario.elsewhere,
    )


def native_scenario(scenario: Scenario) -> Any:
    parameters = native_parameters(scenario.machine, asynchronous_progress=scenario.asynchronous_progress)
    parameters.library = codes_of(scenario.library)
    return parameters


def _lists(scenario: Scenario) -> tuple[list[float], list[float]]:
    """Its factors by location and by callpath; empty: 1 each."""
    by_location, by_callpath = (
        [] if of is None else of.tolist() for of in (scenario.by_location, scenario.by_callpath)
    )
    return by_location, by_callpath


def _factors(rows: Sequence[NDArray[np.float64] | None], width: int) -> NDArray[np.float64]:
    return np.stack([np.ones(width) if row is None else np.asarray(row, dtype=np.float64) for row in rows])
