"""What ranks did themselves since they last met: who is waited for is late only if it did more than its waiter."""

from __future__ import annotations

from logpost.analyzer.findings.evidence.graph import Graph


def took_longer(graph: Graph) -> float:
    """The fraction of all waiting for senders in which the sender had spent that much more of its own time (code, and
    work in calls) since the last collective operation than the receiver had.

    Where both did the same, the sender was held up before, by others or by chance, and its own time is not to blame.
    """
    since: dict[int, float] = {}  # call to its rank's own time from the last collective operation to its enter
    total: dict[int, float] = {}
    for call, left in graph.order:
        node = graph.nodes[call]
        if not left:
            since[call] = total.get(node.location, 0.0) + node.gap
            total[node.location] = since[call]
        else:
            total[node.location] = 0.0 if node.collective >= 0 else total[node.location] + node.work
    waited = longer = 0.0
    for call, node in graph.nodes.items():
        last = graph.binding(node)
        if last is None or last.reason != "send":
            continue
        wait = max(0, graph.nodes[last.call].enter - node.enter)
        waited += wait
        longer += min(float(wait), max(0.0, since[last.call] - since[call]))
    # Nothing to compare: the calls of these waits are not in the graph.
    return longer / waited if waited > 0 else 1.0
