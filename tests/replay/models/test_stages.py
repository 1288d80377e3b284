"""The staged models as the replay engine sees them: one interface, names, which waits to add."""

from __future__ import annotations

import numpy as np
import pytest

from logpost.replay.models import (
    Log3P,
    Log3PTable,
    LogGP,
    LogGPParameters,
    LogP,
    LoGPC,
    LoPC,
    Messages,
    MessageStages,
    ModelError,
    Overlap,
    OverlapProfile,
    StagedModel,
)
from logpost.replay.models.papers.alewife import ALEWIFE_LONG, ALEWIFE_SHORT
from logpost.replay.models.units import MICROSECOND, NANOSECOND

US = LogGPParameters(L=5, o_s=1, o_r=2, g=3, G=0.5, unit=MICROSECOND)
TABLE = Log3PTable.from_points(
    contiguous=[(1, 2, 10), (1024, 4, 20)], strided=[(1, 64, 1), (1024, 64, 8)], unit=MICROSECOND
)
PROFILE = OverlapProfile.constant(o=3, G=0.5, L_roundtrip=10, unit=MICROSECOND)
MODELS: tuple[tuple[StagedModel, str, set[str]], ...] = (
    (LogP(US), "logp", set()),
    (LogGP(US), "loggp", set()),
    (LoPC(US), "lopc", {"processor"}),
    (LoGPC(ALEWIFE_SHORT, ALEWIFE_LONG, long_from=64), "logpc", {"network", "processor"}),
    (Log3P(TABLE), "log3p", set()),
    (Overlap(PROFILE), "overlap", set()),
)


@pytest.mark.parametrize(("staged", "name", "contention"), MODELS, ids=[name for _, name, _ in MODELS])
def test_one_interface(staged: StagedModel, name: str, contention: set[str]) -> None:
    assert isinstance(staged, StagedModel)
    assert staged.name == name
    assert staged.contention == contention
    batch = Messages(size=np.array([0.0, 1.0, 64.0, 1e6]), stride=np.array([0.0, 0.0, 64.0, 0.0]))
    table = staged.stages(batch).picoseconds()
    for column in table.values():
        assert column.shape == (4,)
        assert column.dtype == np.int64
        assert (column >= 0).all()
    one = staged.stages(Messages(size=64.0, stride=64.0))
    assert {key: int(column) for key, column in one.picoseconds().items()} == {
        key: int(column[2]) for key, column in table.items()
    }


def test_messages_are_contiguous_and_alone_unless_said() -> None:
    batch = Messages(size=1024.0)
    assert (batch.stride, batch.burst) == (0.0, 1.0)
    assert Log3P(TABLE).stages(batch).total == 24  # 4 + 20, no l_mw
    assert Log3P(TABLE).stages(Messages(size=1024.0, stride=64.0)).total == 32


def test_transport_and_total() -> None:
    # 11 bytes: 1 | 5 + 5 | 2
    stages = LogGP(US).stages(Messages(size=11.0))
    assert (stages.transport, stages.total) == (10, 13)


def test_picoseconds_are_rounded_to_nearest() -> None:
    stages = MessageStages(
        send_overhead=0.0004, send_middleware=0.0006, latency=1.5, serialization=0, recv_middleware=0, recv_overhead=0,
        gap=0, unit=NANOSECOND,
    )  # fmt: skip
    table = stages.picoseconds()
    assert [int(table[name]) for name in ("send_overhead", "send_middleware", "latency")] == [0, 1, 1500]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": -1.0}, r"size = -1 must be at least 0"),
        ({"size": 1.0, "stride": -8.0}, r"stride = -8 must be at least 0"),
        ({"size": 1.0, "burst": 0.0}, r"burst = 0 must be at least 1"),
    ],
)
def test_bad_messages(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Messages(**arguments)


def test_an_overlap_profile_of_one_pattern_serves_every_schedule() -> None:
    highest = OverlapProfile.from_tables(
        overhead=[(1, 1, 1)], gap=[(2, 1, "N", "h", 0.25)], L_roundtrip=1, unit=MICROSECOND
    )
    assert highest.G(2, 100) == highest.G(2, 100, interleaved=True) == 0.25
