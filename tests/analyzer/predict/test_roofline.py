"""Limits of regions, by hand on a machine file's numbers, and on programs whose bottleneck is known."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.story import MS, Story
from tests.analyzer.two_phases import two_phases
from tests.machines.builders import stated
from tests.truth.programs import SIMULATE, RunsOf

from logpost.analyzer.predict.roofline import BETWEEN, WITHIN, roofline
from logpost.analyzer.render.roofline.json import as_json
from logpost.analyzer.run.directory import Run
from logpost.dashboards.figures.roofline import roofline_chart
from logpost.dashboards.report.roofline import write_roofline
from logpost.errors import InputError
from logpost.machines.schema.load import template_text

pytestmark = pytest.mark.slow

US = 1e6
GRID = stated(
    "grid",
    ("us", "ns/B", "MB/s", "B"),
    """[topology]
kind = "mesh"
dims = [4]
[network]
bisection = 10
[loggp.other_node]
L = 5
o_s = 1
o_r = 2
g = 3
G = 4
""",
)


def on_machine(story: Story, path: Path, text: str) -> Run:
    run = story.write(path)
    run.machine_file.write_text(text)
    return run


def test_every_limit_by_hand(tmp_path: Path) -> None:
    """Rank 0 sends 2,048 B to rank 1 ten times, each received by a separate call; the template's same_node."""
    found = roofline(on_machine(two_phases(20), tmp_path / "a", template_text()))
    (roof,) = found.roofs
    assert (roof.region, roof.where, roof.ranks, roof.messages) == ("main / solve", WITHIN, 2, 10)
    assert (roof.bytes, roof.rank_bytes, roof.rounds) == (20480, 20480, 10)
    # Rank 1 is in MPI_Recv ten times for 2 + 1 ms.
    assert roof.time_ps == 30 * MS
    assert roof.limits_ps == {
        "o": pytest.approx(10 * 0.1 * US),  # of either rank: one sends, the other receives
        "g": pytest.approx(10 * 0.12 * US),
        "G": pytest.approx(10 * 2048 * 60),
        "L": pytest.approx(10 * (0.25 * US + 2047 * 60)),
    }
    assert roof.limit == "L"
    assert roof.distance == pytest.approx(30 * MS / (10 * (0.25 * US + 2047 * 60)))
    assert roof.achieved_bytes_per_s == pytest.approx(20480 / 0.030)
    (ceiling,) = found.ceilings
    at = ceiling.sizes.index(1024.0)
    # 0.1 + 0.25 + 1023 * 60 ps + 0.1 us; g 0.12 us is more than 1024 * 60 ps.
    assert ceiling.one_at_a_time[at] == pytest.approx(1024 / (0.45e-6 + 1023 * 60e-12))
    assert ceiling.pipelined[at] == pytest.approx(1024 / 0.12e-6)


def test_bytes_across_the_middle_have_a_limit_where_the_machine_states_its_bisection(tmp_path: Path) -> None:
    story = Story(4, 100 * MS)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    # 0 -> 1 stays on its side of the middle, 1 -> 2 and 3 -> 0 cross it.
    for i, (source, target, size) in enumerate(((0, 1, 4000), (1, 2, 1000), (3, 0, 500))):
        at = 10 * i * MS
        story.call(source, at, at + MS, send, send_overhead=MS)
        story.call(target, at, at + MS, recv, latency=MS)
        story.message(source, target, size, (at, at + MS), (at, at + MS), (send, recv), latency=MS)
    run = on_machine(story, tmp_path / "a", GRID)
    for name, column, value in (
        ("locations", "node", pl.col("rank")),
        ("locations", "host", pl.format("node{}", "rank")),
        ("messages", "locality", pl.lit("other_node")),
    ):
        file = run.path / f"{name}.parquet"
        pl.read_parquet(file).with_columns(value.alias(column)).write_parquet(file)
    (roof,) = roofline(Run.open(run.path)).roofs
    assert roof.where == BETWEEN
    # 1,500 B at 10 MB/s are 150 us; 4 ns/B of the most that a rank receives or sends are 16 us.
    assert roof.limits_ps["bisection"] == pytest.approx(150 * US)
    assert roof.limits_ps["G"] == pytest.approx(16 * US)
    # Rank 0: o_s of one message, o_r of another; likewise rank 1.
    assert roof.limits_ps["o"] == pytest.approx(3 * US)
    assert roof.limit == "bisection"


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> RunsOf:
    """Programs of known bottlenecks, on machines that are known exactly."""
    if not SIMULATE.exists():
        pytest.skip("the simulator is not built: make setup")
    return RunsOf(tmp_path_factory.mktemp("roofline"))


@pytest.mark.parametrize(
    ("name", "limit", "most"),
    [
        ("small_messages", "o", 1.05),  # 64 messages in a row: the processors
        ("k_to_1_large", "G", 1.05),  # all to one: its NIC
        ("one_to_all", "G", 1.2),  # one to all: its NIC, and the last message's way
        ("round_trips", "L", 4.0),  # question and answer: one side waits for both ways
    ],
)
def test_known_bottlenecks_are_the_roof(known: RunsOf, name: str, limit: str, most: float) -> None:
    first = roofline(known[name]).roofs[0]
    assert first.limit == limit
    assert 1.0 <= first.distance <= most


def test_a_run_without_messages_is_refused(known: RunsOf) -> None:
    with pytest.raises(InputError, match="no messages between ranks"):
        roofline(known["barrier_slow_rank"])


def test_json_and_figure_have_the_same_numbers(known: RunsOf, tmp_path: Path) -> None:
    run = known["k_to_1_large"]
    found = roofline(run)
    data = json.loads(json.dumps(as_json(found), allow_nan=False))
    (region,) = data["regions"]
    assert (region["limit"], region["roof_s"]) == ("G", max(region["limits_s"].values()))
    chart = roofline_chart(found)
    mark = chart.figure.data[-1]
    assert mark.x[0] == pytest.approx(region["bytes"] / region["messages"])
    assert mark.y[0] == pytest.approx(region["achieved_bytes_per_s"] / 1e6)
    assert "machine's G allows" in chart.summary
    write_roofline(run, found, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert 'data-chart="roofline"' in page
    assert chart.figure.data[1].name == "between nodes: many in flight"
    assert "Regions and their roofs" in page
