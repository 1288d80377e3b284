"""The documentation site: made without a broken link, and complete without the network."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.once import made_once

from logpost.analyzer.run.schema import FINDING_KINDS, TABLES
from logpost.cli.overview import VERBS
from logpost.dashboards.notebook import Figures, OpenRun

ROOT = Path(__file__).resolve().parents[2]
SIMULATE = ROOT / "build" / "dev" / "truth" / "simulate"
BUILD = ROOT / "docs" / "site" / "build.py"
pytestmark = pytest.mark.slow
FETCHED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
"""Elements whose address a browser fetches."""


class Fetches(HTMLParser):
    """Addresses that a browser fetches when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(FETCHED.get(tag, ""))
        if address:
            self.found.append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: make setup")
    if not SIMULATE.exists():
        pytest.skip("the simulator is not built: make setup")

    def build(folder: Path) -> None:
        done = subprocess.run([sys.executable, BUILD, folder], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == str(folder / "site" / "index.html")

    return made_once(tmp_path_factory, "documentation", build) / "site"


def test_every_document_is_a_page(site: Path) -> None:
    pages = {page.stem for page in (site / "docs").glob("*.html")}
    assert pages >= {page.stem for page in (ROOT / "docs").glob("*.md")}


def test_the_tutorial_names_the_cause_and_the_fix_gains_what_was_said(site: Path) -> None:
    html = (site / "docs" / "tutorial.html").read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]*>", "", html).split())
    said = re.search(r"same rank at once.*? saved: ([\d.]+) % \(([\d.]+) to ([\d.]+) %\)", text)
    fixed = re.search(r"wall [\d.]+ ms [\d.]+ ms -[\d.]+ ms -([\d.]+) %", text)
    assert said is not None
    assert fixed is not None
    # In the interval, within a fifth of the gain, and not beyond the best order.
    assert float(said[2]) < float(fixed[1]) < float(said[3])
    assert 0.8 * float(said[1]) < float(fixed[1]) <= float(said[1])
    assert "gone ranks 0-15 send to the same rank" in text
    assert "exit status 1" in text
    assert html.count("Plotly.newPlot") == 2


def test_every_kind_of_finding_is_a_page_with_its_cure_and_its_doubts(site: Path) -> None:
    for kind in FINDING_KINDS:
        text = (site / "findings" / f"{kind}.html").read_text(encoding="utf-8")
        assert re.findall(r'<h2 id="([\w-]+)"', text) == ["cause", "cure", "when-it-is-wrong"], kind
        assert ("Plotly.newPlot" in text) != ("so there is no picture" in text), kind


def test_every_column_of_a_run_is_in_the_reference(site: Path) -> None:
    text = (site / "reference" / "tables.html").read_text(encoding="utf-8")
    for table in TABLES.values():
        section = text.partition(f'<h2 id="{table.name}">')[2].partition("<h2")[0]
        assert re.findall(r"<td><code>(\w+)</code></td>", section) == [one.name for one in table.columns], table.name


def test_the_notebook_shows_its_tables_and_figures(site: Path) -> None:
    text = (site / "docs" / "notebook.html").read_text(encoding="utf-8")
    assert text.count("Plotly.newPlot") == 2
    assert text.count('class="dataframe"') == 3
    assert "Ranks 0-15 send to the same rank" in text


def test_the_interface_for_python_and_json_is_in_the_reference(site: Path) -> None:
    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    for kind, shown in ((OpenRun, "run"), (Figures, "run.plot")):
        names = [name for name, member in vars(kind).items() if callable(member) and not name.startswith("_")]
        assert [name for name in names if f">{shown}.{name}<" not in python] == []
    text = (site / "docs" / "json.html").read_text(encoding="utf-8")
    for key in ("findings[].gain", "breakdown_s.*", "machine.values[].uncertainty", "gates[].fails", "interval_ps"):
        assert f"<td><code>{key}</code></td>" in text, key
    assert "what people see, e.g. 'estimated from this trace'" in text


def test_every_verb_is_a_page(site: Path) -> None:
    assert {page.stem for page in (site / "verbs").glob("*.html")} == set(VERBS)


def test_pages_fetch_nothing_from_a_host(site: Path) -> None:
    for page in site.rglob("*.html"):
        fetches = Fetches()
        fetches.feed(page.read_text(encoding="utf-8"))
        assert fetches.found, page
        assert [one for one in fetches.found if re.match(r"(?:\w+:)?//", one)] == [], page
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)'\"]*", text) == [], sheet


def test_what_the_pages_fetch_is_there(site: Path) -> None:
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # its addresses begin at the root of a server
            continue
        fetches = Fetches()
        fetches.feed(page.read_text(encoding="utf-8"))
        for one in fetches.found:
            if not one.startswith("data:"):
                assert page.parent.joinpath(re.sub("[?#].*", "", one)).exists(), (page, one)


def test_the_extra_and_the_group_name_the_same_packages() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    first, second = re.findall(r"^docs = (.*)$", text, flags=re.MULTILINE)
    assert first == second
