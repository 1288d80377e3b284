"""Which receives of any source could have taken another sender's message."""

from __future__ import annotations

from typing import cast

import polars as pl
import pytest

from logpost.analyzer.predict.whatif.any_source import choice_notes, open_choices
from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run


class Messages:
    """As much of a run as the question reads: messages to rank 0 as (sender, communicator, tag), numbered in order."""

    def __init__(self, messages: list[tuple[int, int, int]], any_source: list[int]) -> None:
        rows = [
            {"send_location": sender, "recv_location": 0, "comm": comm, "tag": tag, "recv_number": number}
            for number, (sender, comm, tag) in enumerate(messages)
        ]
        self.frames = {
            "messages": pl.DataFrame(rows).with_columns(recv_callpath=pl.lit(0)).cast(pl.Int32),
            "any_source": pl.DataFrame(
                [(0, number) for number in any_source], schema=schema.ANY_SOURCE.schema, orient="row"
            ),
            "callpaths": schema.CALLPATHS.empty(),
            "regions": schema.REGIONS.empty(),
        }

    def facts(self, name: str) -> pl.LazyFrame:
        return self.frames[name].lazy()


@pytest.mark.parametrize(
    ("messages", "any_source", "open_numbers"),
    [
        pytest.param([(1, 0, 5), (2, 0, 5)], [], [], id="each names its sender"),
        pytest.param([(1, 0, 5), (1, 0, 5), (2, 0, 6)], [0, 1], [], id="one sender alone has this tag"),
        pytest.param([(1, 0, 5), (2, 0, 5)], [0], [0], id="another's message has the same tag"),
        pytest.param([(1, 0, 5), (2, 1, 5)], [0], [], id="another's message is of another communicator"),
        pytest.param([(1, 0, 5), (2, 0, 6)], [0, 1], [0, 1], id="perhaps of any tag, too"),
    ],
)
def test_another_message_could_have_been_taken(
    messages: list[tuple[int, int, int]], any_source: list[int], open_numbers: list[int]
) -> None:
    run = cast("Run", Messages(messages, any_source))
    assert open_choices(run)["recv_number"].to_list() == open_numbers
    notes = choice_notes(run, open_choices(run))
    assert len(notes) == (1 if open_numbers else 0)
    assert all(text.startswith(f"{len(open_numbers)} of {len(messages)} receives") for text in notes)
