"""LOGP Fig. 4 to 8, 12, Table 4: what is given to the simulated machines comes out of their signatures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Number, Result

NAME = "logp-signatures"
GIVEN = {
    "Paragon": {"o_s": 1.4, "o_r": 2.2, "L": 6.3, "g": 7.6},
    "Meiko CS-2": {"o_s": 1.7, "o_r": 1.6, "L": 7.5, "g": 13.6},
    "NOW, Myrinet": {"o_s": 2.0, "o_r": 2.6, "L": 11.1, "g": 12.4},
}
"""LOGP section 3.3, us."""


@pytest.fixture(autouse=True)
def _root_may_start_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


@pytest.mark.parametrize("machine", GIVEN)
def test_signatures_give_back_the_papers_values(quick_result: Callable[[str], Result], machine: str) -> None:
    values = table(quick_result(NAME), "Section 3.3")
    for name, given in GIVEN[machine].items():
        assert number(values, f"{machine}: {name}", "given") == given
        assert number(values, f"{machine}: {name}", "fits, without noise") == pytest.approx(given, rel=0.02)
        # By eye the asymptote is missed by its distance at the last burst: o_s ceil(RTT/o_s) / M is some per cent.
        assert number(values, f"{machine}: {name}", "first and last points, without noise") == pytest.approx(
            given, rel=0.05
        )
        assert number(values, f"{machine}: {name}", "fits, with noise of 10 %") == pytest.approx(given, rel=0.15)


def test_the_gap_grows_with_the_number_of_senders(quick_result: Callable[[str], Result]) -> None:
    crowds = table(quick_result(NAME), "Table 4")
    for label, k in (("Paragon", 7), ("Meiko CS-2", 15), ("NOW, Myrinet", 3)):
        ratio = number(crowds, f"{label}: g of K = {k} to 1 over g of 1 to 1", "simulated machine")
        assert ratio == pytest.approx(k, rel=0.02)


def test_a_slow_turn_around_is_hidden_by_many_receivers(quick_result: Callable[[str], Result]) -> None:
    # Without an interface's gap a sender is limited by its own o_s + o_r, and each receiver by g: g / (o_s + o_r), 7.6
    # over 3.6 and 12.4 over 4.6. To one receiver the gap is g, so that K to 1 is K times as slow as for LogP's machine.
    crowds = table(quick_result(NAME), "Table 4")
    column = "g by the receiver's turn-around alone"
    for label, k, g, o in (("Paragon", 7, 7.6, 3.6), ("NOW, Myrinet", 3, 12.4, 4.6)):
        many = number(crowds, f"{label}: message bandwidth of 1 to many over 1 to 1", column)
        assert many == pytest.approx(g / o, rel=0.02)
        assert number(crowds, f"{label}: g of K = {k} to 1 over g of 1 to 1", column) == pytest.approx(k, rel=0.02)


def test_software_that_is_the_bottleneck_hides_the_gap(quick_result: Callable[[str], Result]) -> None:
    # Ten times Myrinet's overheads: o_s + o_r = 46 us, above g = 12.4; a first delta of 4.6 us is added to the cost.
    calls = table(quick_result(NAME), "Fig. 13")
    plain, delayed = (number(calls, "10 ×", name) for name in ("cost without computation", "with the first Δ"))
    assert plain == pytest.approx(46.0, rel=0.05)
    assert delayed - plain == pytest.approx(4.6, rel=0.1)


def test_myrinets_copying_hides_the_gap_of_long_transfers_only(quick_result: Callable[[str], Result]) -> None:
    bulk = table(quick_result(NAME), "Fig. 10 to 12")
    visible = {row[0]: row[4] for row in bulk.rows}
    assert visible["NOW, Myrinet, 8 B"] == "yes"
    assert visible["NOW, Myrinet, 2,048 B"] != "yes"
    assert visible["Paragon, 4,096 B"] == "yes"
    # o(4096) is printed: 143 us; o(8) = 2 + 141 x 8/4096 = 2.275
    assert number(bulk, "NOW, Myrinet, 4,096 B", "o(n) extracted") == pytest.approx(143.0, rel=0.02)
    assert number(bulk, "NOW, Myrinet, 8 B", "o(n) extracted") == pytest.approx(2.275, rel=0.02)
    assert number(bulk, "NOW, Myrinet, 8 B", "g(n) extracted") == pytest.approx(18.0, rel=0.02)


def test_this_machine_has_a_signature_with_intervals(quick_result: Callable[[str], Result]) -> None:
    result = quick_result(NAME)
    if "not measured" in result.summary:
        pytest.skip(result.notes[-1])
    here = {row[0]: row for row in table(result, "This machine").rows}
    assert {f"{name}, 8 B" for name in ("o_s", "o_r", "L", "g")} <= here.keys()
    for _, value, how in here.values():
        if how == "refused":
            # What else runs on the machine may hide a parameter; then it says so and has no value.
            assert value is None
            assert any("Refused" in note or "cannot be seen" in note for note in result.notes)
            continue
        assert isinstance(value, Number)
        assert value.error is not None
        assert value.value >= 0
