"""The structure of a report: plain typed data, computed by `build`, drawn by `render.report`.

Times are picoseconds (`_ps`), shares are fractions of 1; a renderer adds the units.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from logpost.analyzer.findings.finding import Number
from logpost.analyzer.findings.wording.facts import ALTERNATIVE, FLAGS
from logpost.analyzer.findings.wording.numbers import between_text, confidence_text, evidence_text, gain_text
from logpost.analyzer.report.coverage import Coverage
from logpost.analyzer.report.efficiencies import Efficiency
from logpost.analyzer.report.efficiency_windows import Stretch
from logpost.analyzer.report.files import Files
from logpost.analyzer.report.network import HostTraffic
from logpost.analyzer.report.packing import Packing
from logpost.analyzer.report.sens_view import SensPart
from logpost.analyzer.report.threads import Accelerators, Threads
from logpost.analyzer.run.manifest import Clock, Fault, MachineUsed, Predicted, QualityCount
from logpost.analyzer.run.undivided import UNDIVIDED
from logpost.analyzer.words.labels import SEPARATOR
from logpost.analyzer.words.location_names import Location, Named, Rank, named_of, named_text
from logpost.analyzer.words.ranks import ranks_text
from logpost.analyzer.words.units import count_text, percent_text, time_text
from logpost.replay.cost.message_models import MessageModel

NO_FINDING = "No finding applies; the conclusion states where the time is lost."
"""What a report without findings says of them."""


@dataclass(frozen=True)
class Share:
    """Exposed time of one category over all ranks."""

    category: str
    exposed_ps: int
    share: float
    """of the sum of the ranks' program times"""


@dataclass(frozen=True)
class RankTime:
    """A rank and how its time divides; where threads of it communicate, one of these."""

    location: Location
    named: Named
    host: str
    wall_ps: int
    """from its first to its last event"""
    program_ps: int
    """of that, what lies between start-up and shut-down, in the region of interest; the times below divide it"""
    compute_ps: int
    waiting_ps: int
    communication_ps: int
    """everything but compute, waiting included"""


@dataclass(frozen=True)
class WaitState:
    """One wait state by Scalasca's definition, over all locations."""

    name: str
    wait_s: float
    """seconds: sums are kept in the archive's ticks, so that they equal Scalasca's to its last digit"""
    count: int

    @property
    def wait_ps(self) -> float:
        """In picoseconds, as every other time of a report."""
        return self.wait_s * 1e12


@dataclass(frozen=True)
class CallPlace:
    """A call path of communication calls, with what its calls cost."""

    path: str
    region: str
    file: str
    line: int
    source: str
    """`cg.c:120`, or where the region is defined; empty where unknown"""
    calls: int
    exposed_ps: int
    share: float
    waiting_ps: int
    largest: str
    """its largest category"""
    largest_ps: int


@dataclass(frozen=True)
class CodePlace:
    """A place in the code: the calls of a call path, or the computation before them."""

    path: str
    region: str
    file: str
    line: int
    source: str
    """`cg.c:120`, or where the region is defined; empty where unknown"""
    computation: bool
    """the computation before the calls, not they"""


@dataclass(frozen=True)
class OnPath:
    """A place in the code on the critical path of the program."""

    place: CodePlace
    on_path_ps: int
    share: float
    """of the program's critical path"""
    imbalance_ps: int
    """what other ranks idle because they spend less there: critical-path imbalance impact, over all ranks"""


@dataclass(frozen=True)
class PathOnRank:
    """How long the critical path of the program is on one rank."""

    name: str
    rank: Rank | None
    """None: it has none"""
    thread: int | None
    """None: all of it"""
    on_path_ps: int
    share: float


@dataclass(frozen=True)
class CriticalPath:
    """What the length of the program consists of."""

    program_ps: int
    """its length between start-up and shut-down"""
    whole_ps: int
    """from the first to the last event of all ranks"""
    changes: int
    """how often it changes from one rank to another in the program"""
    categories_ps: dict[str, int]
    ranks: tuple[PathOnRank, ...]
    places: tuple[OnPath, ...]


