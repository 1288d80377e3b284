"""What a library profile may state. One file is one library as its sources were read at one date, and is never edited.

A property that no source decides is absent: the trace decides it where every observation agrees, else both alternatives
are replayed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

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


class Stated(BaseModel):
    """One property: its value and where it is known from."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    value: str
    sentence: str = Field(min_length=1, description="what the library does")
    source: str = Field(min_length=1, description="library, version and file; a publication; or a measurement")


class LibraryProfile(BaseModel):
    """The properties of one library; also the table [library] of a machine file."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    format: Literal[1] = 1
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")
    title: str = Field(min_length=1)
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="when its sources were read")
    recognized_by: str | None = Field(
        default=None, description="regular expression of what MPI_Get_library_version returns; None: never chosen by it"
    )
    recognized_in_simulation: str | None = Field(
        default=None, description="the same of what the archive states of the simulation that it was recorded in"
    )
    properties: dict[str, Stated] = Field(default_factory=dict)

    @field_validator("recognized_by", "recognized_in_simulation")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}") from error
        return pattern

    @model_validator(mode="after")
    def _known(self) -> LibraryProfile:
        for name, stated in self.properties.items():
            if name not in PROPERTIES:
                raise ValueError(f"has the property {name}, which is unknown; use {', '.join(PROPERTIES)}")
            if stated.value not in ALTERNATIVES[name]:
                raise ValueError(f"has {name} = {stated.value!r}; use {', '.join(ALTERNATIVES[name])}")
        return self

    @property
    def values(self) -> dict[str, str]:
        """The value of each property that is stated."""
        return {name: stated.value for name, stated in self.properties.items()}
