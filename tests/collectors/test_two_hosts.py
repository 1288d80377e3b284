"""A program on two hosts: one archive, each rank on its host, and clocks that were put right."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.collectors import recording

from logpost.collectors import record as recorder
from logpost.machines import load_machine
from logpost.machines.calibration import samples

if TYPE_CHECKING:
    from tests.two_hosts import TwoHosts


@pytest.mark.alone
@pytest.mark.parametrize("clock", ["tsc", "monotonic"])
def test_ranks_are_on_their_hosts_and_messages_arrive_after_they_are_sent(
    hosts: TwoHosts, openmpi: str, tmp_path: Path, clock: str
) -> None:
    program = recording.build("hosts.c", openmpi, tmp_path)
    command = (*hosts.launch, "-x", "LOGPOST_CLOCK", "-n", "2", str(program))
    result = recording.record(
        tmp_path, *command, options=("--mpi", openmpi), env=recording.environment(LOGPOST_CLOCK=clock)
    )
    assert result.status == 0, result.err
    said = sorted(line.split() for line in result.out.splitlines())
    assert [words[1] for words in said] == list(hosts.names)
    assert abs(int(said[1][2]) - int(said[0][2]) - hosts.shift_s) <= 1, (
        "the hosts' clocks are not apart: nothing is tested"
    )

    trace = result.read()
    nodes = dict(re.findall(r'SYSTEM_TREE_NODE\s+(\d+)\s+Name: "(node[ab])"', trace.definitions))
    assert sorted(nodes.values()) == list(hosts.names)
    for rank, name in enumerate(hosts.names):
        (line,) = [one for one in trace.defined("LOCATION_GROUP") if f'"MPI Rank {rank}"' in one]
        assert nodes[re.findall(r'Parent: "[^"]*" <(\d+)>', line)[0]] == name
    uncertainty_ns = _clocks_are_put_right(result.archive, hosts.shift_s if clock == "monotonic" else 0)

    run = tmp_path / "run"
    done = recording.logpost("analyze", str(result.archive / "traces.otf2"), "-o", str(run))
    assert done.returncode == 0, done.stderr
    messages = pl.read_parquet(run / "messages.parquet")
    assert messages.height == 200
    assert set(messages["locality"]) == {"other_node"}
    # Over the cable a message takes some microseconds; clocks that are off would make half of them arrive before. On a
    # busy machine the offset itself is known no better than is stated with it.
    early_ns = messages.select((pl.col("send_enter_ps") - pl.col("recv_leave_ps")).max()).item() / 1e3
    assert early_ns <= uncertainty_ns


@pytest.mark.alone
def test_a_recording_measures_between_its_hosts(hosts: TwoHosts, openmpi: str, tmp_path: Path) -> None:
    """One rank on either host: a class other_node, and no other."""
    program = recording.build("hosts.c", openmpi, tmp_path)
    # Two relays share the processors with the ranks: time enough.
    settings = recorder.Settings(tmp_path, openmpi, calibrate_s=10.0, environment=recording.environment())
    made = recorder.record((*hosts.launch, "-n", "2", str(program)), settings, print, print).archive
    assert made is not None
    found = made.calibration
    assert found is not None
    if "had their processors" in found.reason:
        pytest.skip(found.reason)
    assert (found.reason, dict(found.pairs)) == ("", {"other_node": (0, 1)})
    assert samples.read(made.path / "calibration.jsonl").host.hosts == tuple(hosts.names)
    measured = load_machine(made.path / "machine.toml").loggp
    assert measured.other_node is not None
    assert measured.same_socket is None
    assert measured.same_node is None


def _clocks_are_put_right(archive: Path, shift_s: int) -> float:
    """The measured offset of rank 1 is the shift, within the uncertainty that is stated with it: the largest, ns."""
    shown = subprocess.run(
        ["otf2-print", "--show-clock-offsets", str(archive / "traces.otf2")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = re.findall(r"CLOCK_OFFSET\s+1\s+Time: \d+, Offset: ([+-]\d+), StdDev: ([\d.e+]+)", shown)
    assert len(found) >= 2, "at MPI_Init and at MPI_Finalize"
    # CLOCK_MONOTONIC_RAW, in ns, is ahead by the shift; the processors' time-stamp counters are one, and not shifted.
    truth = -shift_s * 1e9
    for offset, uncertainty in found:
        assert abs(float(offset) - truth) <= float(uncertainty)
    return max(float(uncertainty) for _, uncertainty in found)
