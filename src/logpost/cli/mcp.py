"""`logpost mcp`: runs for assistants, by the Model Context Protocol."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from logpost.analyzer.report.data import Report
    from logpost.analyzer.run.directory import Run

OVERVIEW = (
    "source",
    "wall_s",
    "program_s",
    "start_up_s",
    "shut_down_s",
    "ranks",
    "hosts",
    "breakdown_s",
    "undivided",
    "efficiencies",
    "machine",
    "conclusion",
)
"""Parts of a report that are shown where none are named."""

INSTRUCTIONS = """Recordings of parallel programs (MPI, PGAS), analyzed by logpost. Begin with list_runs and findings.
Each result has `cautions`: state those that bear on what you say. Times end in _s (seconds) or _ps (picoseconds);
shares and gains are fractions of 1. The program is what lies between start-up and shut-down; shares are of all ranks'
time in it. null is "the trace does not show it", never 0. Take a gain from findings or whatif; do not compute one."""


class Tools:
    """What an assistant can call; nothing is written."""

    def __init__(self, runs: Sequence[Run]) -> None:
        names = [run.path.name for run in runs]
        self._runs = {run.path.name if names.count(run.path.name) == 1 else str(run.path): run for run in runs}

    def list_runs(self) -> dict[str, Any]:
        """The runs with their programs' length, ranks, number of findings, and what limits their figures."""
        found = []
        for name, run in self._runs.items():
            report = _report(run)
            row = {"run": name, "source": report.source, "program_s": report.program_ps / 1e12, "ranks": report.ranks}
            found.append(row | {"findings": len(report.findings), "cautions": _cautions(report)})
        return {"runs": found}

    def findings(self, run: str, most: int = 3) -> dict[str, Any]:
        """What costs a run time, the largest saving first: how much of the program's length each cure saves (gain with
        its interval), which ranks, where in the code, the evidence, and what to do."""
        from logpost.analyzer.render.report.json import finding_json

        report = _report(self._run(run))
        shown = [{"number": at, **finding_json(one)} for at, one in enumerate(report.findings[:most], 1)]
        left = len(report.findings) - len(shown)
        return {"findings": shown, "further_findings": left, "cautions": _cautions(report)}

    def report(self, run: str, parts: list[str] | None = None) -> dict[str, Any]:
        """Parts of a run's report as `logpost report --json` has them; without parts an overview. `all_parts` in the
        answer lists their names, such as wait_states, critical_path, delays, collectives, messages, places."""
        from logpost.analyzer.render.report.json import as_json
        from logpost.errors import InputError, suggestion

        report = _report(self._run(run))
        whole = as_json(report)
        wanted = parts or OVERVIEW
        for part in wanted:
            if part not in whole:
                raise InputError(
                    f"a report has no part {part}; use some of {', '.join(whole)}{suggestion(part, whole)}"
                )
        return {part: whole[part] for part in wanted} | {"all_parts": list(whole), "cautions": _cautions(report)}

    def tables(self, run: str) -> dict[str, Any]:
        """The tables of a run that `query` reads: columns with type, meaning and unit."""
        from logpost.analyzer.export.sql import COLUMNS

        return self.query(run, COLUMNS)

    def query(self, run: str, sql: str, most: int = 200) -> dict[str, Any]:
        """The rows of one SELECT in DuckDB's SQL on a run's tables; see `tables`. Sums over `accounting` hold start-up
        and shut-down, too, unless its phase is 'program'."""
        from logpost.analyzer.export.sql import query

        opened = self._run(run)
        rows = query(opened, sql, only_run=True)
        shown = json.loads(rows.head(most).write_json())
        return {"rows": shown, "further_rows": max(0, rows.height - most), "cautions": _cautions(_report(opened))}

    def whatif(
        self,
        run: str,
        settings: list[str] | None = None,
        scale_compute: list[str] | None = None,
        machine: str | None = None,
    ) -> dict[str, Any]:
        """The program's length under other conditions, by replaying the recording: settings such as L=x2, o=x0.5,
        G=10GB/s, eager_limit=64KiB, network=ideal, overlap=perfect; scale_compute such as 0.5, solve=0.5, rank:3=0.5;
        another machine by its name."""
        from logpost.analyzer.predict.whatif import Ask, predict
        from logpost.analyzer.render.whatif.json import as_json

        opened = self._run(run)
        found = as_json(predict(opened, Ask(tuple(settings or ()), machine, tuple(scale_compute or ()))))
        return found | {"cautions": _cautions(_report(opened))}

    def without(self, run: str, finding: int) -> dict[str, Any]:
        """The program's length without the cause of the finding of this number, by replaying the recording."""
        from logpost.analyzer.findings.cured import cured
        from logpost.analyzer.render.whatif.cured import as_json

        opened = self._run(run)
        return as_json(cured(opened, finding - 1), finding) | {"cautions": _cautions(_report(opened))}

    def compare(self, before: str, after: str) -> dict[str, Any]:
        """Two runs of a program: lengths, categories, efficiencies, and which findings are gone, new, or in both."""
        from logpost.analyzer.compare.two_runs import compare
        from logpost.analyzer.render.compare.json import as_json

        a, b = self._run(before), self._run(after)
        cautions = {name: _cautions(_report(run)) for name, run in ((before, a), (after, b))}
        return as_json(compare(a, b), ()) | {"cautions": cautions}

    def _run(self, name: str) -> Run:
        from logpost.errors import InputError, suggestion

        if name not in self._runs:
            raise InputError(
                f"there is no run {name}; use one of {', '.join(self._runs)}{suggestion(name, self._runs)}"
            )
        return self._runs[name]


def _report(run: Run) -> Report:
    from logpost.analyzer.report.build import build

    return build(run)


def _cautions(report: Report) -> list[str]:
    return [*report.warnings, *report.limits]


def serve(runs: Sequence[Run]) -> None:
    """Answer an assistant on standard input and output until it closes them.

    Raises:
        InputError: the package of the protocol is not installed.
    """
    from logpost import __version__
    from logpost.errors import InputError

    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise InputError("mcp needs the package mcp from 2.0 on; pip install 'logpost[mcp]'") from error
    server: MCPServer[Any] = MCPServer(
        "logpost", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR", warn_on_duplicate_tools=False
    )
    tools = Tools(runs)
    reads = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for name in (one for one in vars(Tools) if not one.startswith("_")):
        server.add_tool(_in_one_line(getattr(tools, name)), annotations=reads)
    server.run()


def _in_one_line(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The tool, with a user's mistake as the line that a verb prints for it."""
    from mcp.server.mcpserver.exceptions import ToolError

    from logpost.cli.mishaps import sentence

    @functools.wraps(tool)
    def called(*arguments: Any, **named: Any) -> dict[str, Any]:
        try:
            return tool(*arguments, **named)
        except Exception as error:
            line = sentence(error)
            if line is None:
                raise
            raise ToolError(line) from error

    return called


def command(
    runs: Annotated[list[Path], typer.Argument(help="Run directories that `logpost analyze` wrote.")],
) -> None:
    """Let an assistant read runs: findings, reports, tables, what-ifs, comparisons. Nothing is written.

    It speaks the Model Context Protocol on standard input and output; an assistant starts it as its server.

    Example: logpost mcp app.run

    Example: logpost mcp before.run after.run
    """
    from logpost.analyzer.run.directory import Run

    serve([Run.open(run) for run in runs])
