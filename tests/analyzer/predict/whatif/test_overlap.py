"""Overlap advice: exchanges whose optimum follows by hand, limits of the machine, and what should stay whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.analyzer.chains import chain
from tests.analyzer.findings.cures.test_missed_overlap import exchange
from tests.analyzer.story import Story
from tests.said import says

from logpost.analyzer.predict.whatif.overlap import OverlapAdvice, overlap_advice
from logpost.analyzer.render.whatif.overlap import as_json, sentence
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.machines.schema.load import template_text


def advised(story: Story, path: Path, machine: str = "") -> OverlapAdvice:
    run = story.write(path)
    run.machine_file.write_text(machine or template_text())
    (found,) = overlap_advice(run)
    return found


def test_an_exchange_is_parted_until_its_wait_is_hidden(tmp_path: Path) -> None:
    """Waits of 2 ms, 3 ms of work behind. Of 2 pieces, 1.5 ms of work are first; of 4, 2.25 ms: all is hidden."""
    found = advised(exchange(work=3), tmp_path / "a")
    assert (found.region, found.exchanges, found.bytes) == ("main", 20, 4096)
    assert (found.pieces, found.size, found.burst, found.reason) == (4, 1024, 4, "")
    # Nine of ten waits in 60 ms; without what pieces cost all of each.
    assert found.gain[1] == pytest.approx(18 / 60)
    # o(S, b) = 0.21 us: three messages more in each of ten exchanges, half of it at the send, half at the wait; and
    # the first piece's way, below 0.5 us, nine times.
    assert 18 / 60 - (10 * 3 * 0.00021 + 9 * 0.0005) / 60 < found.gain[0] < found.gain[1]
    assert says(sentence(found), "4.00 KiB", "4", "1.00 KiB", "4")


def test_less_work_than_waiting_is_parted_finer(tmp_path: Path) -> None:
    """1 ms of work behind a wait of 2 ms: the finer, the more of it is hidden, at most 1 ms of each of nine waits."""
    found = advised(exchange(work=1), tmp_path / "a")
    assert found.pieces == 64
    assert found.gain[1] == pytest.approx(9 * (1 - 1 / 64) / 40)


def test_bursts_stay_below_the_queue_depth(tmp_path: Path) -> None:
    text = template_text()
    assert "HD = 64" in text
    found = advised(exchange(work=3), tmp_path / "a", text.replace("HD = 64", "HD = 3"))
    assert (found.pieces, found.burst) == (4, 2)


def test_without_work_messages_stay_whole(tmp_path: Path) -> None:
    found = advised(exchange(work=0), tmp_path / "a")
    assert (found.pieces, found.gain, found.reason) == (1, (0.0, 0.0), "no work follows the wait")
    assert sentence(found) == f"main: leave messages whole: {found.reason}."


def test_a_program_of_blocking_calls_has_none(tmp_path: Path) -> None:
    run: Run = chain(4, tmp_path / "a")
    with pytest.raises(InputError, match=r"no call completes receives .* posted before"):
        overlap_advice(run)


def test_json_has_the_same(tmp_path: Path) -> None:
    found = advised(exchange(work=3), tmp_path / "a")
    (data,) = json.loads(json.dumps(as_json([found]), allow_nan=False))["overlap"]
    assert (data["S_bytes"], data["b"], data["gain"]) == (1024.0, 4, list(found.gain))
