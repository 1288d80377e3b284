"""Messages explained from a run: the segments are those of the run's own split, under every model."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console
from tests.analyzer.in_process import analyze
from tests.analyzer.whole_machine import write_whole_machine

from logpost.analyzer.explain.messages import ROLES, ExplainedMessage, Explanation, Side, Split, candidates, explain
from logpost.analyzer.explain.piece import Piece
from logpost.analyzer.findings.evidence.places import Place
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.render.explain.json import as_json
from logpost.analyzer.render.explain.text import print_explanation
from logpost.analyzer.report.data import Messages, ModelFit
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import PARTS
from logpost.analyzer.run.undivided import merged
from logpost.errors import InputError
from logpost.replay.cost.message_models import MessageModel


def rows_of(run: Run) -> dict[str, dict[str, Any]]:
    """Rows of the table `messages` by the name that `explain` gives them."""
    messages = run.facts("messages").collect()
    return {f"{row['recv_location']}:{row['recv_number']}": row for row in messages.iter_rows(named=True)}


def check(message: ExplainedMessage, row: dict[str, Any], own: MessageModel) -> None:
    """The segments of every model fill the envelope without gap; those of the run's model add up to its row."""
    assert message.end_ps - message.begin_ps == row["envelope_ps"]
    for split in message.splits:
        cursor = message.begin_ps
        for piece in split.pieces:
            assert piece.begin_ps == cursor < piece.end_ps
            cursor = piece.end_ps
        assert cursor == message.end_ps
        if split.model is own:
            assert split.parts_ps == merged({part: row[f"{part}_ps"] for part in PARTS}, split.undivided)
            assert split.deficit_ps == row["deficit_ps"]
            assert split.rendezvous == (row["protocol"] == "rendezvous")


