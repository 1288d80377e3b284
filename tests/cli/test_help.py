"""Every verb and sub-verb: -h and --help with an example, suggestions for what is mistyped, words for the shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from rich.text import Text
from tests.cli.command import logpost, logpost_process
from typer.testing import CliRunner

from logpost.cli.app import build
from logpost.cli.overview import VERBS, help_text

SCREEN = 45
"""Lines of a screen of 80 columns."""

SHORTENED = [("record",), ("calibrate",), ("analyze",), ("report",), ("whatif",), ("compare",), ("testbed", "run")]
"""Verbs with more options than a screen has."""

FIGURES = [
    ("report",),
    ("explain",),
    ("compare",),
    ("export",),
    ("calibrate",),
    ("predict",),
    ("models",),
    ("doctor",),
    ("record",),
    ("scorep", "filter"),
    ("machines", "list"),
    ("machines", "show"),
    ("machines", "check"),
    ("workloads", "list"),
    ("workloads", "show"),
    ("experiments", "list"),
    ("experiments", "run"),
    ("testbed", "run"),
    ("testbed", "settings"),
]
"""Verbs that show figures or facts."""


def commands() -> Iterator[tuple[str, ...]]:
    """Every verb, and every verb of a group."""
    for verb in VERBS:
        group: Any = typer.main.get_command(build(verb)).commands[verb]  # type: ignore[attr-defined]
        yield (verb,)
        for name in getattr(group, "commands", {}):
            yield (verb, name)


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_verb_has_help_with_an_example_under_both_names(words: tuple[str, ...]) -> None:
    app, runner = build(words[0]), CliRunner()
    long, short = (runner.invoke(app, [*words, option]) for option in ("--help", "-h"))
    assert long.exit_code == short.exit_code == 0, long.output
    assert long.stdout == short.stdout
    assert f"Example: logpost {' '.join(words)}" in " ".join(long.stdout.split())


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_help_is_a_screen(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(build(words[0]), [*words, "-h"], terminal_width=80)
    assert len(shown.stdout.splitlines()) <= SCREEN


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_help_shows_each_word_of_its_text(words: tuple[str, ...]) -> None:
    # Words in brackets are markup to the help's writer, which drops them.
    command: Any = typer.main.get_command(build(words[0])).commands[words[0]]  # type: ignore[attr-defined]
    for word in words[1:]:
        command = command.commands[word]
    for text in [command.help, *(getattr(one, "help", None) for one in command.params)]:
        assert Text.from_markup(text or "").plain == (text or "")


@pytest.mark.parametrize("words", SHORTENED, ids=" ".join)
def test_help_all_has_every_option_and_example(words: tuple[str, ...]) -> None:
    app, runner, wide = build(words[0]), CliRunner(), {"COLUMNS": "200"}
    short, whole = (runner.invoke(app, [*words, option], env=wide).stdout for option in ("-h", "--help-all"))
    listed, every = (re.findall(r"^│ (?:[* ] {2,4})?(--[\w-]+)", text, re.MULTILINE) for text in (short, whole))
    command: Any = typer.main.get_command(app).commands[words[0]]  # type: ignore[attr-defined]
    for word in words[1:]:
        command = command.commands[word]
    options = [one for one in command.params if one.param_type_name == "option"]
    assert len(every) == len(options) + 1  # --help
    assert set(listed) < set(every)
    assert f"--help-all: {len(every) - len(listed)} further options" in short
    assert short.count("Example: ") == 1 < whole.count("Example: ")
    assert runner.invoke(app, [*words, "--help-all"], env=wide).stdout == whole  # a short help hides nothing for good


def test_help_all_behind_the_program_belongs_to_the_program() -> None:
    done = logpost_process("record", "/bin/echo", "--help-all")
    assert done.returncode == 2  # it is no MPI program
    assert "Usage" not in done.stdout


@pytest.mark.parametrize("words", FIGURES, ids=" ".join)
def test_verbs_that_show_figures_have_json(words: tuple[str, ...]) -> None:
    command: Any = typer.main.get_command(build(words[0])).commands[words[0]]  # type: ignore[attr-defined]
    for word in words[1:]:
        command = command.commands[word]
    assert "--json" in {option for parameter in command.params for option in parameter.opts}


def test_the_overview_lists_every_verb_and_ends_with_the_exit_statuses() -> None:
    done = logpost("--help")
    assert (done.returncode, done.stdout, done.stderr) == (0, help_text() + "\n", "")
    assert all(f"  {verb} " in done.stdout and line in done.stdout for verb, line in VERBS.items())
    assert "Exit status: 0 done, 1" in done.stdout


def test_without_a_verb_the_overview_comes_with_status_two() -> None:
    done = logpost()
    assert (done.returncode, done.stdout) == (2, help_text() + "\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reprot", "x"], "--help lists the verbs; did you mean report?\n"),
        (["zzz"], "logpost: unknown verb zzz; logpost --help lists"),
        (["report", "--htlm", "x"], "--html"),
        (["machines", "shwo"], "Did you mean 'show'?"),
        (["machines", "show", "alewive"], "did you mean alewife?"),
        (["models", "logp"], ""),
        (["models", "loggpp"], "did you mean loggp?"),
        (["workloads", "show", "em3"], "did you mean em3d?"),
    ],
)
def test_what_is_mistyped_gets_a_suggestion(words: list[str], said: str) -> None:
    done = logpost(*words)
    assert said in done.stderr
    assert done.returncode == (2 if said else 0)


@pytest.mark.parametrize(
    ("line", "expected"),
    [("logpost rep", "report"), ("logpost report --ht", "--html"), ("logpost machines sh", "show")],
)
def test_shells_complete_verbs_and_the_options_of_lazy_verbs(line: str, expected: str) -> None:
    bash = logpost(_LOGPOST_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" ")))
    assert bash.stdout.split() == [expected]
    zsh = logpost(_LOGPOST_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line)
    assert expected in zsh.stdout


def test_the_completion_can_be_shown() -> None:
    # The shell is found among the parents of the process.
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        ["bash", "-c", '"$0" -m logpost.cli.app --show-completion; exit $?', sys.executable],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "_LOGPOST_COMPLETE=complete_bash" in done.stdout
