"""A machine file with values for every model, invented for tests: LogGP in two ranges, log3P, a DMA's gap."""

from __future__ import annotations

from pathlib import Path

from tests.machines.builders import stated

TABLES = """[[loggp.other_node.range]]
up_to_bytes = 1024
L = 1
o_s = 0.2
o_r = 0.3
g = 0.1
G = 0.001

[[loggp.other_node.range]]
L = 2
o_s = 0.4
o_r = {value = 0.5, uncertainty = 0.05}
g = 0.1
G = 0.0005

[[log3p.point]]
size_bytes = 1
o_mw = 0.5
o_net = 1

[[log3p.point]]
size_bytes = 65536
o_mw = 2
o_net = 40
"""


def write_whole_machine(folder: Path) -> str:
    """The file's path."""
    file = folder / "whole.toml"
    file.write_text(stated("whole", ("us", "us/B", "B"), TABLES))
    return str(file)
