"""Random parameters for the property tests: times in microseconds, realistic and extreme."""

from __future__ import annotations

from hypothesis import strategies as st

from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import MICROSECOND

times = st.floats(0.0, 1e4, allow_subnormal=False)
gaps_per_byte = st.floats(0.0, 10.0, allow_subnormal=False)
sizes = st.integers(1, 2**30).map(float)
counts = st.integers(1, 10_000).map(float)


@st.composite
def parameters(draw: st.DrawFn) -> LogGPParameters:
    return LogGPParameters(
        L=draw(times),
        o_s=draw(times),
        o_r=draw(times),
        g=draw(times),
        G=draw(gaps_per_byte),
        O=draw(gaps_per_byte),
        unit=MICROSECOND,
    )
