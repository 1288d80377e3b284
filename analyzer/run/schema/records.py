"""Tables of what happened, one row an event: calls, messages, members of collectives, transfers, epochs."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.schema.column import Column, Table, count, enum, ids, ps, text
from logpost.analyzer.run.schema.vocabulary import (
    CATEGORIES,
    DIRECTIONS,
    EPOCH_KINDS,
    LOCALITIES,
    OPERATIONS,
    PARTS,
    PROTOCOLS,
    TRANSFER_KINDS,
    TRANSFER_PARTS,
)

DETAIL_LEVELS = Table(
    "detail_levels",
    "a call that set the level of detail: MPI_Pcontrol",
    (
        *ids(location="where", level="the level that it set"),
        *ps(enter="when it was entered"),
    ),
)

SAMPLES = Table(
    "samples",
    "an instant at which a location was in some code between its communication calls; rows are sorted by location, "
    "then time",
    (
        *ids(location="where", callpath="callpath of the innermost function"),
        *ps(at="when"),
        count("line", "lines", "line of that function's file; 0: not known"),
        count("periods", "count", "of the sampler since the sample before: more than 1 of a coarser clock"),
    ),
)

FILE_CALLS = Table(
    "file_calls",
    "a call that reaches a file, between communication calls; rows are sorted by location, then time",
    (
        *ids(location="where", callpath="its callpath; its region has the file's name where the recorder knows it"),
        *ps(enter="its begin", leave="its end"),
    ),
)

ANY_SOURCE = Table(
    "any_source",
    "a receive whose sender the program left open: by MPI_ANY_SOURCE, its own or that of the probe before it",
    (*ids(location="the receiver", number="its place among the location's requests to receive"),),
)

OPEN_CALLS = Table(
    "open_calls",
    "a call that its process was in when it ended, in a recording that ended early",
    (
        *ids(location="where", callpath="callpath of the call"),
        *text(waits_for="what it waited for, as the collector words it: ranks and communicators are the archive's"),
    ),
)

CALLS = Table(
    "calls",
    "one communication call on one location",
    (
        *ids(call="dense id: the row's number; rows are sorted by location, then time", location="where"),
        *ps(enter="when it was entered", leave="when it was left"),
        *ids(region="which function", callpath="from where"),
        *ps(**{category: f"exposed {category.replace('_', ' ')}" for category in CATEGORIES[1:]}),
    ),
)

MESSAGES = Table(
    "messages",
    "one matched message",
    (
        *ids(send_location="the sender", recv_location="the receiver", comm="communicator", tag="tag"),
        count("bytes", "B", "payload"),
        enum("protocol", PROTOCOLS, "assumed, or proven where the send completed before the receive was posted"),
        enum("locality", LOCALITIES, "how far apart the ends are"),
        *ids(
            layout="row of the manifest's layouts; -1: contiguous or not stated",
            send_callpath="callpath of the send call",
            recv_callpath="callpath of the completing receive call",
            window="time window of the send's enter",
            send_call="the call that sent",
            send_complete_call="the call that completed the send; -1: none did",
            recv_post_call="the call that posted the receive; recv_call where the trace does not state it",
            recv_call="the call that completed the receive",
            hops="links between the nodes of its ends; -1: not known",
            send_number="its place among the sender's sends",
            recv_number="its place among the receiver's requests to receive",
        ),
        count("recv_bytes", "B", "payload as the receiver states it"),
        *ps(
            send_enter="enter of the send call, as measured",
            send_leave="leave of the send call",
            send_complete="leave of the call that completed the send; equals send_leave if blocking",
            recv_post="enter of the call that posted the receive",
            recv_enter="enter of the call that completed the receive",
            recv_leave="leave of the call that completed the receive",
            envelope="recv_leave minus the earlier of recv_enter and send_enter, the latter less clamped",
            **{part: f"part of the envelope: {part.replace('_', ' ')}" for part in PARTS},
            deficit="how much more the model wanted than was measured; not in the sum",
            clamped="by how much the envelope begins before send_enter, where the clocks contradict causality; else 0",
        ),
        Column("clock_violation", pl.Boolean(), "", "received before it was sent; clamped, never fitted"),
    ),
)

UNMATCHED = Table(
    "unmatched",
    "one end of a message whose other end the trace does not have",
    (
        *ids(location="where"),
        enum("direction", DIRECTIONS, "a send, or a request to receive"),
        *ids(
            number="its place among the location's sends or requests to receive",
            call="the call that made it",
            complete_call="the call that completed it; -1: none did",
            peer="location of the other end; -1: not known",
            comm="communicator; -1: not known",
            tag="tag; -1: not known",
        ),
        count("bytes", "B", "payload; 0 where it was never completed"),
    ),
)

COLLECTIVES = Table(
    "collectives",
    "(collective operation, rank)",
    (
        *ids(
            instance="the operation; -1: members are missing, or it is idle next to the root (inter-communicator)",
            location="the member",
            comm="communicator",
            root="rank of the root in the communicator; -1: none",
            callpath="callpath of the call",
            call="the call that began it",
            complete_call="the call that completed it; -1: none did",
            rma_window="the one-sided window that it synchronizes; -1: none",
            layout="of what this member gives: row of the manifest's layouts; -1: contiguous or not stated",
            received_layout="of what it gets; -1: contiguous or not stated",
        ),
        enum("operation", OPERATIONS, "which operation"),
        *ps(
            enter="enter of the call",
            leave="end of the operation",
            wait="until the last needed member had entered",
        ),
        count("bytes_sent", "B", "sent by this member"),
        count("bytes_received", "B", "received by this member"),
    ),
)

TRANSFERS = Table(
    "transfers",
    "one one-sided transfer (MPI RMA, SHMEM), at its origin; rows are sorted by location, then start",
    (
        *ids(
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
            layout="of the origin's data: row of the manifest's layouts; -1: contiguous or not stated",
            target_layout="of the target's data; -1: contiguous or not stated",
        ),
        count("bytes", "B", "payload"),
        enum("kind", TRANSFER_KINDS, "put, get or atomic"),
        enum("locality", LOCALITIES, "how far apart origin and target are"),
        *ps(
            start="enter of the call that started it",
            start_leave="leave of that call",
            complete_enter="enter of the call that completed it",
            complete_leave="leave of the call that completed it",
            envelope="complete_leave minus start",
            **{part: f"part of the envelope: {part.replace('_', ' ')}" for part in TRANSFER_PARTS},
            deficit="how much more the model wanted than was measured; not in the sum",
        ),
    ),
)

EPOCHS = Table(
    "epochs",
    "one access of a process to a window of one other, one permission for it, one lock, or one wait for a change",
    (
        *ids(location="where", number="its place among the location's epochs"),
        enum("kind", EPOCH_KINDS, "access (start, complete), exposure (post, wait), lock, or wait for a change"),
        *ids(peer="the other process; -1: all, or not known", rma_window="the window of memory"),
        count("lock", "", "which lock of the window"),
        *ids(
            callpath="callpath of the call that waits: the first one's, of an exposure the last one's",
            begin_call="the call that began it",
            end_call="the call that ended it; -1: none did",
            match="of an access its exposure, of an exposure its access: number at the peer; -1: none",
            waits_for="the process that was waited for; -1: none",
        ),
        *ps(
            enter="enter of the call that began it",
            acquired="when the lock was there; -1: not recorded",
            wait="late post, late complete, another holder of the lock, or a change that was not made yet",
        ),
    ),
)
