"""What the heat maps of magnitudes share: a colour scale that is logarithmic where values span decades."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from logpost.dashboards.figures.chart import rounded

DECADES = 2.0
"""From this span of the positive values on, a linear scale would show only its top; then colour is logarithmic."""


def heat(
    values: np.ndarray, say: Callable[[float], str], title: str, where: Callable[[int, int], str]
) -> dict[str, Any]:
    """Trace attributes of one measure: colours, a colour bar that names the unit, and hover texts.

    Args:
        values: shape (rows, columns); 0 and NaN stay empty, because "nothing" is not a small amount.
        say: a value with its unit, e.g. `bytes_text`.
        title: of the colour bar.
        where: (row, column) -> what the hover calls the cell; safe for plotly.
    """
    positive = np.where(values > 0, values, np.nan)
    there = positive[~np.isnan(positive)]
    low, high = (float(there.min()), float(there.max())) if there.size else (0.0, 1.0)
    bar: dict[str, Any] = {"title": {"text": title, "side": "right"}, "thickness": 12, "outlinewidth": 0}
    logarithmic = there.size > 0 and high / low >= 10**DECADES
    if logarithmic:
        bottom, top = np.floor(np.log10(low)), np.log10(high)
        step = max(1, round((top - bottom) / 6))
        ticks = [float(t) for t in np.arange(bottom, top + 1e-9, step)]
        bar |= {"tickmode": "array", "tickvals": ticks, "ticktext": [say(10.0**t) for t in ticks]}
        z, zmin, zmax = np.log10(positive), float(np.log10(low)), float(top)
    else:
        ticks = [high * k / 4 for k in range(5)]
        bar |= {"tickmode": "array", "tickvals": ticks, "ticktext": [say(t) for t in ticks]}
        z, zmin, zmax = positive, 0.0, high
    return {
        "z": rounded(z),
        "zmin": zmin,
        "zmax": zmax if zmax > zmin else zmin + 1,
        "colorbar": bar,
        "text": [
            ["" if v != v else f"{where(i, j)}<br>{say(v)}" for j, v in enumerate(row)]
            for i, row in enumerate(positive.tolist())
        ],
        "meta": {"scale": "magnitude"},
    }
