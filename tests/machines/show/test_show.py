"""Rows and lines of `machines show`, as data, and the text figure."""

from __future__ import annotations

import numpy as np
import pytest
from tests.machines.builders import machine

from logpost.machines.schema.load import library_names, load_machine
from logpost.machines.schema.places import quantities
from logpost.machines.show.figures import MOST_LINES, Figure, Line, figures
from logpost.machines.show.plot import SYMBOLS, character_grid, figure_text
from logpost.machines.show.rows import observation_rows, rows, shortened, shortened_observations, source_lines
from logpost.machines.values.quantity import NOT_STATED


@pytest.mark.parametrize("name", library_names())
def test_every_value_gets_a_row(name: str) -> None:
    made = load_machine(name)
    with_value = [row for row in rows(made) if row.value]
    assert len(with_value) + len(observation_rows(made)) == len(list(quantities(made)))


def test_words_and_shapes_get_rows_too() -> None:
    found = {(r.section, r.key): r for r in rows(load_machine("meiko_cs2"))}
    assert found["nic", "location = memory bus, Elan with embedded processor"].value == ""
    assert found["topology", "children = 4, 4"].source == "LOGP, Table 2"
    assert "chosen here" in found["topology", "kind = fat tree"].note
    ring = {(r.section, r.key) for r in rows(load_machine("sens_ksr2"))}
    assert ("topology", "bidirectional = false") in ring
    many = {"kind": "list", "nodes_of_ranks": list(range(100)), "ranks_per_node": 2}
    (nodes,) = (r.key for r in rows(machine(mapping=many)) if "nodes_of_ranks" in r.key)
    assert nodes.startswith("nodes_of_ranks = 0, 1, 2, ")
    assert nodes.endswith(" 30, 31, ... (100 entries)")
    # What the file does not say is not shown, even where the schema has a default.
    assert not any(section == "logpc" for section, _ in found)


def test_a_row_says_where_its_number_comes_from() -> None:
    found = {(r.section, r.key): r for r in rows(load_machine("alewife"))}
    row = found["loggp.other_node, up to 8 B", "o_s"]
    assert (row.value, row.unit, row.source) == ("15", "cycle", "LOGPC, Table 1")
    assert found["loggp.other_node, above 8 B", "o_s"].value == "25"
    (processors,) = (r for r in rows(load_machine("sens_t3d")) if r.key == "processors")
    assert (processors.value, processors.unit) == ("2", "")
    assert found["memory.miss", "penalty: load, remote 3-party, invalidations 1, hardware"].value == "63"
    assert found["logpc", "G_m"].basis == "inferred"
    t3e = {(r.section, r.key): r for r in rows(load_machine("sens_t3e"))}
    assert t3e["memory", "remote_miss"].value == "300 to 600"


def test_a_long_table_is_a_row_per_quantity() -> None:
    known = {"unit": "us", "source": "BENCH", "interval": [0.5, 99], "confidence": 0.95}
    points = [
        {"size_bytes": size, "burst": burst, "o": {**known, "value": size / 8 + burst}}
        for size in (8, 16, 32, 64, 128)
        for burst in (1, 2, 4, 8)
    ]
    made = machine(overlap={"o": points})
    (row,) = (row for row in shortened(made) if row.section == "overlap.o")
    assert (row.key, row.value, row.unit) == ("o: 20 values, size 8 to 128 B, burst 1 to 8", "2 to 24", "us")
    assert (row.uncertainty, row.source) == ("each its own at 95%", "BENCH")
    assert len([row for row in rows(made) if row.section == "overlap.o"]) == 20
    assert row.basis == "printed"
    some = [
        {**one, "o": {**known, "value": i, "basis": "measured" if i == 4 else "printed"}}
        for i, one in enumerate(points, 1)
    ]
    (mixed,) = (row for row in shortened(machine(overlap={"o": some})) if row.section == "overlap.o")
    assert mixed.basis == "printed, measured"
    few = machine(overlap={"o": points[:16]})
    assert shortened(few) == rows(few)


def test_many_observations_of_one_kind_are_a_row() -> None:
    result = {"value": 3, "unit": "ns", "source": "BENCH"}
    one = {"name": "latency", "what": "latency", "result": result}
    packed = [
        {"name": f"packed_{2**i}B", "what": f"packed: {2**i} B", "result": {**result, "value": 1, "unit": unit}}
        for i, unit in enumerate(["ns", *["us"] * 16])
    ]
    single, many = shortened_observations(machine(observed=[one, *packed]))
    assert (single.key, single.value) == ("latency", "3")
    assert (many.section, many.key) == ("packed", "as packed: 1 B: 17 values")
    assert (many.value, many.unit, many.uncertainty) == ("1 to 1000", "ns", NOT_STATED)


def test_lines_are_the_piecewise_costs() -> None:
    ranges = [
        {"up_to_bytes": 64, "L": 1, "o_s": 1, "o_r": 2, "G": 0},
        {"L": 10, "o_s": 1, "o_r": 2, "o_s_per_byte": 1, "G": 2},
    ]
    (figure,) = figures(machine(loggp={"other_node": {"range": ranges}}))
    lines = {line.label: line for line in figure.lines}
    total = dict(zip(lines["sum"].sizes.tolist(), lines["sum"].times_ps.tolist(), strict=True))
    # Up to 64 B: 1 + 1 + 2 = 4 us. At 65 B: o_s = 1 us + 65 ns, L + 64 * 2 ns = 10.128 us, o_r = 2 us.
    assert total[64] == 4_000_000
    assert total[65] == 1_065_000 + 10_128_000 + 2_000_000
    assert max(total) == 4 * 2**20


