"""Findings: what costs a program time, where, why, and how much a fix can gain.

`finders/` holds a file per pattern, each with a function `find(evidence) -> Iterable[Finding]`; `evidence/` what they
look at; `prose` makes the words, from the templates in `wording/`. A new pattern is a new finder (copy
`load_imbalance.py`), templates in `wording/`, an entry in `find.FINDERS`, in `one_bug.CAUSES_FIRST` and
`prose.TEMPLATES`, and its name in `schema.FINDING_KINDS`. Thresholds are fractions of time with their reason beside
them, never figures of one program.
"""
