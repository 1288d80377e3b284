"""`manifest.json` of a run: the archive, the machine, and the quality of the result."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.analyzer.run.schema import FORMAT_VERSION, TABLES
from logpost.replay.cost.message_models import MessageModel

MUCH_DEFICIT = 0.1
"""Of the measured time: a machine that predicts so much more than was measured is not the one that the trace shows. Of
148 estimates of 44 programs of known cause (four clocks and machines), those within it divide no part over 10 % off.
Of 872 runs, 3 machines that were recorded with the trace were between it and twice as much, and 47 above that."""


class Record(BaseModel):
    """Base of the manifest's parts: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class Source(Record):
    """The archive."""

    anchor: str = Field(description="path of the anchor file")
    bytes: int = Field(description="size of the archive on disk, in bytes")
    properties: dict[str, str] = Field(default_factory=dict, description="the archive's own properties")


class ClockViolations(Record):
    """What contradicts the order of causes and effects."""

    messages: int = Field(default=0, description="received before they were sent")
    collectives: int = Field(
        default=0, description="members that left one before another, which they wait for, arrived"
    )


class Clock(Record):
    """The archive's clock, and what was done about it."""

    ticks_per_second: int
    length_ps: int = Field(description="from the earliest to the latest event")
    correction: ClockMode = Field(default=ClockMode.offsets, description="how far times were corrected")
    recorded: ClockViolations = Field(
        default_factory=ClockViolations, description="violations before any logical clock"
    )
    left: ClockViolations = Field(default_factory=ClockViolations, description="violations in this run")
    largest_ps: int = Field(default=0, description="the largest correction of a time by the logical clock")
    processes: int = Field(default=0, description="whose times the logical clock corrected")
    transit_ps: dict[str, int] = Field(
        default_factory=dict,
        description="what a message that the logical clock moved takes at least, by locality: half of the "
        "shortest round trip",
    )


class Windows(Record):
    """Equal time windows; window w covers [w, w + 1) * width_ps."""

    count: int
    width_ps: int
    cells: int = 1
    """Of a window, in the finest level of the table `time_cells`; 1: the table is empty."""


class MachineValue(Record):
    """One parameter that the split used."""

    locality: str
    parameter: str = Field(description="a LogGP letter (L, o_s, o_r, g, G) or eager_limit")
    up_to_bytes: int | None = Field(default=None, description="upper end of its message-size range; None: no limit")
    value: float
    unit: str
    uncertainty: float | None = Field(default=None, description="in the same unit; None: not stated")
    low: float | None = Field(default=None, description="lower end of its interval, in the same unit; None: not stated")
    high: float | None = Field(
        default=None, description="upper end of its interval, in the same unit; None: not stated"
    )
    bound_only: bool = Field(default=False, description="nothing measured it: only its interval is known, not a value")
    reason: str | None = Field(
        default=None, description="the evidence for an estimated value or its bounds, and how often"
    )
    source: str


class LibraryProperty(Record):
    """What the profile of an MPI library states of one property."""

    value: str
    sentence: str
    source: str


class LibraryUsed(Record):
    """The library profile that replays of this run follow."""

    profile: str
    title: str
    stated_by: Literal["machine", "archive"] = Field(
        description="the machine's file, or the library that the archive has"
    )
    version: str = Field(description="what the archive states of its MPI library; empty: nothing")
    properties: dict[str, LibraryProperty]

    @property
    def values(self) -> dict[str, str]:
        """The value of each property that the profile states."""
        return {name: one.value for name, one in self.properties.items()}


class MachineUsed(Record):
    """The machine whose parameters the split used, and how well they explain the measured messages."""

    name: str
    origin: Literal["file", "recorded", "estimated"]
    label: str = Field(description="what people see, e.g. 'estimated from this trace'")
    file: str | None = None
    sha256: str | None = None
    asynchronous_progress: bool = Field(
        default=False, description="rendezvous requests were answered outside of MPI calls too"
    )
    library: LibraryUsed | None = Field(
        default=None, description="its MPI library's profile; None: the trace decides, or replays state an interval"
    )
    model: MessageModel = Field(
        default=MessageModel.full, description="what messages were split under: which of the machine's values count"
    )
    values: list[MachineValue] = Field(default_factory=list)
    residual_share: float = Field(description="unexplained residual over the sum of envelopes")
    deficit_share: float = Field(description="model over-prediction over the sum of envelopes")
    transfer_residual_share: float | None = Field(
        default=None, description="the same of one-sided transfers; None: there are none"
    )
    transfer_deficit_share: float | None = None
    transfer_share: float = Field(
        default=0.0, description="the sum of their envelopes over that of all messages and transfers"
    )
    undivided: list[str] = Field(
        default_factory=list,
        description="categories whose division the machine's values do not identify: shown as one, 'transport, not "
        "divided further'",
    )
    refused: bool = Field(
        default=False, description="an estimate that contradicts its own trace: no transport is divided"
    )
    not_measured: str = Field(default="", description="why a recording did not measure it; empty: not said, or it did")
    notes: list[str] = Field(default_factory=list, description="fallbacks, and what the trace does not identify")

    @property
    def deficit(self) -> float:
        """Deficit of messages and one-sided transfers together over their time; of each of the two at most its time."""
        of_transfers = min(1.0, self.transfer_deficit_share or 0.0)
        return (1 - self.transfer_share) * min(1.0, self.deficit_share) + self.transfer_share * of_transfers

    @property
    def contradicts_trace(self) -> bool:
        """Whether the trace's own machine, recorded with it or estimated from it, predicts much more than was measured.

        Nothing is concluded from its values then. A machine that the user names is used as stated.
        """
        return self._contradicted(self.deficit)

    @property
    def contradicts_messages(self) -> bool:
        """The same of messages alone."""
        return self._contradicted(self.deficit_share)

    @property
    def contradicts_transfers(self) -> bool:
        """The same of one-sided transfers alone: what they do not do says nothing of messages."""
        return self._contradicted(self.transfer_deficit_share or 0.0)

    def _contradicted(self, deficit: float) -> bool:
        return self.refused or (self.origin != "file" and deficit > MUCH_DEFICIT)

    @property
    def stated_of_library(self) -> dict[str, str]:
        """The value of each property that the library's profile states."""
        return {} if self.library is None else self.library.values


