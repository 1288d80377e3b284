"""A network of the user's, of the machine's, or of both: what belongs together, and what contradicts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.replay.predict.test_machine_values import machine

from logpost.machines import Machine
from logpost.replay.models import MODELS, ModelError
from logpost.replay.predict.machine_values import machine_values
from logpost.replay.predict.prediction import Prediction, predict

NETWORK = MODELS["logpc-network"]
GIVEN = ("B=1000", "T=2us", "G=1ns/B")


def torus(*dims: int) -> Machine:
    return machine(topology={"kind": "torus", "dims": list(dims)})


def used(found: Prediction) -> dict[str, str]:
    return {name: value for name, value, _ in found.used}


def test_a_given_k_d_keeps_the_machine_s_dimensions() -> None:
    found = predict(NETWORK, [*GIVEN, "k_d=1.25"], machine=torus(4, 4, 4))
    assert (used(found)["n"], used(found)["topology"]) == ("3", "torus")
    assert not {"kx", "ky", "kz"} & used(found).keys()
    # s = 1 us, m = 1/(2 us): (n+1)(k_d-1) s^2 m/2 / (1 - m s k_d/2) = 4 * 0.25 * 0.25/(1 - 0.3125)
    assert found.rows()[0]["C_n_open"] == pytest.approx(0.25 / 0.6875)
    own = predict(NETWORK, [*GIVEN, "k_d=1.25", "n=2"], machine=torus(4, 4, 4))
    assert own.rows()[0]["C_n_open"] == pytest.approx(0.1875 / 0.6875)


def test_a_dimension_of_one_node_is_not_counted() -> None:
    assert used(predict(NETWORK, [*GIVEN, "k_d=1.25"], machine=torus(4, 4, 1)))["n"] == "2"
    # 4 x 4, as 4 x 4 x 1 x 1 is no network of four dimensions
    assert machine_values(NETWORK, torus(4, 1, 4, 1), {}).items() >= {"kx": 4.0, "ky": 4.0}.items()
    assert "n" not in machine_values(NETWORK, torus(1), {"k_d": 1.0})
    predict(NETWORK, [*GIVEN, "kx=4", "ky=4", "kz=1", "n=2"])


@pytest.mark.parametrize(
    ("extra", "k_d"),
    [
        # Two nodes in each of four dimensions: 2/4 hops in each, with messages to oneself.
        ([], 0.5),
        # 16 nodes: 15 of 16 messages leave their node.
        (["self_messages=no"], 0.5 * 16 / 15),
        (["average=no"], 0.5),
        # One way round: (2 - 1)/2.
        (["topology=unidirectional_torus"], 0.5),
        # A line of two: (2 - 1/2)/3.
        (["topology=mesh", "self_messages=no"], 0.5 * 16 / 15),
        (["n=4"], 0.5),
    ],
)
def test_a_machine_of_four_dimensions_enters_by_its_mean_distance(extra: list[str], k_d: float) -> None:
    found = predict(NETWORK, [*GIVEN, *extra], machine=torus(2, 2, 2, 2))
    assert float(used(found)["k_d"]) == pytest.approx(k_d)
    assert used(found)["n"] == "4"
    # rho = m s k_d/2, and one channel per dimension where messages go one way
    channels = 1 if "topology=unidirectional_torus" in extra else 2
    assert found.rows()[0]["rho_open"] == pytest.approx(0.5 * k_d / channels)


def test_a_topology_of_one_s_own_is_that_of_the_distances() -> None:
    # One way round: (4 - 1)/2 and three times (2 - 1)/2; the machine's has both: 4/4 and three times 2/4.
    values = machine_values(NETWORK, torus(4, 2, 2, 2), {"topology": "unidirectional_torus"})
    assert values["k_d"] == pytest.approx((1.5 + 3 * 0.5) / 4)
    assert machine_values(NETWORK, torus(4, 2, 2, 2), {})["k_d"] == pytest.approx((1 + 3 * 0.5) / 4)


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["kx=4", "ky=4", "n=3"], "n is given, .* kx, ky .* dimensions .* give k_d"),
        (["kx=4", "ky=4", "k_d=2"], r"k_d and kx, ky .* both .*: keep k_d \(with n\), "),
        (["k_d=2", "self_messages=no"], "self_messages=no cannot .* k_d .* given: give k_d"),
        (["ky=4"], "ky without kx: .* first dimension kx"),
    ],
)
def test_contradictions(assignments: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        predict(NETWORK, [*GIVEN, *assignments])


@pytest.mark.parametrize(
    ("dims", "assignments", "message"),
    [
        ((4, 4, 4), ["n=2"], "n is given, .* kx, ky, kz .* ours .* dim"),
        ((2, 2, 2, 2), ["n=3"], r"n is given, .* machine ours \(torus 2 x 2 x 2 x 2\) .* 4 dimensions: leave n"),
        ((4, 4, 4, 2), ["average=no"], r"average=no: machine ours \(torus 4 x 4 x 4 x 2\) enters by its mean k_d"),
    ],
)
def test_contradictions_to_a_machine(dims: tuple[int, ...], assignments: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        predict(NETWORK, [*GIVEN, *assignments], machine=torus(*dims))


def test_a_swept_n_is_compared_as_well() -> None:
    with pytest.raises(ModelError, match=r"n is given, and kx, ky say"):
        predict(NETWORK, [*GIVEN, "kx=4", "ky=4"], ["n=2,3"])


def test_given_sides_with_a_machine_of_many_dimensions() -> None:
    found: dict[str, Any] = used(predict(NETWORK, [*GIVEN, "kx=4", "ky=4"], machine=torus(2, 2, 2, 2)))
    assert not {"k_d", "n"} & found.keys()


def test_what_counts_something_else_is_left_alone() -> None:
    """LogP's n counts messages, kary-ncube has no k_d, and the Diamond DAG has no network."""
    predict(MODELS["logp"], ["n=3", "g=1us"], machine=machine(loggp={"other_node": {"L": 2, "o_s": 1, "o_r": 1}}))
    assert predict(MODELS["kary-ncube"], ["kx=4", "ky=4", "B=8", "self_messages=no"]).rows()[0]["hops"] > 0
    dag = ["n_tasks=8", "P=2", "b=2", "task=1us", "L=1us", "o_s=1us", "G=1ns", "units=printed"]
    assert predict(MODELS["diamond-dag"], dag).rows()[0]["M"] > 0
