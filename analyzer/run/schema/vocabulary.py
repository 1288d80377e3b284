"""The values that columns of a run may have: categories, parts, phases, kinds.

Where the native core knows them, they are the core's, in its order.
"""

from __future__ import annotations

from logpost.replay import _native

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
HANDLE_OPERATIONS = (
    "create handle",
    "destroy handle",
    "allocate",
    "deallocate",
    "create handle and allocate",
    "destroy handle and deallocate",
)
"""Those that make or release a communicator, window, file or memory, and move no data."""
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
    "wait_at_creation",
)
DIRECTIONS = ("send", "recv")
FINDING_KINDS = (
    "hot_receiver",
    "hot_sender",
    "shared_nic",
    "hot_link",
    "late_sender_chain",
    "late_receiver",
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
    "synchronous_sends",
    "destination_order",
    "receive_order",
    "serial_exchange",
    "serial_distribution",
    "unexplained",
)
