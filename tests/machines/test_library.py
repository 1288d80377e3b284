"""The machine files that come with logpost: each value has unit and source, and the papers' numbers are in them."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import pytest

from logpost.machines import replay_parameters
from logpost.machines.parameters.feeds import feeds
from logpost.machines.schema.load import LIBRARY, TEMPLATE, check_machine_file, file_hash, library_names, load_machine
from logpost.machines.schema.places import quantities
from logpost.machines.values.quantity import NOT_STATED
from logpost.machines.values.units import UNITS

NAMES = library_names()


@pytest.mark.parametrize("name", NAMES)
def test_loads_under_its_own_name_with_unit_and_source_for_every_value(name: str) -> None:
    machine = load_machine(name)
    assert machine.name == name
    values = list(quantities(machine))
    assert values
    assert machine.topology is None or machine.topology.source in machine.sources
    for place, quantity in values:
        assert quantity.unit in UNITS, place
        assert quantity.source in machine.sources, place
        assert quantity.uncertainty_text() == NOT_STATED or quantity.half_width() is not None, place
        if quantity.basis == "printed" and machine.sources[quantity.source].kind == "paper":
            assert quantity.where, f"{place} of {name} has no table, figure or section"
        # A value converts, cycles included.
        assert quantity.base(machine.clock_hz) >= 0


def test_the_papers_machines_are_all_there() -> None:
    of_the_papers = {
        "alewife", "paragon", "meiko_cs2", "meiko_cs2_50mhz", "myrinet_now", "myrinet10", "titan_ia64", "ibm_p575",
        "infiniband_opteron", "elan3", "elan4",
    }  # fmt: skip
    assert of_the_papers <= set(NAMES)
    assert len([name for name in NAMES if name.startswith("sens_")]) == 14


def printed(name: str) -> list[dict[str, str]]:
    """The rows of a printed table, as transcribed in `facts/`."""
    with (Path(__file__).parent / "facts" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


SENS = {
    "MIT Alewife": "alewife", "TMC CM5": "cm5", "KSR-2": "ksr2", "MIT J-Machine": "j_machine",
    "MIT M-Machine": "m_machine", "Intel Delta": "delta", "Intel Paragon": "paragon", "Stanford DASH": "dash",
    "Stanford FLASH": "flash", "Wisconsin T0": "t0", "Wisconsin T1": "t1", "Cray T3D": "t3d", "Cray T3E": "t3e",
    "SGI Origin": "origin",
}  # fmt: skip


def test_sens_table_1_cell_by_cell() -> None:
    rows = printed("sens_table1.csv")
    assert len(rows) == 14
    for row in rows:
        machine = load_machine(f"sens_{SENS[row['machine']]}")
        network, memory = machine.network, machine.memory
        cells = {
            "mhz": machine.clock.processor,
            "bisection_MBps": network.bisection,
            "bytes_per_cycle": network.bisection_per_cycle,
            "latency_cycles_24B": network.packet_latency,
            "remote_miss": memory.remote_miss,
            "local_miss": memory.local_miss,
        }
        for column, quantity in cells.items():
            cell = row[column]
            if cell == "":
                assert quantity is None, (row["machine"], column)
                continue
            assert quantity is not None, (row["machine"], column)
            if "-" in cell:
                assert quantity.range == tuple(float(part) for part in cell.split("-"))
            else:
                assert quantity.value == float(cell)
        if network.bisection is not None and network.bisection_per_cycle is not None:
            # The table's two columns are one quantity: MB/s over MHz, rounded as printed (CM5: 640/33 = 19.39).
            assert network.bisection.base() == pytest.approx(
                network.bisection_per_cycle.base(machine.clock_hz), rel=0.004
            )


def test_sens_cache_misses_cell_by_cell() -> None:
    rows = printed("sens_misses.csv")
    misses = load_machine("alewife").memory.miss
    assert len(rows) == len(misses) == 12
    for row, miss in zip(rows, misses, strict=True):
        assert (row["type"], row["home"]) == (miss.access, miss.home)
        assert row["inv_msgs"] == ("" if miss.invalidations is None else str(miss.invalidations))
        assert row["impl"] == {"hardware": "hw", "software": "sw"}[miss.handled_by]
        assert miss.penalty.value == float(row["cycles"])
        # The figure prints microseconds too: cycles / 20 MHz, e.g. 11 / 20 = 0.55.
        assert miss.penalty.base(20e6) / 1e6 == pytest.approx(float(row["us"]))


@pytest.mark.parametrize("name", ["paragon", "meiko_cs2", "myrinet_now"])
def test_logp_machines_round_trip_is_what_the_paper_measured(name: str) -> None:
    # 2 (o_s + L + o_r) must lie within the printed range of round trips, give or take the rounding of the
    # three parameters to 0.1 us: 2 * 3 * 0.05 = 0.3 us.
    machine = load_machine(name)
    table = machine.loggp.of("other_node")
    assert table is not None
    (values,) = table.range
    assert values.o_s is not None
    assert values.L is not None
    assert values.o_r is not None
    round_trip = 2 * (values.o_s.base() + values.L.base() + values.o_r.base()) / 1e6
    printed = next(o.result.range for o in machine.observed if o.name == "round_trip")
    assert printed is not None
    assert printed[0] - 0.3 <= round_trip <= printed[1] + 0.3


def test_paragon_takes_6_3_and_says_why_not_7_5() -> None:
    machine = load_machine("paragon")
    table = machine.loggp.of("other_node")
    assert table is not None
    assert table.range[0].L is not None
    assert table.range[0].L.value == 6.3
    assert any("7.5" in note for note in machine.notes)


def test_meiko_50_mhz_is_30_percent_slower() -> None:
    table = load_machine("meiko_cs2_50mhz").loggp.of("other_node")
    assert table is not None
    (values,) = table.range
    assert values.L is not None
    assert values.g is not None
    assert values.L.value == pytest.approx(7.5 * 1.3)
    assert values.g.value == pytest.approx(13.6 * 1.3)
    assert values.o_s is None  # "increase slightly" is no number
    assert values.L.basis == "derived"


def test_titan_adds_up_as_figure_4_says() -> None:
    machine = load_machine("titan_ia64")
    (point,) = machine.log3p.point
    parts = {name: getattr(point, name).base() / 1e6 for name in ("o_mw", "l_mw", "o_net", "T_mem")}
    seen = {o.name: o.result.base() / 1e6 for o in machine.observed if o.name.startswith("T0")}
    # 29 + 420 + 131 = 580 us between nodes, 29 + 420 + 3 = 452 us to oneself.
    assert parts["o_mw"] + parts["l_mw"] + parts["o_net"] == pytest.approx(seen["T01_16KB_1KB"])
    assert parts["o_mw"] + parts["l_mw"] + parts["T_mem"] == pytest.approx(seen["T00_16KB_1KB"])


def test_tukey_predicts_its_own_round_trip() -> None:
    # Half round trip of 8 KiB: o_s + L + 8191 G + o_r = 2.536 + 5.281 + 8191 * 0.000455 + 4.873 = 16.42 us,
    # measured 36.239 / 2 = 18.12 us: LogGP's L from 1 byte is 9 % short there, and not more.
    machine = load_machine("tukey_infiniband")
    table = machine.loggp.of("other_node")
    assert table is not None
    last = table.range[-1]
    parts = [getattr(last, name).base() / 1e6 for name in ("o_s", "L", "o_r")]
    assert last.G is not None
    predicted = sum(parts) + 8191 * last.G.base() / 1e6
    assert predicted == pytest.approx(16.42, abs=0.01)
    assert predicted == pytest.approx(36.238636 / 2, rel=0.10)


def test_taurus_gives_back_the_ping_pong_that_it_was_derived_from() -> None:
    # Half a ping-pong of B bytes is (4.609e-5 s + B * 3.297e-8 s)/2 up to 1420 B, (1.120e-4 + B * 2.208e-9)/2 up to
    # 33,500 B and (9.985e-5 + B * 2.863e-9)/2 up to 64 KiB.
    p = replay_parameters(load_machine("grid5000_taurus"))
    for size, printed in (
        (1000, (4.609e-5 + 1000 * 3.297e-8) / 2),
        (20_000, (1.120e-4 + 20_000 * 2.208e-9) / 2),
        (50_000, (9.985e-5 + 50_000 * 2.863e-9) / 2),
    ):
        r = int(p.row(3, size))
        fixed = p.o_s_ps[r] + p.L_ps[r] + p.o_r_ps[r]
        per_byte = p.o_s_ps_per_byte[r] + p.o_r_ps_per_byte[r]
        assert fixed + per_byte * size + p.G_ps_per_byte[r] * (size - 1) == pytest.approx(printed * 1e12, rel=1e-5)
    assert p.eager_limit("other_node") == 65536


def test_current_machines_feed_an_analysis() -> None:
    # What `analyze -m NAME` needs is LogGP; the source's year is that of the measurement or publication.
    able = {name: load_machine(name).year for name in NAMES if not feeds(load_machine(name))["LogGP"]}
    newer = {name for name, year in able.items() if year > 2016}
    assert {"alps", "piz_daint", "deep_est", "azure_hpc", "oracle_hpc", "ucx_infiniband", "pcad_poti"} <= newer
    for name in able:
        assert replay_parameters(load_machine(name)).L_ps.min() > 0, name


def half_round_trip_us(name: str, size: int) -> float:
    """o_s + L + (B - 1) G + o_r of one message between nodes."""
    p = replay_parameters(load_machine(name))
    r = int(p.row(3, size))
    fixed = p.o_s_ps[r] + p.L_ps[r] + p.o_r_ps[r]
    per_byte = p.o_s_ps_per_byte[r] + p.o_r_ps_per_byte[r]
    return float(fixed + per_byte * size + p.G_ps_per_byte[r] * (size - 1)) / 1e6


def test_sirocco_gives_back_the_ping_pong_that_it_was_derived_from() -> None:
    # Half of 19.99 us + 6.084 ns/B up to 1420 B, of 34.74 us + 1.889 ns/B up to 64 KiB, of 38.40 us + 1.784 ns/B up to
    # 128 KiB.
    for size, printed in (
        (1000, (19.99 + 1000 * 6.084e-3) / 2),
        (20_000, (34.74 + 20_000 * 1.889e-3) / 2),
        (100_000, (38.40 + 100_000 * 1.784e-3) / 2),
    ):
        assert half_round_trip_us("plafrim_sirocco", size) == pytest.approx(printed, rel=1e-5)


def test_poti_gives_back_half_a_ping_pong() -> None:
    # Half a ping-pong is o_r plus the transfer: lat-factor * 22.7 us + B * 8 ns / bw-factor. From 6687 B on that is
    # 1.758 + 1.394904 * 22.7 us + B * (8000 / 0.919394 + 114.5) ps.
    printed = 1.758 + 1.394904 * 22.7 + 20_000 * (8000 / 0.919394 + 114.5) / 1e6
    assert half_round_trip_us("pcad_poti", 20_000) == pytest.approx(printed, rel=1e-4)


@pytest.mark.parametrize(("name", "printed"), [("ucx_infiniband", 1.128100), ("ucx_roce", 1.526466)])
def test_netgauge_gives_back_half_the_round_trip_of_one_byte(name: str, printed: float) -> None:
    assert half_round_trip_us(name, 1) == pytest.approx(printed, rel=1e-6)


def test_values_in_units_of_the_source_are_converted() -> None:
    # 0.000079 us/B = 79 ps/B = 12.7 GB/s; 0.04 ns/B = 40 ps/B = 25 GB/s = 200 Gbit/s.
    alps, nccl = (replay_parameters(load_machine(name)) for name in ("alps", "alps_nccl"))
    assert alps.G_ps_per_byte[int(alps.row(3, 1))] == pytest.approx(79)
    assert (alps.L_ps[0], alps.o_s_ps[0], alps.o_r_ps[0], alps.eager_limit("other_node")) == (1.9e6, 230e3, 230e3, 4096)
    assert nccl.G_ps_per_byte[0] == pytest.approx(40)
    assert (nccl.L_ps[0], nccl.o_s_ps[0], nccl.g_ps[0], nccl.eager_limit("other_node")) == (3.7e6, 200e3, 5e3, None)


def test_derived_bandwidths_are_the_inverse_of_what_was_read() -> None:
    lumi = load_machine("lumi_c").loggp.other_node
    assert lumi is not None
    assert lumi.range[0].G is not None
    assert lumi.range[0].G.base() == pytest.approx(1e12 / 24044e6, rel=2e-4)  # ps/B = 10^12 / (B/s)
    aion = load_machine("aion").loggp
    for name, megabytes in (("same_socket", 14245.88), ("same_node", 14333.54), ("other_node", 12323.91)):
        table = aion.of(name)
        assert table is not None
        assert table.range[0].G is not None
        assert table.range[0].G.base() == pytest.approx(1e6 / megabytes, rel=2e-4)


def test_the_template_passes_its_own_check() -> None:
    machine, problems = check_machine_file(TEMPLATE)
    assert problems == []
    assert machine is not None
    assert machine.kind == "template"


def test_library_files_are_frozen() -> None:
    # A machine file is one dated measurement or publication: a new measurement is a new file, so that a run's manifest
    # keeps its meaning. After adding a file (never after editing one that was released):
    #   (cd machines/library && sha256sum *.toml > FROZEN)
    lines = [line.split() for line in (LIBRARY / "FROZEN").read_text().splitlines()]
    recorded = {name: digest for digest, name in lines}
    present = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in LIBRARY.glob("*.toml")}
    assert present == recorded
    assert file_hash("alewife") == recorded["alewife.toml"]
