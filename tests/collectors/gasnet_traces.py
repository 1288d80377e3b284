"""GASNet's text traces made in code, line by line as GASNet 2025.8 writes them."""

from __future__ import annotations

from pathlib import Path


class Trace:
    """The file of one process; times are microseconds since its own start."""

    def __init__(
        self, rank: int, size: int = 2, host: str = "vm", program: str = "/opt/app/heat", mask: str = "GPRSWBA"
    ):
        self.rank = rank
        self.lines = [
            f"{rank}> Program {program} (pid=63{rank}) starting on {host} at: Sat Nov 21 07:28:36 2026",
            f"{rank}> Command-line: {program} -m 5",
            f"{rank}> GASNET_CONFIG_STRING: RELEASE=2025.8.0,SPEC=0.19,CONDUIT=UDP(UDP-3.21/REFERENCE-2025.8)",
            f"{rank}> gex_System_QueryJobRank(): {rank}",
            f"{rank}> gex_System_QueryJobSize(): {size}",
            f"{rank}> GASNET_TRACEMASK: {mask}",
            "*** WARNING: tracing/statistical collection may adversely affect application performance.",
            f"{rank}> Timer granularity: ~ 0.001 us, overhead: ~ 0.009 us",
        ]

    def at(self, us: int, text: str, place: str = "", thread: str = "") -> Trace:
        """A line of an event: category and text."""
        where = f"[{place}] " if place else ""
        self.lines.append(f"{self.rank}{thread} {us / 1e6:8.6f}s> {where}{text}")
        return self

    def send(self, us: int, peer: int, handler: int = 71, arguments: str = " 0x00000001") -> Trace:
        """A short request."""
        return self.at(us, f"(A) AMREQUEST_SHORT: dest=TM0:{peer} handler={handler} flags=0x0 args:{arguments}")

    def handle(self, us: int, until: int, peer: int, handler: int = 71, arguments: str = " 0x00000001") -> Trace:
        """Its handler."""
        self.at(us, f"(A) AMREQUEST_SHORT_HANDLER: client='heat' src={peer} handler={handler} args:{arguments}")
        return self.at(until, "(A) AMREQUEST_SHORT_HANDLER: handler execution complete")

    def write(self, folder: Path, end: str = "\n") -> Path:
        """The file trace-RANK."""
        path = folder / f"trace-{self.rank}"
        path.write_text("\n".join(self.lines) + end)
        return path
