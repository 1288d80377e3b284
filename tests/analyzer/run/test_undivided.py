"""What an estimate does not divide is one category wherever a run is shown, and exact in its tables."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from tests.analyzer.story import MS, Story
from tests.analyzer.two_phases import two_phases
from tests.said import facts, says

from logpost.analyzer.compare.two_runs import Comparison, compare
from logpost.analyzer.explain.messages import candidates, explain
from logpost.analyzer.export.csv import export_csv
from logpost.analyzer.render.compare.gate import check, parse
from logpost.analyzer.render.compare.text import print_comparison
from logpost.analyzer.render.explain.json import as_json as explain_json
from logpost.analyzer.render.explain.text import print_explanation
from logpost.analyzer.render.report.json import as_json
from logpost.analyzer.render.report.models import models_section
from logpost.analyzer.render.report.sections import print_sections
from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import Messages, ModelFit
from logpost.analyzer.report.models import best, fits_of, verdict
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import PARTS
from logpost.analyzer.run.undivided import SHOWN, UNDIVIDED, categories, merged, shown_as, title, together
from logpost.errors import InputError
from logpost.replay.cost.message_models import MessageModel

TOGETHER = ["latency", "serialization", "recv_overhead", "residual"]


def undivided(late: int = 20) -> Story:
    """Ten messages of 0.2 ms latency, 0.6 ms serialization and 0.2 ms receive overhead: 10 ms that are not divided."""
    story = two_phases(late)
    story.undivided = TOGETHER
    return story


def console() -> Console:
    return Console(file=io.StringIO(), width=200, color_system=None, highlight=False)


def said(on: Console) -> str:
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue()


def test_merged_times_keep_their_sum_and_their_place() -> None:
    times = {"compute": 5, "latency": 1, "late_sender": 2, "serialization": 4}
    together = merged(times, ["latency", "serialization"])
    assert list(together.items()) == [("compute", 5), (UNDIVIDED, 5), ("late_sender", 2)]
    assert merged(times, []) == times
    assert merged(together, ["latency", "late_sender", UNDIVIDED]) == {"compute": 5, UNDIVIDED: 7}


def test_columns_of_undivided_categories_have_their_sum_in_one() -> None:
    rows = pl.DataFrame({"call": [1], "latency_ps": [3], "residual_ps": [4], "late_sender_ps": [5]})
    assert together(rows, TOGETHER).row(0, named=True) == {
        "call": 1,
        "latency_ps": 0,
        "residual_ps": 0,
        "late_sender_ps": 5,
        f"{UNDIVIDED}_ps": 7,
    }
    assert together(rows, [])[f"{UNDIVIDED}_ps"].to_list() == [0]


def test_names() -> None:
    assert shown_as("latency", TOGETHER) == UNDIVIDED
    assert shown_as("late_sender", TOGETHER) == "late_sender"
    assert (title(UNDIVIDED), title("late_sender")) == ("transport, not divided further", "late sender")
    assert set(categories(TOGETHER)) == set(SHOWN) - set(TOGETHER)


def test_a_report_shows_one_part_and_its_tables_keep_all(tmp_path: Path) -> None:
    run = undivided().write(tmp_path / "run")
    report = build(run)
    times = {share.category: share.exposed_ps for share in report.breakdown}
    assert times[UNDIVIDED] == 10 * MS
    assert not times.keys() & set(TOGETHER)
    assert sum(times.values()) == 200 * MS
    assert report.messages.parts_ps == {
        "late_sender": 20 * MS,
        "send_overhead": 0,
        "middleware": 0,
        "endpoint_contention": 0,
        UNDIVIDED: 10 * MS,
        "network_contention": 0,
        "late_receiver": 0,
        "processor_queueing": 0,
    }
    kept = run.table("pairs").select("latency_ps", "serialization_ps", "recv_overhead_ps").sum().collect().row(0)
    assert kept == (2 * MS, 6 * MS, 2 * MS)


def test_text_and_json_name_what_is_together(tmp_path: Path) -> None:
    report = build(undivided().write(tmp_path / "run"))
    on = console()
    print_sections(report, on)
    text = said(on)
    assert text.count("transport, not divided further") >= 3  # where the time went, the messages' parts, the limit
    assert "recv overhead " not in text
    assert says(text, "latency", "serialization", "recv overhead", "residual")
    assert "is not distinguished from transport, 6.2 % deficit" in text
    data = as_json(report)
    assert data["undivided"] == TOGETHER
    assert data["breakdown_s"]["latency"] is None
    assert data["breakdown_s"][UNDIVIDED] == pytest.approx(0.010)
    assert data["messages"]["parts_s"]["residual"] is None
    assert data["messages"]["residual_share"] is None
    assert data["messages"]["parts_s"][UNDIVIDED] == pytest.approx(0.010)


def test_an_estimate_that_contradicts_its_trace_is_said_first(tmp_path: Path) -> None:
    story = undivided()
    story.refused = True
    warnings = build(story.write(tmp_path / "run")).warnings
    assert warnings[0].startswith("The machine estimated from this trace predicts 6.2 % ")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A is divided, B is not."""
    path = tmp_path_factory.mktemp("runs")
    return compare(two_phases(20).write(path / "a"), undivided(5).write(path / "b"))


