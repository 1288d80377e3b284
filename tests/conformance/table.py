"""The outcomes as a table of counts, and the names behind each number that should be zero."""

from __future__ import annotations

from collections.abc import Sequence

from tests.conformance.trial import Outcome


def table(outcomes: Sequence[Outcome], left_out: int) -> str:
    """Counts, then regressions, refusals and disagreeing records by name."""
    rows = {
        "tests": len(outcomes),
        "do not compile with this MPI": sum(not x.built for x in outcomes),
        "passed without the collector": sum(x.without for x in outcomes),
        "passed with it, too": sum(x.without and x.with_collector for x in outcomes),
        "left an archive": sum(x.archive for x in outcomes),
        "analyzed": sum(x.analyzed for x in outcomes),
        "refused": sum(bool(x.refused) for x in outcomes),
        "analyzed with faults": sum(bool(x.faults) for x in outcomes),
        "regressions": sum(x.regression for x in outcomes),
        "left out: judged otherwise than by `No Errors`": left_out,
    }
    lines = [f"{count:6d}  {name}" for name, count in rows.items()]
    lines += [f"regression: {x.name}" for x in outcomes if x.regression]
    lines += [f"refused: {x.name}: {x.refused}" for x in outcomes if x.refused]
    for x in outcomes:
        if x.faults:
            lines.append(f"faults: {x.name}: " + ", ".join(f"{name} {count}" for name, count in x.faults.items()))
    return "\n".join(lines)
