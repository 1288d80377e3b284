"""Groups of the accounting's categories, each defined once."""

from __future__ import annotations

WAITS_AT_RECEIVER = ("endpoint_contention", "network_contention", "late_receiver", "processor_queueing")
"""Parts of a message in which it or its sender waits for the network or the receiving end."""

WAITING = ("late_sender", *WAITS_AT_RECEIVER, "lock_wait", "collective_wait")
"""Categories in which a rank only waits for others."""
