"""What `logpost --help` shows, as plain text: answered in the time of a Python start, so nothing is imported for it."""

from __future__ import annotations

from logpost import __doc__ as about

# Verb -> its line in the help. A verb's module (of the same name) is imported only when the verb runs.
VERBS: dict[str, str] = {
    "record": "Run an unmodified MPI program and leave an OTF2 archive.",
    "import": "Make an OTF2 archive of another tool's traces (GASNet).",
    "analyze": "Read an OTF2 archive, split every message, write a run.",
    "report": "Say where the time of a run went, and why.",
    "dashboard": "Show runs in a browser, interactively.",
    "explain": "Show where one message's time went under each model.",
    "whatif": "Predict a run on another network or machine.",
    "compare": "Compare two runs, or repeats of them, and gate a CI job.",
    "history": "Keep what each run lost in one file, and show the trend.",
    "roofline": "Compare each region's messages with the machine's limits.",
    "scale": "Predict how each category grows with the ranks.",
    "sql": "Query the tables of a run in SQL.",
    "mcp": "Let an assistant read runs (Model Context Protocol).",
    "export": "Write a run as CSV, for Perfetto or as a GOAL schedule.",
    "calibrate": "Measure this machine and write its machine file.",
    "machines": "List, show and check machine files.",
    "models": "List the models and show their equations.",
    "predict": "Evaluate a model for given parameters or a machine.",
    "workloads": "List, build and run the papers' applications.",
    "experiments": "Repeat the papers' experiments: paper, formula and testbed.",
    "testbed": "Run an MPI program in simulated time on a machine file's network.",
    "scorep": "Propose a filter file for Score-P.",
    "doctor": "Say what this machine has, which collectors are usable, what is missing.",
}

OPTIONS = {
    "-h, --help": "Show this text; logpost VERB --help: the options of a verb, with an example.",
    "--version": "Show the version.",
    "--install-completion": "Install completion of verbs and options for the current shell.",
    "--show-completion": "Print that completion script.",
}

EXAMPLE = "logpost record -o t -- mpirun -n 4 ./app && logpost analyze t -o app.run && logpost report app.run"
EXIT_STATUS = (
    "0 done, 1 a gate of report, compare or doctor --require failed, 2 bad input or usage, 3 a gate is inconclusive; "
    "record: the program's own"
)


def help_text() -> str:
    """The overview: usage, verbs, options, an example and the exit statuses."""
    return "\n".join(
        (
            "Usage: logpost VERB [OPTIONS] [ARGUMENTS]...",
            "",
            about or "",
            "",
            "Verbs:",
            *_lines(VERBS),
            "",
            "Options:",
            *_lines(OPTIONS),
            "",
            f"Example: {EXAMPLE}",
            f"Exit status: {EXIT_STATUS}",
        )
    )


def _lines(entries: dict[str, str]) -> list[str]:
    width = max(map(len, entries))
    return [f"  {name:<{width}}  {line}" for name, line in entries.items()]
