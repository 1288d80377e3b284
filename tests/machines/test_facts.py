"""The library against the papers' printed numbers (`facts/`), number by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from logpost.machines import Machine, load_machine, replay_parameters
from logpost.machines.schema import Range
from logpost.machines.values.quantity import Quantity
from logpost.machines.values.toml import tomllib

FACTS = Path(__file__).parent / "facts"


@pytest.fixture(scope="module")
def facts() -> dict[str, dict[str, Any]]:
    """The printed numbers by machine."""
    found = {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in FACTS.glob("*.toml")}
    assert len(found) == 9
    return found


def ranges(machine: Machine) -> list[Range]:
    table = machine.loggp.of("other_node")
    assert table is not None
    return table.range


def number(quantity: Quantity | None, unit: str) -> float:
    """The value, which must be written in the unit of the fact."""
    assert quantity is not None
    assert quantity.unit == unit
    return quantity.number()


def observed(machine: Machine, name: str) -> Quantity:
    return next(o.result for o in machine.observed if o.name == name)


@pytest.mark.parametrize("name", ["paragon", "meiko_cs2", "myrinet_now"])
def test_logp_machines(facts: dict[str, dict[str, Any]], name: str) -> None:
    fact, machine = facts[name], load_machine(name)
    (values,) = ranges(machine)
    assert number(values.L, "us") == fact["L"]
    assert number(values.o_s, "us") == fact["os"]
    assert number(values.o_r, "us") == fact["or"]
    assert number(values.g, "us") == fact["g"]
    assert list(observed(machine, "round_trip").range or ()) == fact["rtt"]
    assert number(machine.nic.link_rate, "MB/s") == fact["link_MBps"]
    assert number(machine.clock.processor, "MHz") == fact["clock_mhz"]
    assert observed(machine, "k_to_1").value == fact["k_to_1"]["ratio"]
    assert f"{fact['k_to_1']['K']} senders" in next(o.what for o in machine.observed if o.name == "k_to_1")


def test_myrinet_bulk_and_its_older_variant(facts: dict[str, dict[str, Any]]) -> None:
    fact, machine = facts["myrinet_now"], load_machine("myrinet_now")
    assert number(observed(machine, "bulk_g_8B"), "us") == fact["bulk"]["g_8B"]
    assert number(observed(machine, "bulk_o_4096B"), "us") == fact["bulk"]["o_4096"]
    assert number(observed(machine, "bulk_T_4096B"), "us") == fact["bulk"]["T_4096"]
    (older,) = ranges(load_machine("myrinet10"))
    assert number(older.o_s, "us") == fact["variant"]["myrinet10"]["os"]
    assert number(older.o_r, "us") == fact["variant"]["myrinet10"]["or"]


def test_alewife(facts: dict[str, dict[str, Any]]) -> None:
    fact, machine = facts["alewife"], load_machine("alewife")
    short, long = ranges(machine)[:3], ranges(machine)[3]
    # Arguments are 32 bits: 0, 1, 2 arguments are 0, 4, 8 bytes.
    assert [r.up_to_bytes for r in short] == [4 * n for n in fact["short"]["args"]]
    assert [number(r.o_s, "cycle") for r in short] == fact["short"]["os"]
    assert [number(r.o_r, "cycle") for r in short] == fact["short"]["or"]
    assert {number(r.L, "cycle") for r in short} == {fact["short"]["L"]}
    assert number(long.o_s, "cycle") == fact["long"]["os"]
    assert number(long.o_r, "cycle") == fact["long"]["or"]
    assert number(long.L, "cycle") == fact["long"]["L"]
    assert number(long.G, "cycle/B") == fact["long"]["G"]
    assert number(machine.logpc.G_m, "cycle/B") == fact["long"]["Gm"]
    assert number(machine.logpc.header_before_interrupt, "B") == fact["long"]["a"]
    assert number(machine.logpc.dma_setup, "cycle") == fact["long"]["dma_setup"]
    assert number(machine.logpc.interrupt, "cycle") == fact["long"]["interrupt"]
    assert number(machine.logpc.dma_contention, "%") == 100 * fact["long"]["dma_contention"]
    assert machine.logpc.G_m is not None
    assert machine.logpc.G_m.basis == "inferred"
    assert machine.logpc.channel_load == fact["logpc"]["units"]
    assert machine.topology is not None
    assert machine.topology.mean_hops() / fact["logpc"]["n"] == fact["logpc"]["kd_measured"]
    assert number(machine.topology.per_hop, "cycle") == fact["topology"]["per_hop"]
    assert number(observed(machine, "all_to_all_sync"), "cycle") == fact["check"]["sync"]
    assert number(observed(machine, "all_to_all_async"), "cycle") == fact["check"]["async"]
    assert number(observed(machine, "all_to_all_long"), "cycle/B") == fact["check"]["long_factor"]


def test_alewife_reproduces_the_logp_row_of_table_4() -> None:
    # 2 (o_s + L + o_r) = 2 (15 + 21 + 122) = 316 cycles, o_s + o_r = 137: at 20 MHz 50,000 ps a cycle.
    p = replay_parameters(load_machine("alewife"))
    r = int(p.row(3, 8))
    assert 2 * (p.o_s_ps[r] + p.L_ps[r] + p.o_r_ps[r]) == 316 * 50_000
    assert p.o_s_ps[r] + p.o_r_ps[r] == 137 * 50_000


@pytest.mark.parametrize(
    ("name", "block"), [("elan3", "elan3"), ("elan4", "elan4"), ("infiniband_opteron", "infiniband")]
)
def test_overlap_machines(facts: dict[str, dict[str, Any]], name: str, block: str) -> None:
    fact, machine = facts[block], load_machine(name)
    (values,) = ranges(machine)
    assert number(values.round_trip_L, "us") == fact["L_roundtrip"]
    assert number(machine.overlap.HD, "1") == fact["HD"]
    for quantity, key in (
        (machine.nic.tlb_entries, "tlb_entries"),
        (machine.overlap.outstanding, "outstanding_max_bytes"),
        (machine.overlap.base_ratio, "comp_comm_base"),
    ):
        assert (None if quantity is None else quantity.base()) == fact.get(key)


def test_titan(facts: dict[str, dict[str, Any]]) -> None:
    fact, machine = facts["titan"], load_machine("titan_ia64")
    (sample,) = fact["sample"]
    (point,) = machine.log3p.point
    assert (point.size_bytes, point.stride_bytes) == (sample["s"], sample["d"])
    names = {"o_mw": "omw", "l_mw": "lmw", "T_mem": "Tmem", "o_net": "onet"}
    assert {key: number(getattr(point, name), "us") for name, key in names.items()} == {
        key: sample[key] for key in names.values()
    }
    assert machine.log3p.short_limit is not None
    assert machine.log3p.short_limit.base() == fact["eager_short"]
    limit = machine.loggp.eager_limit("other_node")
    assert limit is not None
    assert limit.base() == fact["rendezvous"]
    seen = [observed(machine, f"crossover_{key}").base() for key in ("unit_stride", "16B_stride", "256B_stride")]
    assert seen == list(fact["crossover_bytes"].values())


def test_p575(facts: dict[str, dict[str, Any]]) -> None:
    fact, machine = facts["p575"], load_machine("ibm_p575")
    names = {
        "ft_b4_ddt_lmw_share": "ddt_lmw_share_4",
        "ft_b4_pack_share": "pack_share_4",
        "ft_b4_opt_gain": "opt_gain_vs_ddt_4",
        "ft_c16_ddt_pack_share": "ddt_pack_share_16",
        "ft_c16_opt_pack_share": "opt_pack_share_16",
    }
    for name, key in names.items():
        assert observed(machine, name).base() == pytest.approx(fact["fft"][key])
    for case in fact["fft"]["cases"]:
        assert any(f"FT.{case['c']}: s = {case['s_MB']} MB, d = {case['d_KB']} KB" in n for n in machine.notes)
