"""A calibration of simulated platforms, by the programs as they run on real machines, recovers the platforms.

The simulator charges 16 bytes of header with each message, o_s in each send, o_r in each receive of an eager message
and POLL for each look for a reply; a rendezvous is charged neither o_s nor o_r in its transfer.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from logpost.collectors.calibration.grid import Grid
from logpost.collectors.calibration.measure import measure
from logpost.machines.calibration.compose import Calibration, calibration
from logpost.machines.parameters.feeds import feeds

from .launchers import Simulated

HEADER, POLL = 16, 1e-7
GRID = Grid(
    sizes=(1, 8, 64, 512, 2048, 8192, 32768, 131072, 262144, 1048576),
    signature_sizes=(8,),
    bursts=(1, 2, 4, 8, 16, 32, 64, 128),
    burst_sizes=(8, 4096),
    burst_lengths=(1, 4, 16),
    depth_sizes=(8,),
    gap_sizes=(65536,),
    layout_sizes=(1024, 4096),
    strides=(64,),
    largest_eager=131072,
)


@dataclass(frozen=True)
class Platform:
    """The simulator's parameters, in seconds and bytes."""

    L: float
    G: float
    o_s: float
    o_r: float
    eager: int


PLATFORMS = {
    "cluster": Platform(L=10e-6, G=1e-9, o_s=5e-6, o_r=7e-6, eager=65536),
    "long latency": Platform(L=100e-6, G=8e-9, o_s=2e-6, o_r=3e-6, eager=16384),
}


@pytest.fixture(scope="module", params=PLATFORMS, ids=[name.replace(" ", "-") for name in PLATFORMS])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Platform, Calibration]:
    platform = PLATFORMS[request.param]
    folder = tmp_path_factory.mktemp("platform")
    cluster = Simulated(
        folder, hosts=4, L=platform.L, G=platform.G, o_s=platform.o_s, o_r=platform.o_r, eager=platform.eager, poll=POLL
    )
    # Simulated time is exact: one pass and batches of four show all.
    samples = measure(cluster.launch, output=folder / "s.jsonl", grid=GRID, passes=1, budget_s=1e4, batch=4)
    return platform, calibration(samples, name="simulated")


def test_the_ranges_hold_the_platform(found: tuple[Platform, Calibration]) -> None:
    platform, calibrated = found
    table = calibrated.machine.loggp.of("other_node")
    assert table is not None
    small = table.range[0]
    truth = {"L": platform.L + HEADER * platform.G, "o_s": platform.o_s, "o_r": platform.o_r, "G": platform.G}
    for name, value in truth.items():
        quantity = getattr(small, name)
        assert quantity is not None, name
        per_byte = 1e12
        assert quantity.base() == pytest.approx(value * per_byte, rel=0.05), name
    for r in table.range:
        assert r.G is not None
        assert r.G.base() == pytest.approx(platform.G * 1e12, rel=0.05)
        assert r.o_s is not None
        assert r.o_s.base() == pytest.approx(platform.o_s * 1e12, rel=0.05)


def test_the_signature_holds_the_platform(found: tuple[Platform, Calibration]) -> None:
    platform, calibrated = found
    signature = calibrated.localities["other_node"].signatures[8]
    # Each request is followed by one or two looks, which LOGP's method cannot distinguish from o_r.
    looks = 2 * POLL
    assert signature.o_s is not None
    assert signature.o_r is not None
    assert signature.L is not None
    assert signature.g is not None
    assert platform.o_s * 0.95 <= signature.o_s.value <= (platform.o_s + POLL) * 1.05
    both = signature.o_s.value + signature.o_r.value
    assert (platform.o_s + platform.o_r) * 0.95 <= both <= (platform.o_s + platform.o_r + looks) * 1.05
    # No separate interface: a stream is as fast as the slower processor.
    assert signature.bounded
    assert signature.g.value == 0
    assert signature.g.high == pytest.approx(max(platform.o_s, platform.o_r), rel=0.1)
    assert signature.L.value == pytest.approx(platform.L + 24 * platform.G, rel=0.05, abs=looks)


def test_the_switch_is_found_to_the_byte(found: tuple[Platform, Calibration]) -> None:
    platform, calibrated = found
    limit = calibrated.machine.loggp.eager_limit("other_node")
    assert limit is not None
    # The platform's threshold is the first size that is not sent at once.
    assert limit.base() == platform.eager - 1
    assert limit.interval == (platform.eager - 1, platform.eager - 1)


def test_the_file_feeds_the_models(found: tuple[Platform, Calibration]) -> None:
    _, calibrated = found
    gaps = feeds(calibrated.machine)
    assert gaps["LogP"] == gaps["LogGP"] == gaps["LoPC"] == []
    # The simulator's queues have no end, so there is no HD to find.
    assert gaps["overlap"] == ["overlap.HD"]
