"""Links of a grid where they lie."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.said import facts

from logpost.dashboards.figures.grid_map import grid_map, is_drawn
from logpost.dashboards.figures.heat import MOST_TICKS
from logpost.dashboards.figures.links import links
from logpost.machines.topologies import Topology
from logpost.machines.topologies.parse import parse_topology


def carried(*links: tuple[int, int, int]) -> pl.DataFrame:
    """from, to, bytes; of one phase."""
    rows = [(0, a, b, 1, size, size / 100, 0) for a, b, size in links]
    columns = ("traffic_phase", "from_vertex", "to_vertex", "messages", "bytes", "utilisation", "granted_ps")
    return pl.DataFrame(rows, schema=columns, orient="row")


TRAFFIC = pl.DataFrame({"traffic_phase": [0, 1], "begin_ps": [0, 300], "end_ps": [300, 400]})


def bytes_of(topology: Topology, *links: tuple[int, int, int]) -> dict[tuple[int, int], Any]:
    """(row, column) of the cells that have bytes."""
    assert is_drawn(topology)
    chart = grid_map(topology, carried(*links), TRAFFIC)
    rows = chart.views[1].traces[0]["z"]
    return {(i, j): value for i, row in enumerate(rows) for j, value in enumerate(row) if value is not None}


def test_a_link_is_next_to_the_node_that_it_leaves() -> None:
    """Nodes 0 1 2 / 3 4 5: their middles are cells 1, 4 and 7 of rows 1 and 4."""
    mesh = parse_topology("mesh:3x2", "test")
    assert bytes_of(mesh, (0, 1, 10), (1, 0, 20), (1, 4, 30), (4, 1, 40)) == {
        (1, 2): 10,
        (1, 3): 20,
        (2, 4): 30,
        (3, 4): 40,
    }


def test_around_the_end_of_a_ring_coordinates_rise() -> None:
    ring = parse_topology("torus:4", "test")
    assert bytes_of(ring, (3, 0, 10), (0, 3, 20)) == {(1, 11): 10, (1, 0): 20}


def test_planes_of_the_third_dimension_are_side_by_side() -> None:
    """2 x 2 x 2: a plane is 6 cells wide, and a column is free; node 4 is node 0 of the second plane."""
    torus = parse_topology("mesh:2x2x2", "test")
    assert bytes_of(torus, (0, 4, 10), (4, 0, 20), (4, 5, 30)) == {(2, 2): 10, (0, 7): 20, (1, 9): 30}


def test_utilisation_is_the_mean_over_the_time_of_all_phases() -> None:
    """30 % of 300 ps of 400 ps."""
    mesh = parse_topology("mesh:2x1", "test")
    assert is_drawn(mesh)
    chart = grid_map(mesh, carried((0, 1, 30)), TRAFFIC)
    assert facts(chart.summary) == ["0", "1", "22.5 %"]
    assert chart.views[0].traces[0]["z"][1][2] == pytest.approx(0.225)


@pytest.mark.parametrize("text", ["crossbar:8", "torus:2x2x2x2", "mesh:64x64"])
def test_what_is_no_small_grid_is_not_drawn(text: str) -> None:
    assert not is_drawn(parse_topology(text, "test"))


def test_a_node_without_traffic_is_a_square_too() -> None:
    mesh = parse_topology("mesh:2x2", "test")
    assert is_drawn(mesh)
    nodes = grid_map(mesh, carried((0, 1, 30)), TRAFFIC).payload()["figure"]["data"][-1]
    assert (nodes["mode"], nodes["marker"]["symbol"], nodes["text"]) == ("markers+text", "square-open", [*"0123"])


def test_a_node_is_called_what_its_host_is_called() -> None:
    mesh = parse_topology("mesh:2x1", "test")
    assert is_drawn(mesh)
    chart = grid_map(mesh, carried((0, 1, 30)), TRAFFIC, {0: "n7", 1: "<b>"})
    nodes = chart.payload()["figure"]["data"][-1]
    # "&lt;b&gt;" is 9 characters of text that plotly reads: no square holds them.
    assert nodes["text"] == ["0", "1"]
    assert nodes["hovertext"] == ["node 0: n7", "node 1: &lt;b&gt;"]
    assert chart.views[0].traces[0]["text"][1][2].startswith("link n7 → &lt;b&gt;<br>")
    assert chart.summary.startswith("The busiest link is n7 → &lt;b&gt;:")
    short = grid_map(mesh, carried((0, 1, 30)), TRAFFIC, {0: "n7", 1: "n8"})
    assert short.payload()["figure"]["data"][-1]["text"] == ["n7", "n8"]


def test_links_over_time_have_the_same_names() -> None:
    made = links(carried((0, 1, 30), (1, 5, 10)), TRAFFIC, {0: "cn17", 1: "cn18"})
    assert list(made.figure.layout.yaxis.ticktext) == ["cn17 → cn18", "cn18 → 5"]
    assert made.summary == "The most bytes go over link cn17 → cn18."


def test_the_colour_bar_of_few_links_has_room_for_its_ticks() -> None:
    few = links(carried((0, 1, 30)), TRAFFIC).figure.layout
    assert few.height - 90 >= 16 * (MOST_TICKS + 1)
