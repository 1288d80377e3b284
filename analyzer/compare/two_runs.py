"""Compare two runs: what got slower or faster, where in the code, and which findings appeared or disappeared.

Everything is B minus A, and about the program (or the region of interest) without its start-up and shut-down. Times
are exposed time summed over ranks, except those of `LENGTHS`, which are of the slowest rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from logpost.analyzer.compare.change import Change
from logpost.analyzer.compare.places import renamed, surroundings
from logpost.analyzer.compare.regions import RegionChange, changes_by_region, times_of
from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import PlacedFinding, Report
from logpost.analyzer.report.efficiencies import NAMES
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import CATEGORIES, FINDING_KINDS, WAIT_STATES
from logpost.analyzer.run.undivided import SHOWN, UNDIVIDED, merged
from logpost.analyzer.words.categories import WAITING
from logpost.analyzer.words.labels import SEPARATOR, folded
from logpost.machines.calibration.while_recording import NAME as MEASURED

GROUPS: Mapping[str, tuple[str, ...]] = {
    "contention": ("endpoint_contention", "network_contention"),
    "overhead": ("send_overhead", "middleware", "recv_overhead"),
    "transfer_time": ("latency", "serialization"),
    "waiting": WAITING,
    "communication": CATEGORIES[1:],
}
"""Names of groups of categories, for tables and for `--fail-if`."""

WAIT_STATE_PREFIX = "wait_state."
"""`late_sender` is a category of the split; `wait_state.late_sender` is Scalasca's wait state of that name."""

LOST = "lost"
"""What the ranks lose: all of `communication`, by the name that a report gives it."""

EFFICIENCY_PREFIX = "efficiency."
"""`serialization` is a category of the split; `efficiency.serialization` is POP's efficiency of that name."""

REGION_PREFIX = "region."
"""`region.MPI_Recv`: exposed time of that function's calls; of a user region, its own time."""

GAIN = "gain"
"""The largest gain of any finding; `gain.load_imbalance` of the findings of one kind."""

LENGTHS: Mapping[str, str] = {
    "wall": "program_ps",
    "start_up": "start_up_ps",
    "shut_down": "shut_down_ps",
    "run": "wall_ps",
}
"""Lengths on the slowest rank: of the program, of start-up and shut-down, and of the whole run."""

REGIONS = 20
"""Number of regions listed, those that changed most."""

RENAMES = 5
"""Number of renamed regions that the notes name."""


@dataclass(frozen=True)
class Comparison:
    """Two runs, A and B."""

    a: Report
    b: Report
    lengths: tuple[Change, ...]
    """those of `LENGTHS`, in order"""
    gains: tuple[Change, ...]
    """`gain`, then that of each kind of finding"""
    categories: tuple[Change, ...]
    groups: tuple[Change, ...]
    """None where a group holds a part only of what is not divided"""
    undivided: tuple[str, ...]
    """categories that the machine of A or that of B does not distinguish: one of `categories` in both"""
    efficiencies: tuple[Change, ...]
    wait_states: tuple[Change, ...]
    wait_counts: tuple[Change, ...]
    regions: tuple[RegionChange, ...]
    """those that changed most"""
    every_region: Mapping[str, Change]
    """region name, of either run, to its time"""
    gone: tuple[PlacedFinding, ...]
    appeared: tuple[PlacedFinding, ...]
    stayed: tuple[tuple[PlacedFinding, PlacedFinding], ...]
    warnings: tuple[str, ...]
    """those of either report, each with whose it is"""
    notes: tuple[str, ...]
    """what makes the runs hard to compare"""
    renames: Mapping[str, str]
    """A's names of user regions that B calls otherwise, each with B's"""

    @property
    def wall(self) -> Change:
        """Program time of the slowest rank."""
        return self.lengths[0]

    def total(self, before: bool) -> float:
        """Sum of the ranks' program times of A (before) or B."""
        return float(sum(rank.program_ps for rank in (self.a if before else self.b).rank_times))

    def quantity(self, name: str) -> Change | None:
        """A length, gain, category, group, efficiency, region or wait state (the last three with prefix where the name
        is a category's); or None.

        The bare name of a wait state or an efficiency works where no category has it.
        """
        every = {
            change.name: change
            for change in (
                *self.wait_states,
                *self.efficiencies,
                *self.groups,
                *self.categories,
                *self.gains,
                *self.lengths,
            )
        }
        every.setdefault(UNDIVIDED, Change(UNDIVIDED, 0, 0))
        every[LOST] = every["communication"]
        every |= {name: Change(name, None, None) for name in self.undivided}
        every |= {f"{WAIT_STATE_PREFIX}{change.name}": change for change in self.wait_states}
        every |= {f"{EFFICIENCY_PREFIX}{change.name}": change for change in self.efficiencies}
        if name.startswith(REGION_PREFIX):
            return self.every_region.get(name.removeprefix(REGION_PREFIX))
        return every.get(name)


