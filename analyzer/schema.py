"""The tables of a run, each declared once: readers, writers, documentation and checks use these declarations.

Times are int64 picoseconds from the start of the trace (columns end in `_ps`), sums of them over many locations are
128 bits wide, bytes are uint64, ids are dense int32 with -1 for "none". A run of this version that was written when
those sums were int64 is read as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from logpost.analyzer.wide import WIDE
from logpost.replay import _native

FORMAT_VERSION = 3
"""Of a run directory; a reader refuses a run of another version by name."""

PARTS = tuple(_native.parts())
"""The labels of a message's partition, in the order of the native core."""

CATEGORIES = tuple(_native.categories())
"""The labels of a rank's time, in the order of the native core; they add up to its wall time exactly."""

PHASES = tuple(_native.phases())
"""The phases of a location's time, in the order of the native core.

start_up: until the end of MPI_Init (shmem_init ...); shut_down: from the enter of the finalization; program: between;
outside: in the program, but not in the region of interest. Shares, efficiencies and findings are about the program.
"""

WAIT_KINDS = tuple(_native.wait_kinds())
"""Why one location waited for another, in the order of the native core; the critical path follows these waits."""

DELAY_PLACES = ("computation", "calls", "unexplained")

THREAD_CATEGORIES = (
    "parallel",
    "imbalance",
    "synchronization",
    "management",
    "communication",
    "serial",
    "idle_serial",
    "idle_communication",
    "not_in_team",
)
"""The labels of the time of threads that share parallel regions of OpenMP, in the order of the reader's core, which a
report need not load; a thread's add up to the wall time of its process's first thread exactly (docs/threads.md).
"""

OPERATIONS = tuple(_native.operations())
"""Collective operations, in the order of the native core."""
PROTOCOLS = ("eager", "rendezvous")
LOCALITIES = ("self", "same_socket", "same_node", "other_node")
TRANSFER_KINDS = tuple(_native.transfer_kinds())
EPOCH_KINDS = tuple(_native.epoch_kinds())
TRANSFER_PARTS = tuple(_native.transfer_categories())
"""The categories that a one-sided transfer is divided into; they add up to its envelope exactly."""
COLLECTIVE_PARTS = tuple(_native.collective_parts())
"""What the category `collective` is divided into, in the order of the native core; they add up to it exactly."""
ALGORITHMS = tuple(_native.algorithms())
"""Algorithms of collective operations, in the order of the native core."""
WAIT_STATES = (
    "late_sender",
    "late_receiver",
    "wait_at_barrier",
    "wait_at_nxn",
    "late_broadcast",
    "early_reduce",
    "wait_at_fence",
)
DIRECTIONS = ("send", "recv")
FINDING_KINDS = (
    "hot_receiver",
    "hot_sender",
    "hot_link",
    "late_sender_chain",
    "late_receiver",
    "processor_queueing",
    "load_imbalance",
    "thread_imbalance",
    "serial_part",
    "many_small_messages",
    "collective_wait",
    "collective_cost",
    "unattended",
    "missed_overlap",
    "needless_barrier",
    "wavefront",
    "round_trips",
    "strided_datatype",
    "start_up_skew",
    "wait_at_fence",
    "late_post",
    "late_complete",
    "late_put",
    "lock_contention",
    "unattended_target",
    "shared_cores",
)


@dataclass(frozen=True)
class Column:
    """One column: its polars type, unit ("" where there is none) and a sentence; it says what null means."""

    name: str
    dtype: pl.DataType
    unit: str
    sentence: str

    @property
    def nullable(self) -> bool:
        """Whether rows may have no value."""
        return "null:" in self.sentence


@dataclass(frozen=True)
class Table:
    """One table of a run: what a row is, and its columns in order."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pl.Schema:
        """The polars schema."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def empty(self) -> pl.DataFrame:
        """A frame of the right types without rows."""
        return pl.DataFrame(schema=self.schema)


def _ids(**sentences: str) -> tuple[Column, ...]:
    return tuple(Column(name, pl.Int32(), "", sentence) for name, sentence in sentences.items())


def _ps(**sentences: str) -> tuple[Column, ...]:
    return tuple(Column(f"{name}_ps", pl.Int64(), "ps", sentence) for name, sentence in sentences.items())


