"""Columns of the replay's native core by table: the keys of the dictionaries that it gives out, with their types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

Float64: TypeAlias = npt.NDArray[np.float64]
UInt8: TypeAlias = npt.NDArray[np.uint8]
Int32: TypeAlias = npt.NDArray[np.int32]
Int64: TypeAlias = npt.NDArray[np.int64]
UInt64: TypeAlias = npt.NDArray[np.uint64]
Wide: TypeAlias = npt.NDArray[np.uint64]
"""Sums of 128 bits: of each its lower and its upper 64 bits."""
Column: TypeAlias = UInt8 | Int32 | Int64 | UInt64
Piece: TypeAlias = dict[str, Column]
"""Rows of a table, by column."""
Pieces: TypeAlias = Piece | Iterable[Piece]
"""A table, whole or piece by piece."""


class Samples(TypedDict):
    """Observations of one locality class: bytes and picoseconds of each."""

    whole: tuple[UInt64, Int64]
    undisturbed_nonblocking: tuple[UInt64, Int64]
    undisturbed_blocking: tuple[UInt64, Int64]
    undisturbed_synchronous: tuple[UInt64, Int64]
    send_at_once: tuple[UInt64, Int64]
    send_blocking: tuple[UInt64, Int64]
    send_among_others: tuple[UInt64, Int64]
    receive: tuple[UInt64, Int64]
    receive_slack: Int64
    receive_sends: Int64
    burst: tuple[UInt64, Int64]
    spacing: tuple[UInt64, Int64]
    spacing_of_sends: Int64
    spacing_calls: Int64
    collective: tuple[UInt64, Int64]
    early_complete: tuple[UInt64, Int64]
    late_complete: tuple[UInt64, Int64]
    unanswered: tuple[UInt64, Int64]
    answered: tuple[UInt64, Int64]
    unanswered_rest: Int64
    messages: int


class Parts(TypedDict):
    """Picoseconds of a message, by part."""

    late_sender_ps: Int64
    send_overhead_ps: Int64
    middleware_ps: Int64
    endpoint_contention_ps: Int64
    latency_ps: Int64
    serialization_ps: Int64
    network_contention_ps: Int64
    late_receiver_ps: Int64
    processor_queueing_ps: Int64
    recv_overhead_ps: Int64
    residual_ps: Int64


class Messages(Parts):
    send_location: Int32
    recv_location: Int32
    comm: Int32
    tag: Int32
    layout: Int32
    send_callpath: Int32
    recv_callpath: Int32
    window: Int32
    send_call: Int32
    send_complete_call: Int32
    recv_post_call: Int32
    recv_call: Int32
    hops: Int32
    send_number: Int32
    recv_number: Int32
    bytes: UInt64
    recv_bytes: UInt64
    protocol: UInt8
    locality: UInt8
    clock_violation: UInt8
    send_enter_ps: Int64
    send_leave_ps: Int64
    send_complete_ps: Int64
    recv_post_ps: Int64
    recv_enter_ps: Int64
    recv_leave_ps: Int64
    envelope_ps: Int64
    deficit_ps: Int64
    clamped_ps: Int64


class Calls(Parts):
    call: Int32
    location: Int32
    enter_ps: Int64
    leave_ps: Int64
    region: Int32
    callpath: Int32
    lock_wait_ps: Int64
    collective_wait_ps: Int64
    collective_ps: Int64
    mpi_other_ps: Int64


class Accounting(TypedDict):
    location: Int32
    window: Int32
    phase: UInt8
    category: UInt8
    exposed_ps: Int64


class TimeCells(TypedDict):
    level: Int32
    cell: Int32
    location: Int32
    members: Int32
    category: UInt8
    exposed_ps: Int64


class Exposure(TypedDict):
    location: Int32
    callpath: Int32
    phase: UInt8
    category: UInt8
    exposed_ps: Int64
    calls: UInt64


class CriticalPath(TypedDict):
    location: Int32
    begin_ps: Int64
    end_ps: Int64
    call: Int32
    after: UInt8


class PathProfile(TypedDict):
    location: Int32
    callpath: Int32
    phase: UInt8
    category: UInt8
    spent_ps: Int64
    on_path_ps: Int64
    waited_ps: Int64


class DelayCosts(TypedDict):
    location: Int32
    callpath: Int32
    place: UInt8
    wait_callpath: Int32
    pattern: UInt8
    short_term_ps: Wide
    long_term_ps: Wide


class Interest(TypedDict):
    begin_ps: Int64
    end_ps: Int64


class WaitStates(TypedDict):
    location: Int32
    pattern: UInt8
    wait_ticks: Int64
    count: UInt64


class Segments(TypedDict):
    part: UInt8
    begin_ps: Int64
    end_ps: Int64


class Pairs(Parts):
    send_location: Int32
    recv_location: Int32
    messages: UInt64
    bytes: UInt64
    envelope_ps: Int64
    deficit_ps: Int64


class Load(TypedDict):
    location: Int32
    window: Int32
    direction: UInt8
    messages: UInt64
    bytes: UInt64
    peers: Int32
    busy_ps: Int64
    queued_ps: Int64


class Network(TypedDict):
    """Traffic by phase; by phase and link, the columns that begin with link."""

    begin_ps: Int64
    end_ps: Int64
    messages: UInt64
    bytes: UInt64
    utilisation: Float64
    contention_ps: Float64
    excess_ps: Wide
    granted_ps: Wide
    link_phase: Int32
    link: Int32
    link_messages: UInt64
    link_bytes: UInt64
    link_granted_ps: Wide


class Unmatched(TypedDict):
    location: Int32
    direction: UInt8
    number: Int32
    call: Int32
    complete_call: Int32
    peer: Int32
    comm: Int32
    tag: Int32
    bytes: UInt64


class Collectives(TypedDict):
    instance: Int32
    location: Int32
    comm: Int32
    root: Int32
    callpath: Int32
    call: Int32
    complete_call: Int32
    operation: UInt8
    rma_window: Int32
    layout: Int32
    received_layout: Int32
    enter_ps: Int64
    leave_ps: Int64
    wait_ps: Int64
    bytes_sent: UInt64
    bytes_received: UInt64


class CollectiveParts(TypedDict):
    location: Int32
    callpath: Int32
    phase: UInt8
    part: UInt8
    exposed_ps: Int64


class CollectiveKinds(TypedDict):
    operation: UInt8
    comm: Int32
    members: Int32
    least_bytes: UInt64
    most_bytes: UInt64
    operations: UInt64
    algorithm: UInt8
    error_ps: Float64
    second: UInt8
    second_error_ps: Float64
    measured_ps: Wide
    predicted_ps: Wide
    residual_ps: Wide
    deficit_ps: Wide


class CollectiveWay(TypedDict):
    part: UInt8
    begin_ps: Int64
    end_ps: Int64


class Transfers(TypedDict):
    location: Int32
    target: Int32
    rma_window: Int32
    number: Int32
    callpath: Int32
    complete_callpath: Int32
    window: Int32
    call: Int32
    complete_call: Int32
    remote_call: Int32
    hops: Int32
    epoch: Int32
    layout: Int32
    target_layout: Int32
    bytes: UInt64
    kind: UInt8
    locality: UInt8
    start_ps: Int64
    start_leave_ps: Int64
    complete_enter_ps: Int64
    complete_leave_ps: Int64
    envelope_ps: Int64
    send_overhead_ps: Int64
    middleware_ps: Int64
    lock_wait_ps: Int64
    late_receiver_ps: Int64
    endpoint_contention_ps: Int64
    latency_ps: Int64
    serialization_ps: Int64
    processor_queueing_ps: Int64
    recv_overhead_ps: Int64
    collective_wait_ps: Int64
    collective_ps: Int64
    residual_ps: Int64
    deficit_ps: Int64


class Epochs(TypedDict):
    location: Int32
    number: Int32
    kind: UInt8
    peer: Int32
    rma_window: Int32
    lock: UInt64
    callpath: Int32
    begin_call: Int32
    end_call: Int32
    match: Int32
    waits_for: Int32
    enter_ps: Int64
    acquired_ps: Int64
    wait_ps: Int64


class Waits(TypedDict):
    call: Int32
    source: Int32
    message: Int32
    arrival_ps: Int64
    reason: UInt8


class Replayed(TypedDict):
    length_ps: int
    enter_ps: Int64
    leave_ps: Int64
    waited_ps: Int64
    path_call: Int32
    path_what: UInt8
    path_begin_ps: Int64
    path_end_ps: Int64