@dataclass(frozen=True)
class Delay:
    """A place in the code that makes others wait."""

    place: CodePlace
    ranks: tuple[Rank, ...]
    """those that cost most, or a thread of which does"""
    named: str
    """the same for people"""
    short_term_ps: int
    """waits that it causes directly, over all ranks"""
    long_term_ps: int
    """waits elsewhere that these passed on"""
    share: float
    """of all waits"""


@dataclass(frozen=True)
class Delays:
    """What the waits for other ranks are caused by."""

    waits_ps: int
    """From the calls' enters alone: no machine is in it."""
    split_waits_ps: int
    """Of the split: its categories of waiting"""
    split_undivided_ps: int
    """and what may be waiting, and is not divided further."""
    unexplained_ps: int
    places: tuple[Delay, ...]


@dataclass(frozen=True)
class Largest:
    """The largest communication category, and where in the code most of it is."""

    category: str
    share: float
    region: str


@dataclass(frozen=True)
class Uneven:
    """How unevenly the ranks compute, and in which code that is most."""

    load_balance: float
    """POP's: mean over maximum"""
    region: str
    """where the rank that computes longest exceeds the mean of all most"""
    rank: str
    """which rank that is: `rank 3`"""
    beyond_mean_ps: int
    """by how much, there"""


@dataclass(frozen=True)
class Messages:
    """All matched messages together; of a model's fit also all one-sided transfers, or all collective operations."""

    count: int
    bytes: int
    envelope_ps: int
    parts_ps: dict[str, int]
    deficit_ps: int
    not_computed_ps: int = 0
    """of a model without the processor's queue: late receiver that this queue explains"""
    share_intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    """of a model's fit: part, or "deficit", -> the ends of its share's 95 % interval; empty where the machine's values
    state no uncertainty"""

    @property
    def residual_known(self) -> bool:
        """Whether the residual is distinguished: an estimated machine may leave it in the transport."""
        return "residual" in self.parts_ps

    @property
    def residual_share(self) -> float:
        """Unexplained time over the sum of envelopes; 0 where it is not known."""
        return self.parts_ps.get("residual", 0) / self.envelope_ps if self.envelope_ps else 0.0

    @property
    def deficit_share(self) -> float:
        """Model time beyond the measured time, over the sum of envelopes."""
        return self.deficit_ps / self.envelope_ps if self.envelope_ps else 0.0

    @property
    def misfit_ps(self) -> int:
        """What is measured and not explained or computed, and what is predicted and was not measured."""
        return self.parts_ps.get("residual", 0) + self.deficit_ps + self.not_computed_ps

    @property
    def misfit_share(self) -> float:
        """The misfit over the sum of envelopes."""
        return self.misfit_ps / self.envelope_ps if self.envelope_ps else 0.0


@dataclass(frozen=True)
class ModelFit:
    """All messages together as one model splits them, all one-sided transfers, and all collective operations."""

    model: MessageModel
    messages: Messages | None
    """None where the machine lacks what the model needs"""
    reason: str = ""
    """what it lacks"""
    transfers: Messages | None = None
    """None where there are none, or the machine lacks what the model needs"""
    collectives: Messages | None = None
    """the time of their members beyond the waits that the operations' definitions name; None likewise, and of a region
    of interest"""

    @property
    def not_computed_share(self) -> float:
        """Late receiver that the model does not compute, over the sum of its messages' envelopes."""
        known = self.messages is not None and self.messages.envelope_ps > 0
        return self.messages.not_computed_ps / self.messages.envelope_ps if self.messages and known else 0.0

    @property
    def misfit_known(self) -> bool:
        """Whether the residual of its messages is distinguished."""
        return self.messages is not None and self.messages.residual_known

    @property
    def misfit_share(self) -> float:
        """The misfit over the sum of its messages' envelopes."""
        return 0.0 if self.messages is None else self.messages.misfit_share


@dataclass(frozen=True)
class Alternative:
    """Another cure of a finding's time."""

    cure: str
    gain: float
    """fraction of the slowest rank's program"""