def names() -> list[str]:
    """Every name that `quantity` knows but regions."""
    states = (f"{WAIT_STATE_PREFIX}{name}" for name in WAIT_STATES)
    efficiencies = (f"{EFFICIENCY_PREFIX}{name}" for name in NAMES)
    return [
        *LENGTHS,
        LOST,
        *SHOWN,
        *GROUPS,
        *NAMES,
        *efficiencies,
        *states,
        GAIN,
        *(f"{GAIN}.{kind}" for kind in FINDING_KINDS),
    ]


def is_fraction(name: str) -> bool:
    """Whether a quantity is a fraction of 1, not a time."""
    if name in NAMES:
        return name not in SHOWN
    return name.startswith(EFFICIENCY_PREFIX) or name.partition(".")[0] == GAIN


def compare(before: Run, after: Run) -> Comparison:
    """Compares run A (before) with run B (after); reads small tables only."""
    a = build(before)
    b = a if after is before else build(after)
    undivided = {UNDIVIDED, *a.machine.undivided, *b.machine.undivided}
    of_a, of_b = (merged({s.category: s.exposed_ps for s in one.breakdown}, tuple(undivided)) for one in (a, b))
    states = ({s.name: s for s in a.wait_states}, {s.name: s for s in b.wait_states})
    values = ({e.name: e.value for e in a.efficiencies}, {e.name: e.value for e in b.efficiencies})
    renames = renamed(surroundings(before), surroundings(after))
    gone, appeared, stayed = _findings(a.findings, b.findings, renames)
    regions = changes_by_region(before, after, renames)
    return Comparison(
        a=a,
        b=b,
        lengths=tuple(Change(name, getattr(a, field), getattr(b, field)) for name, field in LENGTHS.items()),
        gains=tuple(
            Change(name, _gain(a, kind), _gain(b, kind))
            for name, kind in ((GAIN, ""), *((f"{GAIN}.{kind}", kind) for kind in FINDING_KINDS))
        ),
        categories=tuple(
            Change(name, of_a.get(name, 0), of_b.get(name, 0))
            for name in merged(dict.fromkeys(CATEGORIES, 0), tuple(undivided))
        ),
        groups=tuple(
            Change(name, _group(of_a, members, undivided), _group(of_b, members, undivided))
            for name, members in GROUPS.items()
        ),
        undivided=tuple(name for name in CATEGORIES if name in undivided),
        efficiencies=tuple(Change(name, values[0][name], values[1][name]) for name in NAMES),
        wait_states=tuple(Change(name, states[0][name].wait_ps, states[1][name].wait_ps) for name in WAIT_STATES),
        wait_counts=tuple(Change(name, states[0][name].count, states[1][name].count) for name in WAIT_STATES),
        regions=tuple(regions[:REGIONS]),
        every_region=times_of(regions),
        gone=gone,
        appeared=appeared,
        stayed=stayed,
        warnings=_warnings(a, b),
        notes=(*_notes(a, b), *_renames(renames)),
        renames=renames,
    )


def _group(times: Mapping[str, int], members: Iterable[str], undivided: set[str]) -> int | None:
    """The sum of a group's categories; None where some of them, but not all that are undivided, are of it."""
    names = set(members)
    if not names & undivided:
        return sum(times[name] for name in names)
    if not undivided - {UNDIVIDED} <= names:
        return None
    return sum(times.get(name, 0) for name in {*names - undivided, UNDIVIDED})


