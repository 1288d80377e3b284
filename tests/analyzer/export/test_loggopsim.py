"""Schedules under LogGOPSim's rules: the times that LogGOPSim itself printed, and what a user may get wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.analyzer.export.loggopsim_schedules import MACHINES, PRINTED, SCHEDULES, text_of
from tests.machines.builders import stated
from typer.testing import CliRunner

from logpost.analyzer.export.loggopsim import scheduled_run
from logpost.analyzer.predict.loggopsim import scheduled
from logpost.analyzer.run.directory import Run
from logpost.cli.app import build
from logpost.errors import InputError


@pytest.fixture
def machine(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A machine file with the values of one of `MACHINES`; S is the eager limit."""
    values = MACHINES[request.param]
    lines = [f"{name} = {values[name]}" for name in ("L", "g", "G")]
    lines += [f"o_s = {values['o']}", f"o_r = {values['o']}", f"eager_limit = {values['S']}"]
    file = tmp_path / "machine.toml"
    file.write_text(stated("stated", ("ns", "ns/B", "B"), "\n".join(["[loggp.other_node]", *lines])))
    return file


def schedule(tmp_path: Path, name: str) -> Path:
    file = tmp_path / "a.goal"
    file.write_text(text_of(SCHEDULES[name]))
    return file


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("machine", MACHINES, indirect=True)
def test_every_rank_ends_when_loggopsim_says(
    name: str, machine: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    printed = json.loads(PRINTED.read_text())[name][request.node.callspec.params["machine"]]
    found = scheduled(schedule(tmp_path, name), machine, unit_ps=1000)
    assert found.ends_ps == [1000 * one for one in printed]
    assert found.predicted_ps == found.before_ps == 1000 * max(printed)


@pytest.mark.parametrize("machine", ["overhead"], indirect=True)
def test_a_setting_is_the_same_as_another_option(machine: Path, tmp_path: Path) -> None:
    """From "overhead" to "gap" by four settings."""
    settings = ["L=1500ns", "o=400ns", "g=900ns", "G=2ns/B"]
    found = scheduled(schedule(tmp_path, "exchange 2"), machine, settings, unit_ps=1000)
    printed = json.loads(PRINTED.read_text())["exchange 2"]
    assert found.before_ps == 1000 * max(printed["overhead"])
    assert found.ends_ps == [1000 * one for one in printed["gap"]]


@pytest.mark.parametrize("machine", ["overhead"], indirect=True)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rank 0 {\n}\n", "not below num_ranks"),
        ("num_ranks 1\nl1: calc 5\n", "outside of all ranks"),
        ("num_ranks 1\nrank 0 {\nl1: calc x\n}\n", "line 3: 'x' is no number"),
        ("num_ranks 1\nrank 0 {\nl1: send 5b to 3 tag 0\n}\n", "line 3: the other rank is not below num_ranks"),
        ("num_ranks 1\nrank 0 {\nl1 requires l2\n}\n", "no operation .* label 'l1'"),
        ("num_ranks 2\nrank 0 {\nl1: send 5b to 1 tag 0\n}\n", "rank 1 has 1 messages without a receive"),
        ("num_ranks 2\nrank 0 {\nl1: recv 5b from 1 tag 0\n}\n", "rank 0 has 1 receives without a message"),
        ("num_ranks 1\nrank 0 {\nl1: calc 5\nl1 requires l1\n}\n", "operations that wait for each other"),
        ("", "num_ranks is missing"),
    ],
)
def test_what_is_no_schedule_is_refused_in_one_line(machine: Path, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "a.goal"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        scheduled(file, machine, unit_ps=1000)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("machine", ["overhead"], indirect=True)
@pytest.mark.parametrize("setting", ["topology=crossbar:9", "overlap=perfect", "network=ideal"])
def test_what_loggopsim_does_not_have_is_refused(machine: Path, tmp_path: Path, setting: str) -> None:
    with pytest.raises(InputError, match="LogGOPSim has L, o, g, G and eager_limit"):
        scheduled(schedule(tmp_path, "halo"), machine, [setting], unit_ps=1000)


def test_a_run_is_replayed_by_its_schedule(runs: dict[str, Run]) -> None:
    run = runs["pipit-ping-pong"]
    as_it_is = scheduled_run(run, None)
    assert as_it_is.before_ps > 0
    assert scheduled_run(run, None, ["L=+1ms"]).predicted_ps > as_it_is.before_ps


@pytest.mark.parametrize("machine", ["overhead"], indirect=True)
def test_the_command_prints_both_lengths(machine: Path, tmp_path: Path) -> None:
    def said(*arguments: str) -> str:
        done = CliRunner().invoke(build("whatif"), ["whatif", str(schedule(tmp_path, "halo")), *arguments])
        return done.output if done.exit_code == 0 else str(done.exception)

    text = said("--rules", "loggopsim", "--machine", str(machine), "--set", "o=0us")
    printed = max(json.loads(PRINTED.read_text())["halo"]["overhead"])
    assert f"{printed / 1000:.1f} µs" in text
    assert "what if o=0us" in text
    assert "add --machine NAME" in said("--rules", "loggopsim")
    assert "--unit belongs to --rules" in said("--unit", "ps")
    assert "leave out all else" in said("--rules", "loggopsim", "--quick")
