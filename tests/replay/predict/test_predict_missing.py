"""What an error says is missing: the size that a machine's values depend on, or a parameter without a value."""

from __future__ import annotations

from typing import Any

import pytest
from tests.replay.predict.test_machine_values import RANGES, machine

from logpost.machines import load_machine
from logpost.replay.models import MODELS, ModelError
from logpost.replay.models.interface import MissingParametersError
from logpost.replay.predict.prediction import predict

LATER: Any = {"range": [{"up_to_bytes": 64, "L": 5}, {"L": 5, "o_s": 1, "o_r": 1}]}


@pytest.mark.parametrize(
    ("name", "library", "assignments", "message"),
    [
        # LogGOPS's S is the eager limit, and no message size.
        ("loggops", "paragon", ["B=8"], r"model loggops needs G: .*\(machine paragon does not"),
        ("logp", "elan3", [], r"model logp needs o_s, o_r: .*\(machine elan3 does not"),
        ("logp", "meiko_cs2_50mhz", [], r"model logp needs o_s, o_r: .*\(machine meiko_cs2_50mhz does not"),
        ("loggp", "paragon", [], "model loggp needs B, .*message size: .* G as well"),
        ("log3p", "titan_ia64", [], r"model log3p needs B, .*message size: .*--set B=1KiB; .* on it$"),
        ("logpc-network", "alewife", ["B=8"], r"model logpc-network needs T: give it, e\.g\. --set T=5us$"),
        # B counts flits there.
        ("kary-ncube", "alewife", [], r"model kary-ncube needs B: give it, e\.g\. --set B=8$"),
        ("broadcast-loggp", "paragon", ["B=8"], r"needs P \(and G, which machine paragon .*\): give"),
        ("overlap", "paragon", ["V=8", "t_V=1us"], r"model overlap needs S, the message size"),
    ],
)
def test_what_is_missing(name: str, library: str, assignments: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        predict(MODELS[name], assignments, machine=load_machine(library))


def test_the_error_names_the_size_where_the_machine_has_the_value_at_some() -> None:
    """B is optional in LogP. Messages of no bytes fall into the first range, which has no overheads here."""
    later = machine(loggp={"other_node": LATER})
    with pytest.raises(ModelError, match=r"model logp needs B, .* size: .* depend on it$"):
        predict(MODELS["logp"], machine=later)
    assert predict(MODELS["logp"], ["B=65"], machine=later).rows()[0]["T"] == pytest.approx(7)


def test_an_error_that_speaks_of_needs_is_no_missing_parameter() -> None:
    with pytest.raises(ModelError, match=r"a network needs at least two nodes$"):
        predict(MODELS["kary-ncube"], ["kx=1", "ky=1", "B=8"], machine=load_machine("alewife"))


def test_the_names_are_in_the_error() -> None:
    with pytest.raises(
        MissingParametersError, match=r"model loggp needs o_s, o_r, G, B: give it, or a machine"
    ) as error:
        MODELS["loggp"].predict(L=1)
    assert error.value.names == ("o_s", "o_r", "G", "B")
    with pytest.raises(MissingParametersError):
        predict(MODELS["loggp"], ["L=5us"])
    assert predict(MODELS["loggp"], ["B=8"], machine=RANGES).rows()[0]["T"] == pytest.approx(2 + 1 + 1.5 + 0.07)
