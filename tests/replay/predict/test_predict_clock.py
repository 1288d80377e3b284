"""One clock or none: a machine's own, the given one where the file has none, and printed units without any."""

from __future__ import annotations

import pytest
from tests.replay.predict.test_command_line import logpost
from tests.replay.predict.test_machine_values import machine

from logpost.machines import load_machine
from logpost.replay.models import MODELS, ModelError
from logpost.replay.predict.prediction import predict

LOGGP = {"other_node": {"L": 5, "o_s": 1, "o_r": 1, "G": 1}}
PRINTED = machine(topology={"kind": "torus", "dims": [4, 4]}, logpc={"channel_load": "printed"}, loggp=LOGGP)
CYCLES = machine(units=["cycle", "cycle/B", "B"], loggp={"other_node": {"L": 500, "o_s": 100, "o_r": 100, "G": 2}})
CLOCK = r"units=printed \(machine ours\) counts a byte as a cycle: give the clock \(--clock 20MHz\) or --set cycle=50ns"


@pytest.mark.parametrize(
    ("name", "assignments"),
    [("logpc-network", ["T=10us", "B=1000"]), ("logpc-all-to-all", ["B=8"]), ("logpc-all-to-all-long", ["B=8000"])],
)
def test_a_machine_s_printed_units_need_a_clock(name: str, assignments: list[str]) -> None:
    with pytest.raises(ModelError, match=CLOCK):
        predict(MODELS[name], assignments, machine=PRINTED)
    by_clock = predict(MODELS[name], assignments, machine=PRINTED, clock_hz=20e6)
    by_cycle = predict(MODELS[name], [*assignments, "cycle=50ns"], machine=PRINTED)
    assert by_clock.rows() == by_cycle.rows()
    assert ("cycle", "0.05 us", "of --clock") in by_clock.used
    consistent = predict(MODELS[name], [*assignments, "units=consistent"], machine=PRINTED)
    assert "cycle" not in {name for name, _, _ in (*consistent.used, *consistent.defaults)}


def test_the_channel_s_cycle_is_the_clock_s() -> None:
    # 8 bytes at 50 ns each, k_d = 4/4: m s k_d/2 = 0.4/10/2
    found = predict(MODELS["logpc-network"], ["T=10us", "B=8"], machine=PRINTED, clock_hz=20e6)
    assert found.rows()[0]["rho_open"] == pytest.approx(0.02)


def test_a_second_clock_is_refused() -> None:
    with pytest.raises(ModelError, match=r"--clock 40MHz: machine alewife has its own clock, 20MHz; leave --clock"):
        predict(MODELS["logpc-all-to-all"], ["B=8"], machine=load_machine("alewife"), clock_hz=40e6)


def test_a_machine_in_cycles_takes_the_clock_given() -> None:
    with pytest.raises(ModelError, match=r"machine ours counts in cycles .* no clock: .*e\.g\."):
        predict(MODELS["loggp"], ["B=11"], machine=CYCLES)
    # 100 + 500 + 10 * 2 + 100 cycles of 2 ns
    found = predict(MODELS["loggp"], ["B=11"], machine=CYCLES, clock_hz=500e6, unit="ns")
    assert found.rows()[0]["T"] == pytest.approx(1440)
    assert ("L", "1000 ns", "ours, with the clock given") in found.used
    assert predict(MODELS["loggp"], ["B=11"], machine=CYCLES, clock_hz=500e6).rows()[0]["T"] == pytest.approx(720)
    assert CYCLES.clock_hz is None


def test_a_machine_in_seconds_has_no_cycles_without_a_clock() -> None:
    """A cycle of one picosecond would make 5 us five million cycles."""
    ours = machine(loggp=LOGGP)
    for assignments, unit in (([], "cycle"), (["g=3cycle"], None)):
        with pytest.raises(ModelError, match=r"times of machine ours \(L, o_s, o_r\), .* none"):
            predict(MODELS["logp"], assignments, machine=ours, unit=unit)
    # 5 us at 20 MHz
    found = predict(MODELS["logp"], ["g=3cycle"], machine=ours, clock_hz=20e6)
    assert ("L", "100 cycles", "ours") in found.used
    network = machine(topology={"kind": "mesh", "dims": [8, 4]})
    predict(MODELS["logpc-network"], ["B=8", "T=137cycle", "G=0.5"], machine=network)


def test_the_ends_of_a_sweep_are_times_as_well() -> None:
    for sweep in ("o=1us:2us:3", "o=1us:2us:3:lin", "o=1us,2"):
        with pytest.raises(ModelError, match=r"a table in cycles needs the processor clock"):
            predict(MODELS["logp"], ["L=21cycle"], [sweep])
    swept = predict(MODELS["logpc-all-to-all"], ["B=8"], ["W=1us:9us:2"], machine=load_machine("alewife"))
    assert swept.results[0].unit == "us"


def test_choices_that_end_in_s_are_no_times() -> None:
    stated = ["T=137cycle", "B=8", "G=0.5cycle/B", "k_d=2", "self_messages=yes"]
    assert predict(MODELS["logpc-network"], stated).results[0].unit == "cycles"
    found = predict(MODELS["logpc-network"], ["T=137", "B=8", "average=yes"], machine=load_machine("alewife"))
    assert ("T", "137 cycles", "given") in found.used
    dag = ["n_tasks=8", "P=2", "b=2", "task=1cycle", "L=1", "o_s=1", "G=1", "as_printed=yes"]
    assert predict(MODELS["diamond-dag"], dag).results[0].unit == "cycles"


@pytest.mark.parametrize("clock", ["inf", "infGHz", "1e400MHz", "nan", "-1MHz", "0.1Hz", "1e10GHz"])
def test_what_is_no_clock(clock: str) -> None:
    refused = logpost("predict", "loggp", "--set", "L=1", f"--clock={clock}")
    assert (refused.returncode, refused.stderr) == (
        2, f"logpost: --clock {clock} is not a clock rate; write e.g. --clock 20MHz\n",
    )  # fmt: skip
