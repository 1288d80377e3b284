"""What a library profile may state. One file is one library as its sources were read at one date, and is never edited.

A property that no source decides is absent: the trace decides it where every observation agrees, else both alternatives
are replayed.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from logpost.machines.profiles.properties import ALTERNATIVES, PROPERTIES


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