class QualityCount(Record):
    """One thing that the trace or the analysis had to state."""

    name: str
    severity: Literal["info", "error", "data_loss"]
    blame: Literal["trace", "analysis", "recording", "program"]
    count: int
    sentence: str


class Fault(Record):
    """A part of logpost that failed; the run lacks its result alone."""

    part: str = Field(description="what failed, e.g. 'finder late_receiver'")
    error: str = Field(description="the exception, and where in logpost it was raised")


class Layout(Record):
    """A datatype's layout, as the archive states it."""

    blocks: int
    block_bytes: int
    stride_bytes: int
    extent_bytes: int


class Interest(Record):
    """The region of interest that was named; see `roi.RegionOfInterest`."""

    from_ps: int | None = None
    to_ps: int | None = None
    region: str | None = None
    pcontrol: int | None = None


class MemoryUsed(Record):
    """The memory of the process that made the run. It differs from run to run, as nothing else here does."""

    limit_bytes: int | None = Field(description="its limit; None: none, because the run was in memory itself")
    peak_bytes: int = Field(description="the largest resident memory until the findings were written")
    spilled_bytes: int = Field(description="written to a file instead, as they exceeded the limit")


class Hosts(Record):
    """Where the ranks ran."""

    nodes: int
    ranks_per_node: list[int]
    cores_per_node: list[int] = Field(description="0: the archive does not say")
    oversubscribed: bool | None = Field(description="ranks outnumber cores on a node; None: unknown")
    without_core: float | None = Field(
        default=None, description="of the ranks' time: ready to run, but without a core; None: the archive does not say"
    )


class AdapterCounters(Record):
    """What a port of a network adapter counted while the program ran."""

    host: str
    name: str = Field(description="adapter and port")
    rate: str = Field(description="as the system states it; empty: it does not")
    processors: str = Field(description="of the adapter's NUMA node, as the system lists them; empty: it does not")
    seconds: float | None = Field(description="between the two readings; None: not known")
    sent_bytes: int | None
    received_bytes: int | None
    counted: dict[str, int] = Field(description="every counter, by the system's name, in the system's unit")


class Predicted(Record):
    """Of a run that a what-if replay predicted: nothing in it was measured."""

    run: str = Field(description="the run that was replayed")
    machine: str = Field(description="what people call the machine of that run")
    settings: list[str] = Field(description="what was changed; empty: nothing")
    measured_ps: int = Field(description="the recorded makespan")
    predicted_ps: int = Field(description="the predicted one")
    low_ps: int = Field(description="lower end of its interval")
    high_ps: int = Field(description="upper end of its interval")

    @property
    def error(self) -> float:
        """Expected error: half the width of the interval, as a share of the predicted makespan."""
        return (self.high_ps - self.low_ps) / 2 / self.predicted_ps if self.predicted_ps else 0.0


class Manifest(Record):
    """The whole manifest."""

    format_version: int = FORMAT_VERSION
    tool_version: str
    tables: list[str] = Field(default_factory=lambda: list(TABLES), description="names of the run's tables")
    source: Source
    clock: Clock
    ranks: int
    locations: int
    events: int
    communication_events: int
    messages: int
    paradigms: list[str] = Field(description="communication paradigms seen, e.g. MPI, SHMEM")
    hosts: Hosts
    windows: Windows
    machine: MachineUsed
    region_of_interest: Interest | None = Field(
        default=None, description="the region of interest of the aggregates; None: the whole program"
    )
    predicted: Predicted | None = Field(
        default=None, description="of a predicted run: from what, and how sure; None: the run was measured"
    )
    quality: list[QualityCount]
    layouts: list[Layout] = Field(default_factory=list)
    one_sided_bytes: dict[str, int] = Field(default_factory=dict, description="bytes put, got and by atomics")
    adapters: list[AdapterCounters] = Field(
        default_factory=list, description="counters of the hosts' network adapters; empty: not read"
    )
    sample_ps: int = Field(default=0, description="processor time of a thread from sample to sample; 0: not known")
    recording_ps: int = Field(
        default=0, description="duration of recording on all threads, writing the logs included; at least; 0: not known"
    )
    call_recording_ps: int = Field(default=0, description="of it, that of each call; at least")
    pack: str | None = Field(
        default=None, description="regular expression of the user regions that pack data by hand: middleware"
    )
    ended_early: list[str] = Field(
        default_factory=list,
        description="of a recording that ended early: each rank's last call, ranks that did not arrive, the deadlock",
    )
    overwritten: list[str] = Field(
        default_factory=list,
        description="what a recording lacks: what rings have overwritten before it, what was made while it was off",
    )
    faults: list[Fault] = Field(default_factory=list, description="parts of logpost that failed")
    notes: list[str] = Field(default_factory=list, description="limits of this analysis")
    memory: MemoryUsed | None = Field(default=None, description="memory of the analysis; None: not recorded")
