"""Titles and advice of findings about collective operations."""

from __future__ import annotations

from collections.abc import Mapping

from logpost.analyzer.findings.wording.facts import MAINLY, Facts, Words, in_where
from logpost.analyzer.findings.wording.numbers import number_text
from logpost.analyzer.words.units import bytes_text, count_text, time_text


def collective_wait(facts: Facts) -> str:
    last = facts.noun("last_rank") if facts.all("last_rank") else "whichever rank arrives last"
    waiters = facts.waiters if facts.all("waiting_rank") else f"{facts.ranks} wait{facts.verb_s}"
    where = f"{waiters} in {facts.where or 'a collective operation'}"
    if facts.all("empties_pipeline"):
        works = f", which computes in {facts.cause}" if facts.cause else ""
        return f"{where} for its root, {last}{works}: it empties a pipeline in each step"
    title = f"{where} for {last}"
    if facts.all("takes_turns"):
        return f"{title}: the slowest rank of each step is another one"
    if not facts.cause:
        return title
    if facts.all("cause_works"):
        verb_s = "" if len(facts.all("last_rank")) > 1 else "s"
        return f"{title}, which compute{verb_s} longer than the mean in {facts.cause}"
    return f"{title}, delayed in {facts.cause}"


def enter_together(facts: Facts) -> str:
    if facts.all("empties_pipeline"):
        return (
            "Call it less often, or start its nonblocking form and wait for it a step later; or let each rank compute "
            "what it hands out: then the first ranks begin the next step while the last ones finish."
        )
    rest = " Use fewer or nonblocking collectives to hide what remains."
    if facts.all("last_rank"):
        return "Balance the work before it on this rank." + rest
    return "Balance the work between these operations, or look for system noise, which moves from rank to rank." + rest


def needless_barrier(facts: Facts) -> str:
    waits = f"{facts.ranks} wait{facts.verb_s}{in_where(facts)}"
    if facts.all("empties_pipeline"):
        return f"{waits}: the barrier empties a pipeline in each step"
    if facts.all("last_rank"):
        return f"{waits}: the barrier's own rounds cost more than the wait for {facts.noun('last_rank')}"
    return f"{waits}: the slowest rank of each step is another one"


def without_barrier(facts: Facts) -> str:
    if facts.all("empties_pipeline"):
        return (
            "Leave this barrier out if no data depends on it: then the first ranks begin the next step while the last "
            "ones finish."
        )
    if facts.all("last_rank"):
        return "Leave this barrier out if no data depends on it: an operation that moves data may make the ranks meet."
    return (
        "Leave this barrier out if no data depends on it: then a step that is long on one rank and the next that is "
        "long on another even out."
    )


def collective_cost(facts: Facts) -> str:
    count = int(facts.number("operations"))
    cost = f"{'costs' if count == 1 else 'cost'} {time_text(facts.number('mean_cost'))}{'' if count == 1 else ' each'}"
    beyond = "after the last rank has entered" if facts.all("root_waits_for") else "beyond waiting for the last rank"
    beyond = "beyond waiting for the root" if facts.all("wait_for_root") else beyond
    title = f"{count_text(count, 'operation')} in {facts.where or 'a collective'} {cost} {beyond}"
    for one in facts.by_place("both_in_one"):
        return f"{title}, handing out what {facts.cause} has just brought to their root, which one {one} does"
    for one, in_a_row in facts.by_place("every_root").items():
        return f"{title}, {in_a_row:.0f} in a row with each rank as root, which one {one} does"
    if facts.all("made_again"):
        return f"{title}, and make the same communicator, window or file again"
    if facts.number("back_to_back", 0.0) > MAINLY:
        return title + ", mostly back to back"
    if _no_algorithm_costs(facts):
        return f"{title}, {number_text(facts.number('cost_over_estimate'), 'x')} what the machine's values predict"
    size = facts.number("mean_part", 0.0)
    if not size:  # it moves nothing, or the records do not say how much
        return title
    bound = _bound(facts)
    return f"{title}, {f'{bound}-bound at ' if bound else ''}{bytes_text(size)} each"


