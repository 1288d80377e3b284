"""A machine with all of LogGP's values, drawn from a seed: a crossbar that has room for every program."""

from __future__ import annotations

from pathlib import Path
from random import Random

NODES = 16

FILE = """format = 1
name = "drawn_{seed}"
title = "A machine drawn from seed {seed}"
date = "2026-01"
kind = "publication"
source = "SEED"
units = ["us", "ns/B", "MB/s", "B", "MHz"]

[sources.SEED]
kind = "paper"
text = "tests/truth/mutations/machine.py, seed {seed}"

[clock]
processor = 1000

[topology]
kind = "crossbar"
nodes = {nodes}
link_bandwidth = {rate}

[loggp.other_node]
L = {L}
o_s = {o_s}
o_r = {o_r}
g = {g}
G = {G}
eager_limit = {eager}
"""


def machine(seed: int, folder: Path) -> Path:
    """Its file. Values are within those of the library's clusters (`machines/library`): L 1 to 10 us, o 0.5 to 3 us,
    100 MB/s to 2 GB/s."""
    rng = Random(f"{seed} machine")
    rate = rng.choice([100, 250, 500, 1000, 2000])
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"drawn_{seed}.toml"
    o_s, o_r = round(rng.uniform(0.5, 3), 2), round(rng.uniform(0.5, 3), 2)
    text = FILE.format(
        seed=seed,
        nodes=NODES,
        rate=rate,
        L=round(rng.uniform(1, 10), 2),
        o_s=o_s,
        o_r=o_r,
        g=round(max(o_s, o_r) * rng.uniform(0.5, 1.5), 2),
        G=1000 / rate,
        eager=rng.choice([4096, 16384]),
    )
    file.write_text(text)
    return file
