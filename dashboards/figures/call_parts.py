"""One call's time: what it is accounted as; for a collective operation its way through the replayed messages, and for
one-sided transfers their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from logpost.analyzer.explain.collective import ExplainedCollective
from logpost.analyzer.explain.transfer import ExplainedTransfer
from logpost.analyzer.words.units import bytes_text, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis
from logpost.dashboards.figures.labels import time_unit
from logpost.dashboards.figures.partition import BAR

INK_OF_STRETCH = {"late_members": "collective_wait", "not_divided": "collective"}
"""Stretches of a collective operation that are no category of the accounting, and the ink that is nearest."""
ACCOUNTED = "the call's parts"

Bar = tuple[int, str, str, int, int]
"""row, ink, what it is called, begin and end in ps since the call's enter"""


def call_parts(
    length_ps: int,
    exposed_ps: Mapping[str, int],
    operations: Sequence[ExplainedCollective],
    transfers: Sequence[ExplainedTransfer] = (),
    enter_ps: int = 0,
) -> Chart:
    """A row with the exposed time of each category, in no order of time; below it a row per model that divides the
    collective operation, in the order of time, and a row per one-sided transfer and model, in no order of time.

    Args:
        length_ps: of the call.
        exposed_ps: category to time; what is left of the call is computation or another call's.
        operations: that the call completes.
        transfers: that the call starts or completes; they may begin before it and end after it.
        enter_ps: of the call.
    """
    names, bars, at = [ACCOUNTED], list[Bar](), 0
    for category in palette.INKS:
        time = exposed_ps.get(category, 0)
        if time > 0:
            bars.append((0, category, palette.label(category), at, at + time))
            at += time
    for operation in operations:
        for way in (way for way in operation.paths if way.stretches):
            row, begin = len(names), operation.enter_ps
            names.append(f"{way.model.label}, {way.algorithm.replace('_', ' ')}")
            if operation.since_ps > begin:
                until = operation.since_ps - begin
                bars.append((row, "collective_wait", "until the ranks arrive that the operation waits for", 0, until))
            for one in way.stretches:
                ink = INK_OF_STRETCH.get(one.part, one.part)
                bars.append((row, ink, one.part.replace("_", " "), one.begin_ps - begin, one.end_ps - begin))
            explained = way.stretches[-1].end_ps
            if explained < operation.leave_ps:
                left = operation.leave_ps - begin
                bars.append((row, "residual", "not explained by the replay", explained - begin, left))
    for transfer in transfers:
        for split in transfer.splits:
            row, at = len(names), transfer.begin_ps - enter_ps
            names.append(f"{split.model.label}, {transfer.kind}, {bytes_text(transfer.bytes)}")
            said = f"{transfer.kind} of {bytes_text(transfer.bytes)}, {transfer.origin} and {transfer.target}"
            for part in palette.INKS:
                if time := split.parts_ps.get(part, 0):
                    bars.append((row, part, f"{palette.label(part)}</b> of the {said}<b>", at, at + time))
                    at += time
    longest = max([length_ps, *(end for *_, end in bars)])
    earliest = min([0, *(begin for *_, begin, _ in bars)])
    factor, unit = time_unit(float(max(longest, -earliest)))
    fig = figure(
        90 + 38 * len(names),
        barmode="overlay",
        xaxis=axis(f"time since the call began ({unit})", range=[earliest / factor, max(longest, 1) / factor]),
        yaxis=row_axis(names, ""),
    )
    for ink in palette.INKS:
        mine = [bar for bar in bars if bar[1] == ink and bar[4] > bar[3]]
        if mine:
            fig.add_bar(
                orientation="h",
                y=[row for row, *_ in mine],
                width=BAR,  # plotly's own follows from the rows of a trace, of which some have few
                base=[float(f"{begin / factor:.9g}") for *_, begin, _ in mine],
                x=[float(f"{(end - begin) / factor:.6g}") for *_, begin, end in mine],
                customdata=[
                    f"{names[row]}<br><b>{what}</b> {time_text(end - begin)}" for row, _, what, begin, end in mine
                ],
                hovertemplate="%{customdata}<extra></extra>",
                **category_trace(ink),
            )
    largest = sorted(((t, c) for c, t in exposed_ps.items() if t > 0), reverse=True)[:4]
    said = ", ".join(f"{palette.label(category)} {time_text(time)}" for time, category in largest)
    return Chart(fig, f"{time_text(length_ps)}: {said or 'nothing of it is exposed'}.")
