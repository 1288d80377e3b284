"""A mapping as files for the launchers: Open MPI's rankfile, and a host file that MPICH's Hydra deals ranks from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from logpost.analyzer.predict.whatif.elsewhere import Ranks
from logpost.analyzer.predict.whatif.mapping import Seats
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.machines import load_machine
from logpost.whole_file import refuse_existing, write_whole


def hosts_of(run: Run, seats: Seats) -> list[str]:
    """The host of each rank.

    Raises:
        InputError: a rank sits on a node whose host the trace does not name.
    """
    before = Ranks.of(run).seats(load_machine(run.machine_file))
    rows = run.facts("locations").filter(pl.col("rank") >= 0).sort("rank").select("host").collect()
    names = dict(zip(before.nodes.tolist(), rows["host"].to_list(), strict=True))
    unknown = sorted({node for node in seats.nodes.tolist() if not names.get(node)})
    if unknown:
        raise InputError(
            f"node {unknown[0]} has no host in the trace: a rankfile can be written for the nodes that the run had"
        )
    return [names[node] for node in seats.nodes.tolist()]


def open_mpi(hosts: Sequence[str]) -> str:
    """`mpirun --rankfile FILE`: the k-th rank of a host on its k-th core."""
    seen: Counter[str] = Counter()
    lines = []
    for rank, host in enumerate(hosts):
        lines.append(f"rank {rank}={host} slot={seen[host]}\n")
        seen[host] += 1
    return "".join(lines)


def mpich(hosts: Sequence[str]) -> str:
    """`mpiexec -f FILE`: Hydra deals the ranks to the lines one by one."""
    lines: list[tuple[str, int]] = []
    for host in hosts:
        if lines and lines[-1][0] == host:
            lines[-1] = (host, lines[-1][1] + 1)
        else:
            lines.append((host, 1))
    return "".join(f"{host}:{count}\n" for host, count in lines)


def write_rankfile(run: Run, seats: Seats, path: Path, *, force: bool = False) -> list[Path]:
    """Write `path` for Open MPI, and next to it one that ends in .mpich; what was written."""
    hosts = hosts_of(run, seats)
    texts = {path: open_mpi(hosts), path.with_name(path.name + ".mpich"): mpich(hosts)}
    for place in texts:
        refuse_existing(place, force=force)
    for place, text in texts.items():
        write_whole(place, text)
    return list(texts)
