"""SENS's experiments: its mechanisms and applications on the testbed's Alewife, and how long each program ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Difference, Number
from logpost.experiments.support.alewife import CYCLE_NS, EDGE_CYCLES, FLOP_PER_SECOND, MACHINE, NODES
from logpost.experiments.support.programs import Simulated, simulate

if TYPE_CHECKING:
    from logpost.machines.schema import Machine, Range

POLLING_SAVES = 0.35
"""Of o_s + o_r (SENS 4.3: "Polling cuts this overhead by about 35 percent"); as collectors/workloads has it."""
MOST_WORDS, WORD = 14, 4
"""Arguments of a short message and their bytes (SENS 3.2)."""
IN_CELL = 4
"""Molecules of a cell of the face-centred lattice from which the program's liquid starts (SENS prints no size)."""
BASE_LATENCY = 15.0
"""Cycles from one node to another for 24 bytes (SENS Table 1)."""


@dataclass(frozen=True)
class Mechanism:
    """One of SENS's five."""

    name: str
    short: str
    """Below a bar."""
    arguments: tuple[str, ...]
    hue: int
    is_memory: bool = False
    """Loads and stores: hardware does the work, so the processor pays no o_s and o_r."""
    polls: bool = False

    @property
    def file(self) -> str:
        """In names of archives and runs."""
        return self.short.lower().replace("+", "-")


SHARED = Mechanism("shared memory", "SM", ("--mechanism", "shared"), 1, is_memory=True)
PREFETCH = Mechanism("shared memory, prefetching", "SM+PF", ("--mechanism", "prefetch"), 4, is_memory=True)
INTERRUPTS = Mechanism("messages, interrupts", "MP-I", ("--mechanism", "fine", "--receive", "interrupt"), 2)
POLLING = Mechanism("messages, polling", "MP-P", ("--mechanism", "fine", "--receive", "poll"), 0, polls=True)
BULK = Mechanism("bulk transfer", "bulk", ("--mechanism", "bulk"), 3)
MECHANISMS = (SHARED, PREFETCH, INTERRUPTS, POLLING, BULK)
MEMORY = (SHARED, PREFETCH)
MESSAGES = (POLLING, BULK)


@dataclass(frozen=True)
class Workload:
    """An application with its size."""

    application: str
    arguments: tuple[str, ...]
    said: str
    """What was simulated, against the paper's."""
    locks: bool = False
    """Of shared memory: "locking overhead while protecting updates to shared node data" (4.2, 4.4); ICCG's rides on the
    request (4.3)."""

    @property
    def program(self) -> str:
        """Of `logpost workloads list`."""
        return self.application.lower()


def kcycles(seconds: float) -> Number:
    """A simulated time in thousands of processor cycles, as SENS plots it (there: millions, of longer runs)."""
    return Number(seconds * 1e6 / CYCLE_NS, "kcycles")


def run_mechanism(
    context: Context,
    workload: Workload,
    mechanism: Mechanism,
    name: str,
    *,
    settings: Mapping[str, str] | None = None,
    more_latency: float = 0.0,
    ranks: int = NODES,
    keep: bool = True,
) -> Simulated:
    """Run an application with a mechanism, at the Alewife's cost of a flop.

    Args:
        context: of the experiment.
        workload: application and size.
        mechanism: one of SENS's.
        name: of the folder for the archive.
        settings: as `logpost testbed run --set`.
        more_latency: cycles added to L of every message.
        ranks: processors.
        keep: the archive.
    """
    locks = ["--locks"] if workload.locks and mechanism.is_memory else []
    return simulate(
        context,
        workload.program,
        [*workload.arguments, *mechanism.arguments, *locks],
        name,
        machine=machine_for(mechanism, more_latency),
        ranks=ranks,
        settings={"speed": f"{FLOP_PER_SECOND:.9g}", **(settings or {})},
        keep=keep,
    )


def machine_for(mechanism: Mechanism, more_latency: float = 0.0) -> Machine:
    """The Alewife as a mechanism sees it.

    Loads and stores cost the processor no o_s and o_r; polling takes 35 % of o_s + o_r off o_r; `more_latency` (cycles)
    is added to L. Short messages of up to fourteen words continue LOGPC's Table 1. Everything else is the
    machine file's.
    """
    from logpost.machines import load_machine
    from logpost.machines.schema import Source

    machine = load_machine(MACHINE)
    table = machine.loggp.other_node
    assert table is not None, "the Alewife's file has messages between nodes"
    ranges = []
    for one in _short_messages(table.range):
        assert one.L is not None
        assert one.o_s is not None
        assert one.o_r is not None
        o_s, o_r = one.o_s.number(), one.o_r.number()
        if mechanism.polls:
            o_r -= POLLING_SAVES * (o_s + o_r)
        if mechanism.is_memory:
            o_s = o_r = 0.0
        mine = {"source": "experiment", "where": None, "basis": "inferred", "note": "the file's, changed: see source"}
        ranges.append(
            one.model_copy(
                update={
                    "o_s": one.o_s.model_copy(update={"value": o_s, **mine}),
                    "o_r": one.o_r.model_copy(update={"value": o_r, **mine}),
                    "L": one.L.model_copy(update={"value": one.L.number() + more_latency, **mine}),
                }
            )
        )
    source = Source(kind="estimate", text=f"the Alewife as {mechanism.name} sees it (logpost experiments, SENS)")
    return machine.model_copy(
        update={
            "loggp": machine.loggp.model_copy(update={"other_node": table.model_copy(update={"range": ranges})}),
            "sources": {**machine.sources, "experiment": source},
        }
    )


