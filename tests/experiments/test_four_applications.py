"""SENS Fig. 4 and 5: what the parts and kinds of the quick form must obey."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.experiments.reading import number, table

from logpost.analyzer.run.schema import CATEGORIES
from logpost.experiments.four_applications.runs import Done, Runs
from logpost.experiments.four_applications.times import balanced_claim, masked_claim
from logpost.experiments.four_applications.whole_matrix import CYCLES, WHOLE_BRICK, Gains
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Result
from logpost.experiments.support import sens
from logpost.experiments.support.alewife import EDGE_CYCLES
from logpost.experiments.support.sens import MECHANISMS, Mechanism
from logpost.experiments.support.sens_breakdown import OF_CATEGORY, SYNCHRONIZATION, Kernel, breakdown, volume

NAME = "four-applications"
PARTS = ("compute", "memory + NI wait", "message overhead", "synchronization")
KINDS = ("data", "headers", "requests", "invalidates")
SHARED, PREFETCH = "shared memory", "shared memory, prefetching"
INTERRUPTS, POLLING, BULK = "messages, interrupts", "messages, polling", "bulk transfer"


@pytest.mark.parametrize("application", ["EM3D", "ICCG"])
def test_the_parts_add_up_to_the_run_time(quick_result: Callable[[str], Result], application: str) -> None:
    times = table(quick_result(NAME), "Fig. 4")
    for mechanism in (SHARED, PREFETCH, INTERRUPTS, POLLING, BULK):
        case = f"{application}, {mechanism}"
        parts = [number(times, case, part) for part in PARTS]
        assert min(parts) >= 0
        assert sum(parts) == pytest.approx(number(times, case, "run time"), rel=1e-6)
        # The programs' clock has the same loop, up to skew at its ends and to what is printed (1 us = 0.02 kcycles).
        own = number(times, case, "by the program's own clock")
        assert own == pytest.approx(number(times, case, "run time"), rel=0.06)


def test_all_mechanisms_compute_the_same(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "Fig. 4")
    # 1,600 nodes x 10 edges x 67 cycles, an update of each node in the iteration, on 32 processors: 33,500 cycles.
    for mechanism in (SHARED, PREFETCH, INTERRUPTS, POLLING, BULK):
        assert number(times, f"EM3D, {mechanism}", "compute") == pytest.approx(33.5, rel=0.02)


def test_only_messages_cost_overhead_and_shared_memory_waits(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "Fig. 4")
    for application in ("EM3D", "ICCG"):
        shared, polling = f"{application}, {SHARED}", f"{application}, {POLLING}"
        assert number(times, shared, "message overhead") == 0
        assert number(times, shared, "memory + NI wait") > 2 * number(times, polling, "memory + NI wait")
        assert number(times, polling, "message overhead") < number(
            times, f"{application}, {INTERRUPTS}", "message overhead"
        )


def test_prefetching_hides_some_of_the_misses(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "Fig. 4")
    waits = [number(times, f"EM3D, {m}", "memory + NI wait") for m in (PREFETCH, SHARED)]
    assert waits[0] < 0.8 * waits[1]


def test_shared_memory_sends_more_and_bulk_fewer_headers(quick_result: Callable[[str], Result]) -> None:
    sent = table(quick_result(NAME), "Fig. 5")
    # A value by message: 8 bytes and a fifth of a header of 8, and more headers where blocks are not full; by load:
    # invalidation, acknowledgement, request, header of 8 bytes each, and 8 of data, once for all edges that need it.
    assert 2.5 < number(sent, f"EM3D, {SHARED}", "over polling") < 40 / 9.6
    for application in ("EM3D", "ICCG"):
        for kind in KINDS:
            assert number(sent, f"{application}, {POLLING}", kind) == number(sent, f"{application}, {INTERRUPTS}", kind)
        assert number(sent, f"{application}, {BULK}", "headers") < number(sent, f"{application}, {POLLING}", "headers")
    assert number(sent, f"EM3D, {SHARED}", "invalidates") == 2 * number(sent, f"EM3D, {SHARED}", "requests")


def test_bulk_transfer_loses_its_saving_in_iccg(quick_result: Callable[[str], Result]) -> None:
    sent = table(quick_result(NAME), "Fig. 5")
    # An edge is 8 bytes and its row's number, padded to 16 (SENS 5.1: "loses the saving in header traffic to padding").
    assert number(sent, f"ICCG, {BULK}", "data") == pytest.approx(2 * number(sent, f"ICCG, {POLLING}", "data"))
    assert number(sent, f"ICCG, {BULK}", "over polling") > 0.95


def test_every_category_of_the_analyzer_has_a_part() -> None:
    assert set(OF_CATEGORY) == set(CATEGORIES) - {"compute"}
    assert set(OF_CATEGORY.values()) <= set(PARTS)


def kernel(counts: dict[str, int], categories: dict[tuple[str, str], float]) -> Kernel:
    """100 us, of which 40 are computed and 10 are skew."""
    return Kernel(100_000_000, categories, 40e6, 10e6, counts, 7, 280)


def test_puts_halve_into_requests_and_invalidations() -> None:
    # 3 loads: a request and a value each; 3 invalidations: one put and an acknowledgement each; 4 additions, each with
    # an acknowledgement. Values of 24 bytes: 7 x 24. Headers: 3 values, 4 additions, 4 acknowledgements.
    counts = {"MPI_Put": 4, "MPI_Rput": 2, "MPI_Get": 8, "MPI_Rget": 2, "MPI_Accumulate": 4, "MPI_Win_flush": 99}
    sent = volume(kernel(counts, {}), 24, is_memory=True)
    assert sent == {"data": 168, "headers": 88, "requests": 24, "invalidates": 48}
    # 7 messages with 280 bytes and 8 bytes of header each.
    assert volume(kernel({}, {}), 24, is_memory=False) == {"data": 280, "headers": 56, "requests": 0, "invalidates": 0}


def test_what_is_charged_is_overhead_and_what_is_left_over_is_looking() -> None:
    # 40 us outside of calls: 5 charged for mechanisms, 30 the application's own, 5 left, which is looking for values.
    calls = {("MPI_Win_flush_all", "mpi_other"): 20e6, ("MPI_Get", "mpi_other"): 30e6}
    memory = breakdown(kernel({}, calls), 5e-6, 30e6, is_memory=True)
    assert memory == pytest.approx(
        {"compute": 30e-6, "memory + NI wait": 30e-6, "message overhead": 5e-6, "synchronization": 35e-6}
    )
    calls = {
        ("MPI_Waitany", "late_sender"): 20e6,
        ("MPI_Waitany", "recv_overhead"): 25e6,
        ("MPI_Issend", "latency"): 5e6,
    }
    messages = breakdown(kernel({}, calls), 10e-6, 30e6, is_memory=False)
    assert messages == pytest.approx(
        {"compute": 30e-6, "memory + NI wait": 5e-6, "message overhead": 35e-6, "synchronization": 30e-6}
    )


def test_short_messages_continue_table_1() -> None:
    """LOGPC Table 1: o_s 9, 12, 15 and o_r 117, 119, 122 for 0, 1 and 2 words; SENS 3.2: up to fourteen."""
    table = sens.machine_for(sens.INTERRUPTS).loggp.other_node
    assert table is not None
    values = {one.up_to_bytes: one for one in table.range}

    def cycles(up_to_bytes: int | None, name: str) -> float:
        value = getattr(values[up_to_bytes], name)
        return float(value.number())

    assert [cycles(bytes_, "o_s") for bytes_ in (0, 4, 8)] == [9, 12, 15]
    # Five doubles are ten words: 9 + 10 * 3 and 117 + 10 * 2.5; L stays
    assert (cycles(40, "o_s"), cycles(40, "o_r"), cycles(40, "L")) == (39, 142, 21)
    assert (max(b for b in values if b is not None), cycles(None, "o_s"), cycles(None, "L")) == (56, 25, 8)


def test_an_edge_of_em3d_takes_two_flop_of_a_diamond_task() -> None:
    # 100 cycles for two additions and one multiplication
    assert EDGE_CYCLES == 67
    assert sens.EM3D.arguments[sens.EM3D.arguments.index("--edge-cycles") + 1] == "67"


def test_a_flop_costs_the_same_in_every_application(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # 100 cycles of 50 ns for three flop: 3 / 5 us = 600,000 flop per second, and 67 cycles for an edge's two
    seen: list[tuple[str, str]] = []

    def simulate(_context: Context, program: str, *_rest: object, settings: dict[str, str], **_more: object) -> None:
        seen.append((program, settings["speed"]))

    monkeypatch.setattr(sens, "simulate", simulate)
    for one in sens.workloads_of(nodes=1600, mesh=500, brick=3, cells=6):
        sens.run_mechanism(Context(tmp_path), one, sens.POLLING, "x", settings={"bisection": "9"})
    assert {program: float(speed) for program, speed in seen} == dict.fromkeys(
        ("em3d", "unstruc", "iccg", "moldyn"), pytest.approx(600_000)
    )


def test_costs_without_a_printed_value_are_shown_at_both_ends(quick_result: Callable[[str], Result]) -> None:
    found = table(quick_result("four-applications"), "Costs that")
    ends = ("messages, polling (poll-cycles)", "bulk transfer (line-cycles)")
    cases = [f"{application}, {end}" for application in ("EM3D", "ICCG") for end in ends]
    assert [row[0] for row in found.rows] == [*cases, "ICCG, bulk transfer (buffer)"]
    for case in cases:  # a poll and a copy that cost less make no program longer
        assert number(found, case, "at the other end") <= number(found, case, "at the first end")
    # EM3D's lines of 16 bytes that are gathered and scattered cost 30 cycles on either side, and are two values each.
    assert number(found, "EM3D, bulk transfer (line-cycles)", "at the other end") < number(
        found, "EM3D, bulk transfer (line-cycles)", "at the first end"
    )


@pytest.mark.testbed
def test_a_poll_costs_what_it_is_given(tmp_path: Path) -> None:
    [em3d, *_] = sens.workloads_of(nodes=320, mesh=500, brick=3, cells=6)
    context = Context(tmp_path, quick=True)
    charged = [
        sens.run_mechanism(context, sens.sized(em3d, {"poll-cycles": cycles}, ""), sens.POLLING, str(cycles)).values[
            "overhead_s"
        ]
        for cycles in (0, 11, 110)
    ]
    assert charged[0] == 0.0  # the machine charges o_s and o_r itself
    assert charged[0] < charged[1] < charged[2]


def test_prefetching_is_judged_on_the_largest_matrix_over_the_band() -> None:
    # 10 us to 9 us is -10 %, to 11 us +10 %; the smaller matrix does not count.
    low, high = CYCLES
    gains = Gains({4: 5e-6, 21: 10e-6}, {(4, low): 1e-6, (4, high): 1e-6, (21, low): 9e-6, (21, high): 11e-6})
    assert gains.judged == pytest.approx([-0.10, 0.10])
    assert gains.said == "−10 % to +10 % with 27,783 rows"


def test_the_whole_matrix_has_the_papers_elements() -> None:
    # Blocks of 3 x 3 between nodes of a cube whose numbers differ by at most one along each axis: "2-million element".
    pairs = sum(1 for a in range(WHOLE_BRICK) for b in range(WHOLE_BRICK) if abs(a - b) <= 1)
    assert 9 * pairs**3 == 2_042_829
    assert round(9 * pairs**3 / 1e6) == 2


def test_a_prefetch_costs_time_also_where_data_are_local(quick_result: Callable[[str], Result]) -> None:
    result = quick_result("four-applications")
    prefetching = table(result, "ICCG: prefetching")
    rows = 3 * 4**3
    cheap, dear = (number(prefetching, rows, f"{sens.PREFETCH.name}, {cycles // 2} cycles each") for cycles in CYCLES)
    # 192 rows with some 4,000 edges on 32 processors: 20 cycles more an edge are at least 2.5 kcycles in the mean.
    assert dear > cheap + 2.0
    [claim] = [one for one in result.claims if one.text == "Prefetching slows ICCG down"]
    assert claim.holds == (min(cheap, dear) > number(prefetching, rows, sens.SHARED.name))


def runs_of(shares: dict[tuple[str, Mechanism], tuple[float, float]]) -> Runs:
    """Run time and synchronization in seconds of each."""
    done = {}
    for (application, mechanism), (total, waiting) in shares.items():
        kernel = Kernel(int(total * 1e12), {}, 0.0, 0.0, {}, 0, 0)
        parts = dict.fromkeys(PARTS, 0.0) | {SYNCHRONIZATION: waiting}
        done[application, mechanism] = Done(application, mechanism, kernel, parts, {}, total)
    return Runs(done, list(dict.fromkeys(application for application, _ in shares)))


@pytest.mark.parametrize(("bulk", "holds"), [(0.4, True), (0.6, False)])
def test_each_other_mechanism_has_to_synchronize_less_than_interrupts(bulk: float, holds: bool) -> None:
    waits = dict.fromkeys(MECHANISMS, 0.3) | {sens.INTERRUPTS: 0.5, sens.BULK: bulk}
    claim = balanced_claim(runs_of({("ICCG", mechanism): (1.0, wait) for mechanism, wait in waits.items()}))
    assert claim.holds is holds


def test_moldyn_masks_what_mechanisms_differ_by() -> None:
    slowest = {"EM3D": 1.4, "ICCG": 2.0, "MOLDYN": 1.3}
    every = {(a, m): (most if m is sens.BULK else 1.0, 0.0) for a, most in slowest.items() for m in MECHANISMS}
    claim = masked_claim(runs_of(every))
    assert (claim.holds, claim.reached) == (True, "slowest over fastest: EM3D +40 %, ICCG +100 %, MOLDYN +30 %")