def test_segments_add_up_to_the_run_s_row_of_every_archive(runs: dict[str, Run]) -> None:
    explained = 0
    for run in runs.values():
        rows = rows_of(run)
        if not rows:
            continue
        names = list(rows)
        # One message from the middle, and the messages of the call that completes most receives.
        call = run.facts("messages").group_by("recv_call").len().sort("len", "recv_call").collect()["recv_call"][-1]
        for target, most in ((names[len(names) // 2], None), (str(call), 20)):
            found = explain(run, target, most=most)
            assert [split.model for split in found.messages[0].splits] == [
                fit.model for fit in found.fits if fit.messages is not None
            ]
            for message in found.messages:
                check(message, rows[message.name], MessageModel.full)
                explained += 1
    assert explained > 40


@pytest.mark.slow
def test_another_machine_splits_as_an_analysis_with_it(traces: Path, tmp_path: Path) -> None:
    archive, machine = str(traces / "pipit-ping-pong"), write_whole_machine(tmp_path)
    estimated = Run.open(analyze(Request(archive, str(tmp_path / "a.run"))))
    on_it = Run.open(analyze(Request(archive, str(tmp_path / "b.run"), machine=machine, model=MessageModel.log3p)))
    rows = rows_of(on_it)
    for name in list(rows)[:3]:
        found = explain(estimated, name, machine=machine)
        assert (found.machine, len(found.messages[0].splits)) == ("whole", len(MessageModel))
        check(found.messages[0], rows[name], MessageModel.log3p)
    # What the file states for the size, with its uncertainty.
    large = next(name for name, row in rows.items() if row["bytes"] > 1024)
    (o_r,) = [v for v in explain(estimated, large, machine=machine).messages[0].values if v.parameter == "o_r"]
    assert (o_r.value, o_r.uncertainty, o_r.up_to_bytes) == (500_000, 50_000, None)


def test_the_calls_of_a_message_are_those_of_its_row(runs: dict[str, Run]) -> None:
    run = runs["scorep-lulesh-nocomp-8"]
    messages = run.facts("messages").filter(pl.col("recv_post_call") != pl.col("recv_call")).head(1).collect()
    row = messages.row(0, named=True)
    (message,) = explain(run, f"{row['recv_location']}:{row['recv_number']}").messages
    assert {side.call for side in message.sides} == {row[role] for role in ROLES}
    posted, received = (side for side in message.sides if side.role.startswith("recv"))
    assert (posted.role, posted.place.region) == ("recv_post_call", "MPI_Irecv")
    assert (received.enter_ps, received.leave_ps) == (row["recv_enter_ps"], row["recv_leave_ps"])


def test_the_worst_explained_are_first(runs: dict[str, Run]) -> None:
    run = runs["scorep-npb-lu-S-comp-4"]
    found = candidates(run, 5)
    divided = "residual" not in run.manifest.machine.undivided
    misfits = [(one.residual_ps or 0) + one.deficit_ps for one in found]
    assert misfits == sorted(misfits, reverse=True)
    assert all((one.residual_ps is not None) == divided for one in found)
    residual = pl.col("residual_ps") if divided else 0
    assert misfits[0] == run.facts("messages").select((pl.col("deficit_ps") + residual).max()).collect().item()
    assert explain(run, found[0].name).messages[0].name == found[0].name


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("99:0", r"no location 99: .* \d+$"),
        ("0:99999", r"no message 0:99999: .* location 0 receives is \d+$"),
        ("99999999", r"no call 99999999: .* \d+$"),
        ("first", r"^first is neither a message \(.*3:17\) nor a call \("),
        ("-1", r"^-1 is neither a message"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(runs: dict[str, Run], target: str, text: str) -> None:
    with pytest.raises(InputError, match=text) as refused:
        explain(runs["pipit-ping-pong"], target)
    assert "\n" not in str(refused.value)


def test_a_call_without_a_message_is_named(runs: dict[str, Run]) -> None:
    run = runs["scorep-npb-lu-S-comp-4"]
    messages = run.facts("messages").select(*ROLES).collect()
    with_one = pl.concat([messages[role] for role in ROLES]).unique()
    together = run.facts("collectives").select("call", "complete_call").collect()
    with_one = pl.concat([with_one, together["call"], together["complete_call"]]).unique()
    call = run.facts("calls").filter(~pl.col("call").is_in(with_one.implode())).head(1).collect()["call"][0]
    with pytest.raises(InputError, match=r" \(\w+ on rank \d\) has no matched message"):
        explain(run, str(call))


def test_a_members_way_through_a_collective_is_without_gap_and_ends_as_replayed(runs: dict[str, Run]) -> None:
    run = runs["scorep-npb-lu-S-comp-4"]
    rows = run.facts("collectives").filter(pl.col("operation") == "Allreduce").collect()
    assert rows.height
    for row in rows.head(4).iter_rows(named=True):
        (one,) = explain(run, str(row["complete_call"]), models=[MessageModel.full, MessageModel.logp]).collectives
        assert (one.operation, one.members, one.leave_ps) == ("Allreduce", 4, row["leave_ps"])
        assert one.since_ps - one.enter_ps == row["wait_ps"]
        for path in one.paths:
            assert path.algorithm != "not_known"
            ends = [one.since_ps, *(stretch.end_ps for stretch in path.stretches)]
            assert [stretch.begin_ps for stretch in path.stretches] == ends[:-1]
            assert path.end_ps == ends[-1]


def test_a_request_that_was_never_served_is_named(runs: dict[str, Run]) -> None:
    for run in runs.values():
        unmatched = run.facts("unmatched").filter(pl.col("direction") == "recv").head(1).collect()
        if unmatched.height:
            location, number = unmatched["location"][0], unmatched["number"][0]
            with pytest.raises(InputError, match=rf"request {number} of location {location} to receive has no message"):
                explain(run, f"{location}:{number}")
            return
    pytest.fail("no archive has a receive without its send")


def test_a_run_without_messages_has_none_to_explain(runs: dict[str, Run]) -> None:
    silent = next(run for run in runs.values() if not run.manifest.messages)
    with pytest.raises(InputError, match=r"no message matched: .* explain"):
        candidates(silent, 5)


def test_of_a_model_that_the_machine_cannot_feed_alone_nothing_is_left(runs: dict[str, Run]) -> None:
    with pytest.raises(InputError, match="has no o_mw and no o_net: log3P needs both"):
        explain(runs["pipit-ping-pong"], "0:0", models=(MessageModel.log3p,))


def explanation() -> Explanation:
    """One message of 100 us: sent from 0 to 20, received from 10 to 100."""
    us = 10**6
    place = Place("main / MPI_Send", "MPI_Send", "a.c", 7, True)

    def split(model: MessageModel, *pieces: tuple[str, int, int]) -> Split:
        return Split(model, tuple(Piece(part, a * us, b * us) for part, a, b in pieces), 0, rendezvous=False)

    loggp = (("send_overhead", 0, 20), ("latency", 20, 60), ("recv_overhead", 60, 100))
    message = ExplainedMessage(
        name="1:0",
        sender="rank 0",
        receiver="rank 1",
        bytes=8,
        layout=None,
        locality="other_node",
        hops=-1,
        tag=3,
        any_source=False,
        clock_violation=False,
        begin_ps=0,
        end_ps=100 * us,
        sides=(
            Side("send_call", 4, "rank 0", place, 0, 20 * us),
            Side("recv_call", 9, "rank 1", place, 10 * us, 100 * us),
        ),
        splits=(
            split(MessageModel.full, *loggp),
            split(MessageModel.loggp, *loggp),
            split(MessageModel.logp, ("send_overhead", 0, 20), ("residual", 20, 100)),
        ),
        values=(),
    )
    fit = ModelFit(MessageModel.logp, Messages(1, 8, 100 * us, {**dict.fromkeys(PARTS, 0), "residual": 80 * us}, 0))
    lacking = ModelFit(MessageModel.log3p, None, "machine ours has no o_net")
    return Explanation("a.run", "ours", (fit, lacking), (message,), 2)


def test_bars_of_both_sides_and_all_models_share_one_axis() -> None:
    # Names take 10 + 2 cells and the margin 2: 20 cells of 5 us are left of 34.
    console = Console(file=io.StringIO(), width=34, color_system=None, highlight=False)
    print_explanation(explanation(), console)
    assert isinstance(console.file, io.StringIO)
    lines = [line.strip() for line in console.file.getvalue().splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("0 s"))
    assert lines[first].split() == ["0", "s", "100", "µs"]
    assert lines[first + 1 : first + 5] == [
        "rank 0      ████················",
        "full,LogGP  ssssLLLLLLLLrrrrrrrr",
        "LogP        ssss????????????????",
        "rank 1      ··██████████████████",
    ]
    shown_text = " ".join(lines)
    assert "2 further messages of this call (--top)" in shown_text
    assert "LogP: 80.0 % residual, 0.0 % deficit" in shown_text
    assert "log3P: machine ours has no o_net" in shown_text


def test_json_has_every_segment_in_picoseconds() -> None:
    (message,) = as_json(explanation())["messages"]
    assert message["envelope_ps"] == 100 * 10**6
    assert message["calls"][0] == {
        "role": "send",
        "call": 4,
        "location": "rank 0",
        "region": "MPI_Send",
        "callpath": "main / MPI_Send",
        "file": "a.c",
        "line": 7,
        "enter_ps": 0,
        "leave_ps": 20 * 10**6,
    }
    logp = message["partitions"][2]
    assert logp["segments"][1] == {"part": "residual", "begin_ps": 20 * 10**6, "end_ps": 100 * 10**6}
    assert sum(logp["parts_ps"].values()) == message["envelope_ps"]
