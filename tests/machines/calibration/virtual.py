"""Samples of machines whose truth is known: what the calibration programs would write there, with or without noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from logpost.collectors.calibration.simulated import Noise, Truth, issue_times
from logpost.machines.calibration.samples import Host, Sample, Samples
from logpost.machines.calibration.statistics import Statistics

HOST = Host(
    hosts=("n1", "n2"),
    cpus=("0", "0"),
    sockets=(0, 0),
    mpi_library="Virtual MPI 1.0",
    clock="MPI_Wtime",
    clock_resolution_s=1e-9,
    ranks=2,
    date="2026-11-21T12:00:00Z",
    launcher="mpirun -n 2",
)
SIZES = tuple(2**k for k in range(3, 21))
BURSTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Middle:
    """log3P's truth: o_mw and l_mw of both ends, seconds and seconds per byte or block."""

    o_mw: float = 1e-6
    o_mw_per_byte: float = 0.2e-9
    copy_per_byte: float = 0.1e-9
    copy: float = 0.05e-6
    per_block: float = 5e-9
    packed_per_block: float = 2e-9


@dataclass
class Virtual:
    """A machine that the calibration programs measure; `noise` is the relative scatter of each sample's median."""

    truth: Truth
    eager: int = 16384
    handshake: float = 4e-6
    HD: int = 32
    middle: Middle = field(default_factory=Middle)
    noise: float = 0.0
    reached: bool = True
    seed: int = 1
    locality: str = "other_node"

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self._points: list[Sample] = []

    def add(self, family: str, size: int, time: float, locality: str | None = None, **keys: int | float | str) -> None:
        """One point: the true time with five rounds of noise, the interval Student's over the rounds."""
        rounds = time * np.exp(self.noise * self._random.standard_normal(5))
        middle = float(np.median(rounds))
        # 2.776 = t(4, 97.5 %); 1.253: the median's standard error over the mean's.
        half = 2.776 * 1.253 * float(rounds.std(ddof=1)) / np.sqrt(5) if self.noise else 0.0
        found = Statistics(
            minimum_s=float(rounds.min()),
            median_s=middle,
            mean_s=float(rounds.mean()),
            half_width_s=half,
            samples=250,
            batches=5,
            reached=self.reached,
            rounds_s=tuple(rounds.tolist()),
        )
        self._points.append(Sample(family, locality or self.locality, size, keys, found))

    def one_way(self, size: int) -> float:
        """T(n), with the handshake above the eager limit."""
        t = self.truth
        return t.send(size) + t.wire(size) + t.receive(size) + (self.handshake if size > self.eager else 0.0)

    def samples(self, *, deltas: Sequence[float] = (0.0, 2e-6, 5e-6, 10e-6, 20e-6, 40e-6)) -> Samples:
        """Everything that a calibration measures."""
        self._points.clear()
        t = self.truth
        noise = Noise(self.noise) if self.noise else None
        for size in (8, 4096):
            for number, delta in enumerate(deltas):
                play = issue_times(t, max(BURSTS), delta, size=size, noise=noise, seed=self.seed + number)
                for burst in BURSTS:
                    self.add("signature", size, float(play[burst - 1]) / burst, burst=burst, delta_s=delta)
            self.add("round_trip", size, t.round_trip(size))
            self.add("stream", size, max(t.gap(size), t.send(size), t.receive(size)))
        self.add("receive_overhead", 8, t.o_r, burst=16, delta_s=1e-4)
        for peers in (2, 3):
            for burst in BURSTS:
                many = issue_times(t, burst, responders=peers)[-1] / burst
                crowd = issue_times(t, burst, requesters=peers)[-1] / burst
                self.add("one_to_many", 8, float(many), burst=burst, peers=peers)
                self.add("many_to_one", 8, float(crowd), burst=burst, peers=peers)
        for size in SIZES:
            rendezvous = size > self.eager
            self.add("message_overhead", size, t.send(size), side="send")
            self.add("message_overhead", size, t.send(size), side="blocking_send")
            # The receive of a rendezvous holds the transfer.
            held = self.handshake / 2 + t.wire(size) if rendezvous else 0.0
            self.add("message_overhead", size, t.receive(size) + held, side="receive")
            self.add("one_way", size, self.one_way(size))
            self.add("protocol", size, t.send(size) + (1e-3 if rendezvous else 0.0), delay_s=1e-3)
        for size in (8, 1024, 65536):
            for burst in (1, 2, 4, 8, 16, 32, 64):
                # 20 % of an initiation is paid once per burst; beyond HD each call waits for one transfer.
                once = 0.2 * t.send(size) / burst
                waiting = max(0, burst - self.HD) * (size * t.G + 3 * t.g) / burst
                self.add("burst_overhead", size, t.send(size) + once + waiting, burst=burst, side="send")
            self.add("blocking_depth", size, t.send(size), depth=self.HD, longest=64)
        for pattern, factor in (("neighbour", 1.0), ("cross_section", 2.0)):
            for pairs in (1, 2):
                for size in (1024, 65536):
                    time = size * t.G * (factor if pairs > 1 else 1.0)
                    low, high = 0.9 * time, 1.1 * time
                    self.add(
                        "pattern_gap", size, time, peers=2 * pairs, pairs=pairs, pattern=pattern, lowest_s=low,
                        highest_s=high,
                    )  # fmt: skip
        self._layouts()
        return Samples(HOST, tuple(self._points))

    def _layouts(self) -> None:
        m = self.middle
        for size in (1024, 4096, 16384):
            copy = m.copy + size * m.copy_per_byte
            o_mw = m.o_mw + size * m.o_mw_per_byte
            o_net = self.truth.L + size * self.truth.G
            dense: dict[str, Any] = {"form": "contiguous", "stride_bytes": size, "block_bytes": size}
            self.add("layout", size, copy, "self", transfer="memory_copy", **dense)
            self.add("layout", size, o_mw + copy, "self", transfer="self", **dense)
            self.add("layout", size, o_mw + o_net, transfer="remote", **dense)
            for stride in (16, 64, 256, 1024):
                blocks = size // 8
                for form, per_block in (("datatype", m.per_block), ("packed", m.packed_per_block)):
                    l_mw = blocks * per_block * (1 + stride / 1024)
                    sparse: dict[str, Any] = {"form": form, "stride_bytes": stride, "block_bytes": 8}
                    self.add("layout", size, o_mw + copy + l_mw, "self", transfer="self", **sparse)
                    self.add("layout", size, o_mw + o_net + l_mw, transfer="remote", **sparse)