def _no_algorithm_costs(facts: Facts) -> bool:
    """So much: it lasts longer than with the slowest algorithm on this machine."""
    return facts.number("cost_over_slowest_algorithm", 0.0) > 1.0


def _bound(facts: Facts) -> str:
    """What most of an operation's cost is by the replay, else by the machine's values: `latency` or `bandwidth`; empty
    where neither is known to be most of it."""
    rounds, moved = facts.number("share_of_rounds", 0.0), facts.number("share_of_bytes", 0.0)
    if not facts.all("share_of_rounds") and (cost := facts.number("mean_cost")):
        rounds, moved = (facts.number(f"{what}_estimate", 0.0) / cost for what in ("latency", "bandwidth"))
    if max(rounds, moved) <= MAINLY:
        return ""
    return "latency" if rounds >= moved else "bandwidth"


def cheaper_collective(facts: Facts) -> str:
    if facts.all("made_again"):
        return (
            "Make it once, before the loop or on the first call, and keep the communicator, window or file; release it "
            "behind the loop."
        )
    for one in facts.by_place("both_in_one"):
        return f"Call {one} instead of both: it takes as many rounds as one of them, and all have the result."
    for one in facts.by_place("every_root"):
        return (
            f"Call {one} once instead ({one}v where ranks have different amounts): it does for all roots what each of "
            "these does for one."
        )
    if facts.number("back_to_back", 0.0) > MAINLY:
        rounds = " That saves rounds, not bytes, and bytes are most of the cost here."
        return _fuse(facts) + (rounds if _bound(facts) == "bandwidth" else "")
    if _no_algorithm_costs(facts) and facts.all("ranks_without_core"):
        return (
            "Give each rank a core for itself, and record it again: no algorithm lasts so long on this machine, but a "
            "rank without a core does."
        )
    if _no_algorithm_costs(facts):
        return (
            "It lasts longer than with any algorithm on this machine: check the binding and whether ranks share "
            "cores; then call it less often, or overlap it (the nonblocking form)."
        )
    bound = _bound(facts)
    if not bound and facts.number("mean_part", 0.0):
        return (
            "Send less or call it less often (every k-th step), or overlap it with work (the nonblocking form, "
            "completed later). Neither latency nor bytes are known to cost most; a calibrated machine (analyze "
            "--machine FILE) may show it."
        )
    if bound != "bandwidth":
        return (
            "Call it less often (every k-th step, several values per call), or overlap it with work (the "
            "nonblocking form, completed later)."
        )
    return (
        "Send less (smaller types, only what changed), choose an algorithm for large messages (ring, reduce-scatter "
        "with allgather, segments), or split it by nodes."
    )


def _fuse(facts: Facts) -> str:
    if facts.all("is_barrier"):
        return "Leave all but one of them out: a barrier right behind another one orders nothing."
    unless = "unless the second needs the first one's result (then use a pipelined form of the algorithm)."
    if facts.all("reduces"):
        return (
            "Fuse them: combine those of one operator and datatype, which the trace does not state, into one call with "
            f"all values in one buffer, {unless} For different ones, define an operator on a structure (MPI_Op_create),"
            " or start the nonblocking forms and complete them together (MPI_Waitall)."
        )
    return f"Fuse them: combine back-to-back operations into one call with all values in one buffer, {unless}"


WORDS: Mapping[str, Words] = {
    "collective_wait": Words(
        collective_wait, enter_together, "to share the work of the last rank, or to wait for it later"
    ),
    "collective_cost": Words(collective_cost, cheaper_collective, "fewer or fused collective operations"),
    "needless_barrier": Words(needless_barrier, without_barrier, "to leave out the barrier"),
}
