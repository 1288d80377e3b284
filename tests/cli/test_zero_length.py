"""An archive whose events all have one time: every verb succeeds, and no share is of a length of 0."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.cli.command import logpost
from tests.collectors import raw_logs
from tests.collectors.raw_logs import MONOTONIC, RECV, SEND, Log

from logpost.analyzer.run.directory import Run
from logpost.collectors import assemble
from logpost.dashboards.app.jobs import WorkingError
from logpost.dashboards.app.pages import PAGES, compare
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State
from logpost.dashboards.app.view import View
from logpost.errors import InputError

pytestmark = pytest.mark.slow

NOW = 1_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks start, exchange a message, meet and end at tick 1000."""
    place = tmp_path_factory.mktemp("zero")
    logs = [Log(rank, 2, boot="one clock", clock=MONOTONIC) for rank in range(2)]
    for log in logs:
        log.call("MPI_Init", NOW, NOW)
    logs[0].message(SEND, NOW, NOW, 1, 0, 8)
    logs[1].message(RECV, NOW, NOW, 0, 0, 8)
    for log in logs:
        log.call("MPI_Barrier", NOW, NOW)
        log.call("MPI_Finalize", NOW, NOW)
    archive = assemble.assemble(assemble.find_assembler(), raw_logs.write(place / "raw", *logs), place).path
    done = logpost("analyze", archive, "-o", place / "zero.run")
    assert (done.returncode, done.stderr) == (0, "")
    assert Run.open(place / "zero.run").manifest.clock.length_ps == 0
    return place / "zero.run"


@pytest.mark.parametrize(
    "words",
    [
        ["report", "RUN"],
        ["report", "RUN", "--json"],
        ["report", "RUN", "--models", "--html", "a.html"],
        ["compare", "RUN", "RUN", "--html", "c.html", "--fail-if", "contention > +5%"],
        ["export", "RUN", "--to", "perfetto", "-o", "a.pftrace"],
        ["export", "RUN", "--to", "csv", "-o", "csv"],
        ["export", "RUN", "--to", "goal", "-o", "a.goal"],
        ["whatif", "RUN", "--set", "L=+5us", "-o", "w.run"],
        ["whatif", "RUN", "--sweep", "L=1us:100us:3"],
        ["whatif", "RUN", "--machine", "alewife", "--json"],
        ["explain", "RUN", "1:0"],
        ["roofline", "RUN"],
    ],
    ids=" ".join,
)
def test_a_verb_succeeds(run: Path, tmp_path: Path, words: list[str]) -> None:
    done = logpost(*(run if word == "RUN" else word for word in words), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    written = [file.read_text(encoding="utf-8") for file in tmp_path.glob("*.html")]
    for text in (done.stdout, *(re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL) for page in written)):
        assert not re.search(r"\b(nan|NaN|inf|Infinity)\b", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.TITLE)
def test_a_page_of_the_dashboard_is_computed(run: Path, page: ModuleType) -> None:
    view = View(Runs([run, run]), State(page.NAME))
    assert _at_last(partial(page.layout, view))
    for make in page.CHARTS.values():
        with suppress(InputError):  # a chart may say that there is nothing to draw
            assert _at_last(partial(make, view)).figure.to_json()


def test_runs_that_do_not_differ_have_no_chart_of_changes(run: Path) -> None:
    view = View(Runs([run, run]), State(compare.NAME))
    with pytest.raises(InputError, match=r"runs do not differ here: .* draw"):
        _at_last(partial(compare.CHARTS["compare.changes"], view))


def _at_last(work: Callable[[], Any]) -> Any:
    while True:
        with suppress(WorkingError):
            return work()
