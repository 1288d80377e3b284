"""From a question about a run to the scenarios that are replayed: machine, computation, placement and network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from logpost.analyzer.machine.known_network import KnownNetwork
from logpost.analyzer.predict.whatif.extract import Extract, keep, kept_extract, key_of
from logpost.analyzer.predict.whatif.mapping import Proposal, Seats, remapped
from logpost.analyzer.run.place import MACHINE
from logpost.errors import InputError
from logpost.machines import ReplayParameters
from logpost.replay._native import Program, Surroundings
from logpost.replay.graph import Engine, Outcome, Scenario, StoredGraph, changed, on_machine
from logpost.replay.graph.network_changes import follows_G, is_of_network, with_network

if TYPE_CHECKING:  # what reads tables and machine files is imported where a question needs them
    from logpost.analyzer.predict.whatif.elsewhere import Ranks, Site
    from logpost.analyzer.run.directory import Run
    from logpost.analyzer.run.replayable import Replayable
    from logpost.machines import Machine

MOST_MESSAGES = 2_000_000
"""More messages are not followed through the network: that would cost minutes."""


@dataclass(frozen=True)
class Ask:
    """Settings as on the command line; empty: nothing changes."""

    settings: tuple[str, ...] = ()
    machine: str | Path | None = None
    scale_compute: tuple[str, ...] = ()
    sweep: str | None = None
    mapping: str | None = None
    contention: bool = True
    """whether messages wait for NICs and links as the replay finds, where the network is known"""
    grid: str | None = None
    breakpoints: bool = False
    """whether a sweep finds them"""
    searching: bool = True
    """whether a sweep searches its tolerances where they must be replayed one by one: three times the sweep's time"""

    @property
    def changes(self) -> bool:
        """Whether anything differs from what was recorded."""
        changed = (self.settings, self.machine, self.scale_compute, self.sweep, self.mapping, self.grid)
        return any(one not in ((), None) for one in changed)


class Rebuilt:
    """What every question about a run needs: its program, where it ran, and the engines that replay it.

    A run that is given as its path is opened where something is needed that no question has left in it.

    Raises:
        InputError: it is no run, or nothing communicates.
    """

    def __init__(self, run: Run | Path) -> None:
        self._given = run
        self.path = run if isinstance(run, Path) else run.path
        self._key = key_of(self.path) if self.path.is_dir() else ""
        self.extract = kept_extract(self.path, self._key) or self._extracted()
        if not self.extract.communicates:
            raise InputError(f"{self.path}: no location communicates: there is nothing to replay")
        self.recorded = Scenario(self.extract.machine, self.extract.asynchronous_progress, library=self.extract.library)
        self.seats = self.extract.seats
        self._engines: dict[bool, Engine] = {}
        self._outcomes: dict[bool, Outcome] = {}

    def _extracted(self) -> Extract:
        from logpost.analyzer.predict.whatif.extracted import extract_of

        extract = extract_of(self.run)
        keep(extract, self.path, self._key)
        return extract

    @cached_property
    def run(self) -> Run:
        """Opened, unless it was given so."""
        from logpost.analyzer.run.directory import Run

        return Run.open(self._given) if isinstance(self._given, Path) else self._given

    @cached_property
    def _replayable(self) -> Replayable:
        from logpost.analyzer.run.replayable import Replayable

        return Replayable(self.run)

    @property
    def program(self) -> Program:
        """Rebuilt when it is first needed."""
        return self._replayable.program

    @cached_property
    def ran_on(self) -> Machine:
        """The machine that it ran on."""
        from logpost.machines import load_machine

        return load_machine(self.path / MACHINE)

    @cached_property
    def ranks(self) -> Ranks:
        """The locations, and the rank of each."""
        from logpost.analyzer.predict.whatif.elsewhere import Ranks

        return Ranks.of(self.run)

    @cached_property
    def site(self) -> Site | None:
        """Where it ran; None where ranks or nodes are not known."""
        from logpost.analyzer.predict.whatif.elsewhere import recorded_site

        return None if self.seats is None else recorded_site(self.program, self.ranks, self.ran_on, self.seats)

    @property
    def network(self) -> KnownNetwork | None:
        """Where it ran; None likewise. Kept in the run once it was found."""
        if self.extract.network is None and self.site is not None:
            self.extract = replace(self.extract, network=self.site.network)
            keep(self.extract, self.path, self._key)
        return self.extract.network

    def engine(self, contention: bool) -> Engine:
        """The engine that replays contention, or not."""
        if contention not in self._engines:
            contends = contention and self.seats is not None
            self._engines[contention] = Engine(
                lambda: self.program,
                self.recorded,
                locations=self.extract.locations,
                callpaths=self.extract.callpaths,
                network=self._surroundings if contends else None,
                stored=self._stored(contends),
            )
        return self._engines[contention]

    def _surroundings(self) -> Surroundings | None:
        return None if self.site is None else self.site.surroundings

    def _stored(self, contention: bool) -> StoredGraph:
        """A file in the run, which may be deleted."""
        name = "graph-contention.bin" if contention else "graph.bin"
        return StoredGraph(self.path / name, self._key)

    def outcome(self, contention: bool) -> Outcome:
        """The replay of what was recorded."""
        return self.outcomes(contention, [])[0]

    def outcomes(self, contention: bool, scenarios: Sequence[Scenario]) -> list[Outcome]:
        """The same, and those of scenarios in the recorded order; in one pass where neither is known."""
        engine = self.engine(contention)
        if contention not in self._outcomes:
            self._outcomes[contention], *found = engine.replay([self.recorded, *scenarios])
            return [self._outcomes[contention], *found]
        return [self._outcomes[contention], *engine.replay(scenarios)]