def _wide_ps(**sentences: str) -> tuple[Column, ...]:
    """Sums over many locations, which int64 does not hold: 128 bits, decimal128(38, 0) in Parquet."""
    return tuple(Column(f"{name}_ps", WIDE, "ps", sentence) for name, sentence in sentences.items())


def _enum(name: str, values: tuple[str, ...], sentence: str) -> Column:
    return Column(name, pl.Enum(list(values)), "", sentence)


def _count(name: str, unit: str, sentence: str) -> Column:
    return Column(name, pl.UInt64(), unit, sentence)


def _text(**sentences: str) -> tuple[Column, ...]:
    return tuple(Column(name, pl.String(), "", sentence) for name, sentence in sentences.items())


LOCATIONS = Table(
    "locations",
    "one stream of events: a process's main thread, a thread, a device stream",
    (
        *_ids(
            location="dense id",
            rank="rank in the paradigm's world; -1: not a rank",
            node="dense id of its host",
            socket="its socket within the host; -1: not known",
            process="dense id of its process",
        ),
        *_text(
            name="as the archive calls it",
            group="its process",
            host="its host",
            kind="cpu, gpu, metric, other",
            core="the cores it is bound to, as the archive says, e.g. '0-3'; empty: not known",
        ),
        Column("ref", pl.UInt64(), "", "the archive's id"),
        Column("accounted", pl.Boolean(), "", "has rows in accounting: a rank, or a thread that communicates"),
        *_ps(
            first="first event",
            last="last event",
            wall="last minus first event",
            begin="begin of the program, or of the region of interest",
            end="end of the program, or of the region of interest",
        ),
        _count("events", "events", "events read"),
        _count("communication_events", "events", "events of communication calls"),
    ),
)

REGIONS = Table(
    "regions",
    "a function or code region",
    (
        *_ids(region="dense id", line="line of its definition; 0: unknown"),
        *_text(name="its name", file="its source file", kind="user, or what the communication call does"),
    ),
)

CALLPATHS = Table(
    "callpaths",
    "a node of the calling-context tree; parents come before children",
    (
        *_ids(
            callpath="dense id",
            parent="the caller's id; -1: a root",
            region="its region",
            depth="0 for a root",
            line="line of the call site; 0: unknown",
        ),
        *_text(path="region names from the root, joined by ' / '", file="source file of the call site; may be empty"),
    ),
)

THREADS = Table(
    "threads",
    "(thread, callpath, place, phase, category) of processes whose threads share parallel regions of OpenMP; a "
    "thread's rows add up to the wall time of its process's first thread exactly",
    (
        *_ids(
            location="the thread",
            callpath="of the parallel region, on the first thread; -1: outside of any",
            place="callpath of the barrier, critical section or communication call; else as callpath",
        ),
        _enum("phase", PHASES, "of the process's first thread: start-up, program, shut-down, or not of interest"),
        _enum("category", THREAD_CATEGORIES, "what the time was"),
        *_ps(spent="how long"),
    ),
)

THREAD_SPANS = Table(
    "thread_spans",
    "a stretch of a thread's time in a parallel region of its process; by location, then time",
    (
        *_ids(
            location="the thread",
            instance="which execution of a parallel region; -1: its team is not known (nested, or without the first)",
            callpath="of the parallel region, on the first thread",
            place="callpath of the barrier, critical section or communication call; else as callpath",
        ),
        _enum("category", THREAD_CATEGORIES, "what the time was"),
        *_ps(begin="since when", end="until when"),
    ),
)

STREAMS = Table(
    "streams",
    "a stream of an accelerator; kernel, copy and idle add up to the length of the trace exactly",
    (
        *_ids(location="the stream"),
        _count("kernels", "kernels", "kernels"),
        _count("copies", "copies", "copies between the accelerator and its host"),
        _count("bytes_to_device", "B", "copied from the host"),
        _count("bytes_to_host", "B", "copied to the host"),
        *_ps(
            kernel="kernels ran",
            copy="it copied; where a kernel ran as well, the time is that of what ended first",
            idle="neither",
        ),
    ),
)

COMMUNICATORS = Table(
    "communicators",
    "a communicator",
    (
        *_ids(
            comm="dense id",
            parent="the communicator it was made from; -1: none",
            size="members",
            first_group="of an inter-communicator, members of its first group; 0: it is none",
        ),
        *_text(name="its name; may be empty"),
        Column("ref", pl.UInt64(), "", "the archive's id"),
        Column(
            "members",
            pl.List(pl.Int32()),
            "",
            "location of each rank; -1: none; of an inter-communicator both groups', the first one's first",
        ),
    ),
)

