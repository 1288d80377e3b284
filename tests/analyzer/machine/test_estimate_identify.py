"""What an estimate divides: replays that agree, replays that do not, and an estimate that contradicts its trace."""

from __future__ import annotations

from dataclasses import replace

from tests.analyzer.machine.test_estimate import between_nodes, column, samples
from tests.said import facts

from logpost.analyzer.machine.estimate import Estimate, identify
from logpost.analyzer.machine.estimate.identify import ROUNDS, Replayed
from logpost.analyzer.run.schema import CATEGORIES, PARTS
from logpost.machines import ReplayParameters


def replayed(deficit: int = 0, too_long: float = 0.0, **parts: int) -> Replayed:
    """Sums of 1000 ps in all, of the messages and of the ranks' time alike."""
    rest = {"late_sender": 1000 - sum(parts.values())}
    whole = dict.fromkeys(PARTS, 0) | rest | parts
    exposed = dict.fromkeys(CATEGORIES[1:], 0) | whole
    return Replayed(whole, exposed, deficit, too_long)


def contended() -> Estimate:
    """Only a bound of 3002 ps, and sends of 100 ps."""
    return between_nodes(samples(whole=column((8, 3000)), send_at_once=column(*((8, 100),) * 4)))


def test_l_gives_way_until_the_queues_of_the_replay_fit() -> None:
    seen = []

    def replay(machine: ReplayParameters) -> Replayed:
        # Messages last 1400 ps in addition to their queue: all that L has beyond 1300 is too long.
        L = int(machine.L_ps[-1])
        seen.append(L)
        return replayed(deficit=max(0, L - 1300), too_long=float(max(0, L - 1300)), latency=300)

    found = identify.identify(contended(), replay, strided=False)
    # 3002 less o_s of 100; then 1602 less, which fits; then halves between the two, none of which does.
    assert seen[:6] == [2902, 1300, 2101, 1700, 1500, 1400]
    assert found.parameters.L_ps[-1] == 1300
    assert found.notes[0] == "estimate and replay agree after 6 replays"
    assert not found.refused


