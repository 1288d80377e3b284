"""A machine on which data with gaps have a price, and recorded programs that are split on it."""

from __future__ import annotations

from tests.analyzer.in_process import analyze
from tests.collectors import recording
from tests.machines.builders import stated

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

_TABLES = """[loggp.other_node]
L = 1
o_s = 1
o_r = 1
g = 0
G = 0.01
[[log3p.point]]
size_bytes = 64
stride_bytes = 48
block_bytes = 16
l_mw = 20
alone = true
[[log3p.point]]
size_bytes = 64
stride_bytes = 24
block_bytes = 8
l_mw = 40
alone = true
"""


def split_with_prices(result: recording.Result) -> Run:
    """The run of a recorded program, on that machine."""
    machine = result.folder / "ours.toml"
    machine.write_text(stated("ours", ("ns", "ns/B"), _TABLES))
    return Run.open(analyze(Request(str(result.archive), str(result.folder / "priced.run"), machine=str(machine))))
