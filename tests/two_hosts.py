"""Two hosts on this machine, as far as MPI and the clocks can see.

Each is a separate network namespace with its own host name, joined by a virtual cable; the second one's
monotonic clocks are shifted. Open MPI starts ranks on them as on a cluster, and they talk over TCP. What is measured
between them is a real network stack on one machine: the truth about the clocks is known, times are not a cluster's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class NotHereError(Exception):
    """This machine cannot have two hosts; says why."""


@dataclass(frozen=True)
class TwoHosts:
    """`launch`: an Open MPI launcher with its options, whose ranks take turns on the two hosts. The second one's
    monotonic clocks are ahead by `shift_s`."""

    launch: tuple[str, ...]
    names: tuple[str, str] = ("nodea", "nodeb")
    shift_s: int = 1000


@contextlib.contextmanager
def two_hosts(folder: Path) -> Iterator[TwoHosts]:
    """The hosts, as long as the context lasts; raises NotHereError where there can be none."""
    for program in ("ip", "unshare", "taskset", "mpirun.openmpi"):
        if shutil.which(program) is None:
            raise NotHereError(f"{program} is not installed (packaging/apt-optional.txt)")
    spaces = [f"lp{os.getpid()}{side}" for side in "ab"]
    try:
        _join(*spaces)
        first = _on(folder, "first", spaces[0], TwoHosts.names[0], processor=0)
        second = _on(folder, "second", spaces[1], TwoHosts.names[1], processor=-1, shift_s=TwoHosts.shift_s)
        _run(str(second), "true")
        yield TwoHosts((str(first), *_mpirun(folder, second)))
    finally:
        for space in spaces:
            subprocess.run(["ip", "netns", "delete", space], capture_output=True, check=False)


def _join(a: str, b: str) -> None:
    """Two namespaces and the cable between them."""
    for space in (a, b):
        _run("ip", "netns", "add", space)
    _run("ip", "link", "add", "cable", "netns", a, "type", "veth", "peer", "name", "cable", "netns", b)
    for space, address in ((a, "10.77.0.1/24"), (b, "10.77.0.2/24")):
        _run("ip", "-n", space, "address", "add", address, "dev", "cable")
        for device in ("lo", "cable"):
            _run("ip", "-n", space, "link", "set", device, "up")


def _on(folder: Path, script: str, space: str, name: str, *, processor: int, shift_s: int = 0) -> Path:
    """A script that runs a command on a host, on the processor of that number among those that may be used."""
    cpu = sorted(os.sched_getaffinity(0))[processor]
    clocks = f"--time --fork --monotonic {shift_s} --boottime {shift_s}" if shift_s else ""
    path = folder / script
    path.write_text(
        "#!/bin/sh\n"
        f"exec ip netns exec {space} unshare --uts {clocks} taskset -c {cpu} "
        f'sh -c \'hostname {name}; exec "$@"\' sh "$@"\n'
    )
    path.chmod(0o755)
    return path


def _mpirun(folder: Path, second: Path) -> list[str]:
    # Open MPI calls its agent as ssh: HOST and one or more words of a shell command.
    agent = folder / "agent"
    agent.write_text(f'#!/bin/sh\nshift\nexec "{second}" sh -c "$*"\n')
    agent.chmod(0o755)
    settings = {
        "plm_rsh_agent": str(agent),
        "btl": "tcp,self,vader",
        "btl_tcp_if_include": "cable",
        "oob_tcp_if_include": "cable",
    }
    options = [word for name, value in settings.items() for word in ("--mca", name, value)]
    return ["mpirun.openmpi", "--bind-to", "none", *options, "-H", "10.77.0.1:4,10.77.0.2:4", "--map-by", "node"]


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = done.stderr.strip() or f"status {done.returncode}"
        raise NotHereError(f"{' '.join(command)}: {reason}")
