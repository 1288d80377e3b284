"""What a trace does not identify is an interval that holds the truth: a machine is estimated from traces that lack it.

Messages of one size show o_s(B), not o_s and its slope; the slope of messages over two sizes is G and what a byte costs
both processors; L + o_s + o_r is known where none of the three is.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.machines.builders import stated

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import MachineValue
from logpost.analyzer.words.units import PS

pytestmark = pytest.mark.testbed

SOURCE = Path(__file__).parent / "estimated.c"
HEADER = Path(__file__).parents[2] / "collectors" / "workloads" / "logpost_compute.h"
MACHINE = stated(
    "truth",
    ("us", "ps/B", "B"),
    """topology = {kind = "crossbar", nodes = 4}
loggp.other_node = {L = 1.5, o_s = 0.4, o_s_per_byte = 10, o_r = 0.5, o_r_per_byte = 20, g = 0.6, G = 100}
""",
)
TRUTH = {"L": 1.5e6, "o_s": 0.4e6, "o_s_per_byte": 10, "o_r": 0.5e6, "o_r_per_byte": 20, "g": 0.6e6, "G": 100}
TRUTH |= {"L + o_s + o_r": 2.4e6}
"""In ps and ps per byte."""
ROUNDING = 1000.0
"""ps: the testbed's clock counts nanoseconds."""
HOW = {"one size": 1, "two sizes": 2, "receives that find their messages": 3, "receives at one instant": 4}


@pytest.fixture(scope="module", params=HOW)
def values(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, MachineValue]:
    """The estimate of a trace, by parameter."""
    folder = tmp_path_factory.mktemp("estimated")
    (folder / "truth.toml").write_text(MACHINE)
    for file in (SOURCE, HEADER):
        (folder / file.name).write_text(file.read_text())
    words = ["testbed", "run", "-q", "-m", "truth.toml", "-n", "4", "-o", "out", SOURCE.name]
    command = [sys.executable, "-m", "logpost.cli.app", *words, "--", str(HOW[request.param])]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("out/*/traces.otf2")
    run = Run.open(analyze(Request(archive=str(archive), run=str(folder / "run"), machine="estimate")))
    return {value.parameter: value for value in run.manifest.machine.values if value.locality == "other_node"}


def test_every_interval_holds_the_truth(values: dict[str, MachineValue]) -> None:
    assert set(values) >= TRUTH.keys()
    for name, truth in TRUTH.items():
        value = values[name]
        assert value.low is not None
        assert value.high is not None
        unit = PS[value.unit.partition("/")[0]]
        off = ROUNDING if "/" not in value.unit else 1e-2
        assert value.low * unit - off <= truth <= value.high * unit + off, name


def test_what_is_known_together_is_stated_together(
    values: dict[str, MachineValue], request: pytest.FixtureRequest
) -> None:
    how = request.node.callspec.params["values"]
    if how == "one size":
        assert "with 4096 times the value per byte" in (values["o_s"].reason or "")
        assert values["o_s_per_byte"].bound_only
    if how == "two sizes":
        # 100 + 10 + 20 ps/B are known as a sum, and so is L + o_s + o_r.
        assert "with what a byte costs both processors 130 to 130" in (values["G"].reason or "")
        assert not values["L + o_s + o_r"].bound_only
        assert values["L"].bound_only
    if "receives" in how:
        assert values["o_r"].bound_only or values["o_r"].low == pytest.approx(TRUTH["o_r"], rel=0.01)
