"""The map of a search that the paper's Fig. 7 to 9, 11 and 12 draw."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.dashboards.figures.chart import Chart, axis, figure
from logpost.experiments.best_overlap.decomposition import short_size
from logpost.experiments.best_overlap.search import Searched


def loss_map(searches: Sequence[Searched], summary: str) -> Chart:
    """Fig. 7: loss over volume (across) and message size (up), at the best burst; the best and the model's choice."""
    sizes = sorted({case.S for one in searches for case in one.times})
    columns = [short_size(one.V) for one in searches]
    z: list[list[float | None]] = []
    for size in sizes:
        row: list[float | None] = []
        for one in searches:
            here = [case for case in one.times if size == case.S]
            row.append(100.0 * min(one.loss(case) for case in here) if here else None)
        z.append(row)
    rows = [short_size(size) for size in sizes]
    fig = figure(
        max(360, 26 * len(rows) + 120),
        xaxis=axis("problem size V (B)", type="category", showgrid=False),
        yaxis=axis("message size S (B)", type="category", showgrid=False),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    fig.add_heatmap(
        x=columns,
        y=rows,
        z=z,
        colorscale="Viridis",
        reversescale=True,
        zmin=0,
        zmax=max(10.0, min(100.0, max(v for row in z for v in row if v is not None))),
        colorbar={"title": {"text": "loss (% of blocking)", "side": "right"}, "thickness": 12, "outlinewidth": 0},
        hovertemplate="V %{x}, S %{y}: loss %{z:.1f} %<extra></extra>",
    )
    for name, symbol, ink, chosen in (
        ("best of all", "circle", "#d55e00", [one.best for one in searches]),
        ("model's choice", "x", "#ffffff", [one.chosen for one in searches]),
    ):
        marked = [
            (short_size(one.V), short_size(c.S), c.b) for one, c in zip(searches, chosen, strict=True) if c is not None
        ]
        fig.add_scatter(
            name=name,
            x=[m[0] for m in marked],
            y=[m[1] for m in marked],
            text=[f"b = {m[2]}" for m in marked],
            mode="markers",
            marker={"symbol": symbol, "size": 13, "color": ink, "line": {"width": 1.5, "color": "#222"}},
            hovertemplate="V %{x}, S %{y}, %{text}<extra>" + name + "</extra>",
        )
    return Chart(fig, summary)