@dataclass(frozen=True)
class PlacedFinding:
    """A row of the findings table with its window as a time range, its place, and its words."""

    kind: str
    title: str
    ranks: tuple[Rank, ...]
    threads: tuple[dict[str, int | None], ...]
    """of ranks that are not concerned as a whole, and processes without a rank; as in `schema.FINDINGS`"""
    region: str
    cause_region: str
    evidence: tuple[Number, ...]
    advice: str
    cure: str
    """in a few words, as those of its alternatives"""
    confidence: float
    certainty: str
    path: str
    file: str
    line: int
    source: str
    """`cg.c:120`, or where the region is defined; empty where unknown"""
    first_window: int
    last_window: int
    begin_ps: int
    end_ps: int
    exposed_ps: int
    share: float
    gain: float
    """fraction of the slowest rank's program time that a replay without all of the cause saves"""
    gain_low: float | None
    """lower end of its interval; null: none is computed"""
    gain_high: float | None
    """upper end, likewise"""
    path_share: float | None = None
    """of the program's critical path; None: not known"""
    alternatives: tuple[Alternative, ...] = ()
    """other cures that save most of the same time, the largest first"""

    @property
    def is_before_cause(self) -> bool:
        """Whether its call path, and with it the source's line, is where the ranks wait; else it is the cause's."""
        return bool(self.cause_region) and self.path.rpartition(SEPARATOR)[2] != self.cause_region

    @property
    def ranks_text(self) -> str:
        """`0`, `3, 5-7`."""
        return ranks_text(self.ranks)

    @property
    def named_text(self) -> str:
        """`rank 0`, `ranks 3, 5-7`, `thread 1 of rank 3`; empty: it names none."""
        return named_text(named_of(self.ranks, self.threads))

    @property
    def evidence_rows(self) -> tuple[tuple[str, str], ...]:
        """The numbers with their units, a row each: what, and how much; no time that is 0, and not the alternatives."""
        rows = []
        for name in dict.fromkeys(one.name for one in self.evidence if one.value or one.unit != "ps"):
            if name in FLAGS or name.startswith(ALTERNATIVE):
                continue
            text = evidence_text([number.row() for number in self.evidence if number.name == name])
            what, _, first = text.partition(": ")
            rows.append((what, first.replace(f"; {what}: ", ", ")))
        return tuple(rows)

    @property
    def evidence_text(self) -> str:
        """The numbers with their units."""
        return evidence_text([number.row() for number in self.evidence])

    @property
    def confidence_text(self) -> str:
        """`high (0.9)` and why."""
        return confidence_text(self.confidence, self.certainty)

    @property
    def alternatives_text(self) -> str:
        """`a tree (MPI_Bcast, MPI_Scatter), 9.1 %; another order of destinations, 7.0 %`."""
        return "; ".join(f"{one.cure}, {percent_text(one.gain)}" for one in self.alternatives)

    @property
    def gain_text(self) -> str:
        """`time saved: 21.0 % (18.0 to 24.0 %)`."""
        return gain_text(self.gain, self.gain_low, self.gain_high)

    @property
    def between_text(self) -> str:
        """`21.0 % (18.0 to 24.0 %)`."""
        return between_text(self.gain, self.gain_low, self.gain_high)


@dataclass(frozen=True)
class HostFacts:
    """Where the ranks ran."""

    nodes: int
    ranks_per_node: tuple[int, ...]
    cores_per_node: tuple[int, ...]
    oversubscribed: bool | None
    without_core: float | None = None
    """of the ranks' time: ready to run, but without a core; None: not known"""


@dataclass(frozen=True)
class CollectiveKind:
    """Collective operations of one kind, size class and communicator; times are means over members and operations."""

    operation: str
    communicator: str
    members: int
    least_bytes: int
    most_bytes: int
    operations: int
    algorithm: str
    """whose replayed ends fit the measured ones best"""
    instead: str | None
    """another one that fits as well"""
    measured_ps: float
    """beyond the waits that the operation's definition names"""
    predicted_ps: float
    residual_ps: float
    """measured beyond the prediction"""
    deficit_ps: float
    """predicted beyond the measurement"""
    error_ps: float
    """distance of replayed and measured ends, mean over the members that were compared"""


UNEXPLAINED = ("residual", "not_divided", UNDIVIDED)
"""Parts of collective operations that no replay explains."""


