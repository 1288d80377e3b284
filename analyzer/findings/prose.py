"""Make a finding's words from its named numbers: title, advice, evidence and confidence, for text, JSON and HTML.

A title names the waiting ranks, the place, and what they wait for. Its template reads a row of the findings table
and nothing else, so any reader of a run produces the same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from logpost.analyzer.findings.evidence.places import NOWHERE, Places
from logpost.analyzer.findings.wording.collectives import (
    cheaper_collective,
    collective_cost,
    collective_wait,
    enter_together,
    needless_barrier,
    without_barrier,
)
from logpost.analyzer.findings.wording.facts import MAINLY, Facts, Row
from logpost.analyzer.findings.wording.load import (
    cool_receiver,
    cool_sender,
    hot_link,
    hot_receiver,
    hot_sender,
    route_apart,
    separate_sends,
    shared_nic,
)
from logpost.analyzer.findings.wording.messages import (
    answer,
    ask_once,
    be_earlier,
    compute_first,
    late_receiver,
    late_sender_chain,
    lay_out,
    many_small_messages,
    missed_overlap,
    pack,
    post_earlier,
    round_trips,
    strided_datatype,
    unattended,
)
from logpost.analyzer.findings.wording.numbers import saved_text
from logpost.analyzer.findings.wording.one_sided import (
    complete_earlier,
    hold_shorter,
    late_complete,
    late_post,
    late_put,
    lock_contention,
    no_fence,
    post_window,
    put_earlier,
    serve,
    unattended_target,
)
from logpost.analyzer.findings.wording.structure import (
    destination_order,
    receive_any,
    receive_order,
    send_at_once,
    serial_distribution,
    serial_exchange,
    standard_sends,
    synchronous_sends,
    through_tree,
    turn_order,
)
from logpost.analyzer.findings.wording.work import (
    balance,
    balance_threads,
    bind,
    explain,
    fill_pipeline,
    load_imbalance,
    serial_part,
    share_with_threads,
    shared_cores,
    start_together,
    start_up_skew,
    thread_imbalance,
    unexplained,
    wavefront,
)


def titles(rows: Sequence[Row], places: Places) -> list[str]:
    """One title per finding, all different: equal ones are distinguished by place, then by time window."""
    found = [Facts(row, places.get(row["callpath"], NOWHERE)) for row in rows]
    said = [TEMPLATES[facts.row["kind"]][0](facts) for facts in found]
    for differ in (_source_of, _path_of, _windows_of):
        counts = Counter(said)
        said = [
            f"{title} ({more})" if counts[title] > 1 and (more := differ(facts)) else title
            for title, facts in zip(said, found, strict=True)
        ]
    seen: Counter[str] = Counter()
    for i, title in enumerate(said):
        seen[title] += 1
        if seen[title] > 1:
            said[i] = f"{title} ({seen[title]})"
    return said


def _source_of(facts: Facts) -> str:
    return facts.place.source if facts.place.is_site and facts.place.source not in facts.where else ""


def _path_of(facts: Facts) -> str:
    return facts.place.path


def _windows_of(facts: Facts) -> str:
    return f"windows {facts.row['first_window']} to {facts.row['last_window']}"


def advice(row: Row) -> str:
    """What to try, as far as the evidence supports it, and what else saves most of the same time."""
    facts = Facts(row, NOWHERE)
    most = MAINLY * row["gain"]
    instead = [f"{DOING[kind]} saves {saved_text(gain)}" for kind, gain in facts.alternatives if gain > most]
    return TEMPLATES[row["kind"]][1](facts) + "".join(f" Instead, {one}." for one in instead)


DOING: Mapping[str, str] = {
    "hot_receiver": "to spread the messages to the hot receiver",
    "hot_sender": "to let other ranks send a part (a tree or a collective)",
    "shared_nic": "a NIC for each rank, or sends at different times",
    "hot_link": "to place ranks on other nodes",
    "late_sender_chain": "to share the work of late ranks with those that wait",
    "late_receiver": "to post receives earlier",
    "load_imbalance": "to balance the work",
    "thread_imbalance": "to balance the work of threads",
    "serial_part": "to share the serial part",
    "many_small_messages": "to pack messages into one",
    "collective_wait": "to share the work of the last rank, or to wait for it later",
    "collective_cost": "fewer or fused collective operations",
    "unattended": "progress of the library in the background",
    "unattended_target": "progress of the library at the target",
    "missed_overlap": "to overlap transfers with work",
    "needless_barrier": "to leave out the barrier",
    "wavefront": "smaller blocks in the pipeline",
    "round_trips": "one message instead of a series (aggregate them)",
    "strided_datatype": "contiguous data",
    "start_up_skew": "a start-up that ends everywhere at once",
    "wait_at_fence": "to synchronize partners only",
    "late_post": "to post the window earlier",
    "late_complete": "to complete the access earlier",
    "late_put": "to put earlier",
    "lock_contention": "to hold the lock shorter",
    "shared_cores": "a core for each rank",
    "synchronous_sends": "to send without waiting for the receive (MPI_Send)",
    "destination_order": "another order of destinations",
    "receive_order": "to take messages as they arrive (MPI_Waitany)",
    "serial_exchange": "to send and receive at once",
    "serial_distribution": "a tree (MPI_Bcast, MPI_Scatter)",
}
"""Kind to its cure in a few words."""


TEMPLATES: Mapping[str, tuple[Callable[[Facts], str], Callable[[Facts], str]]] = {
    "hot_receiver": (hot_receiver, cool_receiver),
    "hot_sender": (hot_sender, cool_sender),
    "shared_nic": (shared_nic, separate_sends),
    "hot_link": (hot_link, route_apart),
    "late_sender_chain": (late_sender_chain, be_earlier),
    "late_receiver": (late_receiver, post_earlier),
    "load_imbalance": (load_imbalance, balance),
    "thread_imbalance": (thread_imbalance, balance_threads),
    "serial_part": (serial_part, share_with_threads),
    "many_small_messages": (many_small_messages, pack),
    "collective_wait": (collective_wait, enter_together),
    "collective_cost": (collective_cost, cheaper_collective),
    "unattended": (unattended, answer),
    "missed_overlap": (missed_overlap, compute_first),
    "needless_barrier": (needless_barrier, without_barrier),
    "wavefront": (wavefront, fill_pipeline),
    "round_trips": (round_trips, ask_once),
    "strided_datatype": (strided_datatype, lay_out),
    "start_up_skew": (start_up_skew, start_together),
    "wait_at_fence": (collective_wait, no_fence),
    "late_post": (late_post, post_window),
    "late_complete": (late_complete, complete_earlier),
    "late_put": (late_put, put_earlier),
    "lock_contention": (lock_contention, hold_shorter),
    "unattended_target": (unattended_target, serve),
    "shared_cores": (shared_cores, bind),
    "synchronous_sends": (synchronous_sends, standard_sends),
    "destination_order": (destination_order, turn_order),
    "receive_order": (receive_order, receive_any),
    "serial_exchange": (serial_exchange, send_at_once),
    "serial_distribution": (serial_distribution, through_tree),
    "unexplained": (unexplained, explain),
}
"""Kind to its title and its advice."""