PROFILE = Table(
    "profile",
    "(callpath, location)",
    (
        *_ids(callpath="callpath", location="location"),
        _count("visits", "calls", "how often it was entered"),
        *_ps(inclusive="with its callees", exclusive="without its callees"),
    ),
)

REGION_SPANS = Table(
    "region_spans",
    "(region, location): when it was in use",
    (
        *_ids(region="region", location="location"),
        *_ps(first_enter="when it was entered first", last_leave="when it was left last"),
    ),
)

DETAIL_LEVELS = Table(
    "detail_levels",
    "a call that set the level of detail: MPI_Pcontrol",
    (
        *_ids(location="where", level="the level that it set"),
        *_ps(enter="when it was entered"),
    ),
)

OPEN_CALLS = Table(
    "open_calls",
    "a call that its process was in when it ended, in a recording that ended early",
    (
        *_ids(location="where", callpath="callpath of the call"),
        *_text(waits_for="what it waited for, as the collector words it: ranks and communicators are the archive's"),
    ),
)

CALLS = Table(
    "calls",
    "one communication call on one location",
    (
        *_ids(call="dense id: the row's number; rows stand by location, then time", location="where"),
        *_ps(enter="when it was entered", leave="when it was left"),
        *_ids(region="which function", callpath="from where"),
        *_ps(**{category: f"exposed {category.replace('_', ' ')}" for category in CATEGORIES[1:]}),
    ),
)

MESSAGES = Table(
    "messages",
    "one matched message",
    (
        *_ids(send_location="the sender", recv_location="the receiver", comm="communicator", tag="tag"),
        _count("bytes", "B", "payload"),
        _enum("protocol", PROTOCOLS, "assumed, or proven where the send completed before the receive was posted"),
        _enum("locality", LOCALITIES, "how far apart the ends are"),
        *_ids(
            layout="row of the manifest's layouts; -1: contiguous or not stated",
            send_callpath="callpath of the send call",
            recv_callpath="callpath of the completing receive call",
            window="time window of the send's enter",
            send_call="the call that sent",
            send_complete_call="the call that completed the send; -1: none did",
            recv_post_call="the call that posted the receive",
            recv_call="the call that completed the receive",
            hops="links between the nodes of its ends; -1: not known",
            send_number="its place among the sender's sends",
            recv_number="its place among the receiver's requests to receive",
        ),
        _count("recv_bytes", "B", "payload as the receiver states it"),
        *_ps(
            send_enter="enter of the send call, as measured",
            send_leave="leave of the send call",
            send_complete="leave of the call that completed the send; equals send_leave if blocking",
            recv_post="enter of the call that posted the receive",
            recv_enter="enter of the call that completed the receive",
            recv_leave="leave of the call that completed the receive",
            envelope="recv_leave minus the earlier of recv_enter and send_enter, the latter less clamped",
            **{part: f"part of the envelope: {part.replace('_', ' ')}" for part in PARTS},
            deficit="how much more the model wanted than was measured; beside the sum, never inside",
            clamped="by how much the envelope begins before send_enter, where the clocks contradict causality; else 0",
        ),
        Column("clock_violation", pl.Boolean(), "", "received before it was sent; clamped, never fitted"),
    ),
)

UNMATCHED = Table(
    "unmatched",
    "one end of a message whose other end the trace does not have",
    (
        *_ids(location="where"),
        _enum("direction", DIRECTIONS, "a send, or a request to receive"),
        *_ids(
            number="its place among the location's sends or requests to receive",
            call="the call that made it",
            complete_call="the call that completed it; -1: none did",
            peer="location of the other end; -1: not known",
            comm="communicator; -1: not known",
            tag="tag; -1: not known",
        ),
        _count("bytes", "B", "payload; 0 where it was never completed"),
    ),
)

