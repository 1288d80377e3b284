"""The site's network with a recording: Slurm's topology, the user's file, and what the recorder read on each host."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from logpost.errors import InputError

PATIENCE_S = 10.0
"""For scontrol, which a busy controller may keep waiting; the program is not started before."""
HOST_AND_TIME = 2
"""Lines."""
TOPOLOGY = "topology.txt"
"""The text that states the network, in the archive."""


def slurm_topology() -> str | None:
    """What `scontrol show topology` prints inside a Slurm job; None: no job, no scontrol, or no switches."""
    scontrol = shutil.which("scontrol")
    if "SLURM_JOB_ID" not in os.environ or scontrol is None:
        return None
    from logpost.machines.site.topology import parse_text

    try:
        done = subprocess.run(
            [scontrol, "show", "topology"], capture_output=True, text=True, errors="replace", timeout=PATIENCE_S,
            check=False,
        )  # fmt: skip
        if done.returncode == 0:
            parse_text(done.stdout, "scontrol show topology")
            return done.stdout
    except (OSError, subprocess.TimeoutExpired, InputError):
        pass  # without a network the report says that it is not known
    return None


def keep(raw: Path, archive: Path) -> None:
    """Put what was read about the network next to the archive."""
    topology = raw / TOPOLOGY
    if topology.is_file():
        shutil.copyfile(topology, archive / TOPOLOGY)
    # Without adapters and a place in Slurm's network, a host has but its name and the time.
    texts = {path: _text(path) for path in sorted(raw.glob("network.*.before"))}
    read = {path: text for path, text in texts.items() if len(text.splitlines()) > HOST_AND_TIME}
    if not read:
        return
    from logpost.machines.site.recorded import HostNetwork, recorder_lines, write_hosts

    hosts: dict[str, HostNetwork] = {}
    for path, begun in read.items():
        after = path.with_suffix(".after")
        before, ended = recorder_lines(begun), recorder_lines(_text(after) if after.is_file() else "")
        if "host" in before:
            hosts[before["host"]] = HostNetwork(before, ended)
    if hosts:
        write_hosts(archive, hosts)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
