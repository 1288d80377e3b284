"""Dimemas configurations as machine files: values by hand, every form of record, and what has no counterpart."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from logpost.cli.app import main
from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.machines.exchange.dimemas import Imported, import_dimemas

HEAD = '#DIMEMAS_CONFIGURATION\n/* "environment information" { 1: char[] "machine name" };; */\n'
DEFINITION = '#1:\n"environment information" {\n  char "machine_name"[];\n  int "machine_id"; // "which"\n};;\n\n'
TWO = (
    '"environment information" {"mn", 0, "", 2, 250.0, 0, 3};;\n'
    '"multi node information" {0, 2, "", 4, 1.0, 1.0E-6, 500.0, 0, 1, 1, 8.0E-6, 2, 2, 0.0};;\n'
)


def imported(tmp_path: Path, text: str) -> Imported:
    (tmp_path / "Mare Nostrum.cfg").write_text(text)
    return import_dimemas(tmp_path / "Mare Nostrum.cfg")


def test_the_values_of_a_message(tmp_path: Path) -> None:
    found = imported(tmp_path, HEAD + DEFINITION + TWO)
    machine = found.machine
    assert (machine.name, machine.title) == ("mare-nostrum", "mn")
    values = replay_parameters(machine)
    node, network = int(values.class_start[2]), int(values.class_start[3])
    # 8 us and 1 us of the sender; a byte at 250 MB/s of 2^20 bytes is 10^12 / (250 * 2^20) ps.
    assert (values.o_s_ps[network], values.o_s_ps[node]) == (8_000_000, 1_000_000)
    assert values.G_ps_per_byte[network] == pytest.approx(1e12 / (250 * 2**20))
    assert values.G_ps_per_byte[node] == pytest.approx(1e12 / (500 * 2**20))
    for zero in (values.L_ps, values.o_r_ps, values.g_ps):
        assert zero[network] == zero[node] == 0
    # A whole transfer of 1 MB takes startup + 1 / 250 s.
    whole = values.o_s_ps[network] + 2**20 * values.G_ps_per_byte[network]
    assert whole == pytest.approx(8e6 + 1e12 / 250)
    assert values.nics_per_node == 2
    assert machine.node.processors is not None
    assert machine.node.processors.value == 4
    assert machine.topology is not None
    assert machine.topology.describe() == "crossbar of 2"
    assert machine.topology.link_bandwidth is not None
    assert machine.topology.link_bandwidth.value == 2 * 250
    assert found.scale_compute == ()
    (left_out,) = found.left_out
    assert left_out.startswith("the receiver's startup, ")


@pytest.mark.parametrize(
    "node",
    [
        '"node information" {0, "a", 4, 1.0, 1.0E-6, 500.0, 0, 1, 1, 8.0E-6, 2, 2, 0.0};;',
        '"node information" {0, 7, "a, b", 4, 1.0, 1.0E-6, 500.0, 0, 1, 1, 8.0E-6, 2, 2, 0.0};;',
        '"node information" {0, 7, "", 4, 2, 2, 1.0E-6, 8.0E-6, 1.0, 500.0, 0.0};;',
    ],
)
def test_every_form_of_a_node_says_the_same(tmp_path: Path, node: str) -> None:
    env = '"environment information" {"mn", 0, "", 2, 250.0, 0, 3};;\n'
    one, two = imported(tmp_path, env + 2 * node), imported(tmp_path, TWO)
    assert one.machine == two.machine


def test_ratios_are_options_of_whatif(tmp_path: Path) -> None:
    text = '"environment information" {"", 0, "", 4, 0.0, 0, 3};;\n'
    node = '"node information" {{0, "", 1, {ratio}, 0.0, 0.0, 0, 1, 1, 0.0, 1, 1, 0.0}};;\n'
    found = imported(tmp_path, text + "".join(node.format(ratio=ratio) for ratio in (1.0, 2.0, 0.0, -0.5)))
    assert found.scale_compute == ("node:1=0.5", "node:2=0")
    (left_out,) = found.left_out
    assert left_out.startswith("node 3: bursts of 0.5 s ")
    same = imported(tmp_path, text + 4 * node.format(ratio=4.0))
    assert same.scale_compute == ("0.25",)
    # Bandwidth 0: transfers have no duration, and no link is a limit.
    assert not replay_parameters(same.machine).G_ps_per_byte.any()
    assert same.machine.topology is not None
    assert same.machine.topology.link_bandwidth is None


@pytest.mark.parametrize(
    ("record", "nodes"),
    [
        ('"predefined mapping information" {"2 TASKS_PER_NODE"};;', [0, 0, 1, 1]),
        ('"predefined mapping information" {"t.dim", "INTERLEAVED"};;', [0, 1, 0, 1]),
        ('"predefined mapping information" {"FILL_NODES"};;', [0, 0, 0, 0]),
        ('"mapping information" {"t.dim", 4, [4] {1, 0, 0, 1}};;', [1, 0, 0, 1]),
    ],
)
def test_tasks_are_placed_as_stated(tmp_path: Path, record: str, nodes: list[int]) -> None:
    mapping = imported(tmp_path, TWO + record).machine.mapping
    assert mapping is not None
    assert mapping.node_of([0, 1, 2, 3]).tolist() == nodes


def test_what_has_no_counterpart_is_named(tmp_path: Path) -> None:
    text = (
        '"wide area network information" {"", 2, 0, 4, 0.0, 0.0, 1};;\n'
        '"environment information" {"a", 0, "", 4, 100.0, 8, 1};;\n'
        '"environment information" {"b", 1, "", 1, 100.0, 0, 3};;\n'
        '"multi node information" {0, 3, "", 2, 1.0, 0.0, 0.0, 1, 1, 0, 1.0E-6, 2, 0, 0.0};;\n'
        '"node information" {0, "", 2, 1.0, 0.0, 0.0, 1, 1, 0, 5.0E-6, 2, 0, 0.0};;\n'
        '"node information" {1, "", 2, 1.0, 0.0, 0.0, 1, 1, 0, 1.0E-6, 1, 0, 0.0};;\n'
        '"modules information" {60000019, 1, 0.5};;\n'
        '"file system parameters" {0.0, 0.0, 8.0, 0, 1.0};;\n'
        '"configuration files" {"", "", "tuned.cfg", ""};;\n'
    )
    found = imported(tmp_path, text)
    said = [line.split(":")[0] for line in found.left_out]
    assert said == [
        "machine 1 (1 node)",
        "node 3",
        "8 buses",
        "1 bus within a node",
        "2 half-duplex links",
        "constant model of collective operations",
        "the receiver's startup, where a receive is posted",
        "modules information",
        "configuration files",
    ]
    assert "inter startup 5e-06 where most nodes have 1e-06" in found.left_out[1]
    assert replay_parameters(found.machine).nics_per_node == 2


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("nothing", "is no Dimemas configuration"),
        ('"node information" {0, "", 1, 1.0, 0, 0, 0, 1, 1, 0, 1, 1, 0};;', 'has no "environment information"'),
        (TWO.replace("250.0", "fast"), r"bandwidth \(field 5\) is 'fast'; .* number"),
        (
            TWO.replace("8.0E-6", "-1"),
            r"latency between nodes \(field 11\) is '-1'; .* not neg",
        ),
        (TWO.replace("{0, 2,", "{0, 3,"), "machine 0 has 2 nodes, but records for 3"),
        (TWO.replace(", 3};;", "};;"), '"environment information" has 6 fields; it must have 7'),
        (TWO + '"predefined mapping information" {"ANYHOW"};;', "must be FILL_NODES, INTERLEAVED or N TASKS_PER_NODE"),
        (TWO + '"mapping information" {"t", 2, [2] {0, x}};;', "must be numbers in braces"),
        (TWO.replace('"", 4, 1.0', '"", 0, 1.0'), "a node has no processors"),
    ],
)
def test_what_is_wrong_is_said_with_its_field(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(InputError, match=error):
        imported(tmp_path, text)


def test_the_command_writes_a_file_that_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mn.cfg").write_text(TWO.replace("1.0, 1.0E-6", "2.0, 1.0E-6"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["logpost", "machines", "import", "dimemas", "mn.cfg", "-o", "mn.toml", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    said = json.loads(capsys.readouterr().out)
    assert (said["machine"], said["scale_compute"]) == ("mn", ["0.5"])
    assert load_machine("./mn.toml") == import_dimemas(Path("mn.cfg")).machine
    monkeypatch.setattr(sys, "argv", ["logpost", "machines", "import", "dimemas", "mn.cfg", "-o", "mn.toml"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "mn.toml already exists; pass --force to overwrite it" in capsys.readouterr().err
