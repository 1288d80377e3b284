"""When a finding is wrong, or right and of no use: what to check before a program is changed. A paragraph a kind."""

from __future__ import annotations

DOUBTS = {
    "hot_receiver": (
        "A rank that has to hear from all others (a master that hands out work, a reduction by hand) is hot by "
        "design: the finding is right, and only another algorithm helps. The gain assumes that the work at that rank "
        "can be spread. An estimated machine distinguishes queues from "
        "other transport only in part: confirm it with a calibrated machine."
    ),
    "hot_sender": (
        "Shared sends suppose that other ranks have the data. Where they do not, less is saved than stated."
    ),
    "shared_nic": (
        "Several ranks that send from one node share a NIC only if the placement in the archive is that of the run. An "
        "estimated machine distinguishes queues from other transport only in part: confirm it with a calibrated "
        "machine."
    ),
    "hot_link": (
        "The route comes from the machine file's topology, not from the network: with adaptive routing, or other jobs "
        "on the links, the named link may be another one. Without a topology this finding never appears."
    ),
    "late_sender_chain": (
        "The code that the sender runs while it is waited for need not be what made it late: a delay before the "
        "interval counts, too; [delay costs](../docs/causes.md) say more. Noise delays one rank after another, and no "
        "code is then to blame. Clocks that disagree by more than a message's duration make senders look late."
    ),
    "late_receiver": (
        "Receives that are posted late because their buffer is still in use cannot be posted earlier without a second "
        "buffer, and a receiver that more work delays may not be able to share it. Which messages are a "
        "rendezvous is inferred where the archive does not say."
    ),
    "load_imbalance": (
        "Longer computation is not always more work: a slower node, a rank that shares its core, page faults, or a "
        "loop that polls for messages outside of calls look alike. Where ranks differ by design (a master, pipeline "
        "stages) there is nothing to even out. What lasts long once may be the system's, and not recur."
    ),
    "thread_imbalance": (
        "Threads that arrive late at a barrier need not have more work: a core that two threads share, memory of "
        "another socket, or an operating system that takes the core away look alike. The gain supposes that the work "
        "between two barriers can be shared evenly, and costs nothing more for it. Instrumentation of small regions is "
        "itself uneven: compare with a run of larger ones."
    ),
    "serial_part": (
        "Work that depends on its own results, input and output, or a library that is not thread-safe cannot be "
        "shared. How the time outside of parallel regions is divided over user regions is known from the profile of "
        "the whole run; where the same region also works in start-up, less of it is in the program. The gain is "
        "Amdahl's: no overhead of forks, no limit of memory bandwidth."
    ),
    "many_small_messages": (
        "Messages that are packable by their order may still not be known together: the receiver may need the first "
        "at once, or the second may depend on data from elsewhere. The gain assumes that packing itself is free. Where "
        "several epochs of puts become one, the target permits later blocks with the first one: their memory must be "
        "free by then."
    ),
    "collective_wait": (
        "The rank that arrives last often has an earlier reason; the finding that names that one is the one to cure. "
        "Few operations prove little: noise decides which rank is last. Clocks that disagree show as waits "
        "without a cause."
    ),
    "collective_cost": (
        "The least cost that it is compared with is that of the machine's values; where these are better than the "
        "network's (other jobs, fewer cores than ranks), the excess is no fault of the algorithm. Operations in a row "
        "can be fused only if the second does not need the first one's result. The trace does not state the operators "
        "of reductions: at the interval's low end they differ, and the reductions are in flight together. Operations "
        "with one root after another may each need the data of the one before. Communicators, windows and files "
        "that are made again may differ each time."
    ),
    "unattended": (
        "A network that replies without a processor (asynchronous progress) has no such waits; where the archive does "
        "not say that a message is a rendezvous, its protocol is inferred from the eager limit. Calls of MPI_Test "
        "cost time as well."
    ),
    "missed_overlap": (
        "Whether the work behind the Wait needs the data that it waits for is not in the trace: often it does, and "
        "then nothing can be moved."
    ),
    "needless_barrier": (
        "A barrier that orders what the trace does not show (files, memory that several processes share, one-sided "
        "access) is needed. Without it, waits may move to the next call that needs the late rank."
    ),
    "wavefront": (
        "Some recurrences can only be computed in order, and smaller blocks cost more messages: past the best number "
        "of blocks a program becomes slower. The gain is that of as many blocks as ranks work one after the other; the "
        "interval ends with ranks that need nothing of each other. A single sweep that starts a program is not worth a "
        "change."
    ),
    "round_trips": (
        "Questions that depend on the answer before (a search, a linked structure) cannot be sent at once. What "
        "looks like an answer may be an independent message that happened to follow. A lock may guard more than its "
        "transfers, and have to be released between them."
    ),
    "strided_datatype": (
        "Packing by hand costs as well, sometimes more than the library's own. An archive without datatype layouts "
        "(Score-P's) cannot show this; that it is absent there says nothing."
    ),
    "start_up_skew": (
        "It concerns the launch, not the code, and another job start may not show it. Clocks are compared across "
        "nodes from start-up on: a large error of their offset looks the same."
    ),
    "wait_at_fence": (
        "Fences can be replaced only if each process knows which ranks access its memory; where that is found out "
        "at run time, all ranks must communicate. Uneven work that remains moves the waits to the notifications. "
        "Fences can be fewer only where no rank reads what was put before the next one."
    ),
    "late_post": (
        "A window whose memory is read until the last moment cannot be posted earlier without a second buffer. A wait "
        "that ends at no recorded instant is not part of the gain."
    ),
    "late_complete": (
        "Work between the last transfer and the end of the access is not always movable: it may produce what is put. "
        "A wait that ends at no recorded instant is not part of the gain."
    ),
    "late_put": (
        "Whose put ended the wait is the last transfer before it; other writes to the same memory, which no recorded "
        "call makes, are not seen. A wait may be meant: a signal that says when work begins."
    ),
    "lock_contention": (
        "The holder that is named released last before the wait ended: several that queue share the blame. A lock "
        "that guards a real order (a counter, a queue) needs another algorithm, not a shorter hold. The gain is that "
        "of locks that are free when requested, as those of several targets are; one that is held for its transfers "
        "only, and none at all, are the ends of the interval."
    ),
    "unattended_target": (
        "It rests on transfers whose target computes in that time; a network that accesses memory without a processor "
        "shows long transfers for other reasons (a congested link)."
    ),
    "shared_cores": (
        "An archive of `logpost record` states for how long ranks were ready to run without a core, not what had it. "
        "Of one that states no cores at all: ranks that hand data from one to the next never run at once either, and a "
        "library that sleeps between its polls stalls likewise: both together look like a lack of cores. Other load on "
        "the node counts, too. In programs that compute for several slices (of 4 ms) between calls, a lack of cores "
        "may not be found. The gain supposes that nothing else becomes slower with a core for each rank."
    ),
    "synchronous_sends": (
        "A program may rely on the receive: a synchronous send also says that the other side has arrived, and it "
        "bounds how much memory waits for slow receivers. Where the library's sends wait for other reasons (a full "
        "buffer), less is saved."
    ),
    "destination_order": (
        "The interval is wide where messages lasted longer than the machine's model says: a NIC that shares itself "
        "among all senders makes all of a crowd late, and this is then what the crowd costs; at the other end it has "
        "another cause and stays. Receivers that need the data in this order cannot be served in another one."
    ),
    "receive_order": (
        "The order of sends stands for the order of arrival. Work behind a receive that needs the messages before it "
        "(a sum whose order matters, a merge) cannot be done in another order. Of a wait for several messages, each is "
        "taken to need the same part of the work behind it."
    ),
    "serial_exchange": (
        "What a rank sends may be what it has just received: a token, a pipeline, a ring that passes data on. Then it "
        "cannot leave earlier, and only smaller pieces help. Equal sizes of the two messages are a hint of that."
    ),
    "serial_distribution": (
        "A tree of ranks that pass the data on needs the same data for all, or one rank's memory for all of it (a "
        "scatter). Messages of one size may still be different. Receivers that are delayed for other reasons delay the "
        "ranks below them in the tree."
    ),
    "unexplained": (
        "It is what the machine's values leave of measured times: values that are too low look like it. It is no cure, "
        "and stated behind all cures, whatever it costs."
    ),
}
