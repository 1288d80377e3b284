"""A first finding compared with what a program was written to lose: the cause, the place, the cure and the gain.

Nothing here depends on kinds of findings. A cause is stated in the field's words, a cure by its name in the catalogue
below, and both are looked for in what a report says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

CURES: Mapping[str, str] = {
    "balance": r"balanc\w*|evenly|even out|uneven|divide the work|less work|partition|work stealing",
    "faster ranks": r"slow(er|est)? (rank|node|core|processor)|as fast as|frequency|throttl\w*",
    "send earlier": r"(send|start|issue|pass)\w* [^.]*\b(earlier|sooner|before)"
    r"|(move|do) [^.]*work [^.]*(later|behind|after)|smaller (tiles|blocks)|pipelin\w*",
    "receive earlier": r"(post|receiv|serve|reply|repl)\w* [^.]*\b(earlier|sooner|before|early|ahead)|MPI_Irecv",
    "reorder": r"\border\b|rotat\w*|stagger\w*|shift\w* destinations|permut\w*",
    "spread load": r"\btree\b|spread|several (receivers|senders|masters|roots)|distribut\w* the (load|messages)",
    "aggregate": r"aggregat\w*|combin\w*|pack\w* [^.]*(into|together)|one (message|transfer|call|operation|put|get)\b"
    r"|fewer|larger (messages|units)|several values|less often|coalesc\w*",
    "contiguous": r"contiguous|pack\w*|stride\w*|layout",
    "progress": r"progress|MPI_Test\b|poll",
    "overlap": r"overlap\w*|between (the )?(start|post)\w* and|while [^.]*(flight|arriv)|MPI_Waitany|any_source"
    r"|nonblocking",
    "drop barrier": r"(leave|drop|remov|omit|without)\w* [^.]*(barrier|synchroni|fence|MPI_Ssend)|less often"
    r"|MPI_Send instead",
    "other collective": r"(fus|replac|another algorithm|one collective|MPI_(All)?[Gg]ather|MPI_Allreduce|MPI_Reduce"
    r"|MPI_Bcast|less often|keep the communicator|collective instead)",
    "concurrent": r"concurrent\w*|at once|several [^.]*(flight|outstanding|under.way)"
    r"|(request|question|reads|get)s? [^.]*(together|ahead)|one flush|nonblocking",
    "shorter lock": r"\block\w*[^.]*(short|less|outside|before)|(shorter|less)[^.]*\block|outside [^.]*lock",
    "parallelise": r"paralleli\w*|serial|divide [^.]*among|on all ranks|each rank",
    "place ranks": r"(place|map|pin|bind|mov)\w* [^.]*\branks?\b",
}
"""The design's cures and the words by which an advice names each."""


@dataclass(frozen=True)
class Expected:
    """What a report must say first, written from the program."""

    cause: tuple[str, ...]
    """Patterns of the field's words, of which a title has one."""
    place: tuple[str, ...]
    """Functions or calls, of which one is named."""
    cures: tuple[str, ...]
    """Those of `CURES` that remove the loss."""
    ranks: frozenset[int] = frozenset()
    """Ranks that a finding must name; empty: any."""


