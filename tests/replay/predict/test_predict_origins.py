"""Where every value behind a table comes from: given, the machine (which class, which clock), or a default."""

from __future__ import annotations

import json

from tests.replay.predict.test_command_line import logpost
from tests.replay.predict.test_machine_values import RANGES, machine

from logpost.machines import load_machine
from logpost.replay.models import MODELS
from logpost.replay.predict.prediction import predict

LACKING = "default, not in the machine file"


def test_defaults_are_listed() -> None:
    found = predict(MODELS["loggp"], ["L=5us", "o=1us", "G=1ns", "B=8"])
    assert found.defaults == (("g", "0 us", "default"), ("n", "1", "default"))
    assert found.used[-2:] == (("o_s", "1 us", "given as o"), ("o_r", "1 us", "given as o"))
    overlap = predict(MODELS["overlap"], ["V=8", "S=8", "t_V=1us", "o=1us", "L=1us", "G=1ns"])
    assert {
        ("form", "balanced", "default"), ("operation", "get", "default"), ("topology", "point-to-point", "default"),
        ("P", "1", "default"), ("HD", "inf", "default"), ("outstanding", "inf B", "default"),
    } <= set(overlap.defaults)  # fmt: skip
    assert ("lopc", "amva", "default") in predict(MODELS["lopc"], ["L=1", "o=1"]).defaults


def test_defaults_that_do_not_count_are_not() -> None:
    by_k_d = {name for name, _, _ in predict(MODELS["logpc-network"], ["B=8", "T=1us", "G=1ns", "k_d=2"]).defaults}
    assert by_k_d == {"w", "n", "topology", "units"}
    stated = ["B=8", "T=1us", "G=1ns", "kx=4", "ky=4"]
    by_sides = {name for name, _, _ in predict(MODELS["logpc-network"], stated).defaults}
    assert by_sides == {"w", "topology", "units", "self_messages", "average"}
    dag = ["n_tasks=8", "P=2", "b=2", "task=1us", "L=1us", "o_s=1us", "G=1ns"]
    without = {name for name, _, _ in predict(MODELS["diamond-dag"], dag).defaults}
    assert without == {"interrupt", "a", "alpha", "bytes_per_value", "as_printed"}


def test_a_default_for_what_the_machine_lacks_says_so() -> None:
    meiko = predict(MODELS["loggp"], ["B=8", "G=1ns"], machine=load_machine("meiko_cs2"))
    assert ("n", "1", "default") in meiko.defaults
    bare = machine(loggp={"other_node": {"L": 5, "o_s": 1, "o_r": 1, "G": 1}})
    assert predict(MODELS["loggp"], ["B=8"], machine=bare).defaults == (("g", "0 us", LACKING), ("n", "1", "default"))
    long = predict(MODELS["logpc-long"], ["B=8"], machine=bare).defaults
    assert long == (("G_m", "0 us/B", LACKING), ("a", "0 B", LACKING), ("C_n", "0 us", "default"))
    eager = predict(MODELS["loggops"], ["B=8"], machine=bare).defaults
    assert {("O", "0 us/B", LACKING), ("S", "inf B", LACKING)} <= set(eager)
    network = predict(MODELS["logpc-network"], ["B=8", "T=1us", "k_d=2"], machine=bare).defaults
    assert {("units", "consistent", LACKING), ("topology", "mesh", LACKING), ("n", "2", LACKING)} <= set(network)
    # The names of other things: complexity's S counts sizes, and overlap's topology is an order of peers.
    assert all(origin == "default" for _, _, origin in predict(MODELS["complexity"], ["S=1"], machine=bare).defaults)
    overlap = predict(MODELS["overlap"], ["V=8", "S=8", "t_V=1us"], machine=bare).defaults
    assert ("topology", "point-to-point", "default") in overlap


def test_a_default_that_the_machine_has_by_size_says_so() -> None:
    stated = ["o_mw=1us", "o_net=1us", "stride=1KiB"]
    found = predict(MODELS["log3p"], stated, machine=load_machine("titan_ia64"))
    assert ("l_mw", "0 us", "default, give B for the machine's") in found.defaults
    given = predict(MODELS["log3p"], [*stated, "B=16KiB"], machine=load_machine("titan_ia64"))
    assert ("l_mw", "420 us", "titan_ia64") in given.used


def test_a_machine_s_values_along_a_sweep_vary() -> None:
    found = predict(MODELS["loggp"], [], ["B=8,65"], machine=RANGES)
    assert ("L", "varies", "ours") in found.used
    swept = predict(MODELS["loggp"], ["L=5us", "G=1ns", "B=8"], ["o=1us,2us"])
    assert {name for name, _, _ in swept.used} == {"L", "G", "B"}


def test_the_class_that_stands_in_is_named() -> None:
    near = machine(loggp={"same_node": {"L": 5, "o_s": 1, "o_r": 1, "G": 1}})
    assert ("L", "5 us", "ours, same_node for other_node") in predict(MODELS["logp"], machine=near).used
    assert ("L", "5 us", "ours") in predict(MODELS["logp"], machine=near, locality="same_node").used
    overlap = predict(MODELS["overlap"], ["V=1MiB", "S=1KiB", "t_V=1us"], machine=near).used
    assert {whence for name, _, whence in overlap if name in ("L", "o", "G", "G_V")} == {
        "ours, same_node for other_node"
    }


def test_the_header_and_the_document_have_them() -> None:
    request = ("predict", "loggp", "--set", "L=5us", "--set", "o=1us", "--set", "G=1ns", "--set", "B=8")
    lines = logpost(*request).stdout.splitlines()
    assert lines[0].startswith("loggp with L = 5 us, G = 0.001 us/B, B = 8 B, o_")
    assert "and g = 0 us (default), n = 1 (default)" in lines
    listed = json.loads(logpost(*request, "--json").stdout)["parameters"]
    assert {"name": "L", "value": "5 us", "from": "given"} in listed
    assert {"name": "n", "value": "1", "from": "default"} in listed