def test_a_comparison_divides_no_more_than_both_runs_do(mixed: Comparison) -> None:
    together = mixed.quantity(UNDIVIDED)
    assert together is not None
    assert (together.before, together.after) == (10 * MS, 10 * MS)
    late = mixed.quantity("late_sender")
    assert late is not None
    assert (late.before, late.after) == (20 * MS, 5 * MS)
    latency, overhead, communication = (mixed.quantity(n) for n in ("latency", "overhead", "communication"))
    assert latency is not None
    assert latency.before is None
    # Of overhead the receiver's is not divided; all communication is known, whatever it consists of.
    assert overhead is not None
    assert overhead.after is None
    assert communication is not None
    assert (communication.before, communication.after) == (48 * MS, 33 * MS)
    on = console()
    print_comparison(mixed, [], on)
    assert "transport, not divided further" in said(on)
    assert any("is shown as one in both" in note for note in mixed.notes)


def test_a_gate_on_what_is_not_divided_is_refused(mixed: Comparison) -> None:
    with pytest.raises(InputError, match=r"does not distinguish latency .* analyze both"):
        check(parse("latency > +5%"), mixed)
    assert not check(parse("transport_undivided > +5%"), mixed).holds


def test_without_an_estimate_nothing_is_together(tmp_path: Path) -> None:
    run = two_phases().write(tmp_path / "run")
    nothing = compare(run, run).quantity(UNDIVIDED)
    assert nothing is not None
    assert nothing.before == 0


def test_csv_has_the_sum_and_leaves_its_parts_empty(tmp_path: Path) -> None:
    run = undivided().write(tmp_path / "run")
    export_csv(run, tmp_path / "csv", ["accounting", "pairs"])
    pairs = pl.read_csv(tmp_path / "csv" / "pairs.csv")
    assert pairs[f"{UNDIVIDED}_ps"].sum() == 10 * MS
    assert all(pairs[f"{part}_ps"].null_count() == pairs.height for part in TOGETHER)
    accounting = pl.read_csv(tmp_path / "csv" / "accounting.csv")
    assert not set(accounting["category"]) & set(TOGETHER)
    assert accounting.select(pl.exclude("exposed_ps")).is_unique().all()
    assert accounting.filter(pl.col("category") == UNDIVIDED)["exposed_ps"].sum() == 10 * MS
    columns = pl.read_csv(tmp_path / "csv" / "columns.csv").filter(pl.col("column") == f"{UNDIVIDED}_ps")
    (meaning,) = columns["meaning"]
    assert meaning.startswith("transport, not divided further: ")
    assert all(f"{part}_ps" in meaning for part in TOGETHER)
    assert "The trace does not distinguish latency, serialization" in (tmp_path / "csv" / "README.md").read_text()


def test_without_a_residual_no_model_is_the_best(tmp_path: Path) -> None:
    parts = merged({**dict.fromkeys(PARTS, 0), "latency": 600, "residual": 400}, TOGETHER)
    fits = [ModelFit(model, Messages(1, 8, 1000, parts, 0)) for model in (MessageModel.logp, MessageModel.full)]
    assert best(fits_of(fits)) is None
    assert facts(verdict(fits, estimated=True)) == ["residual", "--machine"]
    on = console()
    on.print(models_section(replace(build(undivided().write(tmp_path / "run")), models=tuple(fits))))
    text = said(on)
    assert re.search(r"transport, not divided further +100\.0 % +100\.0 %", text), text
    assert re.search(r"misfit: residual \+ deficit +– +–", text), text
    assert "latency" not in text.split("deficit (not in the sum)")[0]


def test_an_explained_message_has_the_parts_that_are_divided(runs: dict[str, Run]) -> None:
    run = next(run for run in runs.values() if run.manifest.machine.undivided and run.manifest.messages)
    together = run.manifest.machine.undivided
    name = candidates(run, 1)[0].name
    found = explain(run, name)
    split = found.messages[0].splits[-1]
    assert not {piece.part for piece in split.pieces} & set(together)
    assert not any(a.part == b.part == UNDIVIDED for a, b in pairwise(split.pieces))
    assert sum(split.parts_ps.values()) == found.messages[0].end_ps - found.messages[0].begin_ps
    (data,) = explain_json(found)["messages"]
    assert all(data["partitions"][-1]["parts_ps"][part] is None for part in together)
    assert data["partitions"][-1]["parts_ps"][UNDIVIDED] == split.parts_ps[UNDIVIDED]
    on = console()
    print_explanation(found, on)
    assert "transport, not divided further" in said(on)