def _gain(report: Report, kind: str) -> float:
    """The largest gain of the findings of a kind; of all without one."""
    return max((found.gain for found in report.findings if kind in ("", found.kind)), default=0.0)


def _key(found: PlacedFinding, renames: Mapping[str, str]) -> tuple[str, str, str]:
    """Two findings are the same one in two runs if kind and place are; lines, ranks, cause and times may differ."""
    path = SEPARATOR.join(renames.get(name, name) for name in found.path.split(SEPARATOR))
    return found.kind, path, renames.get(found.region, found.region)


def _findings(
    a: Iterable[PlacedFinding], b: Iterable[PlacedFinding], renames: Mapping[str, str]
) -> tuple[tuple[PlacedFinding, ...], tuple[PlacedFinding, ...], tuple[tuple[PlacedFinding, PlacedFinding], ...]]:
    later = list(b)
    gone, stayed = [], []
    for found in a:
        # Several findings may share kind and place (two hot receivers, two calls in one function): take the closest.
        alike = [other for other in later if _key(other, {}) == _key(found, renames)]
        if not alike:
            gone.append(found)
            continue
        match = max(alike, key=lambda other: _likeness(found, other))
        later.remove(match)
        stayed.append((found, match))
    return tuple(gone), tuple(later), tuple(stayed)


def _likeness(a: PlacedFinding, b: PlacedFinding) -> tuple[bool, bool, bool]:
    return a.ranks == b.ranks, (a.file, a.line) == (b.file, b.line), a.cause_region == b.cause_region


def _renames(renames: Mapping[str, str]) -> tuple[str, ...]:
    """What regions were taken for one another."""
    if not renames:
        return ()
    shown = [f"{folded(name)} → {folded(other)}" for name, other in list(renames.items())[:RENAMES]]
    more = f" and {len(renames) - RENAMES} more" if len(renames) > RENAMES else ""
    return (
        f"Regions that A and B call differently are compared by their place in the code: {', '.join(shown)}{more}.",
    )


def _own_machine(report: Report) -> str:
    """How a run got a machine that no other run uses; empty where it has another."""
    if report.machine.origin == "estimated":
        return "estimated from its own trace"
    measured = report.machine.origin == "recorded" and report.machine.name == MEASURED
    return "measured while it was recorded" if measured else ""


def _warnings(a: Report, b: Report) -> tuple[str, ...]:
    both = [warning for warning in a.warnings if warning in b.warnings]
    found = [f"Both: {warning}" for warning in both]
    for name, report in (("A", a), ("B", b)):
        found += [f"{name}: {warning}" for warning in report.warnings if warning not in both]
    return tuple(found)


def _notes(a: Report, b: Report) -> tuple[str, ...]:
    """What makes the two runs hard to compare."""
    found = []
    if a.ranks != b.ranks:
        found.append(f"A has {a.ranks} ranks and B has {b.ranks}: this alone changes sums over ranks.")
    if a.machine.undivided != b.machine.undivided:
        found.append(
            "What the machine of either run does not distinguish is shown as one in both; analyze both with the same "
            "--machine FILE to compare its parts."
        )
    own = _own_machine(a)
    alone = a.machine.sha256 is None or a.machine.sha256 != b.machine.sha256
    if own and own == _own_machine(b) and alone:
        found.append(
            f"Each run's machine was {own}, which alone may cause small differences of modelled "
            "parts; analyze both with the same --machine FILE to exclude this."
        )
    elif (a.machine.name, a.machine.sha256) != (b.machine.name, b.machine.sha256):
        found.append(
            f"The messages were split with different machines ({a.machine.label}; {b.machine.label}): modelled parts "
            "(overheads, latency, serialization, contention, residual) are comparable only within their errors."
        )
    if a.machine.model is not b.machine.model:
        found.append(
            f"The messages were split under different models ({a.machine.model.label}; {b.machine.model.label}): "
            "modelled parts are not comparable; analyze both with the same --model."
        )
    return tuple(found)
