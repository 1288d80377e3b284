"""The parts of one call: as it is accounted, and as the replay of its collective operation says."""

from __future__ import annotations

from logpost.analyzer.explain.collective import ExplainedCollective, ModelledPath
from logpost.analyzer.explain.piece import Piece
from logpost.analyzer.explain.transfer import ExplainedTransfer, TransferSplit
from logpost.analyzer.findings.evidence.places import NOWHERE
from logpost.dashboards.figures.call_parts import ACCOUNTED, call_parts
from logpost.replay.cost.message_models import MessageModel


def test_parts_of_a_call_follow_each_other_and_its_operation_is_below() -> None:
    # The call is of 100 to 200 ps; until 130 it waits for the root, then 20 for the latency, and 50 are not divided.
    stretches = (Piece("latency", 130, 150), Piece("not_divided", 150, 200))
    paths = (
        ModelledPath(MessageModel.full, "binomial_tree", stretches, 200),
        ModelledPath(MessageModel.logp, "not_known", (), 130),
    )
    operation = ExplainedCollective("broadcast", "rank 1", 4, NOWHERE, 7, 100, 130, 200, paths)
    made = call_parts(100, {"collective_wait": 30, "collective": 70, "latency": 0}, [operation])
    assert made.figure.layout.yaxis.ticktext == (ACCOUNTED, f"{MessageModel.full.label}, binomial tree")
    bars = {bar.name: list(zip(bar.y, bar.base, bar.x, strict=True)) for bar in made.figure.data}
    assert bars == {
        "collective wait": [(0, 0, 30), (1, 0, 30)],
        "latency": [(1, 30, 20)],
        "collective": [(0, 30, 70), (1, 50, 50)],
    }
    assert {bar.width for bar in made.figure.data} == {0.7}, "parts of one row are as high as the others"
    assert made.summary == "100 ps: collective 70 ps, collective wait 30 ps."


def test_what_the_replay_of_an_operation_does_not_explain_is_residual() -> None:
    # Of the 100 ps of the call, 30 are the wait and 20 the replay's: 50 are left.
    paths = (ModelledPath(MessageModel.full, "linear", (Piece("latency", 130, 150),), 150),)
    operation = ExplainedCollective("allreduce", "rank 1", 4, NOWHERE, 7, 100, 130, 200, paths)
    made = call_parts(100, {"collective_wait": 30, "collective": 70}, [operation])
    (left,) = (bar for bar in made.figure.data if bar.name == "residual")
    assert (left.y, left.base, left.x) == ((1,), (50,), (50,))


def test_a_call_that_costs_nothing_says_so() -> None:
    assert call_parts(5, {}, []).summary == "5 ps: nothing of it is exposed."


def test_a_transfer_of_a_call_is_drawn_below_it_from_its_own_begin() -> None:
    # The call of 100 to 200 ps completes a put that began at 60: 90 ps of latency, then 50 of waiting.
    split = TransferSplit(MessageModel.full, {"latency": 90, "late_receiver": 50, "recv_overhead": 0}, 0)
    put = ExplainedTransfer("put", "rank 0", "rank 1", 8, 60, 200, (split,))
    made = call_parts(100, {"late_receiver": 100}, [], [put], 100)
    assert made.figure.layout.yaxis.ticktext == (ACCOUNTED, f"{MessageModel.full.label}, put, 8 B")
    assert made.figure.layout.xaxis.range == (-40, 100)
    spans = {bar.name: sorted(zip(bar.y, bar.base, bar.x, strict=True)) for bar in made.figure.data}
    assert {name: bars[-1][2] for name, bars in spans.items()} == {"latency": 90, "late receiver": 50}
    below = sorted((base, base + x) for bars in spans.values() for row, base, x in bars if row == 1)
    assert (below[0][0], below[-1][1]) == (-40, 100)
    assert below[0][1] == below[1][0]
