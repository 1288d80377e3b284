"""Which machine can feed which model, and what the others miss."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.machines.builders import machine

from logpost.cli.app import main
from logpost.errors import InputError
from logpost.machines.parameters.feeds import MODELS, feeds, require
from logpost.machines.parameters.loggp import NEEDS, replay_parameters
from logpost.machines.schema.load import library_names, load_machine
from logpost.machines.schema.write import to_toml
from logpost.machines.show.figures import figures


def able(name: str) -> list[str]:
    return [model for model, gaps in feeds(load_machine(name)).items() if not gaps]


def test_what_the_papers_machines_feed() -> None:
    assert able("paragon") == able("meiko_cs2") == able("myrinet_now") == ["LogP", "LoPC"]
    assert able("alewife") == [
        "LogP", "LogGP", "LoPC", "LoGPC short", "LoGPC long", "k-ary n-cube", "bisection and latency",
    ]  # fmt: skip
    assert able("titan_ia64") == ["log3P"]
    assert able("elan3") == able("ibm_p575") == able("myrinet10") == []
    assert able("sens_t3d") == ["k-ary n-cube", "bisection and latency"]
    assert able("tukey_infiniband") == ["LogP", "LogGP", "LoPC"]


@pytest.mark.parametrize(
    ("name", "model", "sentence"),
    [
        ("paragon", "LogGP", "machine paragon cannot feed LogGP: .* G; it feeds LogP, LoPC;"),
        (
            "elan4",
            "overlap",
            r"elan4 cannot feed overlap: .* overlap.o\(S, b\), overlap.G\(P, S, pattern\); add the values",
        ),
        ("meiko_cs2", "LoGPC short", "cannot feed LoGPC short: .* torus .* as topology"),
        ("sens_ksr2", "bisection and latency", r"do not give network.packet_latency"),
        ("ibm_p575", "log3P", r"do not give log3p.o_mw, log3p.o_net, log3p.l_mw"),
        ("paragon", "LoGPC long", r"do not give G, topology, logpc.G_m, logpc.header_before_interrupt"),
        ("paragon", "BSP", r"unknown model 'BSP'; machine files feed LogP, LogGP"),
    ],
)
def test_what_is_missing_is_said_by_name(name: str, model: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        require(load_machine(name), model)


@pytest.mark.parametrize("name", library_names())
def test_feeding_means_that_the_replay_parameters_can_be_made(name: str) -> None:
    machine = load_machine(name)
    for model in NEEDS:
        if feeds(machine)[model]:
            with pytest.raises(InputError, match=f"{machine.name}"):
                replay_parameters(machine, model)
        else:
            require(machine, model)
            assert replay_parameters(machine, model).machine == name
    assert set(feeds(machine)) == set(MODELS)


FULL = {"L": 5, "o_s": 1, "o_r": 2, "g": 3, "G": 4}


def test_the_replay_needs_a_value_in_every_class_that_has_some() -> None:
    partly = machine(loggp={"same_node": {"L": 1, "o_s": 1, "o_r": 1}, "other_node": FULL})
    found = feeds(partly)
    assert (found["LoPC"], found["LogP"], found["LogGP"]) == ([], ["g of same_node"], ["G of same_node"])
    with pytest.raises(InputError, match=r"class same_node: G .* is not given by its source"):
        replay_parameters(partly, "LogGP")


# Topologies that predict takes or refuses, and what the file then lacks for the k-ary n-cube and for LoGPC's network.
NETWORKS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"kind": "mesh", "dims": [8, 4]}, [], []),
    ({"kind": "hypercube", "n": 3}, [], []),
    ({"kind": "hypercube", "n": 4}, ["a topology of at most 3 dimensions"], []),
    ({"kind": "k-ary n-cube", "k": 4, "n": 4}, ["a topology of at most 3 dimensions"], []),
    ({"kind": "k-ary n-cube", "k": 4, "n": 2, "bidirectional": False}, [], []),
    ({"kind": "torus", "dims": [4, 4, 2]}, [], []),
    (
        {"kind": "torus", "dims": [4, 4], "wrap": [True, False]},
        ["a topology with end-around links in all its dimensions or in none"],
        [],
    ),
    ({"kind": "hypercube", "n": 0}, ["a topology of more than one node"], ["a topology of more than one node"]),
    # k_d of a ring of 8 is 2: messages wait for turns, which one dimension does not have. k_d of 4 is 1: none waits.
    ({"kind": "ring", "nodes": 8}, [], ["a topology of two dimensions or more"]),
    ({"kind": "ring", "nodes": 4}, [], []),
    (
        {"kind": "crossbar", "nodes": 4},
        ["a mesh, torus or k-ary n-cube as topology"],
        ["a mesh, torus or k-ary n-cube as topology"],
    ),
]


@pytest.mark.parametrize(("topology", "cube", "network"), NETWORKS, ids=lambda value: str(value))
def test_a_network_feeds_the_parameters_of_predict(
    topology: dict[str, Any], cube: list[str], network: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = machine(topology=topology)
    assert feeds(made)["k-ary n-cube"] == cube
    assert feeds(made)["LoGPC short"] == network
    path = tmp_path / "toy.toml"
    path.write_text(to_toml(made), encoding="utf-8")
    assert predicts(monkeypatch, "kary-ncube", path, "B=8") == (not cube)
    assert predicts(monkeypatch, "logpc-network", path, "B=8", "T=20us") == (not network)


def test_a_channel_loaded_by_cycles_needs_the_clock_and_one_loaded_by_G_needs_G() -> None:
    mesh = {"kind": "mesh", "dims": [4, 4]}
    printed = {"topology": mesh, "logpc": {"channel_load": "printed"}}
    assert feeds(machine(**printed))["LoGPC short"] == ["clock.processor"]
    assert feeds(machine(**printed, clock={"processor": {"value": 20, "unit": "MHz"}}))["LoGPC short"] == []
    # Named once, also where the values themselves are in cycles.
    assert feeds(machine(**printed, units=["cycle", "cycle/B"]))["LoGPC short"] == ["clock.processor"]
    small = {"other_node": {"range": [{**FULL, "up_to_bytes": 64}, {"L": 5, "o_s": 1, "o_r": 2}]}}
    assert feeds(machine(topology=mesh, loggp=small))["LoGPC short"] == ["G"]


def predicts(monkeypatch: pytest.MonkeyPatch, model: str, machine_file: Path, *values: str) -> bool:
    """Whether `logpost predict` succeeds on this machine."""
    settings = [part for value in values for part in ("--set", value)]
    monkeypatch.setattr(sys, "argv", ["logpost", "predict", model, "-m", str(machine_file), "--quiet", *settings])
    try:
        main()
    except SystemExit as stop:
        return stop.code in (0, None)
    return True


def test_cycles_need_a_clock_to_feed_anything_but_distances() -> None:
    # The values are right as written (LOGPC itself prints no clock), but no model can make a time of them.
    mesh = {"kind": "mesh", "dims": [4, 4]}
    cycles = {"units": ["cycle", "cycle/B"], "topology": mesh}
    found = feeds(machine(**cycles))
    assert found["LogGP"] == ["clock.processor"]
    assert found["k-ary n-cube"] == []
    assert figures(machine(**cycles)) == []
    with pytest.raises(InputError, match=r"cannot feed LogGP: .*clock\.processor; it feeds k-ary"):
        require(machine(**cycles), "LogGP")
    timed = machine(**cycles, clock={"processor": {"value": 20, "unit": "MHz"}})
    assert feeds(timed)["LogGP"] == []
    assert len(figures(timed)) == 1
