"""The machinery: what is found, what is said of what cannot run, and how numbers are written."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import logpost.experiments
from logpost.cli import experiments as cli
from logpost.cli.app import build
from logpost.dashboards.figures.bars import Part, stacked
from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.dashboards.report.experiments import render_experiments
from logpost.errors import InputError
from logpost.experiments.framework import needs, registry, runner, words, write
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import PAPERS, Experiment
from logpost.experiments.framework.json_results import as_json
from logpost.experiments.framework.markdown import markdown
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.page import page_of
from logpost.experiments.framework.result import (
    Claim,
    Column,
    Difference,
    Figure,
    KeptRun,
    Number,
    Origin,
    Result,
    Table,
)
from logpost.experiments.framework.runner import Outcome

TABLE = Table(
    "Cost",
    (
        Column("style", Origin.SETTING),
        Column("printed", Origin.PAPER),
        Column("LogP", Origin.FORMULA, "alewife"),
        Column("run", Origin.TESTBED, "alewife"),
    ),
    (
        ("sync | async", Number(486, "cycles"), Number(316, "cycles"), Number(462.04, "cycles", error=2.0)),
        ("long", Number(2.03, "B"), Number(2.0, "cycles"), None),
    ),
    reference="printed",
)


def _result(context: Context) -> Result:
    """A result that has one of everything."""
    values = context.each("step", [3, 1, 2], lambda x: x * 10)
    assert values == [30, 10, 20]
    chart = curves([Curve("a", [1, 2], [1.0, None], "testbed")], Axis("x (B)"), Axis("y (cycles)"), "It rises.")
    return Result(
        summary="A summary with <b>no markup</b>.",
        tables=(TABLE,),
        figures=(Figure("Fig. 1", chart),),
        claims=(
            Claim("it falls", "−70 %", "−65 %", False),
            Claim("unknown", "–", "not traced", None),
            Claim("it is put in", "5", "5", True, given="the machine is given 5"),
            Claim("it rises", "+3 %", "−1 %", False, contradiction="“it never rises” (section 2)"),
            Claim("it is flat", "0", "0", True, assumption="a flop costs 33 cycles"),
        ),
        differences=(Difference("Lower.", "flow-level network."),),
        notes=("A note.",),
        runs=(KeptRun("one", "runs/one.run"),),
    )


STORY = Experiment(name="story", title="A story", paper="LOGPC", where="Table 9", run=_result)


@pytest.fixture
def outcomes(tmp_path: Path) -> list[Outcome]:
    """One experiment that runs and one that lacks something."""
    lacking = replace(STORY, name="lacking", needs=(Need.TESTBED,))
    done = runner.run([STORY], tmp_path, quick=True, progress=lambda *_: None)
    return [*done, Outcome(lacking, 0.0, reason="needs the virtual testbed")]


def test_every_file_and_folder_of_the_package_is_an_experiment_of_its_name() -> None:
    folder = Path(next(iter(logpost.experiments.__path__)))
    files = {path.stem for path in folder.glob("*.py") if path.stem != "__init__"}
    folders = {path.parent.name for path in folder.glob("*/__init__.py")} - {"framework", "support"}
    known = registry.experiments()
    assert set(known) == {name.replace("_", "-") for name in files | folders}
    assert all(name == one.name and one.paper in PAPERS for name, one in known.items())


def test_experiments_are_in_the_order_of_the_papers() -> None:
    papers = [one.paper for one in registry.experiments().values()]
    assert papers == sorted(papers, key=list(PAPERS).index)


def test_an_unknown_experiment_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"unknown experiment nope; use all or .*all-to-all-long"):
        registry.chosen(["nope"])


def test_a_name_given_twice_runs_once() -> None:
    assert [one.name for one in registry.chosen(["all-to-all-long", "all-to-all-long"])] == ["all-to-all-long"]


def test_what_is_missing_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert re.search(r"smpicc and smpirun are not on PATH: .*libsimgrid-dev", needs.missing([Need.TESTBED]))
    assert needs.missing([]) == ""


def test_an_experiment_that_lacks_something_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    lacking = replace(STORY, name="lacking", needs=(Need.TESTBED,))
    done = runner.run([lacking, STORY], tmp_path, quick=True, progress=lambda *_: None)
    assert done[0].result is None
    assert "SimGrid" in done[0].reason
    assert done[1].result is not None


def test_bad_input_within_an_experiment_is_its_reason(tmp_path: Path) -> None:
    def refuse(_context: Context) -> Result:
        raise InputError("no such machine; give another")

    [outcome] = runner.run([replace(STORY, run=refuse)], tmp_path, quick=True, progress=lambda *_: None)
    assert outcome.reason == "no such machine; give another"


def test_a_failure_in_one_of_many_steps_is_the_failure_of_all(tmp_path: Path) -> None:
    def step(number: int) -> int:
        if number == 3:
            raise InputError("the third is bad")
        return number

    with pytest.raises(InputError, match="the third is bad"):
        Context(tmp_path).each("step", range(50), step)


def test_progress_counts_every_step(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    Context(tmp_path, progress=lambda *said: seen.append(said)).each("span", [5, 6, 7], lambda x: x, concurrent=1)
    assert seen == [("span", 0, 3), ("span", 1, 3), ("span", 2, 3), ("span", 3, 3)]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Number(316, "cycles"), "316 cycles"),
        (Number(12345.6, "cycles"), "12,346 cycles"),
        (Number(2.2247, "B", digits=4), "2.225 B"),
        (Number(-0.0251), "−0.0251"),
        (Number(0.0000123, "s"), "1.23e-05 s"),
        (Number(462.04, "cycles", error=2.0), "462 ± 2.0 cycles"),
        (Number(486, "cycles", also="24.3 µs"), "486 cycles (24.3 µs)"),
        (Number(0, "%"), "0 %"),
    ],
)
def test_numbers_keep_their_unit_and_digits(number: Number, text: str) -> None:
    assert words.number_text(number) == text


def test_a_printed_number_keeps_the_papers_digits() -> None:
    assert words.number_text(Number(2.2, "B"), printed=True) == "2.2 B"


def test_changes_have_a_sign_and_a_fixed_number_of_decimals() -> None:
    assert [words.change_text(value) for value in (0.306, -0.654, 1.0)] == ["+31 %", "−65 %", "+100 %"]
    assert words.change_text(-0.0493, 1) == "−4.9 %"
    assert words.change_text(-0.004) == "±0 %"


def test_numbers_are_compared_with_the_reference_where_units_agree() -> None:
    # 316/486 - 1 = -0.3498; 462.04/486 - 1 = -0.0493
    assert words.cell_text(TABLE, TABLE.rows[0], 2) == "316 cycles, −35 %"
    assert words.cell_text(TABLE, TABLE.rows[0], 3) == "462 ± 2.0 cycles, −4.9 %"
    assert words.cell_text(TABLE, TABLE.rows[0], 1) == "486 cycles"
    assert words.cell_text(TABLE, TABLE.rows[1], 2) == "2.00 cycles"
    assert words.cell_text(TABLE, TABLE.rows[1], 3) == "–"


def test_headings_say_where_numbers_come_from() -> None:
    headings = [words.heading_text(column) for column in TABLE.columns]
    assert headings == ["style", "printed (paper)", "LogP (formula) [alewife]", "run (testbed) [alewife]"]


def test_a_table_must_be_rectangular_and_know_its_reference() -> None:
    with pytest.raises(ValueError, match="a row has 1 cells for 4 columns"):
        Table("t", TABLE.columns, (("alone",),))
    with pytest.raises(ValueError, match="has no column 'elsewhere'"):
        Table("t", TABLE.columns, (), reference="elsewhere")


def test_the_text_page_has_every_part(outcomes: list[Outcome]) -> None:
    text = markdown(outcomes, "logpost experiments run all", ["a host"])
    for said in (
        "Written by `logpost experiments run all`",
        "- a host",
        "| [story](#story) | LOGPC Table 9 | 0 | 1 | 1 | 1 | 1 | 1 |",
        "| it falls | −70 % | −65 % | not reproduced: ",
        "stated assumption: a flop costs 33 cycles |",
        "| unknown | – | not traced | cannot be judged |",
        "| sync \\| async | 486 cycles | 316 cycles, −35 % | 462 ± 2.0 cycles, −4.9 % |",
        "- Lower. *Likely reason:* flow-level network.",
        "Not run here: needs the virtual testbed",
    ):
        assert said in text
    widths = {
        len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith(("| sync", "| long"))
    }
    assert widths == {5}


def test_the_json_has_values_units_and_deviations(outcomes: list[Outcome]) -> None:
    said = json.loads(json.dumps(as_json(outcomes, quick=True, host=["h"]), allow_nan=False))
    story, lacking = said["experiments"]
    assert story["tables"][0]["rows"][0][2] == {
        "value": 316,
        "unit": "cycles",
        "deviation": pytest.approx(316 / 486 - 1),
    }
    assert story["tables"][0]["columns"][3] == {"heading": "run", "origin": "testbed", "machine": "alewife"}
    assert lacking["not_run"] == "needs the virtual testbed"


def test_the_html_page_is_self_contained_and_escapes_what_it_is_given(outcomes: list[Outcome], tmp_path: Path) -> None:
    written = write.pages(outcomes, tmp_path, "logpost experiments run all --quick", quick=True)
    page = written.paths[0].read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    assert "<b>no markup</b>" not in page
    assert "&lt;b&gt;no markup" in page
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)", page)
    assert 'data-chart="story-0"' in page
    assert "Quick form." in page


def test_a_figure_has_the_papers_next_to_it(tmp_path: Path) -> None:
    lines = [Curve("run", [1, 4], [1.0, 4.0], "testbed"), Curve("printed", [4], [3.5], "paper")]

    def result(_context: Context) -> Result:
        bare, marked = (curves(lines[:n], Axis("x (B)"), Axis("y (cycles)"), "It rises.") for n in (1, 2))
        named = ("Fig. 11: EM3D", marked), ("Fig. 9, left: DAG", bare), ("Stall time", bare)
        return Result(summary="s", figures=tuple(Figure(title, chart) for title, chart in named))

    outcomes = runner.run([replace(STORY, run=result)], tmp_path, quick=True, progress=lambda *_: None)
    page = page_of(outcomes, "c", ["h"], quick=True)
    with_marks, without, none = (plot.paper for plot in page.sections[0].plots)
    assert with_marks is not None
    assert with_marks.where == "Fig. 11"
    assert with_marks.printed is not None
    # Only the printed number, on the axes of all: 4 and 5 % of room.
    assert [(trace.name, trace.y) for trace in with_marks.printed.figure.data] == [("printed", (3.5,))]
    assert with_marks.printed.figure.layout.yaxis.range == pytest.approx((0, 4.2))
    assert without is not None
    assert (without.where, without.printed, none) == ("Fig. 9", None, None)
    text = render_experiments(page)
    assert 'data-chart="story-0-printed"' in text
    assert text.count("A graph only;") == 1


def test_only_the_page_with_the_figures_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "experiments", lambda: {"story": STORY})
    (tmp_path / "experiments.md").write_text("mine")
    done = CliRunner().invoke(cli.app, ["run", "story", "--quick", "-q", "--html", "-o", str(tmp_path)])
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path}/experiments.html\n")
    assert (tmp_path / "experiments.md").read_text() == "mine"


def test_a_page_that_cannot_be_written_is_said(outcomes: list[Outcome], tmp_path: Path) -> None:
    (tmp_path / "experiments.html").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write.pages(outcomes, tmp_path, "c", quick=True)
    with pytest.raises(InputError, match="cannot be created"):
        write.prepare(Path("/proc/none/here"))


def test_printed_numbers_are_marks_and_formulas_dashed_lines() -> None:
    chart = curves(
        [
            Curve("formula", [1, 10], [1.0, 2.0], "formula", 1),
            Curve("run <i>", [1, 10], [1.0, 2.0], "testbed", 1, low=[0.5, 1.5], high=[1.5, 3.0]),
            Curve("printed", [10], [2.5], "paper", 1),
        ],
        Axis("bisection (B/cycle)", log=True, reverse=True),
        Axis("time (ms)"),
        "s",
    )
    formula, run, printed = chart.figure.data
    assert (formula.mode, formula.line.dash) == ("lines", "dash")
    assert (run.mode, run.line.dash, run.name) == ("lines+markers", "solid", "run &lt;i&gt;")
    assert list(run.error_y.array) == [0.5, 1.0]
    assert printed.mode == "markers"
    assert printed.marker.symbol.endswith("-open")
    first, last = chart.figure.layout.xaxis.range
    assert first > 1 > 0 > last  # log10 of 10 and 1 with some room, from large to small


def test_stacked_bars_hold_every_part_of_every_bar() -> None:
    chart = stacked(["poll", "bulk"], [Part("compute", [1, 2], 0), Part("sync", [3, 4], 1)], "time (ms)", "s")
    assert [list(bar.y) for bar in chart.figure.data] == [[1, 2], [3, 4]]
    assert chart.figure.layout.barmode == "stack"


def test_the_verb_lists_and_refuses() -> None:
    command = CliRunner()
    listed = command.invoke(cli.app, ["list", "--json"])
    assert listed.exit_code == 0
    assert "all-to-all-long" in [one["name"] for one in json.loads(listed.stdout)["experiments"]]
    assert (
        command.invoke(build("experiments"), ["experiments", "list", "-q"]).stdout.split()[0] in registry.experiments()
    )


def test_one_that_was_named_and_cannot_run_is_exit_status_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = replace(STORY, name="lacking", needs=(Need.TESTBED,))
    monkeypatch.setattr(registry, "experiments", lambda: {"lacking": lacking, "story": STORY})
    monkeypatch.setenv("PATH", "/nonexistent")
    command = CliRunner()
    named = command.invoke(cli.app, ["run", "lacking", "-o", str(tmp_path / "a")])
    assert named.exit_code == 2
    assert "libsimgrid-dev" in named.output
    whole = command.invoke(cli.app, ["run", "all", "--quick", "-o", str(tmp_path / "b")])
    assert whole.exit_code == 0
    assert "Not run here" in (tmp_path / "b" / "experiments.md").read_text(encoding="utf-8")


def test_a_defect_is_raised_when_the_others_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_context: Context) -> Result:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(registry, "experiments", lambda: {"bad": replace(STORY, name="bad", run=fail), "story": STORY})
    done = CliRunner().invoke(cli.app, ["run", "all", "-o", str(tmp_path)])
    assert isinstance(done.exception, ZeroDivisionError)
    page = (tmp_path / "experiments.md").read_text(encoding="utf-8")
    assert "Not run here: it failed with ZeroDivisionError: a bug" in page
    assert "A summary with" in page


def test_results_can_be_had_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "experiments", lambda: {"story": STORY})
    done = CliRunner().invoke(cli.app, ["run", "story", "--quick", "--json", "-o", str(tmp_path)])
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert said["quick"] is True
    assert said["experiments"][0]["claims"][0]["holds"] is False


def test_a_claim_states_its_verdict_and_the_reason() -> None:
    def claim(holds: bool | None, given: str = "") -> Claim:
        return Claim("x", "1", "1", holds, "33 cycles", given, "“not x”", "noise")

    assert words.verdict(claim(True)) == "reproduced with a stated assumption: 33 cycles"
    assert words.verdict(claim(True, "put in")) == "by construction: put in"
    assert words.verdict(claim(False)) == "contradicted by the paper's own text: “not x”"
    assert words.verdict(claim(None)) == "cannot be judged"
    assert words.verdict(Claim("x", "1", "1", True)) == "reproduced"
    assert words.verdict(Claim("x", "1", "2", False, reason="noise")) == "not reproduced: noise"
    assert words.verdict(Claim("x", "1", "2", False)) == "not reproduced: no reason is known"


def test_claims_are_counted_by_their_standing(outcomes: list[Outcome]) -> None:
    assert outcomes[0].result is not None
    assert words.claims_text(outcomes[0].result.claims).split(", ") == [
        "1 with a stated assumption",
        "1 by construction",
        "1 contradicted by the paper",
        "1 not reproduced",
        "1 cannot be judged",
    ]
    assert words.claims_text([]) == "–"


def test_the_page_sums_the_claims_of_several_experiments(outcomes: list[Outcome]) -> None:
    page = markdown([outcomes[0], outcomes[0], outcomes[1]], "a command", ["a machine"])
    assert "| all |  | 0 | 2 | 2 | 2 | 2 | 2 |" in page
