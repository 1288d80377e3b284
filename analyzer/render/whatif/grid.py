"""The makespan over two parameters as text for a terminal; nothing is computed here."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from logpost.analyzer.predict.whatif import Axis, Contour, Grid
from logpost.analyzer.words.units import safe, three_digits, time_text
from logpost.replay.graph.regions import CONGESTION, HIDING, LATENCY

SHADES = ((0.05, " "), (0.10, "░"), (0.25, "▒"), (1.0, "▓"), (float("inf"), "█"))
"""up to which growth, as a fraction"""
MARKS = {HIDING: "·", LATENCY: "-", CONGESTION: "#"}
FIRST, CELL = 8, 9
"""Characters of the first and of each other column; where numbers do not fit into a row, shades are drawn."""
MOST_POINTS = 9
"""of a line"""


def print_grid(grid: Grid, console: Console) -> None:
    """Write the cells, the regions' names and the lines of equal growth."""
    down, across = (safe(name) for name in grid.names)
    units = [f", {axis.unit}" * bool(axis.unit) for axis in grid.axes]
    title = (
        f"Makespan over {down} (down{units[0]}) and {across} (across{units[1]}), in % against {time_text(grid.base_ps)}"
    )
    console.print(Text(title, style="bold"), soft_wrap=True)
    if FIRST + CELL * len(grid.axes[1].values) <= console.width:
        _print_numbers(grid, console)
    else:
        _print_shades(grid, console)
    _print_regions(grid, console)
    for one in grid.contours:
        console.print(_line(grid, one), markup=False, soft_wrap=True)


def _print_numbers(grid: Grid, console: Console) -> None:
    rows = [
        [f"{100 * grid.grown(i, j):+.1f}{_mark(grid, i, j):>2}" for j in range(len(grid.axes[1].values))]
        for i in range(len(grid.axes[0].values))
    ]
    down, across = ([_short(axis, number) for number in axis.numbers] for axis in grid.axes)
    for first, cells in [("", [f"{text}  " for text in across]), *zip(down, rows, strict=True)]:
        console.print(Text(f"{first:>{FIRST}}" + "".join(f"{cell:>{CELL}}" for cell in cells)), soft_wrap=True)


def _short(axis: Axis, number: float) -> str:
    return f"{'x' if axis.factor else ''}{three_digits(number)}"


def _print_shades(grid: Grid, console: Console) -> None:
    across = safe(grid.names[1])
    columns = range(len(grid.axes[1].values))
    for i, number in enumerate(grid.axes[0].numbers):
        row = "".join(2 * _shade(grid.grown(i, j)) for j in columns)
        marks = "".join(_mark(grid, i, j) for j in columns)
        console.print(Text(f"{_short(grid.axes[0], number):>{FIRST}} |{row}|  {marks}"), no_wrap=True)
    first, last = (_short(grid.axes[1], grid.axes[1].numbers[k]) for k in (0, -1))
    scale = ", ".join(f"'{shade}' below {100 * most:+.0f} %" for most, shade in SHADES[:-1])
    console.print(Text(f"{'':{FIRST}}  {across} from {first} to {last}; {scale}; numbers: --json"), soft_wrap=True)


def _shade(grown: float) -> str:
    return next(shade for most, shade in SHADES if grown < most)


def _mark(grid: Grid, i: int, j: int) -> str:
    return MARKS.get(grid.regions[i][j], "") if grid.regions else ""


def _print_regions(grid: Grid, console: Console) -> None:
    names = [name for row in grid.regions for name in row if name]
    if names:
        said = (
            f"{mark} {name} {names.count(name)} of {len(names)} cells" for name, mark in MARKS.items() if name in names
        )
        console.print(", ".join(said), markup=False)


def _line(grid: Grid, one: Contour) -> str:
    """`+5 %: L x1 with G x3.2; L x2 with G x2.1`; at the first parameter's own values."""
    first, second = grid.axes
    if not one.points:
        least, most = int(grid.makespans_ps.min()), int(grid.makespans_ps.max())
        target = grid.base_ps * (1 + one.percent / 100)
        where = (
            "beyond these values" if most < target else "below all of these values" if least >= target else "nowhere"
        )
        return f"{one.percent:+3} %: {where}"
    own = [point for point in one.points if point[0] in first.values] or list(one.points)
    own = own[:: -(-len(own) // MOST_POINTS)]
    said = (
        f"{safe(first.name)} {first.show(float(f'{x:.3g}'))} with {safe(second.name)} {second.show(float(f'{y:.3g}'))}"
        for x, y in own
    )
    return f"{one.percent:+3} %: {'; '.join(said)}{'' if one.exact else ' (interpolated)'}"
