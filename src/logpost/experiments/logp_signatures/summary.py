"""LOGP Fig. 8: overheads and latency of each machine on the left, its gap on the right."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.dashboards.figures.bars import Part, stacked
from logpost.experiments.framework.result import Figure
from logpost.experiments.logp_signatures.simulated import PARAMETERS, Played, given_us, value_us

VARIANTS = {"meiko_cs2_50mhz": "Meiko50", "myrinet10": "Myrinet10"}
"""Machine file -> label."""
ONE_WAY = "o_s + o_r + L"
BARS = {ONE_WAY: ("o_s", "o_r", "L"), "g": ("g",)}
"""Name of a bar -> its parts."""


def summary_figure(machines: Sequence[Played]) -> Figure:
    """Two bars per machine; those of VARIANTS are not simulated, and have the values of their files."""
    values = {one.label: {name: value_us(one.signature, name) or 0.0 for name in PARAMETERS} for one in machines}
    for machine, label in VARIANTS.items():
        if (given := given_us(machine)) is not None:
            values[f"{label} (given)"] = given
    bars = [(label, bar) for label in values for bar in BARS]
    said = (
        f"{label}: one way {sum(of[name] for name in BARS[ONE_WAY]):.1f} us, gap {of['g']:.1f} us"
        for label, of in values.items()
    )
    chart = stacked(
        [bar for _, bar in bars],
        [
            Part(name, [values[label][name] if name in BARS[bar] else 0.0 for label, bar in bars], hue)
            for hue, name in enumerate(PARAMETERS)
        ],
        "time (us)",
        "; ".join(said) + ".",
        groups=[label for label, _ in bars],
    )
    return Figure("Fig. 8: LogP summary", chart)
