"""Every figure, table and headline of the papers: which experiment repeats it, or what that would need.

The page of the papers' numbers and the page of the experiments show these rows.
"""

from __future__ import annotations

from dataclasses import dataclass

DESCRIBES = "describes; there is nothing to repeat"
INPUT = "measured values of the machine, which formulas and simulations are given; to measure them needs the machine"
HERE = "calibrate"
"""`logpost calibrate`'s page has the same measurement of this machine: the method, not the number."""
FORMULAS = "papers.md"
"""docs/papers.md has it, number by number."""


@dataclass(frozen=True)
class Item:
    """A figure, table or headline."""

    where: str
    """As the paper numbers it; of a headline, its section."""
    what: str
    by: tuple[str, ...] = ()
    """Experiments, or HERE, or FORMULAS; empty: it is not repeated."""
    needs: str = ""
    """Why it is not repeated, and what that would need."""

    @property
    def text(self) -> str:
        """The last column: what repeats it, or what is missing."""
        return "; ".join(part for part in (", ".join(self.by), self.needs) if part)


ITEMS: dict[str, tuple[Item, ...]] = {
    "LOGPC": (
        Item("Fig. 1", "where performance models are used", needs=DESCRIBES),
        Item("Fig. 2", "the Alewife's network interface", needs=DESCRIBES),
        Item("Fig. 3", "input queue over time", ("long-message",)),
        Item("Fig. 4", "delivery of long messages with the cost of the interrupt", ("long-message", FORMULAS)),
        Item("Fig. 5", "bandwidth over message size", ("long-message", HERE)),
        Item("Fig. 6", "all-to-all with long messages", ("all-to-all-long",)),
        Item("Fig. 7", "the Diamond DAG", needs=DESCRIBES),
        Item("Fig. 8", "schedule of the stripes", needs=DESCRIBES),
        Item("Fig. 9", "Diamond DAG over block size, three mappings", ("diamond-dag",)),
        Item("Fig. 10", "core of EM3D", needs=DESCRIBES),
        Item("Fig. 11", "EM3D over its span", ("em3d-order",)),
        Item("Table 1", "o_s, o_r, L of short messages", needs=INPUT),
        Item("Table 2", "parameters of long messages", needs=INPUT),
        Item("Table 3", "notation", needs=DESCRIBES),
        Item("Table 4", "all-to-all with short messages", ("all-to-all-short", FORMULAS)),
        Item("Abstract", "network contention is up to half of the time", ("all-to-all-long", FORMULAS)),
        Item("Abstract, 3.4", "locality matters by at most a factor of two", ("where-contention", FORMULAS)),
        Item("1, 5.2.2", "mappings of the Diamond DAG, 3.14 % without contention", ("diamond-dag", FORMULAS)),
        Item("1, 5.3", "EM3D in a random order: stalls −70 %, run time −20 %", ("em3d-order",)),
        Item(
            "1, 7",
            "asynchronous sends block under skewed destinations, synchronous ones do not",
            ("skewed-remap",),
        ),
        Item("2.2", "the queue is drawn down from about 1,000 B on", ("long-message", FORMULAS)),
        Item("3.3", "mean distances of the mesh", (FORMULAS,)),
        Item("3.3, 5.1", "where contention is, and what reduces it", ("where-contention",)),
        Item("3.4, 5.1.3", "contention costs at most 2.22 times, measured 2.03", ("all-to-all-long", FORMULAS)),
        Item("4", "contention on other networks and with slower software", needs=DESCRIBES),
        Item("5.1", "asynchronous messages are much less sensitive to network contention", ("all-to-all-short",)),
        Item("5.1.1", "contention of synchronous messages in the network is not significant", ("all-to-all-short",)),
        Item("5.1.1", "28 % of a round trip is contention for processors", ("all-to-all-short", FORMULAS)),
        Item(
            "5.1.2",
            "asynchronous messages cost 10 % more than o_s + o_r, a third of it by caches",
            ("all-to-all-short", FORMULAS),
            "the caches' third needs an Alewife, or its caches simulated",
        ),
        Item("5.2.1", "the best number of blocks", (FORMULAS,)),
        Item("5.2.2", "contention from 32,000 B on, at 320,000 B 56 % by a random mapping", ("diamond-dag",)),
        Item("5.2.2", "contention bounds the number of blocks from below", needs="it is concluded from Fig. 9"),
        Item("5.2.2", "aggregation above half of the run time at b = 4", ("diamond-dag",), "alpha is not printed"),
        Item("7", "contention is up to 30 percent of the Diamond DAG and of EM3D", ("diamond-dag", "em3d-order")),
        Item("7", "predictions within 12 percent", (FORMULAS, "all-to-all-long", "all-to-all-short")),
    ),
    "SENS": (
        Item("Fig. 1", "regions over bisection bandwidth", ("bisection-sweep",)),
        Item("Fig. 2", "regions over network latency", ("latency-sweep",)),
        Item("Fig. 3", "the Alewife", needs=DESCRIBES),
        Item("Fig. 4", "run time in four parts", ("four-applications",)),
        Item("Fig. 5", "communication volume", ("four-applications",)),
        Item("Fig. 6", "the cross-traffic experiment", ("bisection-sweep",)),
        Item(
            "Fig. 7",
            "run time over the length of cross-traffic messages",
            ("bisection-sweep",),
            "of a remote miss; an application's run time needs I/O nodes among the ranks of a simulation of wormholes",
        ),
        Item("Fig. 8", "run time over bisection bandwidth", ("bisection-sweep",)),
        Item("Fig. 9", "run time over latency by the node's clock", ("latency-sweep",)),
        Item("Fig. 10", "run time over latency by context switches", ("latency-sweep",)),
        Item(
            "Table 1",
            "parameters of 32-processor machines",
            (FORMULAS,),
            "the others' latencies need them",
        ),
        Item("1.2", "EM3D's shared memory +30 % with 60 % less bisection", ("bisection-sweep",)),
        Item(
            "4",
            "shared memory competes; bulk transfer has no advantage; prefetching helps EM3D",
            ("four-applications",),
        ),
        Item("4", "up to 60 cycles to gather a line", needs="an input of the simulated programs (`--line-cycles`)"),
        Item(
            "4.2",
            "UNSTRUC: locks keep shared memory from being better",
            ("four-applications",),
            "a lock costs one miss and is never contended: how often the paper's is tried again is not printed",
        ),
        Item("4.2", "UNSTRUC: polling outperforms interrupts", ("four-applications",)),
        Item("4.3", "polling cuts ICCG's overhead by 35 %", ("four-applications",)),
        Item("4.3", "prefetching slows ICCG down", ("four-applications",)),
        Item("4.3", "interrupts make ICCG's processors progress unevenly and wait", ("four-applications",)),
        Item("4.3", "ICCG's other mechanisms avoid the imbalance of interrupts", ("four-applications",)),
        Item("4.4", "MOLDYN: prefetching gains one percent", ("four-applications",)),
        Item("4.4", "MOLDYN: its computation masks differences between mechanisms", ("four-applications",)),
        Item(
            "4.4",
            "MOLDYN: interrupts congest the network, locks are rarely contended",
            needs="input queues that handlers leave full, and how often the paper's locks are tried again",
        ),
        Item(
            "5.1", "shared memory has at least four messages an edge, up to six times the bytes", ("four-applications",)
        ),
        Item("5.1", "bulk transfer loses in ICCG by padding what it saves in headers", ("four-applications",)),
        Item(
            "5.1",
            "shared memory's low occupancy keeps the network clear",
            needs="how long the CMMU and a handler each occupy the input queue, simulated with wormholes",
        ),
        Item("5.2", "the cross-over of shared memory and messages", ("bisection-sweep",)),
        Item("5.3", "shared memory is less tolerant of latency; messages remain constant", ("latency-sweep",)),
        Item("3.1", "penalties of misses (the table in Fig. 3)", needs=INPUT),
        Item("3.2", "a null active message costs 102 cycles", (FORMULAS,)),
        Item("6", "a factor of two at 100 cycles", ("latency-sweep",)),
    ),
    "LOG3P": (
        Item("Fig. 1", "half round trip and overhead", (HERE,)),
        Item("Fig. 2", "bounds of log_nP", needs=DESCRIBES),
        Item("Fig. 3", "MPICH's path of a strided send", needs=DESCRIBES),
        Item("Fig. 4", "half round trip to oneself and to another node", (FORMULAS, "strided-broadcast")),
        Item("Fig. 5", "o_mw, o_net and l_mw over size and stride", ("strided-messages", HERE)),
        Item("Fig. 6", "strided costs by part", ("strided-messages", HERE)),
        Item("Fig. 7", "half round trip of derived datatypes", ("strided-messages",)),
        Item("Fig. 8", "half round trip with packing", ("strided-messages",)),
        Item("Fig. 9", "patterns of an 8-way broadcast", needs=DESCRIBES),
        Item("Fig. 10", "linear broadcast", ("strided-broadcast",)),
        Item("Fig. 11", "tree broadcast", ("strided-broadcast",)),
        Item("Fig. 12", "three versions of a transpose", ("fft-packing",)),
        Item("Fig. 13", "models compared by their terms", (FORMULAS,)),
        Item("Table 1", "LogGP parameters of Titan", needs="its values, which the text does not contain"),
        Item("1", "strided messages grow to four times the cost of contiguous ones", ("strided-messages",)),
        Item("4.2.1", "the overheads over the size: the network first, then the middleware", ("strided-messages",)),
        Item("4.2.1", "the size from which middleware outweighs the network", ("strided-messages",)),
        Item("4.3.1", "log3P within 5 %, LogGP 28 % for contiguous data", ("strided-messages",)),
        Item(
            "4.3.1, 4.3.2",
            "predictions are slightly better below 256 B and above 128 KB",
            needs="strided messages above 128 KB, the largest here, and errors of less than a per cent",
        ),
        Item("4.3.2", "packing by hand: predicted within 3.5 %, 15 % better in the mean", ("strided-messages",)),
        Item(
            "4.3.2",
            "datatypes over 50 % faster where the model chooses their implementation",
            needs="that MPI library, of another publication",
        ),
        Item("4.3.3", "linear 3 % against 20.3 %, tree 6 % against 46 %", ("strided-broadcast",)),
        Item("4.3.3", "LogGP's error grows with size and stride", ("strided-broadcast",)),
        Item("4.3.4", "packing is 51.6 % of ddt's time, opt gains 43.5 %; LogP ranks ddt best", ("fft-packing",)),
        Item("4.3.4", "packing is 48.5 % of pack's time, on 16 processors 11.3 % of opt's", ("fft-packing",)),
        Item("4.3.4", "LogP underestimates ddt, and is accurate for pack and opt", ("fft-packing",)),
        Item("5", "terms of the models", (FORMULAS,)),
        Item("6", "point to point within 5 %, broadcasts within 3 %", ("strided-messages", "strided-broadcast")),
    ),
    "OVL": (
        Item("Fig. 1", "o(S, b) of Elan4", (HERE,)),
        Item("Fig. 2", "o(S, b) of Infiniband", (HERE,)),
        Item("Fig. 3", "bandwidth in one and in two directions", ("best-overlap",)),
        Item("Fig. 4", "bandwidth of neighbours, 128 processors", needs="128 processors of a network"),
        Item("Fig. 5", "bandwidth across the bisection, 128 processors", needs="128 processors of a network"),
        Item("Fig. 6", "forms of overlap", ("best-overlap",)),
        Item("Fig. 7", "communication-bound, Infiniband", ("best-overlap",)),
        Item("Fig. 8", "computation-bound, Infiniband", ("best-overlap",)),
        Item("Fig. 9", "communication-bound, Elan4", ("best-overlap",)),
        Item("Fig. 10", "congestion at an end point, knee of the TLB", ("best-overlap",)),
        Item("Fig. 11", "several peers, contiguous", ("best-overlap",)),
        Item("Fig. 12", "several peers, interleaved", ("best-overlap",)),
        Item("Table 1", "systems", needs=DESCRIBES),
        Item(
            "Table 2",
            "losses by coarse estimates and wrong diagnoses",
            ("best-overlap",),
        ),
        Item("2.1", "o grows with the size and falls with the burst", ("best-overlap", HERE)),
        Item("2.1", "L, queue depth, entries of the TLB", needs=INPUT),
        Item("3.1", "o(S) is enough for Infiniband, Elan4 needs o(S, b)", ("best-overlap",)),
        Item(
            "3.1", "long bursts, the longest within the constraints; finer where computation-bound", ("best-overlap",)
        ),
        Item("3.2", "contiguous and interleaved peers hardly differ at their best", ("best-overlap",)),
        Item(
            "3.2",
            "interleaved peers are best at finer grain",
            needs="a fat tree with static routes; the testbed's is one crossbar",
        ),
        Item(
            "3.2",
            "with the same (S, b) contiguous peers are faster in most cases",
            needs="a fat tree with static routes, as above",
        ),
        Item("3.3", "(9) chooses well under congestion at an end point", ("best-overlap",)),
        Item("3.4", "the same order of peers for all is the worst case", ("best-overlap",)),
        Item(
            "3.4",
            "all-to-all in step is best at fine grain and with long bursts",
            ("best-overlap",),
            "unbalanced processes need how far they drift apart, which is not printed",
        ),
        Item(
            "3.4",
            "balanced and computation-bound all-to-all is best with bursts of two, and loses little with one",
            ("best-overlap",),
        ),
        Item("4", "the choice for computation-bound problems hardly depends on the estimate", ("best-overlap",)),
        Item("4", "new choices by wrong estimates are close to the best; too little is better", ("best-overlap",)),
        Item("4", "(5) alone, with an underestimated computation, is good for all", ("best-overlap",)),
        Item("4", "the best of cross traffic can replace neighbours' bandwidth", needs="128 processors of a network"),
        Item(
            "6", "good results for the NAS benchmarks in UPC", needs="their sources and numbers, which are not printed"
        ),
        Item("Abstract", "over 90 % of the communication overhead is hidden", ("best-overlap",)),
    ),
    "LOGP": (
        Item("Fig. 1", "the parameters", needs=DESCRIBES),
        Item("Fig. 2", "requests and replies", needs=DESCRIBES),
        Item("Fig. 3", "time-line of requests", needs=DESCRIBES),
        Item("Fig. 4", "expected signature", ("logp-signatures",)),
        Item("Fig. 5", "signature of Meiko", ("logp-signatures", HERE)),
        Item("Fig. 6", "signature of Myrinet", ("logp-signatures", HERE)),
        Item("Fig. 7", "signature of Paragon", ("logp-signatures", HERE)),
        Item("Fig. 8", "summary of the platforms", ("logp-signatures", FORMULAS)),
        Item("Fig. 9", "completion time of bulk transfers", ("logp-signatures", HERE, FORMULAS)),
        Item("Fig. 10", "signature of bulk transfers, 8 B", ("logp-signatures",)),
        Item("Fig. 11", "signature of bulk transfers, 2 KB", ("logp-signatures",)),
        Item("Fig. 12", "send overhead of bulk transfers", ("logp-signatures",)),
        Item("Fig. 13", "signature of an asynchronous RPC", ("logp-signatures",)),
        Item("Table 1", "designs of network interfaces", needs=DESCRIBES),
        Item("Table 2", "the platforms", needs=DESCRIBES),
        Item("Table 3", "round trips", (FORMULAS,)),
        Item("Table 4", "many senders, validation of g", ("logp-signatures", FORMULAS)),
        Item("3.2", "the signature gives o_s, o_r, L and g", ("logp-signatures", FORMULAS)),
        Item("3.3", "Myrinet's one-way time is 1.5 times that of the others", (FORMULAS,)),
        Item(
            "3.4",
            "an older Meiko, Myrinet with a second-level cache",
            needs="these machines; their values are machine files",
        ),
        Item(
            "3.5",
            "pairs do not disturb each other",
            needs="16 nodes of one of the machines; a LogP machine has no more",
        ),
        Item("3.5", "to many receivers 1.4 times the bandwidth", ("logp-signatures",)),
        Item("4.1", "a line through T(n) has a negative T_0 on Myrinet", needs="the points of Fig. 9, not printed"),
        Item("4.2", "o(n) is constant on Paragon and Meiko, linear on Myrinet", ("logp-signatures",)),
        Item("5", "the gap of RPC is o_s + o_r", ("logp-signatures",)),
    ),
}
"""Paper -> its items: figures, tables, headlines."""


def items_table(paper: str) -> list[str]:
    """Of a paper, as a table in Markdown."""
    lines = ["| where | what | repeated by, or what it needs |", "|---|---|---|"]
    return lines + [f"| {item.where} | {item.what} | {item.text} |" for item in ITEMS[paper]]
