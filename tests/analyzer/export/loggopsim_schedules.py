"""Schedules for LogGOPSim: exchanges whose messages arrive before their receives, at busy processors and NICs.

`python -m tests.analyzer.export.loggopsim_schedules DIRECTORY` runs LogGOPSim and its txt2bin, which that directory
has, on each of them, and writes what it prints to tests/data/loggopsim.json. That file was made with commit 76451de of
github.com/spcl/LogGOPSim, built by its own Makefile (-O0).
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PRINTED = Path(__file__).parents[2] / "data" / "loggopsim.json"

Machine = dict[str, int]
MACHINES: dict[str, Machine] = {
    "overhead": {"L": 2000, "o": 500, "g": 0, "G": 0, "S": 65535},
    "gap": {"L": 1500, "o": 400, "g": 900, "G": 2, "S": 65535},
    "rendezvous": {"L": 800, "o": 300, "g": 500, "G": 1, "S": 200},
    "nothing": {"L": 1000, "o": 0, "g": 0, "G": 0, "S": 65535},
}


def halo(ranks: int, steps: int) -> list[list[str]]:
    """Every rank computes, sends to both neighbours on a ring, and receives from both."""
    drawn = random.Random(1)
    found = []
    for rank in range(ranks):
        left, right = (rank - 1) % ranks, (rank + 1) % ranks
        lines = []
        for step in range(steps):
            lines += [
                f"calc {drawn.randrange(500, 3000)}",
                f"send 100b to {right} tag {step}",
                f"send 100b to {left} tag {step}",
                f"recv 100b from {left} tag {step}",
                f"recv 100b from {right} tag {step}",
            ]
        found.append([f"l{i}: {line}" for i, line in enumerate(lines)])
        found[-1] += [f"l{i} requires l{i - 1}" for i in range(1, len(lines))]
    return found


def exchange(ranks: int, steps: int, seed: int) -> list[list[str]]:
    """Every rank posts its receives and starts its sends, computes, and waits for all: sizes, order and work drawn."""
    drawn = random.Random(seed)
    sizes = [[[drawn.choice((1, 64, 150, 4000)) for _ in range(ranks)] for _ in range(ranks)] for _ in range(steps)]
    found = []
    for rank in range(ranks):
        operations: list[str] = []
        edges: list[str] = []
        before = -1
        for step in range(steps):
            others = [one for one in range(ranks) if one != rank]
            started: list[int] = []
            for kind in ("recv", "send"):
                drawn.shuffle(others)
                for other in others:
                    size = sizes[step][other][rank] if kind == "recv" else sizes[step][rank][other]
                    towards = "from" if kind == "recv" else "to"
                    number = len(operations)
                    operations.append(f"l{number}: {kind} {size}b {towards} {other} tag {step}")
                    if started:
                        edges.append(f"l{number} irequires l{started[-1]}")
                    elif before >= 0:
                        edges.append(f"l{number} requires l{before}")
                    started.append(number)
            work = len(operations)
            operations += [f"l{work}: calc {drawn.randrange(100, 9000)}", f"l{work + 1}: calc 0"]
            edges.append(f"l{work} irequires l{started[-1]}")
            edges += [f"l{work + 1} requires l{one}" for one in (*started, work)]
            before = work + 1
        found.append(operations + edges)
    return found


def funnel(ranks: int) -> list[list[str]]:
    """All send to rank 0, which computes first, and receives by a second processor and NIC from the odd ones."""
    first = ["l0: calc 5000"]
    for rank in range(1, ranks):
        second = " cpu 1 nic 1" if rank % 2 else ""
        first.append(f"l{rank}: recv {40 * rank}b from {rank} tag 0{second}")
    first += [f"l{rank} requires l0" for rank in range(1, ranks)]
    rest = []
    for rank in range(1, ranks):
        second = " cpu 1 nic 1" if rank % 2 else ""
        rest.append([f"l0: calc {100 * rank}", f"l1: send {40 * rank}b to 0 tag 0{second}", "l1 requires l0"])
    return [first, *rest]


SCHEDULES = {
    "halo": halo(8, 6),
    "exchange 1": exchange(4, 3, 1),
    "exchange 2": exchange(6, 2, 2),
    "exchange 3": exchange(7, 4, 3),
    "funnel": funnel(9),
}


def text_of(ranks: list[list[str]]) -> str:
    """GOAL's text form."""
    blocks = [f"rank {number} {{\n" + "\n".join(lines) + "\n}\n" for number, lines in enumerate(ranks)]
    return f"num_ranks {len(ranks)}\n\n" + "\n".join(blocks)


def main(directory: Path) -> None:
    """Ask LogGOPSim."""
    printed: dict[str, dict[str, list[int]]] = {}
    with tempfile.TemporaryDirectory() as name:
        text, binary = Path(name) / "a.goal", Path(name) / "a.bin"
        for schedule, ranks in SCHEDULES.items():
            text.write_text(text_of(ranks))
            subprocess.run([directory / "txt2bin", "-i", text, "-o", binary], check=True, capture_output=True)
            for machine, values in MACHINES.items():
                options = [part for key, value in values.items() for part in (f"-{key}", str(value))]
                command = [str(directory / "LogGOPSim"), "-f", str(binary), *options]
                said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                times = [int(one) for one in re.findall(r"^Host \d+: (\d+)$", said, re.MULTILINE)]
                assert len(times) == len(ranks), said
                printed.setdefault(schedule, {})[machine] = times
    PRINTED.write_text(json.dumps(printed, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
