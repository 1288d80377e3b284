"""A program recorded on one network, predicted for others, and run on those."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.predict.whatif import Prediction, Replay
from logpost.analyzer.predict.whatif.plan import Ask
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program_ps
from logpost.collectors import record as recorder

from . import Link, Network, NoNetworkError, network

TRAFFIC = Path(__file__).with_name("traffic.c")


@dataclass(frozen=True)
class Program:
    """What is run: on how many nodes, and the command behind the launcher."""

    ranks: int
    command: tuple[str, ...]


def machine_file(link: Link) -> str:
    """A link as a machine: its delay and rate; the overheads of TCP are left to the trace's residual.

    Open MPI's TCP sends up to 64 KiB eagerly, its header included.
    """
    return (
        'format = 1\nname = "relay"\ntitle = "Nodes behind a relay"\ndate = "2026"\nkind = "documentation"\n'
        f'source = "RELAY"\n[sources.RELAY]\nkind = "manual"\ntext = "The relay is set to {link}"\n'
        '[loggp.other_node]\neager_limit = { value = 65472, unit = "B" }\n'
        f'L = {{ value = {link.delay_us}, unit = "us" }}\nG = {{ value = {link.ns_per_byte}, unit = "ns/B" }}\n'
        + "".join(f'{name} = {{ value = 0, unit = "us" }}\n' for name in ("o_s", "o_r", "g"))
    )


def settings(recorded: Link, planned: Link) -> tuple[str, ...]:
    """What changes of the machine when the link changes: L by its delay, G by the time of a byte on it."""
    by_us, by_ns = planned.delay_us - recorded.delay_us, planned.ns_per_byte - recorded.ns_per_byte
    return f"other_node.L={by_us:+.9g}us", f"other_node.G={by_ns:+.9g}ns/B"


def run(program: Program, link: Link, folder: Path) -> tuple[Run, Network]:
    """One run of the program on a network, recorded and analyzed; and what the network says of it.

    Raises:
        NoNetworkError: there can be none here.
        RuntimeError: the program failed.
    """
    folder.mkdir(parents=True)
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    options = recorder.Settings(folder, "openmpi", environment=environment)
    said: list[str] = []
    with network(folder, link, program.ranks) as net:
        command = (*net.launch, "-n", str(program.ranks), *program.command)
        made = recorder.record(command, options, said.append, said.append)
    if made.status != 0 or made.archive is None:
        raise RuntimeError(f"{' '.join(program.command)} ended with status {made.status}: {' '.join(said)}")
    machine = folder / "machine.toml"
    machine.write_text(machine_file(link))
    place = folder / "run"
    return Run.open(analyze(Request(str(made.archive.path / "traces.otf2"), str(place), machine=str(machine)))), net


def length_ps(run: Run) -> int:
    """Of the program on the slowest rank.

    In MPI_Init and MPI_Finalize Open MPI's daemons talk over the same network; no trace shows what.
    """
    length = run.facts("locations").filter("accounted").select(program_ps().max()).collect().item()
    assert isinstance(length, int)
    return length


def predictions(run: Run, recorded: Link, planned: list[Link]) -> list[Prediction]:
    """What the run would have taken on other links."""
    replay = Replay(run)
    return [replay.predict(Ask(settings=settings(recorded, link))) for link in planned]


def traffic(folder: Path) -> Path:
    """The program of `traffic.c`, built.

    Raises:
        NoNetworkError: Open MPI's compiler is not installed.
    """
    compiler = shutil.which("mpicc.openmpi")
    if compiler is None:
        raise NoNetworkError("mpicc.openmpi is not installed")
    program = folder / "traffic"
    subprocess.run([compiler, "-O2", "-o", str(program), str(TRAFFIC)], check=True)
    return program
