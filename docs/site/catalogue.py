"""Generate the catalogue of findings: a page for each kind that the analysis knows.

The picture, the numbers and the advice come from a run: the truth simulator plays a program of that cause, and the same
work without it, on a machine of known values. The cause is what the finder's own documentation says.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import plotly.offline
from doubts import DOUBTS

import logpost
from logpost.analyzer.findings import prose
from logpost.analyzer.findings.evidence.places import NOWHERE
from logpost.analyzer.findings.find import FINDERS, kinds_of
from logpost.analyzer.findings.wording.facts import Facts
from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.worker import built
from logpost.analyzer.run.schema import FINDING_KINDS
from logpost.analyzer.words.units import percent_text, time_text
from logpost.dashboards.figures.palette import INKS, label
from logpost.dashboards.notebook import OpenRun
from logpost.dashboards.report.plotly_js import offline
from logpost.errors import InputError

SIMULATE = Path(__file__).resolve().parents[2] / "build" / "dev" / "truth" / "simulate"
SCRIPT = "plotly.js"
COVERED_BY_ANOTHER = ("needless_barrier", "wait_at_fence")
"""Kinds that a finder of another name reports, whose first sentence is about that one."""


@dataclass(frozen=True)
class Case:
    """A program of known cause."""

    name: str
    kind: str
    story: str
    """One sentence on what is wrong and where."""


NAMED_BY_THEIR_CURE = ("small_pieces", "one_to_all", "shared_nic")
"""Programs with a hot sender whose first finding is another cure: a tree, or to overlap the transfers."""


def cases() -> dict[str, Case]:
    """Kind of finding to the first program of the simulator that has its cause; kinds without one are absent.

    Raises:
        InputError: the simulator is not built.
    """
    if not SIMULATE.exists():
        raise InputError(f"{SIMULATE}: the simulator of known causes is not built; make docs builds it")
    listed = subprocess.run([SIMULATE, "--list"], check=True, capture_output=True, text=True).stdout
    found: dict[str, Case] = {}
    for line in listed.splitlines():
        case = Case(*line.split("\t"))
        if case.kind and case.name not in NAMED_BY_THEIR_CURE:
            found.setdefault(case.kind, case)
    return found


def name_of(kind: str) -> str:
    """`Late sender chain`."""
    return kind.replace("_", " ").capitalize()


def cures_of(kind: str) -> list[str]:
    """The documentation of the cures that report a kind, in the order of finders; of the one that bears its name alone,
    where there is one."""
    reporting = [sys.modules[find.__module__] for find in FINDERS if kind in kinds_of(find)]
    named = [module for module in reporting if module.__name__.rpartition(".")[2] == kind]
    return [inspect.getdoc(module) or "" for module in named or reporting]


def write(pages: Path, work: Path) -> list[str]:
    """Write the catalogue below `pages/findings`, with runs in `work`; the paths of its pages.

    Raises:
        InputError: a kind has no paragraph on when it is wrong, a run lacks the finding, or there is no simulator.
    """
    lacking = [kind for kind in FINDING_KINDS if kind not in DOUBTS]
    if lacking:
        raise InputError(f"docs/site/doubts.py: says nothing of {', '.join(lacking)}; add when that finding is wrong")
    known = cases()
    (pages / "findings").mkdir(parents=True, exist_ok=True)
    (pages / SCRIPT).write_text(offline(plotly.offline.get_plotlyjs()), encoding="utf-8")
    words = [word for kind in FINDING_KINDS if kind in known for word in ("--case", known[kind].name)]
    subprocess.run([SIMULATE, work, *words], check=True, stdout=subprocess.DEVNULL)
    rows = []
    for kind in FINDING_KINDS:
        (pages / "findings" / f"{kind}.md").write_text(_page(kind, known.get(kind), work), encoding="utf-8")
        rows.append(f"| [{name_of(kind)}]({kind}.md) | `{kind}` | {_sentence(kind, known.get(kind))} |")
    (pages / "findings" / "index.md").write_text(
        "# Catalogue of findings\n\nEvery kind of finding that a report can name: what it looks like, what causes it, "
        "what cures it, and when it is wrong.\nPictures are of simulated programs whose cause is known.\n\n"
        "| finding | in JSON | what it says |\n|---|---|---|\n" + "\n".join(rows) + "\n",
        encoding="utf-8",
    )
    return [f"findings/{name}.md" for name in ("index", *FINDING_KINDS)]


def _sentence(kind: str, case: Case | None) -> str:
    """What the cure says of the kind: in its first sentence, or in a list of several kinds; else what happens in the
    program of this cause."""
    documentation = cures_of(kind)[0]
    listed = re.search(rf"^\* \*\*{name_of(kind)}\*\*: (.*)$", documentation, re.MULTILINE)
    if listed:
        return listed[1]
    if case is not None and kind in COVERED_BY_ANOTHER:
        return case.story
    return documentation.split("\n\n")[0].replace("\n", " ").partition(": ")[2]


def _page(kind: str, case: Case | None, work: Path) -> str:
    if case is None:
        row = {"kind": kind, "gain": 0.0, "ranks": [], "evidence": [], "region": "", "cause_region": ""}
        picture = "The simulator of known causes has no program of this cause yet, so there is no picture.\n"
        advice = prose.WORDS[kind].advice(Facts(row, NOWHERE))
    else:
        picture, advice = _pictured(kind, case, work)
    causes = "\n\n".join(cures_of(kind))
    return (
        f"# {name_of(kind)}\n\n{picture}\n## Cause\n\n{causes}\n\n## Cure\n\n{advice}\n\n"
        f"## When it is wrong\n\n{DOUBTS[kind]}\n"
    )


def _pictured(kind: str, case: Case, work: Path) -> tuple[str, str]:
    sick, cured = (_run(work / name, work / f"{name}.run") for name in (case.name, f"{case.name}.cured"))
    found = next((one for one in sick.report().findings if one.kind == kind), None)
    if found is None:
        raise InputError(f"{case.name}: the run of this program has no finding {kind}, whose example it is")
    before, after = (run.report().program_ps for run in (sick, cured))
    text = (
        f"A program with this cause: {case.story}. Each row is a rank, each colour what took most of its time then; "
        f"the slowest rank's program lasts {time_text(before)}.\n\n"
        f'<script src="../{SCRIPT}"></script>\n\n{figure(sick, "as it is")}\n\n'
        f"The report says: **{found.title}**; {found.gain_text}.\n\n"
        f"The same work without the cause lasts {time_text(after)}, {percent_text(1 - after / before)} less. "
        "Its axis of time is another one:\n\n"
        f"{figure(cured, 'without the cause')}\n"
    )
    return text, found.advice


def figure(run: OpenRun, said: str) -> str:
    """The timeline of a run as HTML within Markdown; the page loads SCRIPT before."""
    made = run.plot.timeline()
    made.update_layout(paper_bgcolor="#fff", plot_bgcolor="#fff")
    html: str = made.to_html(
        full_html=False, include_plotlyjs=False, config={"displayModeBar": False, "responsive": True}
    )
    # Markdown leaves a block element alone up to the next empty line.
    return (
        f'<div role="img" aria-label="timeline of the program {said}">'
        + re.sub(r"\n\s*", " ", html)
        + f"{_legend(run)}</div>"
    )


def _legend(run: OpenRun) -> str:
    """Colours of what took at least a hundredth of the time, the longest first."""
    shares = sorted(run.report().breakdown, key=lambda one: -one.share)
    return " · ".join(
        f'<span style="color:{INKS[one.category].light}">■</span> {label(one.category)} {percent_text(one.share)}'
        for one in shares
        if one.share >= 0.01
    )


def _run(archive: Path, folder: Path) -> OpenRun:
    request = Request(archive=str(archive / "traces.otf2"), run=str(folder), machine=str(archive / "machine.toml"))
    ahead = ReadAhead(request.archive, request.threads, request.clock)
    return logpost.open_run(built(request, ahead, lambda *_: None, lambda _: None))
