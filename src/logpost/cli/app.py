"""The `logpost` command: registers the verbs and turns a user's mistake into one line and exit status 2."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from logpost import __version__
from logpost.address_space import too_small
from logpost.cli.mishaps import sentence
from logpost.cli.output import tolerate_encoding
from logpost.cli.overview import EXAMPLE, VERBS, help_text
from logpost.errors import InputError, suggestion

if TYPE_CHECKING:
    import typer

# What the shell's completion sets when it requests words; bash's own name, and that of typer for the other shells.
COMPLETE, COMPLETE_WORDS = "_LOGPOST_COMPLETE", ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")

HELP = ("-h", "--help")

# Verbs that need no table library.
FRUGAL = {None, "record", "import", "doctor", "workloads"}

# Verbs that run programs, which get the environment as the user has it.
RUN_PROGRAMS = {"record", "calibrate", "workloads", "experiments", "testbed"}


def _options() -> None:
    pass


_options.__doc__ = f"""Where every microsecond of an MPI program's communication went.

Example: {EXAMPLE}
"""


def _stub(line: str) -> Callable[[], None]:
    def verb() -> None:
        """A placeholder: the verb appears in the list and is not imported."""

    verb.__doc__ = line
    return verb


def build(wanted: str | None) -> typer.Typer:
    """The command line with the verb `wanted` imported and the others as lines of the help."""
    import importlib
    import keyword

    import typer

    app = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": list(HELP)},
    )
    app.callback()(_options)
    for verb, line in VERBS.items():
        if verb != wanted:
            app.command(name=verb)(_stub(line))
            continue
        # A verb that is a word of Python's own cannot name its module.
        name = f"{verb}_" if keyword.iskeyword(verb) else verb
        module: Any = importlib.import_module(f"logpost.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=verb)
        else:
            app.command(name=verb, **getattr(module, "COMMAND_SETTINGS", {}))(module.command)
        for command in (module.app if hasattr(module, "app") else app).registered_commands:
            command.help = _unwrapped(command.callback.__doc__ or "")
    return app


def _unwrapped(text: str) -> str:
    """With a line for each paragraph: the help wraps them at the terminal's width."""
    return "\n\n".join(" ".join(one.split()) for one in text.split("\n\n"))


def wanted_verb(arguments: Sequence[str], environment: dict[str, str]) -> str | None:
    """The verb that a command line names; while a shell completes, that of the words it has.

    Raises:
        InputError: there is no such verb.
    """
    completing = COMPLETE in environment
    words = " ".join(environment.get(name, "") for name in COMPLETE_WORDS).split()[1:] if completing else arguments
    verb = next((word for word in words if not word.startswith("-")), None)
    if verb is None or verb in VERBS:
        return verb
    if completing:
        return None
    raise InputError(f"unknown verb {verb}; logpost --help lists the verbs{suggestion(verb, VERBS)}")


def _verb(arguments: Sequence[str]) -> None:
    """Run the verb of a command line; ends by SystemExit where the verb has its own exit status."""
    completing = COMPLETE in os.environ
    if not completing and (not arguments or arguments[0] in HELP):
        print(help_text())
        sys.exit(0 if arguments else 2)
    if not completing and arguments[0] == "--version":
        print(f"logpost {__version__}")
        sys.exit(0)
    verb = wanted_verb(arguments, dict(os.environ))
    if verb not in FRUGAL and (lacking := too_small()):
        raise InputError(lacking)
    if verb not in FRUGAL | RUN_PROGRAMS:
        # Its threads, one per core, wait busily for products of large matrices, and there are none.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if verb == "analyze" and not completing and not set(HELP) & set(arguments):
        from logpost.analyzer.pipeline.worker_process import begin_early

        # A guess, before the options are parsed: the request decides.
        begin_early(limited=any(word.startswith("--memory") for word in arguments))
    gc.disable()  # imports stay in memory, and a search for cycles in them costs a tenth of the import time
    command = build(verb)
    gc.freeze()
    gc.enable()
    command(prog_name="logpost")


def _let_go() -> None:
    """What cannot be written must not be tried again, and reported, when Python flushes at its end."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Entry point. Exit status: 0 done, 1 a gate failed, 2 bad input or usage, 3 a gate is inconclusive."""
    tolerate_encoding()
    try:
        try:
            _verb(sys.argv[1:])
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        # `logpost report | head` closes the pipe early: no error.
        _let_go()
        sys.exit(0)
    except SystemExit as ended:
        # typer ends with status 1 where a pipe was closed; `set -o pipefail` would take that for a failure.
        if isinstance(ended.__context__, BrokenPipeError):
            _let_go()
            sys.exit(0)
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        line = sentence(error, sys.argv[2:])
        if line is None:
            raise
        print(f"logpost: {line}", file=sys.stderr)
        _let_go()
        sys.exit(2)
    finally:
        gc.freeze()  # the process ends: what lives is not looked through for cycles once more


if __name__ == "__main__":
    main()
