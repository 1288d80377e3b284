"""Which machine can feed which model, and what the others miss."""

from __future__ import annotations

import pytest

from logpost.errors import InputError
from logpost.machines.feeds import MODELS, feeds, require
from logpost.machines.load import library_names, load_machine
from logpost.machines.loggp import NEEDS, replay_parameters
from logpost.machines.show import figures

from .builders import machine


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
        ("paragon", "LogGP", r"machine paragon cannot feed LogGP: its sources do not give G; it feeds LogP, LoPC;"),
        (
            "elan4",
            "overlap",
            r"elan4 cannot feed overlap: .* overlap.o\(S, b\), overlap.G\(P, S, pattern\); add the values",
        ),
        ("meiko_cs2", "LoGPC short", r"cannot feed LoGPC short: .* a mesh, torus or k-ary n-cube as topology"),
        ("sens_ksr2", "bisection and latency", r"do not give network.packet_latency"),
        ("ibm_p575", "log3P", r"do not give log3p.o_mw, log3p.o_net, log3p.l_mw"),
        ("paragon", "LoGPC long", r"do not give G, topology, logpc.G_m, logpc.header_before_interrupt"),
        ("paragon", "BSP", r"'BSP' is no model of machine files; use one of LogP, LogGP"),
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


def test_cycles_need_a_clock_to_feed_anything_but_distances() -> None:
    # The values are right as they stand (LOGPC itself prints no clock), but no model can make a time of them.
    mesh = {"kind": "mesh", "dims": [4, 4]}
    cycles = {"units": ["cycle", "cycle/B"], "topology": mesh}
    found = feeds(machine(**cycles))
    assert found["LogGP"] == ["clock.processor"]
    assert found["k-ary n-cube"] == []
    assert figures(machine(**cycles)) == []
    with pytest.raises(InputError, match=r"cannot feed LogGP: its sources do not give clock.processor; it feeds k-ary"):
        require(machine(**cycles), "LogGP")
    timed = machine(**cycles, clock={"processor": {"value": 20, "unit": "MHz"}})
    assert feeds(timed)["LogGP"] == []
    assert len(figures(timed)) == 1
