"""The traffic of each host in words: its messages, and what its adapters counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from logpost.analyzer.report.network import HostTraffic
from logpost.analyzer.run.manifest import AdapterCounters
from logpost.analyzer.words.units import bytes_text, safe

HEADINGS = ("host", "messages sent", "received", "adapter", "counted sent", "received")
NOT_READ = "counters of network adapters: not read (the recording found no InfiniBand or CXI adapter)"
MEANING = (
    "messages: between hosts, without collective operations and one-sided transfers; counted: all traffic of the "
    "adapter from the end of MPI_Init to the begin of MPI_Finalize, other programs' too"
)
WAITS = ("port_xmit_wait", "hni_tx_paused_", "hni_rx_paused_")
"""Begins of the names of counters that count waiting: ticks of the adapter, whose length the system does not state."""
CONGESTION = (
    "np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "out_of_sequence", "packet_seq_err",
    "local_ack_timeout_err", "rnr_nak_retry_err",
)  # fmt: skip
"""Packets that a congested network marked, and those that were sent again (hw_counters of the kernel's mlx5 driver)."""


def host_rows(found: Sequence[HostTraffic]) -> list[tuple[str, ...]]:
    """A row for each adapter, and one for a host without."""
    rows = []
    for one in found:
        messages = (safe(one.host), bytes_text(one.sent_bytes), bytes_text(one.received_bytes))
        for port in one.adapters:
            counted = [_counted(octets) for octets in (port.sent_bytes, port.received_bytes)]
            rows.append((*messages, safe(port.name), *counted))
        if not one.adapters:
            rows.append((*messages, "not read", "-", "-"))
    return rows


def adapter_notes(found: Sequence[HostTraffic]) -> list[str]:
    """Of each adapter, its rate, the processors next to it, and the counters of waiting and congestion that rose."""
    ports = [port for one in found for port in one.adapters]
    return [
        f"{safe(port.host)}, {safe(port.name)}: {', '.join(facts)}"
        for port in ports
        if (facts := [*_stated(port), *_waits(port.counted)])
    ]


def _stated(port: AdapterCounters) -> list[str]:
    near = f"next to processors {safe(port.processors)}" if port.processors else ""
    return [fact for fact in (safe(port.rate), near) if fact]


def _counted(octets: int | None) -> str:
    return "-" if octets is None else bytes_text(octets)


def _waits(counted: Mapping[str, int]) -> list[str]:
    return [
        f"{name} {count:,}"
        for name, count in sorted(counted.items())
        if count and name.startswith((*WAITS, *CONGESTION))
    ]
