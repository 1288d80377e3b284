"""A recorded program as a list of operations, by way of the GOAL schedule that `logpost export` writes: computation and
messages in their order, collective operations as the messages that they are made of."""

from __future__ import annotations

import re
from pathlib import Path

from tests.truth.pairs.judge import logpost

from .script import Op, Program, Region

WORKLOADS: dict[str, tuple[str, ...]] = {
    "em3d": ("--iterations", "2", "--nodes", "200", "--degree", "8", "--order", "improved"),
    "unstruc": ("--nodes", "300", "--iterations", "4", "--mechanism", "bulk"),
    "moldyn": ("--cells", "6", "--steps", "4", "--rebuild", "2"),
    "diamond": ("--n", "256", "--blocks", "16"),
}
"""Applications of the papers, and arguments with which each lasts a second on the testbed."""
RANKS = 4
LINE = re.compile(
    r"(?P<label>\w+): (?:calc (?P<time>\d+)"
    r"|(?P<kind>send|recv) (?P<size>\d+)b (?:to|from) (?P<peer>\d+) tag (?P<tag>\d+))"
    r"|(?P<later>\w+) (?P<how>i?requires) (?P<first>\w+)"
)


def recorded(workload: str, machine: Path, folder: Path) -> Program:
    """An application on the testbed's machine; of a folder that was kept, the one there."""
    if not any(folder.glob("*/traces.otf2")):
        words = ("-m", machine, "-n", RANKS, "--workload", workload, "-o", folder, "--", *WORKLOADS[workload])
        logpost("testbed", "run", "-q", *words)
    (archive,) = folder.glob("*/traces.otf2")
    run, goal = folder / "recorded.run", folder / "recorded.goal"
    logpost("analyze", archive, "-o", run, "--force")
    logpost("export", run, "--to", "goal", "-o", goal, "--force")
    return program(workload, goal.read_text())


def program(name: str, goal: str) -> Program:
    """One region, played once, without noise: the computation is that of the recording."""
    ranks = re.split(r"^rank \d+ \{$", goal, flags=re.MULTILINE)[1:]
    return Program(name, 1, (Region("recorded", tuple(_operations(text) for text in ranks)),), seed=0, noise=0.0)


def _operations(text: str) -> tuple[Op, ...]:
    """In the order of the file. An operation that requires the end of receives waits for these and no others: a program
    that calls MPI_Waitany sends before the rest has arrived. Sends are nonblocking: a schedule states how long each
    keeps its rank."""
    lines = [found for found in map(LINE.match, text.splitlines()) if found is not None]
    ended: dict[str, set[str]] = {}
    for line in lines:
        if line["how"] == "requires":
            ended.setdefault(line["later"], set()).add(line["first"])
    ops: list[Op] = []
    pending: dict[str, Op] = {}
    for line in lines:
        if line["label"] is None:
            continue
        for label in [label for label in pending if label in ended.get(line["label"], set())]:
            receive = pending.pop(label)
            ops.append(Op("WAIT_RECEIVE", peer=receive.peer, tag=receive.tag))
        if line["kind"] is not None:
            kind = {"send": "ISEND", "recv": "IRECV"}[line["kind"]]
            ops.append(Op(kind, peer=int(line["peer"]), size=int(line["size"]), tag=int(line["tag"])))
            if line["kind"] == "recv":
                pending[line["label"]] = ops[-1]
        elif int(line["time"]):
            ops.append(Op("COMPUTE", us=int(line["time"]) / 1000, key=len(ops)))
    return (*ops, Op("WAITALL"))
