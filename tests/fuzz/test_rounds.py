"""The fuzzer finds what it looks for, and recognizes successes and refusals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.fuzz import mutations
from tests.fuzz.rounds import Round, complaint, play, play_batch
from tests.fuzz.subjects import Commands, Subject

from logpost.analyzer.words.fault_text import fault_texts


def subject(change: Callable[[], Commands]) -> Subject:
    return Subject(lambda _folder: None, lambda _sound, _scratch, _random: change())


def test_an_answer_and_a_refusal_are_right(tmp_path: Path) -> None:
    answer = play(subject(lambda: [["machines", "check", "alewife"]]), tmp_path, tmp_path / "scratch", 1)
    assert (answer.wrong, answer.accepted) == ("", True)
    refusal = play(subject(lambda: [["machines", "check", "no.toml"]]), tmp_path, tmp_path / "scratch", 1)
    assert (refusal.wrong, refusal.accepted) == ("", False)


def test_what_dies_or_raises_is_wrong(tmp_path: Path) -> None:
    def dies() -> Commands:
        os.kill(os.getpid(), signal.SIGKILL)
        return []

    assert "died of signal 9" in play(subject(dies), tmp_path, tmp_path / "scratch", 1).wrong

    def raises() -> Commands:
        raise ValueError("a bug")

    assert "ValueError: a bug" in play(subject(raises), tmp_path, tmp_path / "scratch", 1).wrong


def test_a_part_of_logpost_that_failed_is_wrong() -> None:
    (said,) = fault_texts([("finder late_receiver", "TypeError (x.py:1)")])
    assert complaint(0, f"logpost: {said}", "")
    assert not complaint(0, "no finding applies", "")


def test_a_batch_ends_with_the_round_that_dies(tmp_path: Path) -> None:
    def dies() -> Commands:
        os.kill(os.getpid(), signal.SIGKILL)
        return []

    def raises() -> Commands:
        raise ValueError("a bug")

    def succeeds() -> Commands:
        return [["machines", "check", "alewife"]]

    changes = (succeeds, raises, dies, raises)
    batch = [
        Round(subject(change), tmp_path, tmp_path / f"scratch-{seed}", seed) for seed, change in enumerate(changes)
    ]
    first, second, third = play_batch(batch, tmp_path / "said")
    assert (first.wrong, first.accepted) == ("", True)
    assert "ValueError: a bug" in second.wrong
    assert "died of signal 9" in third.wrong
    assert [each.scratch.exists() for each in batch] == [False, True, True, False]
    assert play_batch(batch, tmp_path / "said", until=0) == []


@pytest.mark.slow
def test_a_hog_is_wrong(tmp_path: Path) -> None:
    def hog() -> Commands:
        assert len(bytearray(b"1") * (1100 << 20))
        return []

    assert "MiB of memory" in play(subject(hog), tmp_path, tmp_path / "scratch", 1).wrong


def test_a_text_is_changed_in_the_same_way_by_the_same_seed() -> None:
    text = b"L = 5\no = 7\n"
    changed = [mutations.change_text(text, Random(seed)) for seed in range(100)]
    assert changed == [mutations.change_text(text, Random(seed)) for seed in range(100)]
    assert len(set(changed)) > 50


@pytest.mark.slow
def test_rounds() -> None:
    """In a separate process: one that has used the table library's threads must not fork."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.fuzz", "4", "1", "machine", "gasnet"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    table = {line.split()[0]: [int(count) for count in line.split()[1:]] for line in done.stdout.splitlines()[2:4]}
    for kind in ("machine", "gasnet"):
        accepted, refused, wrong = table[kind]
        assert accepted + refused > 0
        assert wrong == 0
