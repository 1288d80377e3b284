"""Make a finding's words from its named numbers: title, advice, evidence and confidence, for text, JSON and HTML.

A title names the waiting ranks, the place, and what they wait for. Its template reads a row of the findings table
and nothing else, so any reader of a run produces the same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from logpost.analyzer.findings.evidence.places import NOWHERE, Places
from logpost.analyzer.findings.wording import collectives, load, messages, one_sided, structure, work
from logpost.analyzer.findings.wording.facts import MAINLY, Facts, Row, Words

WORDS: Mapping[str, Words] = {
    kind: words
    for module in (collectives, load, messages, one_sided, structure, work)
    for kind, words in module.WORDS.items()
}
"""By kind of finding."""
FIND_WAIT = "Find what this code waits for (a file, which logpost record --io names; a lock; a sleep; a core). "
NAME_CODE = " More samples (logpost record --sample 1000) or --functions name the function."


def titles(rows: Sequence[Row], places: Places) -> list[str]:
    """One title per finding, all different: equal ones are distinguished by place, then by time window."""
    found = [Facts(row, places.get(row["callpath"], NOWHERE)) for row in rows]
    said = [WORDS[facts.row["kind"]].title(facts) for facts in found]
    for differ in (_source_of, _path_of, _windows_of):
        counts = Counter(said)
        said = [
            f"{title} ({more})" if counts[title] > 1 and (more := differ(facts)) else title
            for title, facts in zip(said, found, strict=True)
        ]
    seen: Counter[str] = Counter()
    for i, title in enumerate(said):
        seen[title] += 1
        if seen[title] > 1:
            said[i] = f"{title} ({seen[title]})"
    return said


def _source_of(facts: Facts) -> str:
    return facts.place.source if facts.place.is_site and facts.place.source not in facts.where else ""


def _path_of(facts: Facts) -> str:
    return facts.place.path


def _windows_of(facts: Facts) -> str:
    return f"windows {facts.row['first_window']} to {facts.row['last_window']}"


def advice(row: Row) -> str:
    """What to try, as far as the evidence supports it."""
    facts = Facts(row, NOWHERE)
    begins = FIND_WAIT if facts.all("on_processor") else ""
    return begins + WORDS[row["kind"]].advice(facts) + (NAME_CODE if facts.all("code_without_name") else "")


def cure(row: Row) -> str:
    """The cure in a few words, as next to `alternatives`."""
    return WORDS[row["kind"]].cure


def alternatives(row: Row) -> list[tuple[str, float]]:
    """Other cures that save most of the same time, in a few words, with what each saves; the largest first."""
    found = Facts(row, NOWHERE).alternatives
    return [(WORDS[kind].cure, gain) for kind, gain in found if gain > MAINLY * row["gain"]]
