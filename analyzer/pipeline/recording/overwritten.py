"""What a flight recorder's rings have overwritten (`record --keep`), as the archive's properties state it.

The archive holds the end of the run. Messages and operations whose other half was overwritten are left out of it by the
assembler, which knows both ends' numbers; here they are counted, and the trace is not blamed for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from logpost.analyzer.run.manifest import QualityCount
from logpost.analyzer.words.units import count_text

_PREFIX = "LOGPOST::"
_COUNTERS = (
    ("OVERWRITTEN_CALLS", "overwritten_calls", "calls that the rings of record --keep have overwritten"),
    (
        "HALVES_LEFT_OUT",
        "halves_left_out",
        "sends and receives whose other half was overwritten or made while recording was off; they are left out",
    ),
    (
        "PARTS_LEFT_OUT",
        "operations_left_out",
        "parts of collective operations that a member has overwritten or made while off; they are calls without a "
        "record",
    ),
    (
        "OVERWRITTEN_INEXACT",
        "overwritten_inexactly",
        "processes whose overwritten messages could not all be followed; some around the cut may be paired wrongly",
    ),
)
_WORTH_SAYING_NS = 1_000_000
"""Below it, all ranks begin together."""


def overwritten_counts(properties: Mapping[str, str]) -> list[QualityCount]:
    """A counter of each kind of loss that there is."""
    return stated_counts(properties, _COUNTERS)


def stated_counts(properties: Mapping[str, str], counters: Iterable[tuple[str, str, str]]) -> list[QualityCount]:
    """The counters of which the archive states a number: `counters` has property, name and sentence of each."""
    return [
        QualityCount(name=name, severity="info", blame="recording", count=count, sentence=sentence)
        for key, name, sentence in counters
        if (count := number_of(properties, key))
    ]


def overwritten(properties: Mapping[str, str]) -> list[str]:
    """A sentence that says how much is missing; nothing where all is there."""
    ranks = number_of(properties, "OVERWRITTEN_RANKS")
    if not ranks:
        return []
    found = kinds_text(properties, "OVERWRITTEN")
    text = (
        f"The archive holds the end of the run: on {count_text(ranks, 'rank')}, rings have overwritten "
        f"{number_of(properties, 'OVERWRITTEN_CALLS'):,} calls{found} of up to "
        f"{seconds_text(number_of(properties, 'OVERWRITTEN_NS'))} before it."
    )
    if halves := number_of(properties, "HALVES_LEFT_OUT"):
        text += f" {halves:,} sends and receives that are left have lost their other half, and are left out."
    if (whole := number_of(properties, "WHOLE_FROM_NS")) >= _WORTH_SAYING_NS:
        text += f" From {seconds_text(whole)} on, every rank is whole."
    if inexact := number_of(properties, "OVERWRITTEN_INEXACT"):
        text += (
            f" On {count_text(inexact, 'rank')} not all of it could be followed: around the cut, messages may be "
            "paired wrongly."
        )
    return [text]


def kinds_text(properties: Mapping[str, str], prefix: str) -> str:
    """What the calls that are lost did: " (12 sends, 3 collective operations)"; empty where they did nothing."""
    what = {
        "sends": number_of(properties, f"{prefix}_SENDS"),
        "receives": number_of(properties, f"{prefix}_RECEIVES"),
        "collective operations": number_of(properties, f"{prefix}_OPERATIONS"),
        "one-sided accesses": number_of(properties, f"{prefix}_TRANSFERS"),
    }
    found = ", ".join(f"{count:,} {name}" for name, count in what.items() if count)
    return f" ({found})" if found else ""


def number_of(properties: Mapping[str, str], key: str) -> int:
    """A number among the archive's properties that the collector states; 0 where it is none."""
    text = properties.get(_PREFIX + key, "0")
    return int(text) if text.isdecimal() and text.isascii() else 0


def seconds_text(ns: int) -> str:
    """A time of the recording as people read it: 12 s, 3.5 min."""
    for unit, size in (("h", 3600e9), ("min", 60e9), ("s", 1e9), ("ms", 1e6)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns / 1e3:.3g} µs"
