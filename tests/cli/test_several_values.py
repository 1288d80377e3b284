"""Options of several values: what click gets to read."""

from __future__ import annotations

import pytest

from logpost.cli.several_values import repeated


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["a", "--with", "b"], ["a", "--with", "b"]),
        (["a", "--with", "b", "c"], ["a", "--with", "b", "--with", "c"]),
        (["a", "--with=b", "c"], ["a", "--with=b", "--with", "c"]),
        (["a", "--with", "b", "c", "--json", "d"], ["a", "--with", "b", "--with", "c", "--json", "d"]),
        (["a", "--within", "b", "c"], ["a", "--within", "b", "c"]),
        (["a", "--with"], ["a", "--with"]),
    ],
)
def test_every_value_gets_the_option(words: list[str], read: list[str]) -> None:
    assert repeated(words, "--with") == read
