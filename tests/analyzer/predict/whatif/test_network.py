"""What-if replays on other networks and placements: real archives, and what follows from the definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.machines.builders import machine

from logpost.analyzer.machine.network import set_network
from logpost.analyzer.predict.whatif import Ask, predict
from logpost.analyzer.predict.whatif.mapping import Seats, remapped
from logpost.analyzer.predict.whatif.plan import Plan, Rebuilt
from logpost.analyzer.predict.whatif.tolerance import PRECISION, sampled_tolerances
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.program import program_of
from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.replay._native import Surroundings, WhatIf
from logpost.replay.cost.parameters import native_parameters


@pytest.fixture(scope="module")
def stencil(runs: dict[str, Run]) -> Run:
    """32 ranks on several nodes, 128 messages between them."""
    return runs["tracer-stencil4d-32"]


def test_unchanged_every_archive_comes_back_from_a_network_that_is_too_slow(runs: dict[str, Run]) -> None:
    """Messages share the links of a ring, and their NICs, as they never did."""
    crossed = 0
    for name, run in runs.items():
        program = program_of(run)
        parameters = native_parameters(
            replay_parameters(load_machine(run.machine_file)),
            asynchronous_progress=run.manifest.machine.asynchronous_progress,
        )
        network = Surroundings(program)
        nodes = int(run.facts("locations").select(pl.col("node").max()).collect().item()) + 2  # one at least
        ring = {"kind": "ring", "nodes": nodes, "link_bandwidth": {"value": 10, "unit": "MB/s"}}
        set_network(network, machine(topology=ring), np.arange(nodes))
        accounted = run.facts("locations").filter(pl.col("accounted")).select("location")
        wanted = run.facts("calls").join(accounted, on="location", how="semi").sort("call").collect()
        # Elsewhere, at the same places: its queues are taken away, and built anew.
        for recorded, elsewhere in ((network, None), (network, network), (None, network)):
            graph = WhatIf(program, parameters, parameters, recorded, elsewhere)
            enters, leaves = graph.times(parameters)
            np.testing.assert_array_equal(enters, wanted["enter_ps"].to_numpy(), err_msg=name)
            np.testing.assert_array_equal(leaves, wanted["leave_ps"].to_numpy(), err_msg=name)
            assert recorded is not None or not graph.contends
        crossed += network.known
    assert crossed >= 3


def test_a_graph_knows_how_the_recorded_program_used_its_network(stencil: Run) -> None:
    """An equal scenario that is not the recorded one itself is followed event by event."""
    rebuilt = Rebuilt(stencil)
    known, followed = rebuilt.engine(True).replay([rebuilt.recorded, replace(rebuilt.recorded)])
    assert known.network is not None
    assert followed.network is not None
    np.testing.assert_array_equal(known.ends_ps, followed.ends_ps)
    np.testing.assert_array_equal(known.network.link_busy_ps, followed.network.link_busy_ps)
    np.testing.assert_array_equal(known.network.link_waited_ps, followed.network.link_waited_ps)
    assert (known.path_ps, known.sensitivities, known.in_calls_ps, known.waited_more_ps) == (
        followed.path_ps,
        followed.sensitivities,
        followed.in_calls_ps,
        followed.waited_more_ps,
    )
    assert (known.network.messages, known.network.delayed, known.network.waited_ps, known.network.turns) == (
        followed.network.messages,
        followed.network.delayed,
        followed.network.waited_ps,
        followed.network.turns,
    )


def test_without_a_turn_at_a_nic_it_does_not_matter_whether_messages_share_it(runs: dict[str, Run]) -> None:
    """A replay that counts none says what the other one finds, to the picosecond."""
    without, with_turns = 0, 0
    for name, run in runs.items():
        rebuilt = Rebuilt(run)
        if rebuilt.site is None or not len(rebuilt.site.seats.nodes):
            continue
        nodes = int(rebuilt.site.seats.nodes.max()) + 2
        for settings in ((f"topology=crossbar:{nodes}", "L=x2"), (f"topology=crossbar:{nodes}", "G=+100ns/B")):
            plan = Plan(rebuilt, Ask(settings=settings))
            engine, fit = plan.engine(), plan.engine().network_fit
            if fit is None or engine.graph(plan.recorded).chooses:
                continue
            use = engine.replay([plan.planned])[0].network
            assert use is not None
            shared = engine.with_shared_nics.makespans([plan.planned])
            if fit.turns == use.turns == 0:
                without += 1
                assert shared == engine.makespans([plan.planned]), name
            with_turns += use.turns > 0
    assert without >= 2
    assert with_turns >= 1


def test_a_topology_is_taken_on_and_its_links_are_shared(stencil: Run) -> None:
    wide = predict(stencil, Ask(settings=("topology=crossbar:8", "link_bandwidth=100GB/s")))
    narrow = predict(stencil, Ask(settings=("topology=crossbar:8", "link_bandwidth=1kB/s")))
    assert wide.network.modelled
    assert wide.network.after is not None
    assert narrow.network.after is not None
    assert wide.network.after.messages == narrow.network.after.messages > 0
    assert narrow.network.after.waited_ps > wide.network.after.waited_ps
    assert narrow.predicted_ps > wide.predicted_ps
    assert narrow.network.after.utilisation > wide.network.after.utilisation
    for found in (wide, narrow):
        assert sum(found.after.path_ps.values()) == found.predicted_ps


def test_a_network_that_nothing_was_seen_of_is_stated_with_its_waits(stencil: Run) -> None:
    """The run's own network is not known, so that the trace confirms no wait for links: all of them may be none."""
    found = predict(stencil, Ask(settings=("topology=crossbar:8", "link_bandwidth=1kB/s")))
    more = found.after.waited_more_ps
    assert more.leaving > 0
    assert found.predicted_ps - found.interval_ps[0] >= more.leaving
    assert found.interval_ps[1] > found.predicted_ps