def test_l_gives_way_no_further_than_it_must() -> None:
    def replay(machine: ReplayParameters) -> Replayed:
        # Few messages lack much: nine in ten of those lack 2000 ps, but 500 less are enough.
        L = int(machine.L_ps[-1])
        return replayed(deficit=max(0, (L - 2400) // 10), too_long=2000.0 if L > 2400 else 0.0, latency=300)

    found = identify.identify(contended(), replay, strided=False)
    # 902 and 1902 both fit; 2402 with a deficit of none; 2652 lacks 25 of 1000, beyond one in a hundred.
    assert found.parameters.L_ps[-1] == 2402


def test_rounds_are_bounded_and_a_deficit_that_stays_refuses_the_estimate() -> None:
    deficits = iter(range(900, 0, -1))
    settling = []

    def replay(machine: ReplayParameters) -> Replayed:
        settling.append(int(machine.L_ps[-1]))
        return replayed(deficit=next(deficits), too_long=1.0, latency=300)

    found = identify.identify(contended(), replay, strided=False)
    assert settling[:ROUNDS] == [2902, 2901, 2900, 2899, 2898, 2897]
    assert found.refused
    assert set(identify.TRANSPORT) <= set(found.undivided)


def test_a_small_deficit_refuses_nothing() -> None:
    found = identify.identify(contended(), lambda _: replayed(deficit=100, latency=300), strided=False)
    assert not found.refused
    beyond = identify.identify(contended(), lambda _: replayed(deficit=101, latency=300), strided=False)
    assert beyond.refused


def test_bounded_parts_are_not_divided_and_facts_are() -> None:
    found = identify.identify(contended(), lambda _: replayed(latency=300), strided=False)
    # o_s is measured, and every machine says which end the other waits for; L may hold queues.
    assert found.undivided == (
        "endpoint_contention",
        "latency",
        "serialization",
        "processor_queueing",
        "recv_overhead",
        "residual",
    )


def test_a_fact_that_depends_on_a_messages_duration_joins_them() -> None:
    def replay(machine: ReplayParameters) -> Replayed:
        # Without L, 300 ps more were spent with a message there and a receiver away.
        return replayed(late_receiver=0 if machine.L_ps[-1] else 300, latency=300)

    assert "late_receiver" in identify.identify(contended(), replay, strided=False).undivided


def test_so_does_one_that_the_longest_possible_messages_change() -> None:
    def replay(machine: ReplayParameters) -> Replayed:
        # With all of L, 300 ps fewer were spent so, and messages are 200 ps too long; then L gives way.
        whole = machine.L_ps[-1] == 2902
        return replayed(late_receiver=0 if whole else 300, deficit=200 if whole else 0, too_long=500.0, latency=300)

    assert "late_receiver" in identify.identify(contended(), replay, strided=False).undivided


def test_so_does_one_that_the_most_that_fits_of_a_parameter_changes() -> None:
    tried = set()

    def replay(machine: ReplayParameters) -> Replayed:
        # Of the bound of o_r, 3002 ps, nine tenths fit; beyond seven tenths no receiver arrived last.
        o_r = int(machine.o_r_ps[-1])
        tried.add(o_r)
        return replayed(
            late_receiver=0 if o_r > 2100 else 300, deficit=max(0, o_r - 2700), too_long=0.0, processor_queueing=300
        )

    assert "late_receiver" in identify.identify(contended(), replay, strided=False).undivided
    assert tried == {0, 3002, 1501, 2252, 2627}  # halves of what is left, four at most


def test_so_does_a_part_that_handshakes_have_once_their_three_l_fit() -> None:
    def replay(machine: ReplayParameters) -> Replayed:
        # As rendezvous, messages have 2702 ps for three times L: with more, nothing is left for what else they do.
        L = int(machine.L_ps[-1])
        handshake = machine.eager_limit("other_node") == 0
        lacks = max(0, 3 * L - 2702) if handshake else 0
        work = 300 if handshake and lacks < 10 else 100
        return replayed(deficit=lacks, too_long=lacks / 3, send_overhead=work, latency=300)

    assert "send_overhead" in identify.identify(contended(), replay, strided=False).undivided


def test_what_changed_while_l_gave_way_is_not_divided_where_a_deficit_stays() -> None:
    def replay(machine: ReplayParameters) -> Replayed:
        # Shorter messages lack less, yet noise does not explain what they lack; 300 ps of middleware vanish with them.
        whole = machine.L_ps[-1] == 2902
        return replayed(deficit=80 if whole else 40, too_long=500.0, latency=300, middleware=300 if whole else 0)

    found = identify.identify(contended(), replay, strided=False)
    assert not found.refused
    assert "middleware" in found.undivided


def test_the_residual_of_transfers_is_not_divided_where_messages_only_bound_l() -> None:
    seen = contended()
    undisturbed = replace(seen, classes={place: replace(one, undisturbed=True) for place, one in seen.classes.items()})
    assert undisturbed.transport_measured

    def undivided(*, one_sided: bool) -> tuple[str, ...]:
        found = identify.identify(undisturbed, lambda _: replayed(), strided=False, one_sided=one_sided)
        return found.undivided

    assert "residual" in undivided(one_sided=True)
    assert "residual" not in undivided(one_sided=False)


def test_strided_messages_leave_middleware_and_overheads_undivided() -> None:
    found = identify.identify(contended(), lambda _: replayed(latency=300), strided=True)
    assert {"middleware", "send_overhead", "recv_overhead"} <= set(found.undivided)


def test_a_trace_without_messages_has_nothing_to_divide() -> None:
    found = identify.identify(Estimate("none", {}, ()), lambda _: replayed(), strided=False)
    assert found.undivided == ()


def test_one_sided_transfers_without_messages_are_not_divided_and_a_note_says_so() -> None:
    found = identify.identify(Estimate("none", {}, ()), lambda _: replayed(), strided=False, one_sided=True)
    assert set(found.undivided) == set(identify.TRANSPORT)
    (note,) = found.notes
    assert note.startswith("there are one-sided transfers and no messages ")
    assert facts(note) == ["--machine"]
