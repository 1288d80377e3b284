"""What a library profile decides: its properties, and the values that each can have."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PROPERTIES: Mapping[str, str] = MappingProxyType(
    {
        "sends_within_nodes": "what an eager send within a node does while the message before it is still being sent",
        "sends_between_nodes": "what an eager send between nodes does while the NIC still has the message before it",
        "synchronous_sends": "how the data of a synchronous send below the eager limit reaches the receiver",
        "root_receives": "how fast the root of a reduction receives messages that have arrived",
        "collectives": "by which algorithms collective operations are carried out",
        "progress": "what a rendezvous does while its processors compute",
    }
)
"""The properties, each with the question that it decides."""

ALTERNATIVES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "sends_within_nodes": {"return": "sends return after o_s", "wait": "sends wait for max(g, B G)"},
        "sends_between_nodes": {"return": "sends return after o_s", "wait": "sends wait for max(g, B G)"},
        "synchronous_sends": {
            "handshake": "the data follows a request and a clear-to-send",
            "push": "the data travels with the request, and an acknowledgement returns",
            "match": "the transfer begins when both ends have called, and ends for both at once, at any size",
        },
        "root_receives": {"overhead": "one message per o_r", "gap": "one message per gap g"},
        "collectives": {
            "nearest": "algorithms by the measured ends of the operations",
            "second": "the other algorithms that are as near to the measured ends",
            "textbook": "one algorithm of each operation, whatever its size",
            "openmpi": "algorithms by the rules of Open MPI's coll/tuned",
            "mpich": "algorithms by the rules of MPICH",
            "simgrid": "algorithms by the rules of SMPI's default selector",
        },
        "progress": {
            "processors": "rendezvous wait for calls of the library",
            "asynchronous": "rendezvous continue while their processors compute",
        },
    }
)
"""The values that each property can have, in the order of the replay's codes; the first one is the point of an interval
where neither profile nor trace decides."""