@dataclass(frozen=True)
class Collectives:
    """What the category `collective` of the program consists of."""

    parts_ps: dict[str, int]
    """over all ranks; together the category"""
    before_last_ps: int
    """of it, of members that no definition makes wait, before an operation's last member has entered: they may wait"""
    kinds: tuple[CollectiveKind, ...]
    """of the whole run, the longest first"""
    library: str = ""
    profile: str = ""
    """the library profile whose rules select algorithms; empty: none, the measured ends do"""
    """that carried them out, as the archive says; empty: it does not"""


@dataclass(frozen=True)
class Report:
    """Everything that a report says of a run."""

    run: str
    source: str
    tool_version: str
    wall_ps: int
    """from the first to the last event of all ranks"""
    program_ps: int
    """program time of the slowest rank: what every share, efficiency and gain refers to"""
    start_up_ps: int
    """of the rank that starts longest"""
    shut_down_ps: int
    """of the rank that ends longest"""
    outside_ps: int
    """of the rank that is longest outside of the region of interest; 0 without one"""
    ranks: int
    events: int
    communication_events: int
    paradigms: tuple[str, ...]
    hosts: HostFacts
    predicted: Predicted | None
    """None: the run was measured"""
    warnings: tuple[str, ...]
    """warnings, shown first"""
    faults: tuple[Fault, ...]
    """parts of logpost that failed; a warning says so"""
    conclusion: str
    uneven: Uneven | None
    """None where there are not two ranks, or none computes"""
    coverage: Coverage
    """the lost time, and how much of it the findings explain"""
    findings: tuple[PlacedFinding, ...]
    breakdown: tuple[Share, ...]
    """every category of the schema, in its order; those that the machine does not divide are one"""
    rank_times: tuple[RankTime, ...]
    efficiencies: tuple[Efficiency, ...]
    wait_states: tuple[WaitState, ...]
    places: tuple[CallPlace, ...]
    messages: Messages
    machine: MachineUsed
    clock: Clock
    quality: tuple[QualityCount, ...]
    limits: tuple[str, ...]
    """limits of this analysis"""
    threads: Threads | None
    """of OpenMP; None where no process has several"""
    accelerators: Accelerators | None
    network: tuple[HostTraffic, ...]
    """by host; empty where there is one host, and no counters of adapters"""
    packing: Packing | None
    """user regions that pack data by hand; None where none were named"""
    files: Files | None
    """what of compute is calls that reach files; None where none were recorded"""
    sens: tuple[SensPart, ...]
    """the breakdown in SENS's four parts"""
    stretches: tuple[Stretch, ...]
    """the efficiencies over time"""
    models: tuple[ModelFit, ...] = ()
    """the same messages under each model; empty where no comparison was requested"""
    critical_path: CriticalPath | None = None
    """None for runs that were written before it was known"""
    delays: Delays | None = None
    """likewise"""
    collectives: Collectives | None = None
    """None where no time is in collective operations, and likewise"""

    @property
    def collective_residual_share(self) -> float:
        """What no replay explains of collective operations, as a share of the ranks' time in the program."""
        every = sum(share.exposed_ps for share in self.breakdown)
        parts = self.collectives.parts_ps if self.collectives is not None else {}
        return sum(parts.get(part, 0) for part in UNEXPLAINED) / max(1, every)

    @property
    def counted(self) -> tuple[str, int]:
        """What the accounts are of: `rank` and how many; `location` where the archive numbers none."""
        return ("rank", self.ranks) if self.ranks else ("location", len(self.rank_times))

    @property
    def nodes_text(self) -> str:
        """`on 2 nodes`; empty where the archive names none."""
        return f"on {count_text(self.hosts.nodes, 'node')}" if self.hosts.nodes else ""

    @property
    def program_text(self) -> str:
        """What the program's length is, with the start-up that it lacks."""
        without = f", without start-up ({time_text(self.start_up_ps)})" if self.start_up_ps else ""
        return f"slowest rank{without}"

    @property
    def slowest_wall_ps(self) -> int:
        """Wall time of the slowest rank."""
        return max((rank.wall_ps for rank in self.rank_times), default=0)
