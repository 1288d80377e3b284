"""Findings: what costs a program time, where, why, and how much a cure saves.

`cures/` holds a file per cure, each with a function `find(evidence) -> Iterable[Finding]`: proposals, which are
transformations of the program's graph at a place (`cures.offered`), and the facts by which they apply; `evidence/`
reads the run's tables for them; `combined` states cures that save the same time once; `prose` makes the words, from the
templates in `wording/`. A new cure is a new file (copy `docs/templates/cure.py`), its words in `wording/`, an entry in
`find.FINDERS`, and its name in `schema.FINDING_KINDS`. Thresholds are fractions of time with
their reason, never figures of one program.
"""
