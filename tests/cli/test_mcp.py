"""Runs for assistants: a client of the protocol starts `logpost mcp`, and the written questions get their figures."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client, StdioServerParameters
from tests.analyzer.report.test_build import with_start_up
from tests.analyzer.two_phases import two_phases
from tests.cli.command import logpost_process

from logpost.analyzer.run.directory import Run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

T = TypeVar("T")
QUESTIONS = tomllib.loads((Path(__file__).parent / "mcp_questions.toml").read_text(encoding="utf-8"))["question"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    crowded, estimated = two_phases(), two_phases()
    crowded.hosts = crowded.hosts.model_copy(update={"cores_per_node": [1], "oversubscribed": True})
    estimated.undivided = ["latency", "serialization", "residual"]
    stories = {
        "late": two_phases(),
        "fixed": two_phases(0),
        "started": with_start_up(),
        "crowded": crowded,
        "estimated": estimated,
    }
    return [story.write(folder / f"{name}.run") for name, story in stories.items()]


def _served(runs: list[Run], talk: Callable[[Client], Awaitable[T]]) -> T:
    """What a conversation with a server of these runs gives."""

    async def conversation() -> T:
        words = ["-m", "logpost.cli.app", "mcp", *(str(run.path) for run in runs)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        server = StdioServerParameters(command=sys.executable, args=words, env=environment)
        async with Client(server, read_timeout_seconds=100) as client:
            return await talk(client)

    # In a thread: a browser that other tests opened in this process keeps an event loop running in the main one.
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(conversation())).result()


def test_each_question_has_its_figure(runs: list[Run]) -> None:
    async def ask(client: Client) -> list[Any]:
        return [await client.call_tool(one["tool"], one["arguments"]) for one in QUESTIONS]

    for question, result in zip(QUESTIONS, _served(runs, ask), strict=True):
        assert not result.is_error, (question["text"], result.content)
        whole = result.structured_content
        figure = whole
        for key in question["figure"]:
            figure = figure[key]
        # TOML has no null: a question without an answer is one that the trace does not answer.
        expected = pytest.approx(question["answer"], rel=1e-9) if "answer" in question else None
        assert figure == expected, question["text"]
        assert question.get("cautions", "") in json.dumps(whole["cautions"])


def test_there_are_ten_questions_and_each_has_a_mistake() -> None:
    assert len({one["text"] for one in QUESTIONS}) == 10
    assert all(one["mistake"] for one in QUESTIONS)


def test_mistakes_are_lines_and_nothing_is_written(runs: list[Run], tmp_path: Path) -> None:
    outside = tmp_path / "secret.csv"
    outside.write_text("a\n1\n")
    before = {path: path.stat().st_mtime_ns for run in runs for path in run.path.iterdir()}
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("report", {"run": "lat.run"}, "there is no run lat.run; use one of late.run, fixed.run"),
        ("report", {"run": "late.run", "parts": ["wait_state"]}, "did you mean wait_states?"),
        ("without", {"run": "late.run", "finding": 9}, "finding 9: the run's findings are 1 to "),
        ("whatif", {"run": "late.run", "settings": ["Q=x2"]}, "Q"),
        ("query", {"run": "late.run", "sql": f"select * from '{outside}'"}, "file system operations are disabled"),
        ("query", {"run": "late.run", "sql": f"copy (select 1) to '{runs[0].path}/x'"}, "one SELECT is run"),
        ("query", {"run": "late.run", "sql": "select 1; set threads = 1"}, "one SELECT is run"),
    ]

    async def ask(client: Client) -> list[Any]:
        tools = (await client.list_tools()).tools
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
        assert {tool.name for tool in tools} >= {one["tool"] for one in QUESTIONS} | {"list_runs", "tables"}
        assert all(tool.description for tool in tools)
        return [await client.call_tool(tool, arguments) for tool, arguments, _ in calls]

    for (_, _, expected), result in zip(calls, _served(runs, ask), strict=True):
        assert result.is_error
        assert expected in result.content[0].text
    assert before == {path: path.stat().st_mtime_ns for run in runs for path in run.path.iterdir()}


def test_all_runs_are_listed_with_what_limits_them(runs: list[Run]) -> None:
    async def ask(client: Client) -> Any:
        return (await client.call_tool("list_runs", {})).structured_content

    rows = {one["run"]: one for one in _served(runs, ask)["runs"]}
    assert list(rows) == [run.path.name for run in runs]
    assert rows["started.run"]["program_s"] == 0.1
    assert any("Ranks outnumber cores" in one for one in rows["crowded.run"]["cautions"])


def test_without_the_package_it_says_how_to_get_it(runs: list[Run], tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError\n")
    done = logpost_process("mcp", runs[0].path, PYTHONPATH=os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    assert done.returncode == 2
    assert done.stderr.startswith("logpost: mcp needs the package mcp ")
    assert done.stderr.endswith("; pip install 'logpost[mcp]'\n")
