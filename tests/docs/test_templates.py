"""What CONTRIBUTING names as the template to copy works as a copy in its place, by the commands written there."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.story import MS, Story
from tests.dashboards.synthetic import make_run

from logpost.analyzer.findings import cures
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors import usable
from logpost.collectors.assemble import otf2_flags
from logpost.collectors.build import c_compiler
from logpost.dashboards.app import pages
from logpost.dashboards.app.content import links, shown_page
from logpost.dashboards.app.panels import charts
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.machines.profiles import load
from logpost.machines.profiles.choose import profile_of_library
from logpost.machines.schema.load import find_machine_file, load_machine_file
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "docs" / "templates"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def test_a_copied_machine_is_found_and_loaded(tmp_path: Path) -> None:
    copy = tmp_path / "mine.toml"
    shutil.copyfile(ROOT / "machines/library/meiko_cs2.toml", copy)
    original = load_machine_file(find_machine_file("meiko_cs2"))
    assert load_machine_file(find_machine_file(str(copy))) == original


def test_a_copied_model_computes(tmp_path: Path) -> None:
    copy = tmp_path / "mine.py"
    shutil.copyfile(ROOT / "replay/models/loggp.py", copy)
    assert "copy `loggp.py`" in CONTRIBUTING
    found = importlib.util.spec_from_file_location("mine", copy)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    # o_s + L + (B - 1) G + o_r = 1 + 5 + 10 * 0.5 + 2
    assert module.one_message(LogGPParameters(L=5.0, o_s=1.0, o_r=2.0, g=3.0, G=0.5, unit=SECOND), 11) == pytest.approx(
        13.0
    )


def test_every_template_is_named() -> None:
    assert [one.name for one in TEMPLATES.iterdir() if f"docs/templates/{one.name}" not in CONTRIBUTING] == []


LOG = """\
1000 0 enter work
1000 1 enter work
2000 0 leave work
2000 0 enter MPI_Send
2100 0 send 1 4096
2200 0 leave MPI_Send
2200 1 leave work
2200 1 enter MPI_Recv
9000 1 receive 0 4096
9100 1 leave MPI_Recv
"""


@pytest.fixture
def collector(tmp_path: Path) -> Path:
    program = tmp_path / "bin" / "example-import"
    program.parent.mkdir()
    assert "`cc docs/templates/collector.c -o example-import -lotf2`" in CONTRIBUTING
    subprocess.run([*c_compiler(), TEMPLATES / "collector.c", "-o", program, *otf2_flags()], check=True)
    return program


def test_a_copied_collector_makes_an_archive_that_is_analyzed(collector: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(LOG)
    subprocess.run([collector, tmp_path / "log", tmp_path / "a"], check=True)
    run = Run.open(analyze(Request(str(tmp_path / "a" / "traces.otf2"), str(tmp_path / "a.run"))))
    assert run.manifest.ranks == 2
    # From the enter of MPI_Send at 2000 ns to the leave of MPI_Recv at 9100 ns; the trace begins at 1000 ns.
    (message,) = run.table("messages").select("bytes", "send_enter_ps", "recv_leave_ps").collect().rows()
    assert message == (4096, 1000 * 1000, 8100 * 1000)


def test_a_copied_collector_says_which_line_it_cannot_read(collector: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("1000 0 enter work\n1100 0 sleep 5\n")
    done = subprocess.run([collector, tmp_path / "log", tmp_path / "a"], capture_output=True, text=True, check=False)
    assert (done.returncode, "1100 0 sleep 5" in done.stderr) == (2, True)


def test_a_row_of_the_table_finds_a_copied_collector(collector: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = usable.Collector("example", "logs of Example", (usable.programs("example-import"),), "", "example", "")
    assert usable.look(row).missing == "example-import not on PATH"
    monkeypatch.setenv("PATH", str(collector.parent))
    assert usable.look(row).usable


def test_a_copied_profile_is_chosen_by_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = shutil.copytree(load.LIBRARY, tmp_path / "library")
    shutil.copyfile(TEMPLATES / "profile.toml", library / "example.toml")
    monkeypatch.setattr(load, "LIBRARY", library)
    found = profile_of_library("Example MPI v1.2")
    assert found is not None
    assert (found.name, found.values) == ("example", {"synchronous_sends": "push"})
    command = "sha256sum *.toml > FROZEN"
    assert f"`(cd machines/profiles/library && {command})`" in CONTRIBUTING
    subprocess.run(command, shell=True, cwd=library, check=True)
    assert "example.toml" in (library / "FROZEN").read_text()


def test_a_copied_page_is_in_the_navigation_and_computes_its_chart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{pages.__name__}.example"
    shutil.copyfile(TEMPLATES / "page.py", tmp_path / "example.py")
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(tmp_path)])
    try:
        monkeypatch.setattr(pages, "PAGES", (*pages.PAGES, importlib.import_module(name)))
    finally:
        sys.modules.pop(name, None)
    runs = Runs([make_run(tmp_path / "a.run").path])
    view = View(runs, read("/example", ""))
    (place,) = (chart for chart, _ in charts(shown_page(view)[0]))
    payload, _, _ = runs.figures.of(place, pages.chart_makers()[place], view)
    # Each rank of the stencil waits at the allreduce for the slowest one, and receives from its neighbour.
    assert {trace["name"] for trace in payload["figure"]["data"]} >= {"Wait at NxN"}
    assert ("Example", "here") in [
        (link.children, link.to_plotly_json()["props"]["className"]) for link in links(view.state, runs)
    ]
    runs.jobs.close()


def test_a_copied_cure_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{cures.__name__}.example"
    shutil.copyfile(TEMPLATES / "cure.py", tmp_path / "example.py")
    monkeypatch.setattr(cures, "__path__", [*cures.__path__, str(tmp_path)])
    try:
        example = importlib.import_module(name)
    finally:
        sys.modules.pop(name, None)
    # In odd steps of 10 ms rank 0 computes for 9 ms and rank 1 for 1 ms, in even ones vice versa. Without the barriers
    # each of them computes for 5 times 10 ms: with the 1 ms behind each barrier 60 of 100 ms.
    story = Story(2, 100 * MS)
    barrier = story.path("main", "MPI_Barrier")
    for step in range(10):
        works = (9, 1) if step % 2 else (1, 9)
        ends = {rank: (step * 10 * MS + work * MS, step * 10 * MS + 9 * MS) for rank, work in enumerate(works)}
        story.collective(barrier, "Barrier", ends)
    with story.as_run() as run:
        (finding,) = example.find(Evidence(story.tables(), story.manifest(), run=run))
    assert (finding.kind, finding.ranks) == ("example", (0, 1))
    assert finding.gain == pytest.approx(0.4, abs=0.01)


COUNTS = """
#include "algorithm.hpp"
#include <cstdio>

struct Count {
    unsigned messages = 0, last = 0;
    unsigned long bytes = 0;
    void message(unsigned from, unsigned to, unsigned long size) {
        if (from != last) std::puts("a message from a member that has not received one");
        last = to;
        ++messages;
        bytes += size;
    }
};

int main() {
    using namespace logpost::replay;
    Count count;
    schedule::example(count, Pattern{.operation = Operation::bcast, .size = 4, .bytes = 10});
    std::printf("%u %lu", count.messages, count.bytes);
}
"""


def test_a_copied_algorithm_visits_its_messages(tmp_path: Path) -> None:
    shutil.copyfile(TEMPLATES / "algorithm.hpp", tmp_path / "algorithm.hpp")
    (tmp_path / "count.cpp").write_text(COUNTS)
    program = tmp_path / "count"
    subprocess.run(["c++", "-std=c++20", f"-I{ROOT}", tmp_path / "count.cpp", "-o", program], check=True)
    # 4 members: 3 messages there and 3 back, of 10 bytes each.
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "6 60"