class Plan:
    """What is replayed of a run.

    Raises:
        InputError: a setting, machine, region or mapping is not understood.
    """

    def __init__(self, rebuilt: Rebuilt, ask: Ask) -> None:
        self.rebuilt, self.ask, self.recorded = rebuilt, ask, rebuilt.recorded
        self.recorded_seats = rebuilt.seats
        """None where ranks or nodes are not known"""
        self._sites: dict[tuple[object, ...], Site] = {}
        scenario = self.recorded
        if ask.machine is not None:
            from logpost.machines import replay_parameters

            scenario = on_machine(scenario, replay_parameters(self.runs_on))
        scenario = changed(scenario, [text for text in ask.settings if not is_of_network(text)])
        if ask.scale_compute:
            from logpost.analyzer.predict.whatif.scaling import scaled

            scenario = scaled(self.run, scenario, ask.scale_compute)
        self._scenario = scenario
        self._network = [text for text in ask.settings if is_of_network(text)]
        self.contention, self.why_not = self._contention()
        self.proposal: Proposal | None = None
        self._seats = self.recorded_seats
        if ask.mapping is not None:
            self._seats = self._mapped(ask.mapping)
        self.planned = self.scenario()

    @property
    def run(self) -> Run:
        """The run, opened."""
        return self.rebuilt.run

    @property
    def ranks(self) -> Ranks:
        """The run's locations, and the rank of each."""
        return self.rebuilt.ranks

    @cached_property
    def runs_on(self) -> Machine:
        """The machine that is named, or the recorded one."""
        from logpost.machines import load_machine

        return self.rebuilt.ran_on if self.ask.machine is None else load_machine(self.ask.machine)

    @cached_property
    def machine(self) -> Machine:
        """With the network that is planned; its values of messages are `planned`'s."""
        if "network=ideal" in self.ask.settings:
            return self._with_network(self._scenario.machine)[0].model_copy(update={"topology": None})
        return self._with_network(self._scenario.machine)[0] if self._network else self.runs_on

    def _with_network(self, values: ReplayParameters, extra: Sequence[str] = ()) -> tuple[Machine, ReplayParameters]:
        machine, values = with_network(self.runs_on, values, self._network)
        return with_network(machine, values, extra) if extra else (machine, values)

    def engine(self) -> Engine:
        """The engine for all scenarios of the plan."""
        return self.rebuilt.engine(self.contention)

    def scenario(self, extra: Sequence[str] = (), seats: Seats | None = None) -> Scenario:
        """The question, with further settings on top of it, and with ranks on other seats."""
        scenario = changed(self._scenario, [text for text in extra if not is_of_network(text)])
        of_network = [text for text in extra if is_of_network(text)]
        seats = seats or self._seats
        differs = seats is not None and self._differs(extra, seats)
        if not (differs or self._network or of_network):
            return scenario
        machine, values = self._with_network(scenario.machine, of_network)
        scenario = replace(scenario, machine=values)
        if seats is None or not differs:
            return scenario
        if "network=ideal" in self.ask.settings:
            machine = machine.model_copy(update={"topology": None})
        else:
            seats = self.seated(seats, machine)
        key = (seats.nodes.tobytes(), seats.sockets.tobytes(), tuple(extra) if self._links_differ(extra) else ())
        if key not in self._sites:
            from logpost.analyzer.predict.whatif.elsewhere import site

            self._sites[key] = site(self.rebuilt.program, self.ranks, machine, seats)
        return replace(scenario, elsewhere=self._sites[key].surroundings)

    def network_of(self, scenario: Scenario) -> KnownNetwork:
        """The known network of a scenario."""
        for one in self._sites.values():
            if one.surroundings is scenario.elsewhere:
                return one.network
        return self.rebuilt.network or KnownNetwork()

    def seated(self, seats: Seats, machine: Machine | None = None) -> Seats:
        """The seats as nodes of a machine's network (without one, of the planned): another machine that has fewer
        nodes than the numbers of the recorded ones takes them in the same order."""
        topology = (self.machine if machine is None else machine).topology
        if self.ask.machine is None or topology is None or int(seats.nodes.max()) < topology.n_nodes:
            return seats
        return Seats(np.unique(seats.nodes, return_inverse=True)[1].astype(np.int64), seats.sockets)

    def seats(self) -> Seats | None:
        """Where the ranks would sit."""
        return self._seats

    def _links_differ(self, extra: Sequence[str]) -> bool:
        return any(is_of_network(text) or text.partition("=")[0].rpartition(".")[2] == "G" for text in extra)

    def _differs(self, extra: Sequence[str], seats: Seats) -> bool:
        """Whether places, links or their bandwidth are others than recorded."""
        if self.ask.machine is not None or self._network or "network=ideal" in self.ask.settings:
            return True
        if any(is_of_network(text) for text in extra) or seats is not self.recorded_seats:
            return True
        settings = [*self.ask.settings, *extra]
        return self.contention and self._links_differ(settings) and follows_G(self.runs_on)

    def _contention(self) -> tuple[bool, str]:
        """Whether messages share the network, and else why not."""
        if self.recorded_seats is None:
            return False, "the trace does not state the node of every rank"
        if not self.ask.contention:
            return False, "it is switched off"
        network = self.rebuilt.network
        if network is not None and not network.known and not self._has_topology():
            notes = [note for note in network.notes if "is 0: " in note]
            return False, notes[0].partition("is 0: ")[2] if notes else "no message is between nodes"
        messages = self.rebuilt.extract.messages
        if messages > MOST_MESSAGES:
            return False, f"the run has {messages:,} messages, and {MOST_MESSAGES:,} are followed at most"
        return True, ""

    def _has_topology(self) -> bool:
        if self.ask.machine is None and not self._network:
            return self.rebuilt.extract.has_topology
        return self._with_network(self._scenario.machine)[0].topology is not None

    def _mapped(self, text: str) -> Seats:
        if self.recorded_seats is None:
            raise InputError(f"--mapping {text}: another placement needs a trace that states the node of every rank")
        if text != "best":
            return remapped(self.recorded_seats, text)
        from logpost.analyzer.predict.whatif.best_mapping import best_seats

        machine, values = self._with_network(self._scenario.machine)
        engine = self.engine()

        def makespan(seats: Seats) -> int:
            return engine.replay([self.scenario(seats=seats)])[0].makespan_ps

        self.proposal = best_seats(self.run, self.recorded_seats, machine, values, makespan)
        return self.proposal.seats