def test_unchanged_nothing_is_doubted_of_the_network(stencil: Run) -> None:
    found = predict(stencil, Ask(settings=("topology=crossbar:8",)))
    again = predict(stencil, Ask())
    assert again.interval_ps == (again.measured_ps, again.measured_ps)
    assert found.interval_ps[0] <= found.predicted_ps <= found.interval_ps[1]


def test_without_a_topology_the_reason_is_said(stencil: Run, runs: dict[str, Run]) -> None:
    found = predict(stencil, Ask())
    assert not found.network.modelled
    assert found.network.why_not.endswith("has no topology")
    assert predict(runs["pipit-ping-pong"], Ask()).network.why_not == "no message is between nodes"
    off = predict(stencil, Ask(settings=("topology=ring:8",), contention=False))
    assert (off.network.modelled, off.network.why_not) == (False, "it is switched off")


def test_a_sweep_over_link_bandwidth_falls(stencil: Run) -> None:
    sweep = predict(stencil, Ask(settings=("topology=ring:8",), sweep="link_bandwidth=1kB/s:10MB/s:4")).sweep
    assert sweep is not None
    spans = [point.makespan_ps for point in sweep.points]
    assert spans[0] > spans[1] >= spans[-1]


def test_links_of_other_bandwidths_share_a_graph(stencil: Run) -> None:
    plan = Plan(Rebuilt(stencil), Ask(settings=("topology=ring:8",)))
    engine = plan.engine()
    scenarios = [plan.scenario([f"link_bandwidth={bandwidth}"]) for bandwidth in ("10kB/s", "1MB/s")]
    together = engine.makespans(scenarios)
    assert together == [engine.ran_as(engine.recorded).makespans([each])[0] for each in scenarios]
    assert together[0] > together[1]
    shared, places = engine.graph(scenarios[0]), scenarios[1].elsewhere
    assert places is not None
    assert shared.on_links(places) is not None
    elsewhere = Plan(Rebuilt(stencil), Ask(settings=("topology=ring:8",), mapping="random:2")).planned.elsewhere
    assert elsewhere is not None
    assert shared.on_links(elsewhere) is None


@pytest.mark.parametrize("name", ["L", "link_bandwidth"])
def test_a_sweep_with_contention_has_points_and_no_pieces(stencil: Run, name: str) -> None:
    ask = Ask(settings=("topology=ring:8", "link_bandwidth=10kB/s"), sweep=f"{name}=x1:x4:3")
    sweep = predict(stencil, ask).sweep
    assert sweep is not None
    assert sweep.sampled
    assert (len(sweep.points), sweep.pieces) == (3, [])


def test_makespans_with_contention_are_those_of_whole_replays(stencil: Run) -> None:
    plan = Plan(Rebuilt(stencil), Ask(settings=("topology=ring:8", "link_bandwidth=10kB/s")))
    engine = plan.engine()
    scenarios = [plan.recorded, plan.planned, *(plan.scenario([f"L=x{factor}"]) for factor in (0, 2, 7))]
    assert engine.contends(plan.planned)
    assert engine.makespans(scenarios) == [one.makespan_ps for one in engine.replay(scenarios)]


def test_a_sampled_tolerance_is_reached_between_two_replays() -> None:
    def makespans(factors: Sequence[float]) -> list[int]:
        """Neither convex nor concave: a step at 3, and nothing beyond 1.04 times."""
        return [
            1_000_000 + (30_000 if factor >= 3 else 0) + min(round(5_000 * (factor - 1)), 10_000) for factor in factors
        ]

    found = {one.percent: one.factor for one in sampled_tolerances(makespans)}
    assert found[1] == pytest.approx(3, rel=2 * PRECISION)
    assert found[2] == pytest.approx(3, rel=2 * PRECISION)
    assert (found[5], found[10]) == (None, None)


