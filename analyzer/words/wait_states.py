"""Wait states as Scalasca spells them; it has none at creation."""

WAIT_STATE_NAMES = {
    "late_sender": "Late Sender",
    "late_receiver": "Late Receiver",
    "wait_at_barrier": "Wait at Barrier",
    "wait_at_nxn": "Wait at NxN",
    "late_broadcast": "Late Broadcast",
    "early_reduce": "Early Reduce",
    "wait_at_fence": "Wait at Fence",
    "wait_at_creation": "Wait at Creation",
}
"""Pattern to its name."""
