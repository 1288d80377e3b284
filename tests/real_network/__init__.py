"""Nodes of this machine on a network of known delay and rate, and MPI over TCP between them.

A relay (`relay.c`) makes the nodes: namespaces of network, host name and processes, joined by a switch that adds a
one-way delay and serializes at a rate. TCP, its stack and the MPI library are the real ones; what no cluster has is
that all nodes share this machine's processors. All ranks read one clock.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).with_name("relay.c")
LIFE_S = 60
"""No network outlives this, whatever becomes of the process that made it."""
_START_S = 10.0


class NoNetworkError(Exception):
    """This machine cannot have such a network; says why."""


@dataclass(frozen=True)
class Link:
    """One-way delay, and rate of each node's link (0: without limit)."""

    delay_us: float
    mbit_per_s: float

    @property
    def ns_per_byte(self) -> float:
        """The time of a byte of a message on the link, with its share of the headers (IP and TCP, 52 of 9000 bytes)."""
        return 8e3 / self.mbit_per_s * 9000 / (9000 - 52) if self.mbit_per_s else 0.0

    def __str__(self) -> str:
        rate = f"{self.mbit_per_s / 1e3:g} Gbit/s" if self.mbit_per_s >= 1e3 else f"{self.mbit_per_s:g} Mbit/s"
        return f"{self.delay_us:g} us, {rate}"


@dataclass
class Network:
    """`launch`: an Open MPI launcher with its options, one rank per node; `-n` is still to be given."""

    launch: tuple[str, ...]
    realtime: bool
    """whether the relay has the processors before the ranks"""
    carried: dict[str, float] = field(default_factory=dict)
    """what the relay says when the network is gone: packets, bytes, dropped, mean_late_us, most_late_us"""


@contextlib.contextmanager
def network(folder: Path, link: Link, nodes: int = 2) -> Iterator[Network]:
    """The network, as long as the context lasts; afterwards no process and no device of it is left.

    Raises:
        NoNetworkError: there can be none here.
    """
    relay = _built(folder)
    command = [str(relay), str(nodes), f"{link.delay_us * 1e3:.0f}", f"{link.mbit_per_s * 1e6:.0f}", str(LIFE_S)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            ready, _, _ = select.select([process.stdout], [], [], _START_S)
            line = process.stdout.readline() if ready else ""
            if not line:
                process.kill()
                _, reason = process.communicate(timeout=_START_S)
                raise NoNetworkError(reason.strip() or f"the relay was not up in {_START_S:g} s")
            started = json.loads(line)
            found = Network(_launcher(folder, started["nodes"], realtime=started["realtime"]), started["realtime"])
            yield found
            process.stdin.close()
            last = process.stdout.readline()
            found.carried.update(json.loads(last) if last else {})
        finally:
            with contextlib.suppress(OSError):
                process.stdin.close()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()


def _built(folder: Path) -> Path:
    for program in ("cc", "nsenter", "taskset", "chrt", "mpirun.openmpi"):
        if shutil.which(program) is None:
            raise NoNetworkError(f"{program} is not installed")
    relay = folder / "relay"
    if not relay.is_file():
        subprocess.run(["cc", "-O2", "-o", str(relay), str(SOURCE)], check=True)
    return relay


def _launcher(folder: Path, processes: list[int], *, realtime: bool) -> tuple[str, ...]:
    """mpirun on the first node, whose agent starts daemons on the others."""
    processors = sorted(os.sched_getaffinity(0))
    # Ranks poll and yield: to each other and to their daemons, but not to other programs, whose turns are longer than
    # any message. The relay has priority over them, and ends them after LIFE_S.
    before = "chrt -f 1 " if realtime else ""
    # Everything has the process ids of the first node, and ends with it.
    on = [
        f"nsenter -t {process} -n -u {'' if node else '-p '}{before}taskset -c {processors[node % len(processors)]}"
        for node, process in enumerate(processes)
    ]
    cases = "".join(f'10.77.0.{node + 1}) exec {command} sh -c "$*" ;;\n' for node, command in enumerate(on))
    agent = folder / "agent"
    # Open MPI calls its agent as ssh: HOST and one or more words of a shell command.
    agent.write_text(f'#!/bin/sh\nhost=$1\nshift\ncase "$host" in\n{cases}esac\nexit 1\n')
    agent.chmod(0o755)
    settings = {
        "plm_rsh_agent": str(agent),
        "btl": "tcp,self",
        "btl_tcp_if_include": "link",
        "oob_tcp_if_include": "link",
        "mpi_yield_when_idle": "1",
    }
    options = [word for name, value in settings.items() for word in ("--mca", name, value)]
    hosts = ",".join(f"10.77.0.{node + 1}:1" for node in range(len(processes)))
    return (*on[0].split(), "mpirun.openmpi", "--bind-to", "none", *options, "-H", hosts, "--map-by", "node")
