"""LOGP Fig. 4 to 7, section 3.3: signatures, and what was given to a machine against what comes out of them."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.framework.result import Claim, Column, Difference, Figure, Number, Origin, Part, Table
from logpost.experiments.logp_signatures.simulated import (
    NOISE_DELAY_US,
    NOISE_RARE,
    NOISE_WIDTHS,
    PARAMETERS,
    US,
    Played,
    value_us,
)

ACCURACY, SHOWN = 0.05, 1e-4
"""Of the paper's measurements (3.3); the least error that is written out."""
LARGEST = 128.0
"""Of the figures: "For clarity we have only shown the message cost up to M=128" (3.3); g is the asymptote."""


def parameters(machines: Sequence[Played]) -> Part:
    """Signatures of the simulated machines, and o_s, o_r, L, g read in three ways."""
    worst = max(_fit_error(one, name) for one in machines for name in PARAMETERS)
    read = max(abs(one.by_eye[name] / one.given[name] - 1) for one in machines for name in PARAMETERS)
    fitted = f"less than {100 * SHOWN:g} %" if worst < SHOWN else f"{100 * worst:.2g} %"
    return Part(
        said="The signatures of the three simulated machines give back o_s, o_r, L and g: fits are off by "
        f"{fitted}, reading the first and last points as the paper does by up to {100 * read:.1f} %",
        tables=(_table(machines),),
        figures=tuple(_figure(one) for one in machines),
        claims=(
            Claim(
                "The signature gives back the parameters of all three machines",
                "±5 % at 95 %",
                f"fits: off by {fitted}; first and last points: up to {100 * read:.1f} %",
                max(worst, read) < ACCURACY,
                given="simulated LogP machines are measured as the paper measures real ones; what is shown is that the "
                "method gives back what was put in",
            ),
        ),
        differences=(
            Difference(
                "The last points of the signature are below g, and o_r comes out high from signatures with noise.",
                "cost(M) approaches its asymptote only as 1/M: fits take the slope instead. Noise only lengthens: a "
                f"log-normal spread of {100 * NOISE_WIDTHS[0]:.0f} % makes steps 0.5 % longer in the mean, one of "
                f"{100 * NOISE_WIDTHS[1]:.0f} % 4.6 %, and interrupts add {3 * NOISE_RARE * NOISE_DELAY_US:.2f} us to "
                "a message of three steps.",
            ),
            Difference(
                "Paragon's L is 6.3 us here, where section 3.3 also prints 7.5 us.",
                "RTT/2 - o_s - o_r is 6.35 to 6.45 us; 7.5 is Meiko's.",
            ),
        ),
    )


def _fit_error(one: Played, name: str) -> float:
    found = value_us(one.signature, name)
    return float("inf") if found is None else abs(found / one.given[name] - 1)


def _table(machines: Sequence[Played]) -> Table:
    """A row per machine and parameter."""
    rows = []
    for one in machines:
        for name in PARAMETERS:
            exact, noisy = value_us(one.signature, name), [getattr(found, name) for found in one.noisy]
            rows.append(
                (
                    f"{one.label}: {name}",
                    Number(one.given[name], "us"),
                    None if exact is None else Number(exact, "us", digits=4),
                    *(None if v is None else Number(v.value * US, "us", v.half_width * US, digits=4) for v in noisy),
                    Number(one.by_eye[name], "us", digits=4),
                )
            )
    return Table(
        "Section 3.3: given and extracted from the signature",
        (
            Column("quantity", Origin.SETTING),
            Column("given", Origin.PAPER),
            Column("fits, without noise", Origin.TESTBED),
            *(Column(f"fits, with noise of {100 * width:.0f} %", Origin.TESTBED) for width in NOISE_WIDTHS),
            Column("first and last points, without noise", Origin.TESTBED),
        ),
        tuple(rows),
        reference="given",
        note=f"Given: the values that the paper extracts. Noise: each step varies by so much, one in "
        f"{1 / NOISE_RARE:,.0f} is interrupted for {NOISE_DELAY_US:.0f} us; medians of batches.",
    )


def _figure(one: Played) -> Figure:
    """Time per message over the burst, a curve per delay."""
    series = [
        Curve(
            f"Δ = {curve.delta_s * US:g} us",
            [float(m) for m in curve.bursts if m <= LARGEST],
            [cost.value * US for m, cost in zip(curve.bursts, curve.costs, strict=True) if m <= LARGEST],
            "measured",
            hue,
        )
        for hue, curve in enumerate(one.signature.curves)
    ]
    flat = {name: value_us(one.signature, name) for name in ("o_s", "g")}
    series += [
        Curve(f"{name} as extracted", [1.0, LARGEST], [value, value], "formula", 6)
        for name, value in flat.items()
        if value is not None
    ]
    series.append(Curve("o_s and g, printed", [1.0, LARGEST], [one.given["o_s"], one.given["g"]], "paper", 7))
    start, gap = flat["o_s"] or 0.0, flat["g"] or 0.0
    chart = curves(
        series,
        Axis("burst size M"),
        Axis("time per message (us)"),
        f"{one.title}: the cost of a message rises from {start:.1f} us towards the gap, {gap:.1f} us, or towards "
        "o_s + o_r + Δ where that is more.",
    )
    return Figure(f"{one.title}: signature of the simulated machine", chart)
