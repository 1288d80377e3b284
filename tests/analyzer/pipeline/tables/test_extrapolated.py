"""Messages beyond what a machine measured are counted by kind."""

from __future__ import annotations

from types import SimpleNamespace

from logpost.analyzer.pipeline.tables.extrapolated import extrapolated


def test_each_kind_is_a_counter_with_its_sentence() -> None:
    sizes, strides = extrapolated(SimpleNamespace(beyond_sizes=3, beyond_strides=2))
    assert (sizes.name, sizes.count, sizes.severity) == ("beyond_measured_sizes", 3, "info")
    assert (strides.name, strides.count) == ("beyond_measured_strides", 2)
    assert "measured strides" in strides.sentence


def test_what_no_message_is_has_no_counter() -> None:
    assert extrapolated(SimpleNamespace(beyond_sizes=0, beyond_strides=0)) == []