COLLECTIVES = Table(
    "collectives",
    "(collective operation, rank)",
    (
        *_ids(
            instance="the operation; -1: members are missing, or it stands idle beside the root (inter-communicator)",
            location="the member",
            comm="communicator",
            root="rank of the root in the communicator; -1: none",
            callpath="callpath of the call",
            call="the call that began it",
            complete_call="the call that completed it; -1: none did",
            rma_window="the one-sided window that it synchronizes; -1: none",
        ),
        *_text(operation="which operation"),
        *_ps(
            enter="enter of the call",
            leave="end of the operation",
            wait="until the last needed member had entered",
        ),
        _count("bytes_sent", "B", "sent by this member"),
        _count("bytes_received", "B", "received by this member"),
    ),
)

TRANSFERS = Table(
    "transfers",
    "one one-sided transfer (MPI RMA, SHMEM), at its origin; rows stand by location, then start",
    (
        *_ids(
            location="the origin",
            target="whose memory it accesses; -1: not known",
            rma_window="the window of memory",
            number="its place among the origin's transfers",
            callpath="callpath of the call that started it",
            complete_callpath="callpath of the call that completed it; -1: none did",
            window="time window of its start",
            call="the call that started it",
            complete_call="the call that completed it at the origin; -1: none did",
            remote_call="the call that made sure that it was complete at the target, too; -1: none did",
            hops="links between the nodes of its ends; -1: not known",
            epoch="the access or lock that it belongs to: number in `epochs`; -1: none",
        ),
        _count("bytes", "B", "payload"),
        _enum("kind", TRANSFER_KINDS, "put, get or atomic"),
        _enum("locality", LOCALITIES, "how far apart origin and target are"),
        *_ps(
            start="enter of the call that started it",
            start_leave="leave of that call",
            complete_enter="enter of the call that completed it",
            complete_leave="leave of the call that completed it",
            envelope="complete_leave minus start",
            **{part: f"part of the envelope: {part.replace('_', ' ')}" for part in TRANSFER_PARTS},
            deficit="how much more the model wanted than was measured; beside the sum, never inside",
        ),
    ),
)

EPOCHS = Table(
    "epochs",
    "one access of a process to a window of one other, one permission for it, one lock, or one wait for a change",
    (
        *_ids(location="where", number="its place among the location's epochs"),
        _enum("kind", EPOCH_KINDS, "access (start, complete), exposure (post, wait), lock, or wait for a change"),
        *_ids(peer="the other process; -1: all, or not known", rma_window="the window of memory"),
        _count("lock", "", "which lock of the window"),
        *_ids(
            callpath="callpath of the call that waits: the first one's, of an exposure the last one's",
            begin_call="the call that began it",
            end_call="the call that ended it; -1: none did",
            match="of an access its exposure, of an exposure its access: number at the peer; -1: none",
            waits_for="the process that was waited for; -1: none",
        ),
        *_ps(
            enter="enter of the call that began it",
            acquired="when the lock was there; -1: not recorded",
            wait="late post, late complete, another holder of the lock, or a change that was not made yet",
        ),
    ),
)

ACCOUNTING = Table(
    "accounting",
    "(location, window, phase, category); a location's rows add up to its wall time exactly",
    (
        *_ids(location="location", window="time window"),
        _enum("phase", PHASES, "start-up, program, shut-down, or outside of the region of interest"),
        _enum("category", CATEGORIES, "what the time was"),
        *_ps(exposed="how long"),
    ),
)

TIME_CELLS = Table(
    "time_cells",
    "(level, cell of time, group of ranks, category) of the program: the accounting at a finer resolution, for "
    "timelines of runs with many calls; empty where the calls are few enough to be read themselves",
    (
        *_ids(
            level="0: the finest; a cell of each further level is two of the one before, and two of the last one's are "
            "a window",
            cell="which one, from the trace's start",
            location="the first location of the group",
            members="how many accounted locations, in their order, the group has",
        ),
        _enum("category", CATEGORIES, "what the time was"),
        *_ps(exposed="how long, over the group"),
    ),
)

IDEAL_NETWORK = Table(
    "ideal_network",
    "(location, window) of the program: what a replay on an ideal network takes for it; none where it is not replayed",
    (
        *_ids(location="location", window="time window, as measured"),
        *_ps(ideal="how long on a network without latency, overhead or limits of bandwidth"),
    ),
)

EXPOSURE = Table(
    "exposure",
    "(location, callpath, phase, category) of communication calls: the accounting by place in the code",
    (
        *_ids(location="location", callpath="callpath of the call"),
        _enum("phase", PHASES, "start-up, program, shut-down, or outside of the region of interest"),
        _enum("category", CATEGORIES, "what the time was"),
        *_ps(exposed="how long"),
        _count("calls", "calls", "calls of this callpath on this location entered in this phase"),
    ),
)