def test_what_a_sweep_has_replayed_is_not_searched_again() -> None:
    """10 % more at 2.01: the points at 2 and 2.02 enclose it, and no factor elsewhere is replayed."""

    def makespans(factors: Sequence[float]) -> list[int]:
        assert all(1.0 < factor < 2.02 for factor in factors)
        return [round(1_000_000 + 100_000 * (factor - 1) / 1.01) for factor in factors]

    points = [1.1, 1.2, 1.5, 2.0]
    known = {0.5: 950_000, 1.0: 1_000_000, **dict(zip(points, makespans(points), strict=True)), 2.02: 1_101_000}
    found = {one.percent: one.factor for one in sampled_tolerances(makespans, replayed=known)}
    for percent, factor in found.items():
        assert factor == pytest.approx(1 + 0.101 * percent, rel=2 * PRECISION)


def test_all_ranks_on_one_node_send_no_message_between_nodes(stencil: Run, tmp_path: Path) -> None:
    file = tmp_path / "together.txt"
    file.write_text("0\n" * 32)
    found = predict(stencil, Ask(settings=("topology=ring:8",), mapping=str(file)))
    assert found.network.after is not None
    assert found.network.after.messages == 0
    assert found.seats is not None
    assert found.seats.nodes.tolist() == [0] * 32
    assert not any(found.after.sensitivities["other_node"].values())


def test_the_best_of_the_placements_is_no_worse_than_the_recorded_one(stencil: Run) -> None:
    scattered = predict(stencil, Ask(settings=("topology=ring:8", "link_bandwidth=10kB/s"), mapping="random:2"))
    best = predict(stencil, Ask(settings=("topology=ring:8", "link_bandwidth=10kB/s"), mapping="best"))
    assert best.proposal is not None
    tried = {name: makespan for name, _, makespan in best.proposal.tried}
    assert best.predicted_ps == min(tried.values()) <= tried["as recorded"]
    assert best.predicted_ps < scattered.predicted_ps
    assert best.seats is not None
    assert scattered.seats is not None
    assert sorted(best.seats.nodes.tolist()) == sorted(scattered.seats.nodes.tolist())


SEATS = Seats(np.asarray([4, 4, 4, 7, 7, 9]), np.asarray([0, 1, 0, 0, 1, 0]))


def test_block_fills_nodes_and_cyclic_deals_to_them() -> None:
    block = remapped(Seats(SEATS.nodes[[3, 0, 5, 1, 4, 2]], SEATS.sockets[[3, 0, 5, 1, 4, 2]]), "block")
    assert block.nodes.tolist() == [4, 4, 4, 7, 7, 9]
    cyclic = remapped(SEATS, "cyclic")
    assert cyclic.nodes.tolist() == [4, 7, 9, 4, 7, 4]
    assert cyclic.sockets.tolist() == [0, 0, 0, 1, 1, 0]


def test_a_random_placement_is_its_seeds() -> None:
    one, again, other = (remapped(SEATS, text) for text in ("random", "random:1", "random:2"))
    assert one.nodes.tolist() == again.nodes.tolist() != other.nodes.tolist()
    assert sorted(other.nodes.tolist()) == [4, 4, 4, 7, 7, 9]


def test_ranks_of_a_file_take_the_sockets_that_their_node_has(tmp_path: Path) -> None:
    file = tmp_path / "nodes.txt"
    file.write_text("9 4 4 9 7 1\n")
    found = remapped(SEATS, str(file))
    assert found.nodes.tolist() == [9, 4, 4, 9, 7, 1]
    assert found.sockets.tolist() == [0, 0, 1, -1, 0, -1]


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (Ask(settings=("topology=blob:3",)), "topology = blob:3 is not known; write mesh:8x4"),
        (Ask(settings=("topology=ring:2",)), "ring 2 of 2 nodes (0 to 1); set a larger topology"),
        (Ask(settings=("link_bandwidth=x2",)), "has no topology; set it, too, e.g. --set topology=torus:4x4"),
        (Ask(settings=("topology=ring:8", "link_bandwidth=0GB/s")), "a bandwidth must be positive and finite"),
        (
            Ask(settings=("topology=crossbar:8", "link_bandwidth=1GB/s", "bisection=x2")),
            "a crossbar has no bisection to set",
        ),
        (Ask(settings=("topology=ring:8", "link_bandwidth=x2")), "states no bandwidth of a link, and no G"),
        (Ask(settings=("nics_per_node=0",)), "give a whole number of 1 or more"),
        (Ask(settings=("per_hop=",)), "write NAME=VALUE"),
        (Ask(mapping="nowhere.txt"), "--mapping nowhere.txt is no file; give a file with"),
        (Ask(mapping="random:x"), "the seed is a whole number"),
    ],
)
def test_what_is_not_understood_is_refused(stencil: Run, ask: Ask, text: str) -> None:
    with pytest.raises(InputError) as caught:
        predict(stencil, ask)
    assert text in str(caught.value)
