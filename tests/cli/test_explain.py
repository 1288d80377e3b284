"""`logpost explain` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.whole_machine import write_whole_machine
from tests.cli.command import logpost
from typer.testing import CliRunner

from logpost.analyzer.pipeline.request import Request
from logpost.cli.app import build


@pytest.fixture(scope="module")
def run(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(analyze(Request(str(traces / "pipit-ping-pong"), str(tmp_path_factory.mktemp("explain") / "a.run"))))


def explain(*words: str) -> str:
    result = CliRunner().invoke(build("explain"), ["explain", *words], terminal_width=100)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_without_a_message_those_that_are_explained_worst_are_listed(run: str) -> None:
    listed = json.loads(explain(run, "--json", "--top", "3"))["candidates"]
    assert len(listed) == 3
    text = explain(run)
    assert "Messages with the largest residual and deficit" in text
    assert f"next: logpost explain {run} {listed[0]['name']}" in text.replace("\n", "")


def test_a_message_is_drawn_under_each_model(run: str) -> None:
    text = explain(run, "0:0")
    assert text.startswith("message 0:0: rank 1 to rank 0, ")
    assert "\x1b" not in text
    words = " ".join(text.split())
    assert "machine: estimated from this trace; error of" in words
    assert "log3P: machine pipit-ping-pong has no o_mw and no o_net" in words


def test_json_of_one_model_on_another_machine(run: str, tmp_path: Path) -> None:
    machine = write_whole_machine(tmp_path)
    found = json.loads(explain(run, "0:0", "--model", "log3p", "--machine", machine, "--json"))
    assert (found["machine"], [model["model"] for model in found["models"]]) == ("whole", ["log3p"])
    (message,) = found["messages"]
    (split,) = message["partitions"]
    assert sum(split["parts_ps"].values()) == message["envelope_ps"]
    assert message["calls"][0]["role"] == "send"


def test_the_messages_of_a_call(run: str) -> None:
    message = json.loads(explain(run, "0:0", "--json"))["messages"][0]
    call = next(side["call"] for side in message["calls"] if side["role"] == "recv")
    assert [one["message"] for one in json.loads(explain(run, str(call), "--json"))["messages"]] == ["0:0"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing.run", "0:0"], "logpost: nothing.run is not a run: it has no manifest.json; "),
        (["RUN", "7:0"], "no location 7: the last one is 1\n"),
        (["RUN", "later"], "logpost: later is neither a message (RECEIVER:NUMBER, e.g. 3:17) nor a call "),
        (["RUN", "0:0", "--machine", "cray-9"], "logpost: unknown machine 'cray-9'; use one of "),
        (
            ["RUN", "--machine", "alewife"],
            "logpost: --machine and --model need a message or",
        ),
    ],
)
def test_a_mistake_is_one_line_and_status_two(run: str, words: list[str], said: str) -> None:
    done = logpost("explain", *(run if word == "RUN" else word for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