IN_COLLECTIVES = Table(
    "collective_parts",
    "(location, callpath, phase, part): what the category `collective` of the exposure is divided into, exactly",
    (
        *_ids(location="location", callpath="callpath of the call"),
        _enum("phase", PHASES, "start-up, program, shut-down, or outside of the region of interest"),
        _enum("part", COLLECTIVE_PARTS, "what the time was, by the replay of the operation's messages"),
        *_ps(exposed="how long"),
    ),
)

COLLECTIVE_KINDS = Table(
    "collective_kinds",
    "collective operations of one kind, size class (powers of two) and communicator that are divided",
    (
        _enum("operation", OPERATIONS, "which operation"),
        *_ids(comm="communicator", members="its members"),
        _count("least_bytes", "B", "the smallest part that a member has for, or gets from, each other one"),
        _count("most_bytes", "B", "the largest one"),
        _count("operations", "operations", "how many"),
        _enum("algorithm", ALGORITHMS, "whose replayed ends fit the measured ones best; not_known: one member"),
        Column("error_ps", pl.Float64(), "ps", "mean distance of replayed and measured ends of the members asked"),
        _enum("second", ALGORITHMS, "the next best; not_known: there is no other"),
        Column("second_error_ps", pl.Float64(), "ps", "its mean distance"),
        *_wide_ps(
            measured="sum over members, after those had entered whom the operation's definition makes them wait for",
            predicted="the same, as replayed",
            residual="sum of what was measured beyond the replay",
            deficit="sum of what was replayed beyond the measurement",
        ),
    ),
)

WAIT_STATE_TOTALS = Table(
    "wait_states",
    "(location, wait state) with Scalasca's definitions",
    (
        *_ids(location="location"),
        _enum("pattern", WAIT_STATES, "the wait state"),
        Column(
            "wait_ticks",
            pl.Int64(),
            "ticks",
            "its time in ticks of the archive's clock (manifest: clock.ticks_per_second), free of rounding",
        ),
        _count("count", "occurrences", "how often"),
    ),
)

PAIRS = Table(
    "pairs",
    "(sender, receiver): the message matrix",
    (
        *_ids(send_location="sender", recv_location="receiver"),
        _count("messages", "messages", "matched messages"),
        _count("bytes", "B", "payload"),
        *_ps(
            envelope="sum of envelopes",
            **{part: f"sum over its messages: {part.replace('_', ' ')}" for part in PARTS},
            deficit="sum of deficits",
        ),
    ),
)

CRITICAL_PATH = Table(
    "critical_path",
    "a stretch of the recorded execution's critical path on one location, in the order of time, without a gap; "
    "their lengths add up to the time from the first to the last event of all ranks exactly",
    (
        *_ids(location="where the path is; -1: before the first event of its first location"),
        *_ps(begin="since when", end="until when; there the next stretch begins"),
        *_ids(call="the call of this location whose wait ended at the begin; -1: the path begins"),
        _enum("after", (*WAIT_KINDS, "begin"), "what that wait was; the location of the stretch before ended it"),
    ),
)

DELAY_COSTS = Table(
    "delay_costs",
    "what one place in the code of one location makes others wait; for each pattern the costs add up to the waits in "
    "the region of interest exactly",
    (
        *_ids(location="that delays; -1: waits that no delay explains", callpath="the place's callpath"),
        _enum("place", DELAY_PLACES, "computation before calls of the callpath, the calls themselves, or unexplained"),
        *_ids(wait_callpath="of the calls that waited for it directly; -1: not explained"),
        _enum("pattern", WAIT_KINDS, "of the waits that are paid for"),
        *_wide_ps(
            short_term="waits that it causes directly",
            long_term="waits elsewhere that the direct waits passed on",
        ),
    ),
)

PATH_PROFILE = Table(
    "path_profile",
    "(location, callpath, phase, category): all time of the accounting by place in the code",
    (
        *_ids(
            location="location",
            callpath="of the call; of computation: of the call that follows it, -1 after the last call",
        ),
        _enum("phase", PHASES, "start-up, program, shut-down, or outside of the region of interest"),
        _enum("category", CATEGORIES, "what the time was"),
        *_ps(
            spent="how long",
            on_path="how long of it the location was on the critical path",
            waited="how long of it a call waited for another location's, by recorded times alone",
        ),
    ),
)

