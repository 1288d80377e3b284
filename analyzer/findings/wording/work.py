"""Titles and advice of findings about the division of work among ranks and threads, and over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from logpost.analyzer.findings.wording.facts import Facts, Words, in_where
from logpost.analyzer.findings.wording.numbers import saved_text
from logpost.analyzer.words.location_names import spans_text
from logpost.analyzer.words.units import count_text, percent_text, time_text


def load_imbalance(facts: Facts) -> str:
    if facts.all("regions"):
        waiting = time_text(facts.number("others_wait"))
        if facts.number("regions") > 1:
            return f"different ranks compute longest in {facts.cause} ({facts.ranks}): {waiting} of waiting"
        return f"{facts.ranks} compute{facts.verb_s} longest in {facts.cause}: {waiting} of waiting"
    if facts.all("steps"):
        waiting = time_text(facts.number("others_wait"))
        return f"another rank computes longest in each step of {facts.cause} ({facts.ranks}): {waiting} of waiting"
    if facts.all("long_visits"):
        count, visits = (int(facts.number(name)) for name in ("long_visits", "visits"))
        lasts = f"{time_text(facts.number('they_last'))} instead of {time_text(facts.number('others_last'))}"
        title = f"{facts.ranks} compute{facts.verb_s} longer in {count} of {visits} visits"
        title += f" to {facts.cause}" if facts.cause else ""
        return f"{title}: {lasts}{'' if count == 1 else ' on average'}"
    if facts.all("in_file"):
        call, _, file = facts.cause.partition(" ")
        title = f"{facts.ranks} {call}{facts.verb_s} {file or 'a file'} while the others wait"
    else:
        does = f"{'take' if facts.all('on_processor') else 'compute'}{facts.verb_s} longer"
        title = f"{facts.ranks} {does} than the others" + (f" in {facts.cause}" if facts.cause else "")
    return title + f": {time_text(facts.number('longest'))} at most, {time_text(facts.number('mean'))} on average"


def balance(facts: Facts) -> str:
    if facts.number("regions", 0.0) > 1:
        return "Balance each of these regions separately: the ranks wait for the slowest one between them."
    if facts.all("steps"):
        return (
            "Balance the work of each step (finer or dynamic partition, work stealing), or let the ranks wait for each "
            "other less often: then a step that is long on one rank and the next that is long on another even out."
        )
    if facts.all("long_visits"):
        visits = "this visit" if int(facts.number("long_visits")) == 1 else "these visits"
        does = f"{facts.these} {'do' if facts.are_several else 'does'}"
        return (
            f"See what {does} in {visits} and not in others (input of another size, output, allocation, a task of the "
            "system; the timeline shows when): divide it among all ranks or visits, or do it while no rank waits."
        )
    if facts.all("in_file"):
        return (
            "Start this earlier and let it overlap with computation, let all ranks take a part of it (MPI-IO with "
            "collective calls, one file per node), or check the file system."
        )
    if facts.all("median_of_others"):
        these = facts.these
        if facts.all("alone"):
            does = "do" if facts.are_several else "does"
            return (
                f"Divide the work that only {these} {does} there among all ranks: that saves "
                f"{saved_text(facts.number('gain_if_shared'))}. Without it (done once, or elsewhere) the program saves "
                f"{saved_text(facts.number('gain_if_as_fast'))}."
            )
        norm = time_text(facts.number("median_of_others"))
        return (
            f"Make {these} as fast as the others ({norm}), or divide the excess among all ranks: the former (check "
            "what is slower there: node, binding, input; and what runs there alone) saves "
            f"{saved_text(facts.number('gain_if_as_fast'))}, the latter (weighted or finer partition, work stealing) "
            f"{saved_text(facts.number('gain_if_shared'))}."
        )
    return (
        "Give these ranks less work (weighted or finer partition, work stealing), or check what is slower there: "
        "node, binding, input."
    )


def thread_imbalance(facts: Facts) -> str:
    waits = time_text(facts.number("saved_if_equal"))
    late = [int(thread) for thread in facts.all("late_thread")]
    if late:
        last = f"thread{'s' if len(late) > 1 else ''} {spans_text(late)} of {facts.number('threads'):.0f} arrive"
        last += f"{'' if len(late) > 1 else 's'} last"
    else:
        last = f"another one of {facts.number('threads'):.0f} threads arrives last each time"
    title = f"the threads of {facts.ranks} wait {waits} on average in {facts.cause or 'a parallel region'}: {last}"
    return title + (f" to {facts.row['region']}" if facts.row["region"] else "")


def balance_threads(facts: Facts) -> str:
    if facts.all("late_thread"):
        return (
            "Share the work of this region more evenly: another schedule (dynamic, guided, smaller chunks), another "
            "distribution of the data, tasks; or check what is slower on these threads: binding, memory on "
            "another socket."
        )
    return (
        "Let threads take the work as they become free (schedule(dynamic) or guided, smaller chunks, tasks), or let "
        "them continue without this barrier (nowait) where the next work allows it."
    )


def serial_part(facts: Facts) -> str:
    others = int(facts.number("threads")) - 1
    where = facts.cause or "code outside of parallel regions"
    title = f"{facts.ranks} compute{facts.verb_s} serially in {where} for {time_text(facts.number('serial'))}"
    return title + f": {count_text(others, 'other thread')} idle{'s' if others == 1 else ''} during that time"


def share_with_threads(facts: Facts) -> str:
    return (
        f"Share this work among the {facts.number('threads'):.0f} threads (a parallel loop, tasks), or let it overlap "
        "with a parallel region (as a concurrent task). The gain supposes that all of it can be shared evenly (Amdahl)."
    )


def wavefront(facts: Facts) -> str:
    title = f"{facts.ranks} work one after the other, a pipeline {int(facts.number('depth'))} ranks deep"
    return title + (f"; they wait{in_where(facts)}" if facts.where else "")


def fill_pipeline(facts: Facts) -> str:
    blocks = int(facts.number("blocks", 0.0))
    if not blocks:
        return (
            "Let the ranks do this work concurrently where none needs the result of the one before it, or choose a "
            "decomposition with fewer ranks in a row: smaller blocks cost as much as they save."
        )
    return (
        f"Pass on smaller blocks ({blocks} instead of one), so that the next rank starts earlier, let sweeps from "
        "several sides or of several steps run at once, or choose a decomposition with fewer ranks in a row."
    )


def start_up_skew(facts: Facts) -> str:
    apart = time_text(facts.number("start_up_ends_apart"))
    late, s = facts.noun("late_rank"), "s" if len(facts.all("late_rank")) == 1 else ""
    title = f"{facts.waiters}{in_where(facts)} for {late}, which leave{s} {facts.cause or 'start-up'} late: "
    return title + f"ranks begin the program up to {apart} apart"


def start_together(_: Facts) -> str:
    return (
        "Look at the start of the job, not at this code: slow nodes, loading of libraries and input, the launcher. To "
        "see the program without it, put a barrier behind the start-up, or report --from a later time."
    )


def shared_cores(facts: Facts) -> str:
    stalls = count_text(int(facts.number("stalls")), "call")
    if facts.all("without_core"):
        had = f"ranks are ready to run, but have no core for {percent_text(facts.number('without_core'))} of the time"
    else:
        had = "no more than {} of {} ranks of a node run at once".format(
            *(int(facts.number(name)) for name in ("run_at_once", "ranks_of_a_node"))
        )
    return f"{had}: {stalls} last {time_text(facts.number('median_stall'))} when nothing is missing" + (
        f", most{in_where(facts)}" if facts.where else ""
    )


def bind(facts: Facts) -> str:
    if facts.all("without_core"):
        return (
            "Look for what else uses the cores (other jobs, threads of the program, ranks bound to the same core), and "
            "record it again without: as it is, all waits contain scheduling."
        )
    return (
        "Give each rank a separate core: fewer ranks on a node, or more cores to the job, and check the binding (the "
        "launcher's report of it) and the limits of containers. Then record it again: other times in calls will change."
    )


def unexplained(facts: Facts) -> str:
    share, time = percent_text(facts.number("share")), time_text(facts.number("unexplained"))
    what = "not explained"
    if facts.all("not_divided"):
        what = "transport that the estimated machine does not divide"
    elif facts.all("flushes"):
        what = "the tracer's, which writes its buffer"
    elif facts.all("mpi_other"):
        what = "in calls that no model describes"
    title = f"{share} of the time in {facts.where or 'calls'} on {facts.ranks} is {what}: {time}"
    if facts.all("unexpected"):
        title += f"; it grows with the messages that wait to be received, {facts.number('unexpected'):.0f} on average"
    return title


def _values(facts: Facts) -> Iterator[str]:
    """What would have the machine's values explain more."""
    if apart := [f"ranks of {distance}" for distance in facts.by_place("between")]:
        yield (
            f"The machine has no values between {' and '.join(apart)}, and those of another distance are used: measure "
            "it with ranks placed so (logpost calibrate)."
        )
    if facts.all("one_sided"):
        yield (
            "Most of it is in one-sided transfers, for which the machine's values of messages are used: the library "
            "may carry them by other routines. A recording measures those within a node where all windows are made "
            "alike (record --calibrate-layouts)."
        )
    elif facts.all("measured_while_recording"):
        yield (
            "The machine was measured while recording, by pairs of ranks within half a second. On as many ranks, "
            "logpost calibrate also measures bursts, many senders and all pairs concurrently, and more sizes; analyze "
            "with it (--machine FILE)."
        )
    elif facts.all("stated_machine"):
        yield (
            "Check that the machine file is of this machine: the same nodes, MPI library and placement of ranks as the "
            "program had."
        )
    else:
        yield "Measure the machine where the program ran (logpost calibrate), and analyze with it."


