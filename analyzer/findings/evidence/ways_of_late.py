"""What the messages of late senders still took on their way while their receivers waited.

Who waits for a send that has not begun waits for the message's way as well. A sender that is earlier by more than the
wait has the way behind it before its receiver asks: where the receiver is given the work that the sender loses, it asks
later, and finds the message. What the receiver's processor does with the message stays. Times in ps.
"""

from __future__ import annotations

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph, sums_by
from logpost.analyzer.findings.evidence.polled import row_begins


def ways_of_late(graph: Graph) -> dict[int, int]:
    """Receiver to the time in which it waits for messages of late senders that have been sent."""
    calls = graph.waiting_for("send")
    sent = graph.enter_ps[graph.last_source(calls)]
    late = sent > row_begins(graph)[calls]
    calls, sent = calls[late], sent[late]
    ways = np.maximum(0, graph.leave_ps[calls] - sent - graph.work_ps[calls])
    return sums_by(graph.location[calls], ways)