def test_parts_that_are_given_are_drawn_without_a_sum() -> None:
    (figure,) = figures(load_machine("myrinet10"))
    assert [line.label for line in figure.lines] == ["o_s", "o_r"]
    (elan,) = figures(load_machine("elan4"))
    # Round trip 2.4 us, one way 1.2 us.
    assert [line.label for line in elan.lines] == ["L (no G is given)"]
    assert elan.lines[0].sizes.max() == 64
    assert (elan.lines[0].times_ps == 1.2e6).all()


def test_tables_of_log3p_and_bursts_are_drawn() -> None:
    points = [
        {"size_bytes": s, "stride_bytes": d, "l_mw": s * d / 1000, **({"o_mw": s / 10} if d == 16 else {})}
        for s in (1024, 4096)
        for d in (16, 64)
    ]
    bursts = [{"size_bytes": s, "burst": b, "o": 1 / b} for s in (1, 1024) for b in (1, 8)]
    kinds = {"pattern": "cross-section", "level": "lowest", "processors": 4}
    gaps = [{"size_bytes": s, "G": 1, **kinds} for s in (64, 1024)]
    found = figures(machine(log3p={"point": points}, overlap={"o": bursts, "G": gaps}))
    labels = {figure.title: [line.label for line in figure.lines] for figure in found}
    assert labels["log3P, contiguous: time over message size"] == ["o_mw"]
    assert labels["log3P: l_mw over message size"] == ["stride 16 B", "stride 64 B"]
    assert labels["o(S, b) over message size"] == ["b = 1", "b = 8"]
    assert labels["G(P, S, pattern): time per byte over message size"] == ["cross-section, P = 4, lowest bandwidth"]


def test_levels_of_the_same_points_are_one_line() -> None:
    gaps = [
        {"size_bytes": size, "G": 1, "pattern": "cross-section", "level": level, "processors": 2}
        for size in (64, 1024)
        for level in ("lowest", "highest")
    ]
    (figure,) = [one for one in figures(machine(overlap={"G": gaps})) if one.title.startswith("G(")]
    assert [line.label for line in figure.lines] == ["cross-section, P = 2, highest and lowest bandwidth"]


def test_lines_of_a_figure_differ_in_their_symbols() -> None:
    # 14 strides, but 11 symbols: the first, the last and some between are drawn, and the title says so.
    points = [{"size_bytes": s, "stride_bytes": 8 * d, "l_mw": d} for s in (64, 1024) for d in range(1, 15)]
    (figure,) = [f for f in figures(machine(log3p={"point": points})) if "l_mw" in f.title]
    assert figure.title == f"log3P: l_mw over message size ({MOST_LINES} of 14 lines)"
    assert (figure.lines[0].label, figure.lines[-1].label) == ("stride 8 B", "stride 112 B")
    assert len(figure.lines) == MOST_LINES <= len(set(SYMBOLS))


def test_a_measurement_says_when_where_and_how() -> None:
    (line,) = source_lines(machine())
    assert line == "BENCH: ping-pong; 2026-01-02, on n1; minimum of 100"
    one = {"kind": "measurement", "text": "t", "date": "2026", "host": "h", "method": "m1"}
    both = machine(source="A", sources={"A": one, "B": {**one, "method": "m2"}})
    assert source_lines(both) == ["A: t; 2026, on h; m1", "B: as A; m2"]


def test_grid_puts_points_where_the_axes_say() -> None:
    # A line from (1 B, 1 ps) to (1024 B, 1000 ps), straight on logarithmic axes: the diagonal of the grid.
    line = Line("x", np.array([1.0, 1024.0]), np.array([1.0, 1000.0]))
    grid = character_grid([line], (1, 1024), (1, 1000), 11, 11)
    np.testing.assert_array_equal(grid, np.where(np.eye(11)[::-1] == 1, 0, -1))


def test_figure_names_lines_and_units_and_keeps_its_width() -> None:
    (figure,) = figures(load_machine("tukey_infiniband"))
    plain = figure_text(figure, width=80).plain
    assert all(f"{SYMBOLS[i]} {line.label}" in plain for i, line in enumerate(figure.lines))
    assert "µs" in plain
    assert "1 KiB" in plain
    assert max(len(line) for line in plain.splitlines()) <= 80


def test_zero_lines_are_named_not_drawn() -> None:
    flat = Line("o_s", np.array([1.0, 2.0]), np.array([0.0, 0.0]))
    one = Line("L", np.array([8.0]), np.array([5e3]))
    plain = figure_text(Figure("t", (flat, one))).plain
    assert "o_s is zero throughout" in plain
    assert plain.count(SYMBOLS[0]) == 2  # one point and the legend
    assert "zero throughout" in figure_text(Figure("t", (flat,))).plain


@pytest.mark.parametrize(
    ("sizes", "times"),
    [
        ([1.0, 8.0], [1e-200, 1e200]),
        ([1.0, 8.0], [5.0, np.inf]),
        ([0.0, 8.0], [5.0, 0.0]),
        ([1e308, 1.7e308], [1.0, 2.0]),
        ([5e-324, 1e308], [1.0, 2.0]),
        ([1e-150, 1e150], [1e-150, 1e150]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_extreme_values_leave_the_figure_whole(sizes: list[float], times: list[float]) -> None:
    extreme = Line("extreme", np.array(sizes), np.array(times))
    plain = Line("plain", np.array([1.0, 8.0]), np.array([1e6, 2e6]))
    points = sum(1e-150 <= s <= 1e150 and 1e-150 <= t <= 1e150 for s, t in zip(sizes, times, strict=True))
    text = figure_text(Figure("t", (extreme, plain))).plain
    assert ("extreme has no point " in text) == (points == 0)
    assert SYMBOLS[0] in text
    assert "message size" in figure_text(Figure("t", (plain,))).plain
