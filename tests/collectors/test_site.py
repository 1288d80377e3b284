"""What a recording keeps of the site: counters of a stand-in for /sys, Slurm's topology, and the report of them."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.collectors import recording

from logpost.collectors.site import slurm_topology
from logpost.machines import load_machine
from logpost.machines.site.recorded import NETWORK, TOPOLOGY, adapters, read_hosts
from logpost.machines.topologies import Switched

if TYPE_CHECKING:
    from tests.two_hosts import TwoHosts

PORT = "class/infiniband/mlx5_0/ports/1"
TELEMETRY = "class/cxi/cxi0/device/telemetry"


def stand_in(folder: Path) -> Path:
    """A tree like /sys with one adapter of each kind."""
    files = {
        f"{PORT}/rate": "100 Gb/sec (4X EDR)",
        f"{PORT}/counters/port_xmit_data": "1000",
        f"{PORT}/counters/port_rcv_data": "70",
        f"{PORT}/counters/port_xmit_wait": "0",
        f"{PORT}/hw_counters/rp_cnp_handled": "3",
        "class/infiniband/mlx5_0/device/numa_node": "1",
        "class/cxi/cxi0/device/numa_node": "-1",
        "devices/system/node/node1/cpulist": "32-63",
        f"{TELEMETRY}/hni_sts_tx_ok_octets": "12@1700000000.000000001",
        f"{TELEMETRY}/pct_other": "5@1700000000.000000001",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text + "\n")
    return folder


def test_counters_before_and_after_reach_the_report(mpi: str, tmp_path: Path) -> None:
    program, root = recording.build("counted.c", mpi, tmp_path), stand_in(tmp_path / "sys")
    counter = root / PORT / "counters" / "port_xmit_data"
    result = recording.record(
        tmp_path, recording.LAUNCHERS[mpi], "-n", "2", str(program), str(counter), "1500",
        env=recording.environment(LOGPOST_SYS=str(root)),
    )  # fmt: skip
    assert result.status == 0, result.err
    kept = read_hosts(result.archive)
    assert f"{TELEMETRY}/pct_other" not in kept[socket.gethostname()].before
    cxi, port = adapters(kept)
    assert (port.octets("sent"), port.octets("received"), cxi.octets("sent")) == (2000, 0, 0)
    assert port.counted["rp_cnp_handled"] == 0
    assert (port.processors, cxi.processors) == ("32-63", "")

    run = tmp_path / "run"
    done = recording.logpost("analyze", str(result.archive), "-o", str(run))
    assert done.returncode == 0, done.stderr
    shown = recording.logpost("report", str(run), "--show", "network")
    assert "mlx5_0 port 1" in shown.stdout
    assert "1.95 KiB" in shown.stdout
    assert "100 Gb/sec (4X EDR), next to processors 32-63" in " ".join(shown.stdout.split())
    (host,) = json.loads(recording.logpost("report", str(run), "--json").stdout)["network"]
    assert [one["sent_bytes"] for one in host["adapters"]] == [0, 2000]


def test_without_adapters_nothing_is_kept(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("counted.c", openmpi, tmp_path)
    result = recording.record(
        tmp_path, recording.LAUNCHERS[openmpi], "-n", "2", str(program),
        env=recording.environment(LOGPOST_SYS=str(tmp_path / "none")),
    )  # fmt: skip
    assert result.status == 0, result.err
    assert not (result.archive / NETWORK).exists()
    assert not (result.archive / TOPOLOGY).exists()


def test_the_place_in_slurm_s_topology_is_kept(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("counted.c", openmpi, tmp_path)
    slurm = {"SLURM_TOPOLOGY_ADDR": "core.leaf1.here", "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.switch.node"}
    result = recording.record(
        tmp_path, recording.LAUNCHERS[openmpi], "-n", "2", str(program),
        env=recording.environment(LOGPOST_SYS=str(tmp_path / "none"), **slurm),
    )  # fmt: skip
    assert read_hosts(result.archive)[socket.gethostname()].address == ("core.leaf1.here", "switch.switch.node")


@pytest.mark.parametrize(
    ("script", "known"),
    [
        ("echo 'SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]'", True),
        ("echo 'SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3'", False),
        ("echo 'slurm_load_topology error: Unable to contact slurm controller' >&2; exit 1", False),
        ("echo 'No topology information available'", False),
    ],
)
def test_inside_a_job_scontrol_shows_the_topology(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, known: bool
) -> None:
    scontrol = tmp_path / "scontrol"
    scontrol.write_text(f'#!/bin/sh\n[ "$*" = "show topology" ] || exit 2\n{script}\n')
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert slurm_topology() is None
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert (slurm_topology() is not None) == known


def test_a_topology_that_is_none_costs_no_recording(tmp_path: Path) -> None:
    file = tmp_path / "fabric.txt"
    file.write_text("nothing\n")
    done = recording.logpost("record", "-o", str(tmp_path), "--topology", str(file), "--", "true")
    assert done.returncode == 2
    assert f"{file} states no network that logpost reads" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.alone
def test_two_hosts_on_two_switches_have_their_links(hosts: TwoHosts, openmpi: str, tmp_path: Path) -> None:
    program, fabric = recording.build("counted.c", openmpi, tmp_path), tmp_path / "fabric.txt"
    first, second = hosts.names
    fabric.write_text(f"SwitchName=s1 Nodes={second}\nSwitchName=s0 Nodes={first}\nSwitchName=top Switches=s[0-1]\n")
    result = recording.record(
        tmp_path, *hosts.launch, "-n", "2", str(program), options=("--mpi", openmpi, "--topology", str(fabric))
    )
    assert result.status == 0, result.err
    assert (result.archive / TOPOLOGY).read_text() == fabric.read_text()
    for machine in ("estimate", "azure_hpc"):
        run = tmp_path / machine
        done = recording.logpost("analyze", str(result.archive), "-o", str(run), "--machine", machine)
        assert done.returncode == 0, done.stderr
        used = load_machine(run / "machine.toml")
        assert isinstance(used.topology, Switched)
        # The file lists the second host first; rank 0 is on the first.
        assert used.topology.hosts == [second, first]
        assert used.mapping is not None
        assert used.mapping.nodes_of_ranks == [1, 0]
        shown = recording.logpost("report", str(run), "--show", "network").stdout
        assert "97.7 KiB" in shown
        assert "not read" in shown
    # Host, its switch, the top, the other switch, host: four links. An estimate of one size has no G, and no such load.
    links = pl.read_parquet(run / "links.parquet").group_by("from_vertex", "to_vertex").agg(pl.col("bytes").sum())
    assert links["bytes"].to_list() == [100_000] * 4
