"""The models that a message can be split under: their names and what each leaves of a machine's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.replay.cost.test_message import US, machine

from logpost.errors import InputError
from logpost.machines import replay_parameters
from logpost.replay import _native
from logpost.replay.cost.message import message_costs
from logpost.replay.cost.message_models import MessageModel
from logpost.replay.cost.parameters import native_parameters
from logpost.replay.models import MODELS

RANGES = [{"up_to_bytes": 100, "L": 5, "o_s": 1, "o_r": 2, "g": 3, "G": 0.5}, {"L": 9, "o_s": 4, "o_r": 6, "G": 0.25}]
POINTS = [
    {"size_bytes": 1, "o_mw": 2, "o_net": 10},
    {"size_bytes": 1025, "o_mw": 4, "o_net": 20},
    {"size_bytes": 1024, "stride_bytes": 64, "l_mw": 7, "block_bytes": 8},
]


def costs(model: MessageModel, size: int = 201, **message: Any) -> dict[str, float]:
    """Terms in us of a message of 201 B in 8 B blocks every 64 B."""
    ours = replay_parameters(machine(loggp={"other_node": {"range": RANGES}}, log3p={"point": POINTS}))
    found = message_costs(native_parameters(ours, model=model), size, block=8.0, stride=64.0, **message)
    names = ("o_s", "l_mw", "L", "serialization", "o_r", "service")
    return {name: float(np.asarray(getattr(found, name))) / US for name in names}


def test_the_names_are_the_native_core_s_in_its_order() -> None:
    assert [model.value for model in MessageModel] == _native.message_models()
    closed_forms = {name.partition("-")[0] for name in MODELS}
    assert {model.value for model in MessageModel} - {"full"} <= closed_forms


def test_full_is_loggp_and_the_middleware_of_strided_data() -> None:
    full, loggp = costs(MessageModel.full), costs(MessageModel.loggp)
    assert loggp == {"o_s": 4, "l_mw": 0, "L": 9, "serialization": 50, "o_r": 6, "service": 50.25}
    # l_mw runs from 0 at one block of 8 B to 7 us at 1024 B.
    assert full == {**loggp, "l_mw": pytest.approx(7 * (201 - 8) / (1024 - 8))}


def test_logpc_has_no_middleware() -> None:
    assert costs(MessageModel.logpc) == costs(MessageModel.loggp)


def test_logp_takes_the_values_of_the_smallest_messages_for_all() -> None:
    assert costs(MessageModel.logp) == {"o_s": 1, "l_mw": 0, "L": 5, "serialization": 0, "o_r": 2, "service": 3}


def test_log3p_has_middleware_and_its_own_wire() -> None:
    found = costs(MessageModel.log3p)
    # o_mw is 2 us at 1 B and 4 us at 1025 B: 2.390625 us at 201 B, half at each end; o_net 11.953125 us, of which L 10.
    assert (found["o_s"], found["o_r"]) == (1.1953125, 1.1953125)
    assert (found["L"], found["serialization"]) == (10, 1.953125)
    assert found["l_mw"] == costs(MessageModel.full)["l_mw"]


def test_a_machine_without_its_tables_is_refused_for_log3p() -> None:
    with pytest.raises(InputError, match=r"calibrate the machine, .* another model \(full, loggp\)"):
        native_parameters(replay_parameters(machine()), model=MessageModel.log3p)


def test_another_name_is_refused_by_the_native_core() -> None:
    ours = replay_parameters(machine())
    with pytest.raises(ValueError, match="no model is called logq"):
        native_parameters(ours, model="logq")  # type: ignore[arg-type]
