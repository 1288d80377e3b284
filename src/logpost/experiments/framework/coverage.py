"""Every figure, table and headline of the papers: which experiment repeats it, or what that would need."""

from __future__ import annotations

from dataclasses import dataclass

DESCRIBES = "describes; there is nothing to repeat"
HERE = "calibrate"
"""`logpost calibrate`'s page has the same measurement of this machine: the method, not the number."""
FORMULAS = "papers.md"
"""The page of formulas has it, number by number."""


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
        Item("Table 1", "o_s, o_r, L of short messages", (FORMULAS,), "the machine's values; every formula uses them"),
        Item("Table 2", "parameters of long messages", (FORMULAS,), "the machine's values; every formula uses them"),
        Item("Table 3", "costs of patterns", (FORMULAS,)),
        Item("Table 4", "all-to-all with short messages", ("all-to-all-short", FORMULAS)),
        Item(
            "1, 7",
            "asynchronous sends block under skewed destinations, synchronous ones do not",
            ("skewed-remap",),
        ),
        Item("3.3, 5.1", "where contention is, and what reduces it", ("where-contention",)),
        Item("5.2.2", "aggregation above half of the run time at b = 4", ("diamond-dag",), "alpha is not printed"),
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
        Item("Table 1", "parameters of 32-processor machines", needs="other publications' values; none is derived"),
        Item("1.2", "EM3D's shared memory +30 % with 60 % less bisection", ("bisection-sweep",)),
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
        Item("4.2.1", "the size from which middleware outweighs the network", ("strided-messages",)),
        Item("6", "point to point within 5 %, broadcasts within 3 %", ("strided-messages", "strided-broadcast")),
    ),
    "OVL": (
        Item("Fig. 1", "o(S, b) of Elan4", (HERE,)),
        Item("Fig. 2", "o(S, b) of Infiniband", (HERE,)),
        Item("Fig. 3", "bandwidth in one and in two directions", ("best-overlap",)),
        Item("Fig. 4", "bandwidth of neighbours, 128 processors", needs="128 processors of a network"),
        Item("Fig. 5", "bandwidth across the bisection, 128 processors", needs="128 processors of a network"),
        Item("Fig. 6", "forms of overlap", needs=DESCRIBES),
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
        Item("3.5", "to many receivers 1.4 times the bandwidth", ("logp-signatures",)),
    ),
}
"""Paper -> its items: figures, tables, headlines."""