LOAD = Table(
    "load",
    "(location as an endpoint, direction, window)",
    (
        *_ids(location="endpoint", window="time window of the injection (send) or arrival (recv)"),
        _enum("direction", DIRECTIONS, "leaving or arriving"),
        _count("messages", "messages", "messages"),
        _count("bytes", "B", "payload"),
        *_ids(peers="distinct partners in the window"),
        *_ps(
            busy="service time at the endpoint: max(g, B G) summed",
            queued="time that messages waited for the endpoint in the FIFO replay",
        ),
    ),
)

TRAFFIC = Table(
    "traffic",
    "phase of the traffic between nodes: between global synchronizations, or a piece of it",
    (
        *_ids(traffic_phase="the phase"),
        *_ps(begin="begins", end="ends"),
        _count("messages", "messages", "messages between nodes that left in it"),
        _count("bytes", "B", "their payload"),
        Column("utilisation", pl.Float64(), "1", "load of the busiest dimension's channels; null: not a grid"),
        Column(
            "contention_ps",
            pl.Float64(),
            "ps",
            "C_n, the model's mean wait of a message; null: saturated, or not a grid",
        ),
        *_wide_ps(
            excess="what messages took longer than all else explains, where their receivers waited for them",
            granted="of it, network contention",
        ),
    ),
)

LINKS = Table(
    "links",
    "(phase of the traffic, directed link of the machine's network) that carried messages",
    (
        *_ids(traffic_phase="the phase", from_vertex="from this node or switch", to_vertex="to this one"),
        _count("messages", "messages", "messages that took it"),
        _count("bytes", "B", "their payload"),
        Column("utilisation", pl.Float64(), "1", "share of the phase for which it was occupied"),
        *_wide_ps(granted="network contention of the messages that took it, where their receivers waited for them"),
    ),
)

EVIDENCE = pl.Struct({"name": pl.String(), "value": pl.Float64(), "unit": pl.String()})

FINDINGS = Table(
    "findings",
    "one hotspot, the one that gains most first",
    (
        _enum("kind", FINDING_KINDS, "which pattern"),
        *_text(
            title="one line that names ranks and region",
            region="region that waits or carries the traffic",
            cause_region="region that causes it; empty: not known",
            advice="what to try",
            certainty="why the confidence is what it is",
        ),
        Column("ranks", pl.List(pl.Int32()), "", "the ranks concerned, ascending"),
        Column("evidence", pl.List(EVIDENCE), "", "the numbers behind it: name, value and unit of each"),
        *_ids(callpath="callpath of the region; -1: several", first_window="begins in", last_window="ends in"),
        *_wide_ps(exposed="exposed time over the ranks concerned"),
        Column("share", pl.Float64(), "1", "exposed time on the worst-hit rank over the slowest rank's program time"),
        Column("gain", pl.Float64(), "1", "share of the slowest rank's program time that a cure saves at most"),
        Column(
            "gain_error",
            pl.Float64(),
            "1",
            "by how much the gain may be off to both sides, in nine of ten programs of known cause; null: not known",
        ),
        Column(
            "path_share",
            pl.Float64(),
            "1",
            "share of the critical path in the code that delays others, or in the finding's calls; null: not known",
        ),
        Column("confidence", pl.Float64(), "1", "0 to 1"),
    ),
)

TABLES = {
    table.name: table
    for table in (
        LOCATIONS,
        REGIONS,
        CALLPATHS,
        COMMUNICATORS,
        PROFILE,
        REGION_SPANS,
        DETAIL_LEVELS,
        OPEN_CALLS,
        THREADS,
        THREAD_SPANS,
        STREAMS,
        CALLS,
        MESSAGES,
        UNMATCHED,
        COLLECTIVES,
        TRANSFERS,
        EPOCHS,
        ACCOUNTING,
        TIME_CELLS,
        IDEAL_NETWORK,
        EXPOSURE,
        IN_COLLECTIVES,
        COLLECTIVE_KINDS,
        WAIT_STATE_TOTALS,
        PAIRS,
        CRITICAL_PATH,
        PATH_PROFILE,
        DELAY_COSTS,
        LOAD,
        TRAFFIC,
        LINKS,
        FINDINGS,
    )
}
