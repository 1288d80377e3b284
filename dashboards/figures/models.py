"""The same messages under each model: what each says that their time consists of, and what it leaves over."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.report.data import ModelFit
from logpost.analyzer.report.models import fits_of, misfit_text, parts_present
from logpost.analyzer.words.units import percent_text, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis, row_height


def models(fits: Sequence[ModelFit]) -> Chart:
    """One stacked bar per model, in per cent of all message time; a name bears the model's misfit.

    Args:
        fits: of every model; those without messages have no bar.
    """
    shown = fits_of(fits)
    names = [f"{model.label}: {misfit_text(sums)} misfit" for model, sums in shown]
    fig = figure(
        70 + row_height(len(shown)),
        barmode="stack",
        bargap=0.28,
        xaxis=axis("share of message time (%)", range=[0, 100], fixedrange=True),
        yaxis=row_axis(names, ""),
    )
    split = [(model.label, sums) for model, sums in shown]
    for part in (part for part in palette.INKS if part in parts_present(shown)):
        times = [one.parts_ps.get(part, 0) for _, one in split]
        shares = [time / max(1, one.envelope_ps) for time, (_, one) in zip(times, split, strict=True)]
        fig.add_bar(
            orientation="h",
            y=list(range(len(split))),
            x=[float(f"{100 * share:.4g}") for share in shares],
            customdata=[
                f"{label}<br><b>{palette.label(part)}</b> {percent_text(share)} · {time_text(time)}"
                for (label, _), share, time in zip(split, shares, times, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **category_trace(part),
        )
    said = ", ".join(f"{model.label} {misfit_text(sums)}" for model, sums in shown)
    return Chart(fig, f"Misfit of each model, of all message time: {said or 'no model'}.")
