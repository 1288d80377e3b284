"""What a view shows, as its URL says: the page, the run, the selection, and what single pages keep there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlencode

from logpost.dashboards.selection.selection import KEYS, Selection, parse

LONGEST = 60_000
"""Characters of a query that is read: `MOST_SPANS` ranks fit, and the server takes a line of 64 KiB."""


@dataclass(frozen=True)
class State:
    """A view. `run` is the name of one of the runs that were given, never a path."""

    page: str = ""
    run: str = ""
    selection: Selection = field(default_factory=Selection)
    more: Mapping[str, str] = field(default_factory=dict)
    """What single pages keep: finding, message, other, set, sweep."""

    @property
    def href(self) -> str:
        """The URL of the view, without host."""
        return f"/{self.page}{self.search}"

    @property
    def search(self) -> str:
        """The URL's query with its question mark; empty where everything is as at first."""
        query = {"run": self.run} if self.run else {}
        query |= self.selection.query() | {key: text for key, text in self.more.items() if text}
        return f"?{urlencode(query)}" if query else ""

    def at(self, page: str) -> State:
        """The same on another page."""
        return replace(self, page=page)

    def selecting(self, selection: Selection) -> State:
        """The same with another selection, which has no name yet."""
        return replace(self, selection=selection, more={key: text for key, text in self.more.items() if key != "name"})

    def having(self, **more: str) -> State:
        """The same with other values of what pages keep; an empty one removes it."""
        return replace(self, more={**self.more, **more})


def read(pathname: str | None, search: str | None) -> State:
    """The view of a URL.

    Raises:
        InputError: its selection cannot be read.
    """
    query = dict(parse_qsl((search or "").removeprefix("?")[:LONGEST]))
    more = {key: text for key, text in query.items() if key not in (*KEYS, "run")}
    return State((pathname or "/").strip("/"), query.get("run", ""), parse(query), more)