def explain(facts: Facts) -> str:
    if facts.all("polls"):
        return (
            "Wait for the messages (MPI_Wait, MPI_Waitany, MPI_Recv) instead of asking whether they are there, or ask "
            "once a part of the work is done."
        )
    if facts.all("flushes"):
        return (
            "Record it again with more memory for the tracer (Score-P: SCOREP_TOTAL_MEMORY; logpost record --with "
            "scorep --memory), or with fewer events (a filter): ranks that wait for a flush would not have waited."
        )
    if facts.all("mpi_other"):
        return (
            "Make these calls less often: once before the loop, where they create objects or look up what does not "
            "change. Where they wait for other ranks, a barrier before them in a test run shows how much is waiting."
        )
    said = []
    if facts.all("unexpected"):
        said.append(
            "Receive messages in the order in which they are sent, or post their receives before: the library searches "
            f"those that wait, {time_text(facts.number('time_of_each'))} each."
        )
    if facts.all("ranks_without_core"):
        said.append("Give each rank a core for itself: a rank without a core enters any call late.")
    if facts.all("strided_messages"):
        said.append(
            "Record with --calibrate-layouts: data is strided, and the machine's values do not say what packing costs."
        )
    if facts.all("not_divided"):
        said.append(
            "Measure the machine where the program ran (logpost calibrate), and analyze with it (--machine FILE): then "
            "this time is divided into overhead, latency, bandwidth and queues, and cures of each can be replayed."
        )
    else:
        said += [*_values(facts), "Data in device memory, other jobs on the network and paging look alike."]
    return " ".join(said)


WORDS: Mapping[str, Words] = {
    "load_imbalance": Words(load_imbalance, balance, "to balance the work"),
    "thread_imbalance": Words(thread_imbalance, balance_threads, "to balance the work of threads"),
    "serial_part": Words(serial_part, share_with_threads, "to share the serial part"),
    "wavefront": Words(wavefront, fill_pipeline, "smaller blocks in the pipeline"),
    "start_up_skew": Words(start_up_skew, start_together, "a start-up that ends everywhere at once"),
    "shared_cores": Words(shared_cores, bind, "a core for each rank"),
    "unexplained": Words(unexplained, explain),
}
