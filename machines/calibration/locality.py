"""Extract one locality class from its samples: signatures, size ranges and eager limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from logpost.errors import InputError
from logpost.machines.calibration.estimate import Estimate, measured
from logpost.machines.calibration.fits import line
from logpost.machines.calibration.protocol import Switch, SwitchPoint, eager_limit
from logpost.machines.calibration.refusal import Refusal
from logpost.machines.calibration.samples import Sample, Samples
from logpost.machines.calibration.signature import CostPoint, Signature, extract
from logpost.machines.calibration.sizes import HANDSHAKE, SizeRange, size_ranges
from logpost.machines.profiles.choose import profile_of_library


@dataclass(frozen=True)
class LocalityValues:
    """All that is read off one class; what could not be is missing, with the reason in `refused` or `lacking`."""

    locality: str
    signatures: Mapping[int, Signature]
    """By bytes of the request."""
    ranges: tuple[SizeRange, ...]
    switch: Switch | None
    direct_o_r: Estimate | None
    """o_r of replies that wait, timed directly: the second opinion on the signature's."""
    round_trips: Mapping[int, Estimate]
    refused: tuple[Refusal, ...]
    lacking: tuple[str, ...]


def estimate(sample: Sample) -> Estimate:
    """The median with its interval over rounds."""
    return measured(sample.time)


def by_size(samples: Samples, family: str, **keys: int | float | str) -> dict[int, Estimate]:
    """Size -> estimate of the family's points with these keys; of several (bursts, delays) the last."""
    return {sample.bytes: estimate(sample) for sample in samples.of(family, **keys)}


def read_locality(samples: Samples, locality: str) -> LocalityValues:
    """Read one class. What its samples do not suffice for is named in `lacking`, never guessed."""
    place = f"loggp.{locality}"
    refused: list[Refusal] = []
    lacking: list[str] = []
    round_trips = by_size(samples, "round_trip", locality=locality)
    streams = by_size(samples, "stream", locality=locality)
    signatures: dict[int, Signature] = {}
    for size in sorted({sample.bytes for sample in samples.of("signature", locality=locality)}):
        here = place if not signatures else f"{place} ({size} B)"
        points = [
            CostPoint(int(s["burst"]), float(s["delta_s"]), estimate(s))
            for s in samples.of("signature", locality=locality, bytes=size)
        ]
        # RTT = 2 (o_s + L + o_r) holds for requests as small as the reply; the first signature is that.
        try:
            signatures[size] = extract(
                points, round_trips.get(size) if not signatures else None, place=here, stream=streams.get(size)
            )
        except InputError as error:
            lacking.append(str(error))
            continue
        refused += signatures[size].refused
    switch, more = eager_limit(
        [
            SwitchPoint(s.bytes, float(s["delay_s"]), min(s.time.rounds_s))
            for s in samples.of("protocol", locality=locality)
        ],
        place=f"{place}.eager_limit",
    )
    refused += more
    send = by_size(samples, "message_overhead", locality=locality, side="send")
    receive = by_size(samples, "message_overhead", locality=locality, side="receive")
    one_way = by_size(samples, "one_way", locality=locality)
    ranges: list[SizeRange] = []
    if send or receive or one_way:
        try:
            ranges, more = size_ranges(
                send,
                receive,
                one_way,
                place=place,
                switch=None if switch is None else switch.low,
                crossings=1 if _matches(samples) else HANDSHAKE,
            )
            refused += more
        except InputError as error:
            lacking.append(str(error))
    replies = [estimate(s) for s in samples.of("receive_overhead", locality=locality)]
    return LocalityValues(
        locality,
        signatures,
        tuple(ranges),
        switch,
        min(replies, key=lambda found: found.half_width, default=None),
        round_trips,
        tuple(refused),
        tuple(lacking),
    )


def _matches(samples: Samples) -> bool:
    """Whether the network matches both ends of a rendezvous, by the library's profile."""
    profile = profile_of_library(samples.host.mpi_library)
    return profile is not None and profile.values.get("synchronous_sends") == "match"


def steady_gap(points: list[Sample]) -> Estimate | None:
    """Time per message of long bursts: the slope of the burst's time over its last half; None without two bursts."""
    at = sorted(points, key=lambda sample: int(sample["burst"]))
    if len(at) < 2:
        return None
    last = at[len(at) // 2 :] if len(at) > 3 else at
    bursts = np.array([float(sample["burst"]) for sample in last])
    return line(bursts, [estimate(sample).scaled(int(sample["burst"])) for sample in last]).slope
