"""What a recording kept of the network: counters before and after, Slurm's addresses, a tool's text."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.machines.site.test_slurm import SHOWN

from logpost.errors import InputError
from logpost.machines.site.recorded import (
    NETWORK,
    TOPOLOGY,
    HostNetwork,
    adapters,
    read_hosts,
    recorded_topology,
    recorder_lines,
    write_hosts,
)

PORT = "class/infiniband/mlx5_0/ports/1"
CXI = "class/cxi/cxi0/device/telemetry"
BEFORE = {
    "host": "tux0",
    "seconds": "1700000000.000000000",
    f"{PORT}/rate": "200 Gb/sec (4X HDR)",
    f"{PORT}/counters/port_xmit_data": "1000",
    f"{PORT}/counters/port_rcv_data": "4294967290",
    f"{PORT}/counters/port_xmit_wait": "5",
    f"{PORT}/hw_counters/np_cnp_sent": "1",
    "class/infiniband/mlx5_0/device/numa_node": "0",
    "devices/system/node/node0/cpulist": "0-31,64-95",
    f"{CXI}/hni_sts_tx_ok_octets": "100@1700000000.1",
}
AFTER = BEFORE | {
    "seconds": "1700000002.000000000",
    f"{PORT}/counters/port_xmit_data": "1250",
    f"{PORT}/counters/port_rcv_data": "3",
    f"{PORT}/counters/port_xmit_wait": "9",
    f"{PORT}/hw_counters/np_cnp_sent": "8",
    f"{CXI}/hni_sts_tx_ok_octets": "164@1700000002.1",
}


def test_differences_have_their_units_and_wrapped_counters_are_left_out() -> None:
    cxi, port = adapters({"tux0": HostNetwork(BEFORE, AFTER)})
    assert (port.host, port.name, port.rate) == ("tux0", "mlx5_0 port 1", "200 Gb/sec (4X HDR)")
    # 250 words of 4 bytes; the received words began again at 0.
    assert (port.octets("sent"), port.octets("received")) == (1000, None)
    assert port.counted == {"port_xmit_data": 250, "port_xmit_wait": 4, "np_cnp_sent": 7}
    assert (port.processors, cxi.processors) == ("0-31,64-95", "")
    assert (cxi.name, cxi.octets("sent"), cxi.seconds) == ("cxi0", 64, 2.0)


def test_a_program_that_was_killed_has_no_second_reading() -> None:
    assert adapters({"tux0": HostNetwork(BEFORE)}) == []


def test_lines_of_the_recorder() -> None:
    assert recorder_lines("host tux0\nclass/x/rate 4 Gb/sec\n\nbroken\n") == {
        "host": "tux0",
        "class/x/rate": "4 Gb/sec",
    }


def test_hosts_are_written_and_read_back(tmp_path: Path) -> None:
    written = {"tux0": HostNetwork(BEFORE, AFTER)}
    write_hosts(tmp_path, written)
    assert read_hosts(tmp_path) == written
    assert read_hosts(tmp_path / "none") == {}


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"hosts": []}', '{"hosts": {"a": {}}}', '{"hosts": {"a": {"before": 1}}}']
)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / NETWORK).write_text(text)
    with pytest.raises(InputError, match=r"network\.json is damaged .*; remove it, and analyze again"):
        read_hosts(tmp_path)


def test_the_network_of_a_recording(tmp_path: Path) -> None:
    hosts = ["tux0", "tux4"]
    assert recorded_topology(tmp_path, hosts) == (None, [])
    address = {"SLURM_TOPOLOGY_ADDR_PATTERN": "switch.node"}
    write_hosts(tmp_path, {h: HostNetwork(address | {"SLURM_TOPOLOGY_ADDR": f"leaf.{h}"}) for h in hosts})
    by_address, _ = recorded_topology(tmp_path, hosts)
    assert by_address is not None
    assert by_address.topology.hops(0, 1) == 2
    # What scontrol printed has the whole cluster, and is taken first.
    (tmp_path / TOPOLOGY).write_text(SHOWN)
    shown, notes = recorded_topology(tmp_path, hosts)
    assert shown is not None
    assert (shown.topology.n_nodes, notes) == (8, [])
    assert recorded_topology(tmp_path, ["tux0", "tux0"]) == (None, [])


def test_a_damaged_network_costs_the_network_alone(tmp_path: Path) -> None:
    (tmp_path / TOPOLOGY).write_text("nothing of a network\n")
    found, notes = recorded_topology(tmp_path, ["a", "b"])
    assert found is None
    assert notes[0].startswith("network: not taken from the recording: topology.txt ")
