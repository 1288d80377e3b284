"""A page that was opened, and all that it did."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Visit:
    """The page, and its requests, console lines and pop-ups."""

    page: Any
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def drawn(self) -> str:
        """Wait until the page's script has finished; "drawn" or "failed"."""
        self.page.wait_for_selector("html[data-charts]", state="attached", timeout=60_000)
        return str(self.page.get_attribute("html", "data-charts"))

    def becomes(self, expression: str, expected: object, timeout: float = 20.0) -> object:
        """The expression's value once it is the expected one, else its last: charts follow a window some time later.

        Polled from outside, since the page's own policy forbids playwright's polling inside (no eval).
        """
        end = time.monotonic() + timeout
        while (value := self.page.evaluate(expression)) != expected and time.monotonic() < end:
            self.page.wait_for_timeout(50)
        return value


def watched(context: Any, path: Path) -> Visit:
    """Open a file in a browser context and watch it from its first request on."""
    page = context.new_page()
    seen = Visit(page)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.console.append(f"uncaught: {error}"))

    def refuse(dialog: Any) -> None:
        seen.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.goto(path.resolve().as_uri())
    return seen
