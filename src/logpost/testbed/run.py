"""A real MPI program on a simulated machine, in one call: what the command line and the experiments use.

run_on_testbed("alewife", workload="em3d", ranks=32, arguments=["--order", "original"]).archive
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from logpost.collectors.assemble import Archive
from logpost.collectors.testbed import build, run
from logpost.collectors.testbed.platform import Platform
from logpost.collectors.workloads.catalogue import workload as find_workload
from logpost.errors import InputError
from logpost.machines import load_machine
from logpost.machines.schema import Machine
from logpost.machines.schema.load import RECORDED
from logpost.machines.schema.write import to_toml
from logpost.machines.topologies import mapping as mappings
from logpost.testbed.machine import place_ranks, platform_of
from logpost.testbed.settings import apply, with_simulated_gap


@dataclass(frozen=True)
class TestbedRun:
    """The results of a run: archive is its directory (traces.otf2, platform.xml, machine.toml, ... inside)."""

    __test__ = False  # no test, whatever pytest thinks of the name

    archive: Path
    machine: Machine = field(repr=False)
    summary: Mapping[str, object]
    output: str
    host_s: float
    assumptions: tuple[str, ...] = field(default=())


def run_on_testbed(
    machine: str | Path | Machine,
    *,
    workload: str | None = None,
    sources: Sequence[str | Path] = (),
    arguments: Sequence[str] = (),
    ranks: int,
    mapping: mappings.Mapping | str | None = None,
    settings: Mapping[str, str] | None = None,
    output: str | Path = ".",
    capture: bool = True,
    timeout_s: float | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> TestbedRun:
    """Compile, run in simulated time, and leave an archive in a new directory below `output`.

    machine: a name of `logpost machines list`, a file, or a Machine. workload: "em3d", or "em3d/PROGRAM" for another
    program of it; else `sources`, C files. mapping: as `logpost testbed run --mapping`; by default the machine file's.
    settings: as `--set`, e.g. {"latency": "2us", "eager-limit": "0"}. capture: keep the program's output in the result
    instead of passing it on.

    Raises InputError: SimGrid is missing, the machine lacks something, the program does not compile, or it failed.
    """
    found = machine if isinstance(machine, Machine) else load_machine(machine)
    files, name = _program(workload, sources)
    if ranks < 1:
        raise InputError(f"ranks = {ranks} must be at least 1")
    simulated, choices = apply(found, settings or {})
    chosen = parse_mapping(mapping, ranks, simulated) if isinstance(mapping, str) else mapping
    platform = platform_of(simulated, place_ranks(simulated, ranks, chosen), choices)
    recorded = simulated if chosen is None else simulated.model_copy(update={"mapping": chosen})
    recorded = with_simulated_gap(recorded, platform.remote[-1].G_s_per_byte)
    program = build.build(files, name, say)
    job = run.Job(
        program=program,
        name=name,
        arguments=tuple(arguments),
        further_files={RECORDED: to_toml(recorded)},
        timeout_s=timeout_s,
    )
    result = run.run(job, platform, Path(output), capture=capture, say=say)
    archive = _checked(name, ranks, platform, result)
    return TestbedRun(
        archive=archive.path,
        machine=recorded,
        summary=archive.summary,
        output=result.output,
        host_s=result.host_s,
        assumptions=platform.assumptions,
    )


def _checked(name: str, ranks: int, platform: Platform, result: run.Run) -> Archive:
    """The archive of a run that went well. Raises InputError with what the program said last."""
    archive = result.archive
    kept = "" if archive is None else f"; what it did until then is in {archive.path}"
    if result.status != 0:
        said = _last_words(result.output)
        raise InputError(
            f"{name} ended with status {result.status} on the testbed{': ' if said else ''}{said.rstrip('.')}{kept}"
        )
    if archive is None:
        raise InputError(f"{name} did not complete MPI_Init, so there is nothing to assemble")
    finalized = archive.summary.get("finalized")
    if finalized != ranks:
        finite = platform.eager_limit is not None or platform.capacity is not None
        raise InputError(
            f"{name}: {finalized} of {ranks} ranks reached MPI_Finalize; the others aborted or wait for each other "
            "forever" + (" (also without --set eager-limit=none --set capacity=none?)" if finite else "") + kept
        )
    return archive


def _last_words(output: str) -> str:
    """The line of a failed program's output that says most: SimGrid's critical one, else the program's last."""
    lines = [line for line in output.splitlines() if line.strip()]
    critical = [line.split("/CRITICAL] ", 1)[1] for line in lines if "/CRITICAL] " in line]
    own = [line for line in lines if not line.startswith("[")]
    return (critical or own or [""])[-1]


def parse_mapping(text: str, ranks: int, machine: Machine) -> mappings.Mapping:
    """A mapping as the command line gives it: block[:RANKS_PER_NODE], random[:SEED], or a file of node numbers."""
    kind, _, rest = text.partition(":")
    if kind == "block":
        return mappings.parse_mapping(f"block:{rest or 1}")
    if kind == "random" and rest.count(":") == 0:
        nodes = machine.topology.n_nodes if machine.topology is not None else ranks
        return mappings.parse_mapping(f"random:{nodes}:{rest or 1}")
    if kind in ("cyclic", "random", "file"):
        return mappings.parse_mapping(text)
    if Path(text).exists():
        return mappings.parse_mapping(f"file:{text}")
    raise InputError(f"mapping {text!r} is neither block, random nor a file; a file has one node number per line")


def _program(workload: str | None, sources: Sequence[str | Path]) -> tuple[list[Path], str]:
    if workload is None:
        files = [Path(source) for source in sources]
        if not files:
            raise InputError("no program; give its C files, or --workload NAME (see `logpost workloads list`)")
        return files, re.sub(r"[^\w.-]", "_", files[0].stem)
    if sources:
        raise InputError(f"both the workload {workload} and the file {sources[0]}; give one of them")
    name, _, part = workload.partition("/")
    program = find_workload(name).program(part or None)
    if program.paradigm != "mpi":
        raise InputError(f"{program.name} is an OpenSHMEM program; the testbed runs MPI programs")
    return program.files(), program.name