def _short_messages(ranges: Sequence[Range]) -> list[Range]:
    """The file's ranges, and between its short messages (0 to 2 words) and its long ones those of 3 to 14 words.

    Table 1's o_s grows by 3 cycles a word, its o_r by 2.5; L stays. A value of two words and a message of five of them
    (48 bytes with its header) are short messages on the Alewife, not bulk transfers.
    """
    null, two, long = ranges[0], ranges[-2], ranges[-1]
    assert null.o_s is not None
    assert null.o_r is not None
    assert two.o_s is not None
    assert two.o_r is not None
    each = {
        "o_s": (two.o_s.number() - null.o_s.number()) / 2,
        "o_r": (two.o_r.number() - null.o_r.number()) / 2,
    }
    between = []
    for words in range(3, MOST_WORDS + 1):
        o_s = two.o_s.model_copy(update={"value": null.o_s.number() + words * each["o_s"]})
        o_r = two.o_r.model_copy(update={"value": null.o_r.number() + words * each["o_r"]})
        between.append(two.model_copy(update={"up_to_bytes": words * WORD, "o_s": o_s, "o_r": o_r, "g": o_s}))
    return [*ranges[:-1], *between, long]


EM3D = Workload(
    "EM3D",
    (
        *("--order", "improved", "--degree", "10", "--nonlocal", "0.2", "--span", "3", "--block", "5"),
        *("--cycle-ns", "50", "--edge-cycles", str(EDGE_CYCLES)),
    ),
    f"degree 10, 20 % non-local, span 3, 5 values a message: the paper's; {EDGE_CYCLES} cycles per edge",
)
UNSTRUC = Workload("UNSTRUC", (), "75 flop per edge, three values per node; a generated mesh for MESH2K", locks=True)
ICCG = Workload(
    "ICCG",
    ("--solves", "1", "--partition", "graph"),
    "2 flop per edge; a generated structural matrix for BCSSTK32, partitioned by recursive graph bisection",
)
MOLDYN = Workload("MOLDYN", (), "a generated liquid, recursive bisection; the paper prints no size", locks=True)


def sized(workload: Workload, arguments: Mapping[str, int], said: str) -> Workload:
    """The workload with a size."""
    given = tuple(word for name, value in arguments.items() for word in (f"--{name}", str(value)))
    return replace(workload, arguments=(*workload.arguments, *given), said=f"{said}; {workload.said}")


def workloads_of(*, nodes: int, mesh: int, brick: int, cells: int) -> tuple[Workload, ...]:
    """SENS's four applications.

    Args:
        nodes: of EM3D.
        mesh: nodes of UNSTRUC's mesh.
        brick: of ICCG's structure, elements along an edge.
        cells: of MOLDYN's liquid, along an edge, four molecules each.
    """
    return (
        sized(EM3D, {"nodes": nodes, "iterations": 1}, f"{nodes:,} nodes (10,000), 1 iteration (50)"),
        sized(UNSTRUC, {"nodes": mesh, "iterations": 1}, f"{mesh:,} nodes (2,000), 1 iteration"),
        sized(ICCG, {"brick": brick}, f"{3 * brick**3:,} rows (the paper's: 2 million elements)"),
        sized(MOLDYN, {"cells": cells, "steps": 1}, f"{IN_CELL * cells**3:,} molecules, 2 computations of the forces"),
    )


def limits() -> tuple[Difference, ...]:
    """What the testbed's shared memory is not; true of every SENS experiment."""
    return (
        Difference(
            "There is no cache-coherent memory: shared memory is MPI one-sided access, given the messages of the "
            "Alewife's protocol (request and data for a load, data and acknowledgement for an addition, invalidation "
            "and acknowledgement for a value that others have read), without o_s and o_r.",
            "SimGrid simulates MPI. A line is a value (8 bytes, or 24 for three doubles) instead of 16 bytes; nothing "
            "is evicted or shared falsely, LimitLESS never traps into software, a lock costs a miss and is never "
            "waited for, and local misses (11 cycles) are free. All of that would make shared memory slower, by 38 to "
            "66 cycles for each further miss and 425 or 707 for each trap (SENS Fig. 3); larger lines would make its "
            "volume larger.",
        ),
        Difference(
            "Barriers cost more with messages than with shared memory, and hardly depend on latency.",
            "They are SimGrid's: all ranks report to one, which replies to each. Its 31 receives follow one another "
            "and cost o_r each with messages, but only a gap with loads and stores; the latency passes by then.",
        ),
        Difference(
            "Absolute times are not the paper's.",
            "It prints none: its figures are plots, of inputs that it names but does not contain, and of longer runs.",
        ),
    )