@dataclass(frozen=True)
class Span:
    """A number with its interval, as fractions of the program's time."""

    low: float
    middle: float
    high: float

    @property
    def noise(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2

    def overlaps(self, other: Span) -> bool:
        """Whether the intervals have a value in common."""
        return self.low <= other.high and other.low <= self.high


@dataclass(frozen=True)
class First:
    """The first finding of a report."""

    kind: str
    gain: Span
    has_interval: bool
    says: str
    """Kind and title, where a cause is named."""
    names: str
    """Title, call path, regions and place in the source."""
    advice: str
    ranks: frozenset[int]
    confidence: float = 0.0


NOTHING = First("nothing", Span(0, 0, 0), False, "", "", "", frozenset())
"""A report without findings."""


def first_finding(report: Mapping[str, Any]) -> First:
    """The first finding of the object that `logpost report --json` prints."""
    return next(map(_stated, report["findings"]), NOTHING)


def risen(report: Mapping[str, Any], before: Mapping[str, Any], scale: float) -> First:
    """The finding whose gain is most above that of the same one in the report of the program before a loss was put in,
    by what it is above that: a program's own losses are none that were put in.

    Arguments:
        report: with the loss.
        before: without any.
        scale: time without any loss by time with it.
    """
    own: dict[tuple[str, str], float] = {}
    for one in before["findings"]:
        own[_place(one)] = max(scale * float(one["gain"]), own.get(_place(one), 0.0))
    above = [(_stated(one), own.get(_place(one), 0.0)) for one in report["findings"]]
    first, less = max(above, key=lambda one: one[0].gain.middle - one[1], default=(NOTHING, 0.0))
    gain = first.gain
    return replace(first, gain=Span(gain.low - less, gain.middle - less, gain.high - less)) if less else first


def _place(found: Mapping[str, Any]) -> tuple[str, str]:
    return str(found["kind"]), str(found.get("path") or "")


def _stated(found: Mapping[str, Any]) -> First:
    kind, title = str(found["kind"]), str(found["title"])
    gain = float(found["gain"])
    low, high = found.get("gain_low"), found.get("gain_high")
    places = (found.get(key) or "" for key in ("path", "region", "cause_region", "file", "source"))
    return First(
        kind=kind,
        gain=Span(gain if low is None else float(low), gain, gain if high is None else float(high)),
        has_interval=low is not None and high is not None,
        says=f"{kind.replace('_', ' ')} {title}",
        names=" ".join((title, *map(str, places))),
        advice=" ".join(
            (found.get("cure") or "", found["advice"], *(one["cure"] for one in found.get("alternatives", ())))
        ),
        ranks=frozenset(found["ranks"]),
        confidence=float(found["confidence"]),
    )


@dataclass(frozen=True)
class Explained:
    """What findings explain of the ranks' time, as the report says it, and in truth: what the ranks lose less without
    the losses that were put in."""

    said: float
    true: float

    @property
    def is_right(self) -> bool:
        """Whether both are within `POINTS`."""
        return abs(self.said - self.true) <= POINTS


@dataclass(frozen=True)
class Verdict:
    """Which parts of a first finding are right; a gain without an interval is inside if it is within the noise."""

    name: str
    ranks: int
    true: Span
    first: First
    cause: bool
    place: bool
    cure: bool
    gain: bool | None
    """None: the noise of the true gain spans zero."""
    explained: Explained | None = None
    """None: the truth of it is not known."""

    @property
    def right(self) -> bool:
        """Cause, place and cure."""
        return self.cause and self.place and self.cure


def verdict(name: str, ranks: int, true: Span, first: First, expected: Expected) -> Verdict:
    """Compares a first finding with what a program was written to lose."""
    return Verdict(
        name=name,
        ranks=ranks,
        true=true,
        first=first,
        cause=_has(expected.cause, first.says),
        place=any(re.search(rf"\b{re.escape(one)}\b", first.names) for one in expected.place)
        and expected.ranks <= first.ranks,
        cure=_has([CURES[cure] for cure in expected.cures], first.advice),
        gain=None if true.low <= 0 < true.high else first.gain.overlaps(true),
    )


def lost(report: Mapping[str, Any]) -> tuple[float, float, float]:
    """Of the object that `logpost report --json` prints: seconds that the ranks lose, of how many, and how many of
    those the findings explain."""
    of = report["coverage"]
    whole = of["lost_s"] / of["share"] if of["share"] else 0.0
    return of["lost_s"], whole, of["explained_s"]


def _has(patterns: Sequence[str], text: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


POINTS = 0.05
"""Of the ranks' time (the bar of what a report says it explains)."""
WITHIN = 0.25
"""As in `tests.truth.programs`; for gains without an interval."""
HEADER = (
    "| program | ranks | true gain | first finding | its gain | cause | place | cure | gain inside | explained |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def line(one: Verdict) -> str:
    """A row of the table, in Markdown."""
    gain = one.first.gain
    stated = f"{_percent(gain.middle)} %" if one.first is not NOTHING else "–"
    if one.first.has_interval:
        stated += f" ({_percent(gain.low)} to {_percent(gain.high)})"
    noise = f" ± {_percent(one.true.noise)}" if one.true.noise else ""
    explained = "–" if one.explained is None else f"{_percent(one.explained.said)} ({_percent(one.explained.true)}) %"
    marks = ({True: "yes", False: "no", None: "noise"}[right] for right in (one.cause, one.place, one.cure, one.gain))
    return f"| {one.name} | {one.ranks} | {_percent(one.true.middle)}{noise} % | {one.first.kind} | {stated} | " + (
        " | ".join((*marks, explained)) + " |"
    )


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many first findings are right, and how many gains are inside."""
    counts = {
        "cause": sum(one.cause for one in verdicts),
        "place": sum(one.place for one in verdicts),
        "cure": sum(one.cure for one in verdicts),
        "all three": sum(one.right for one in verdicts),
    }
    decided = [one for one in verdicts if one.gain is not None]
    near = [one for one in decided if abs(one.first.gain.middle - one.true.middle) <= WITHIN * one.true.middle]
    gains = f"gain inside {sum(bool(one.gain) for one in decided)} of {len(decided)}"
    more = ""
    stated = [one.first.gain for one in verdicts if one.first.gain.middle > 0]
    if stated:
        more = (
            f"; half width of the intervals {_percent(median(one.noise / one.middle for one in stated))} % of the gain"
        )
    if known := [one.explained for one in verdicts if one.explained is not None]:
        more += f"; explained within 5 points {sum(one.is_right for one in known)} of {len(known)}"
    return (
        f"of {len(verdicts)}: "
        + ", ".join(f"{what} {count}" for what, count in counts.items())
        + f"; {gains}, within a quarter {len(near)} of {len(decided)}{more}"
    )


def below_floor(verdicts: Iterable[Verdict]) -> list[float]:
    """The confidences of statements that are right less often than these say."""
    stated = [one for one in verdicts if one.first is not NOTHING]
    levels = sorted({one.first.confidence for one in stated})
    rights = {level: [one.right for one in stated if one.first.confidence == level] for level in levels}
    return [level for level, right in rights.items() if sum(right) < level * len(right)]


def calibration(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Rows of a table in Markdown: how often statements are right, by their confidence and their kind."""
    stated = [one for one in verdicts if one.first is not NOTHING]
    yield "| confidence | kind | statements | cause, place and cure right | gain inside |"
    yield "|---|---|---|---|---|"
    for confidence in sorted({one.first.confidence for one in stated}, reverse=True):
        level = [one for one in stated if one.first.confidence == confidence]
        for kind in ("all", *sorted({one.first.kind for one in level})):
            some = [one for one in level if kind in ("all", one.first.kind)]
            decided = [one for one in some if one.gain is not None]
            right, inside = sum(one.right for one in some), sum(bool(one.gain) for one in decided)
            yield (
                f"| {confidence:.2g} | {kind} | {len(some)} | {right} ({_percent(right / len(some))} %) | "
                f"{inside} of {len(decided)} |"
            )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
