"""What is said of an archive that begins where a flight recorder's ring begins."""

from __future__ import annotations

from tests.said import facts

from logpost.analyzer.pipeline.recording.overwritten import overwritten, overwritten_counts

PROPERTIES = {
    "LOGPOST::OVERWRITTEN_RANKS": "2",
    "LOGPOST::OVERWRITTEN_CALLS": "221715",
    "LOGPOST::OVERWRITTEN_SENDS": "68219",
    "LOGPOST::OVERWRITTEN_RECEIVES": "68217",
    "LOGPOST::OVERWRITTEN_OPERATIONS": "17054",
    "LOGPOST::OVERWRITTEN_TRANSFERS": "0",
    "LOGPOST::OVERWRITTEN_NS": "90000000000",
    "LOGPOST::HALVES_LEFT_OUT": "2",
    "LOGPOST::WHOLE_FROM_NS": "2500000",
}


def test_a_whole_recording_is_not_spoken_of() -> None:
    assert overwritten({"LOGPOST::MPI": "Open MPI"}) == []
    assert overwritten_counts({"LOGPOST::OVERWRITTEN_CALLS": "many"}) == []


def test_the_loss_is_stated_with_its_time_and_kinds() -> None:
    (said,) = overwritten(PROPERTIES)
    assert facts(said) == ["2", "221,715", "68,219", "68,217", "17,054", "collective", "1.5", "2", "2.5 ms"]
    counts = {count.name: (count.count, count.blame) for count in overwritten_counts(PROPERTIES)}
    assert counts == {"overwritten_calls": (221715, "recording"), "halves_left_out": (2, "recording")}


def test_what_could_not_be_followed_is_admitted() -> None:
    found = overwritten(PROPERTIES | {"LOGPOST::OVERWRITTEN_INEXACT": "1", "LOGPOST::WHOLE_FROM_NS": "308"})
    assert facts(found[0])[-2:] == ["2", "1"]
    assert found[0].endswith("messages may be paired wrongly.")
