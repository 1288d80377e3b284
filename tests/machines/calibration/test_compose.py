"""Samples of machines with known truth become machine files that hold it, feed the models, and agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.machines.calibration.virtual import HOST, Virtual
from tests.said import says

from logpost.collectors.calibration.simulated import Truth
from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.machines.calibration.agreement import agree
from logpost.machines.calibration.compose import Calibration, calibration, machine_name
from logpost.machines.calibration.samples import Samples
from logpost.machines.parameters.feeds import feeds
from logpost.machines.schema import Machine
from logpost.machines.schema.places import quantities
from logpost.machines.schema.save import save_machine

TRUTH = Truth(L=6.3e-6, o_s=1.4e-6, o_r=2.2e-6, g=7.6e-6, G=1e-9, o_s_per_byte=0.1e-9, o_r_per_byte=0.2e-9)


@pytest.fixture(scope="module")
def quiet() -> Calibration:
    return calibration(Virtual(TRUTH).samples(), name="virtual")


def noisy(seed: int, **changes: Any) -> Machine:
    return calibration(Virtual(replace(TRUTH, **changes), noise=0.03, seed=seed).samples(), name="virtual").machine


def test_the_file_holds_the_truth(quiet: Calibration) -> None:
    table = quiet.machine.loggp.of("other_node")
    assert table is not None
    small, bulk = table.range
    in_ps = {
        name: getattr(small, name).base() for name in ("L", "o_s", "o_r", "g", "G", "o_s_per_byte", "o_r_per_byte")
    }
    truth = {name: getattr(TRUTH, name) * 1e12 for name in in_ps}
    # g at 8 B is the signature's: 8 B occupy the interface for max(7.6 us, 8 ns).
    assert in_ps == pytest.approx(truth, rel=2e-3)
    assert quiet.machine.loggp.eager_limit("other_node").base() == 16384  # type: ignore[union-attr]
    # The rendezvous: L and 4 us of handshake are three crossings and two control messages of o_s; o_r's 0.2 ns/B is in
    # G: the receive includes the transfer.
    crossing = (6.3 + 4.0 - 2 * 1.4) / 3
    assert bulk.L.base() == pytest.approx(crossing * 1e6, rel=1e-3)  # type: ignore[union-attr]
    assert bulk.G.base() == pytest.approx(1200, rel=1e-3)  # type: ignore[union-attr]
    assert quiet.refused == ()
    assert quiet.lacking == ()


def test_the_tables_hold_the_truth(quiet: Calibration) -> None:
    machine = quiet.machine
    assert machine.overlap.HD is not None
    assert machine.overlap.HD.number() == 32
    o = {(p.size_bytes, p.burst): p.o.base() for p in machine.overlap.o}
    # 1.4 us + 8 * 0.1 ns, and a fifth of it shared by the burst of 4.
    assert o[8, 4] == pytest.approx(1.4008e6 * 1.05, rel=1e-5)
    G = {(g.pattern, g.processors, g.size_bytes, g.level): g.G.base() for g in machine.overlap.G}
    assert G["cross-section", 4, 65536, "lowest"] == pytest.approx(1.1 * 2 * 1000)
    assert G["nearest-neighbour", 2, 1024, "highest"] == pytest.approx(0.9 * 1000)
    points = {(p.size_bytes, p.stride_bytes): p for p in machine.log3p.point}
    # o_mw = 1 us + 4096 * 0.2 ns; l_mw = 512 blocks * 5 ns * (1 + 256/1024).
    assert points[4096, None].o_mw.base() == pytest.approx(1.8192e6, rel=1e-5)  # type: ignore[union-attr]
    assert points[4096, 256].l_mw.base() == pytest.approx(3.2e6, rel=1e-5)  # type: ignore[union-attr]
    packed = {o.name: o.result.base() for o in machine.observed}
    assert packed["l_mw_packed_4096B_256B_8B"] == pytest.approx(512 * 2e3 * 1.25, rel=1e-5)


def test_what_pairs_lose_by_ends_that_they_share_is_stated(quiet: Calibration) -> None:
    lost = {o.name: o.result.base() for o in quiet.machine.observed if "_pairs_" in o.name}
    # Across the middle two pairs have half of the bandwidth; neighbours share nothing.
    assert lost == pytest.approx(
        {
            f"other_node.{pattern}_2_pairs_{size}B": factor
            for pattern, factor in (("neighbour", 1.0), ("cross_section", 2.0))
            for size in (1024, 65536)
        }
    )
    assert [note for note in quiet.machine.notes if "pairs of ranks at once" in note and "2.00 (2.00 to 2.00)" in note]


def test_every_value_says_where_it_comes_from_and_how_sure_it_is(quiet: Calibration) -> None:
    machine = quiet.machine
    found = list(quantities(machine))
    assert len(found) == quiet.values
    for place, quantity in found:
        assert machine.sources[quantity.source].kind == "measurement", place
        assert quantity.interval is not None, place
        assert quantity.confidence == 0.95, place
        assert quantity.basis in ("measured", "derived"), place
    for source in machine.sources.values():
        assert source.date == "2026-11-21"
        assert source.host == "n1 (CPU 0), n2 (CPU 0)"
        assert source.method


def test_the_file_feeds_the_models_without_an_edit(quiet: Calibration, tmp_path: Path) -> None:
    assert [model for model, gaps in feeds(quiet.machine).items() if not gaps] == [
        "LogP",
        "LogGP",
        "LoPC",
        "log3P",
        "overlap",
    ]
    save_machine(quiet.machine, tmp_path / "mine.toml")
    again = load_machine(tmp_path / "mine.toml")
    assert again == quiet.machine
    for model in ("LogP", "LogGP", "LoPC"):
        assert replay_parameters(again, model).machine == "virtual"
    assert list(tmp_path.iterdir()) == [tmp_path / "mine.toml"]


def test_what_did_not_reach_five_per_cent_says_so() -> None:
    found = calibration(Virtual(TRUTH, noise=0.2, seed=4).samples(), name="rough")
    notes = {q.note for _, q in quantities(found.machine) if q.note and "not reached" in q.note}
    assert notes
    assert any(f"not reached by {len(found.not_reached)} of {found.values} values" in n for n in found.machine.notes)


def test_two_calibrations_of_one_machine_agree_and_another_machine_does_not() -> None:
    one, two = noisy(1), noisy(2)
    found = agree(one, two)
    assert len(found.pairs) > 90
    assert found.agreeing >= 0.95 * len(found.pairs), [p.name for p in found.differing]
    assert found.only_a == found.only_b == ()
    other = agree(one, noisy(3, L=9e-6, g=12e-6))
    names = {pair.name for pair in other.differing}
    assert "loggp.other_node.L (up to 16384 B)" in names
    assert "loggp.other_node.g (up to 16384 B)" in names
    assert "overlap.o[size_bytes 8, burst 1].o" not in names


def test_a_division_into_other_ranges_hides_no_difference() -> None:
    # The second machine switches at 4 KiB: ranges are compared where their sizes are, and the limit itself differs.
    one = calibration(Virtual(TRUTH).samples(), name="a").machine
    two = calibration(Virtual(TRUTH, eager=4096).samples(), name="b").machine
    found = agree(one, two)
    assert any(p.name == "loggp.other_node.eager_limit" for p in found.differing)
    assert sum(p.name.startswith("loggp.other_node.") for p in found.pairs) >= 13


def test_values_that_only_one_file_has_are_named() -> None:
    samples = Virtual(TRUTH).samples()
    without = Samples(samples.host, tuple(p for p in samples.points if p.family != "pattern_gap"))
    found = agree(calibration(samples, name="a").machine, calibration(without, name="b").machine)
    assert len(found.only_a) == 16 + 4, "G of pairs, and what two lose to each other"
    assert found.only_b == ()
    assert all("overlap.G" in name or "_pairs_" in name for name in found.only_a)


def test_crowds_are_observed_as_ratios(quiet: Calibration) -> None:
    observed = {o.name: o.result.number() for o in quiet.machine.observed}
    # LOGP 3.5: K senders to one receiver see K times the gap; one to many is bound by the sender.
    assert observed["other_node.many_to_one_3"] == pytest.approx(3.0, rel=0.02)
    assert observed["other_node.one_to_many_3"] == pytest.approx(1.0, rel=0.02)
    assert observed["other_node.o_r_of_waiting_replies"] == pytest.approx(2.2)


def test_a_signature_alone_makes_one_range() -> None:
    samples = Virtual(TRUTH).samples()
    only = Samples(samples.host, tuple(p for p in samples.points if p.family in ("signature", "round_trip")))
    table = calibration(only, name="a").machine.loggp.of("other_node")
    assert table is not None
    (row,) = table.range
    assert row.L is not None
    assert row.L.base() == pytest.approx(6.3e6, rel=0.02)
    assert row.G is None


def test_what_cannot_be_extracted_is_named_in_the_file() -> None:
    samples = Virtual(TRUTH).samples()
    few = tuple(p for p in samples.points if p.family != "signature" or p["burst"] in (1, 2))
    found = calibration(Samples(samples.host, few), name="a")
    assert says(found.lacking[0], "0 us", "2", "4")
    assert any(note.startswith("Not extracted: Delta = 0 us has 2 bursts") for note in found.machine.notes)
    assert found.machine.loggp.of("other_node").range[0].g is None  # type: ignore[union-attr]


def test_nothing_at_all_is_an_error() -> None:
    with pytest.raises(InputError, match=r"samples give no value for .*: .* no family"):
        calibration(Samples(HOST, ()), name="a")
    with pytest.raises(InputError, match="'My cluster' is not a valid machine name"):
        calibration(Virtual(TRUTH).samples(), name="My cluster")
    assert machine_name("My Cluster (IB)") == "my-cluster-ib"
    assert machine_name("???") == "calibrated"


def test_a_file_that_cannot_be_written_is_an_error(quiet: Calibration, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.toml cannot be written: No such file .*another"):
        save_machine(quiet.machine, tmp_path / "nowhere" / "x.toml")
    (tmp_path / "taken.toml").mkdir()
    with pytest.raises(InputError, match=r"taken\.toml cannot be written"):
        save_machine(quiet.machine, tmp_path / "taken.toml")
    assert [p.name for p in tmp_path.iterdir()] == ["taken.toml"]
