"""A page that was opened, and all that it did."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Visit:
    """The page, and what it asked for, printed and popped up."""

    page: Any
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def drawn(self) -> str:
        """Wait until the page's script has finished; "drawn" or "failed"."""
        self.page.wait_for_selector("html[data-charts]", state="attached", timeout=60_000)
        return str(self.page.get_attribute("html", "data-charts"))


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
