"""Settings, sweeps, and what is refused: each refusal names the value and the way out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from logpost.errors import InputError
from logpost.machines.schema import Machine
from logpost.testbed import TestbedRun, run_on_testbed
from logpost.testbed.settings import Sweep, apply, names, parse_sweep, product

Run = Callable[..., TestbedRun]
Toy = Callable[..., Machine]

LINE = {"kind": "mesh", "dims": [4]}


def command(*words: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "logpost.cli.app", "testbed", *(str(word) for word in words)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("bisection=18:3:6", ("18", "15", "12", "9", "6", "3")),
        ("latency=1us:100us:3", ("1us", "10us", "100us")),
        ("latency=1:100us:3:lin", ("1us", "50.5us", "100us")),
        ("latency=1us:1ms:4", ("0.001ms", "0.01ms", "0.1ms", "1ms")),
        ("bandwidth=40MB/s,20MB/s", ("40MB/s", "20MB/s")),
        ("o_r=2us:2us:1", ("2us",)),
    ],
)
def test_sweeps(text: str, values: tuple[str, ...]) -> None:
    assert parse_sweep(text) == Sweep(text.partition("=")[0], values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("latency", "--sweep latency is not known; write NAME=FROM:TO:COUNT .* latency"),
        ("speed_of_light=1:2:3", r"--sweep speed_of_light=1:2:3 is not known"),
        ("latency=1us:2us", r"write latency=FROM:TO:COUNT"),
        ("latency=1us:2us:0", r"write latency=FROM:TO:COUNT"),
        ("latency=0us:2us:3", r"geometric steps need positive ends; add :lin"),
        ("latency=1us:3cycle:3", "do not go together: .* cycles"),
        ("latency=1us:3MB/s:3", r"1us and a value in MB/s do not go together"),
    ],
)
def test_bad_sweeps(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_sweep(text)


def test_sweeps_multiply() -> None:
    grid = product([Sweep("latency", ("1us", "2us")), Sweep("g", ("3us", "4us"))])
    assert grid == [{"latency": a, "g": b} for a in ("1us", "2us") for b in ("3us", "4us")]
    with pytest.raises(InputError, match=r"--sweep g is given twice; .* one"):
        product([Sweep("g", ("1us",)), Sweep("g", ("2us",))])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("lateny", "2us", r"--set lateny=\.\.\. is not known; use one of latency"),
        ("latency", "2", "latency = 2 is not valid; .* unit: .*us"),
        ("latency", "2MB/s", r"latency = 2MB/s is not valid"),
        ("bandwidth", "fast", r"bandwidth = fast is not valid"),
        ("capacity", "some", r"capacity = some is not valid"),
        ("bisection", "0", r"bisection = 0 must be positive"),
        ("speed", "slow", r"speed = slow is not a number"),
        ("dims", "4by4", r"dims = 4by4 is not known; write e.g. 16x8"),
        ("topology", "tree:4", r"topology = tree:4 is not known; write mesh:8x4"),
        ("topology", "mesh:4x", r"topology = mesh:4x is not known"),
        ("topology", "dragonfly:3", r"topology = dragonfly:3 is not known"),
        ("sharing", "some", "sharing = some is not .*; .*split-duplex or shared"),
    ],
)
def test_bad_settings(name: str, text: str, message: str, toy: Toy, run: Run) -> None:
    with pytest.raises(InputError, match=message):
        run(toy(LINE), "pingpong", [0, 1, 1], ranks=2, settings={name: text})


def test_every_setting_can_be_made(toy: Toy) -> None:
    values = {
        "latency": "1us",
        "L": "2us",
        "o_s": "1us",
        "o_r": "1us",
        "g": "1us",
        "G": "1ns/B",
        "bandwidth": "1GB/s",
        "injection": "1GB/s",
        "per-hop": "1ns",
        "bisection": "4",
        "eager-limit": "4KiB",
        "capacity": "none",
        "speed": "1e9",
        "sharing": "shared",
        "poll": "1us",
        "topology": "mesh:4x4",
        "dims": "2x2",
    }
    assert values.keys() - {"L"} == names().keys()
    machine, choices = apply(toy(LINE), values)
    assert machine.topology is not None
    assert machine.topology.n_nodes == 4
    assert machine.topology.link_bandwidth is not None
    assert machine.topology.link_bandwidth.base() == 1e9
    assert machine.loggp.other_node is not None
    assert machine.loggp.other_node.eager_limit is not None
    assert machine.loggp.other_node.eager_limit.base() == 4096
    assert choices.bisection == 4 * 100e6  # B/cycle at 100 MHz
    assert choices.sharing == "shared"


def test_a_sweep_runs_once_per_setting(tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "pingpong.c"
    done = command(
        "run", "-m", "alewife", "-n", 8, program, "-o", tmp_path, "--json", "-q",
        "--sweep", "latency=10us:1000us:3", "--set", "per-hop=0us", "--", 0, 1, 0,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stderr)
    # o_s + L + o_r = (9 + 117) cycles of 50 ns + L
    assert [float(word) for word in done.stdout.split()] == pytest.approx([16300, 106300, 1006300], abs=0.01)
    assert [entry["set"]["latency"] for entry in document["runs"]] == ["10us", "100us", "1000us"]
    for entry in document["runs"]:
        archive = Path(entry["archive"])
        assert archive.parent == tmp_path / f"latency={entry['set']['latency']}"
        assert (archive / "traces.otf2").exists()
        assert entry["simulated_s"] == pytest.approx(entry["length_ticks"] * 1e-12)
    assert document["limits"]


def test_the_table_and_the_limits_are_printed(tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "pingpong.c"
    done = command("run", "-m", "alewife", "-n", 2, program, "-o", tmp_path, "--", 0, 1, 0)
    assert done.returncode == 0, done.stderr
    printed = " ".join(done.stderr.split())
    assert "simulated time" in printed
    assert "no wormhole blocking" in printed
    assert "no eager limit is given" in printed


def test_refusals(tmp_path: Path, toy: Toy, run: Run) -> None:
    cases: list[tuple[str, Callable[[], object]]] = [
        (r"rank 32 needs node 32, but alewife is a mesh 8 x 4 of 32 nodes; use fewer ranks",
         lambda: run("alewife", "pingpong", ranks=33)),
        (r"machine paragon has no \[topology\], and the testbed simulates one; pass --set topology=",
         lambda: run("paragon", "pingpong", ranks=2)),
        (r"meiko_cs2_50mhz, class other_node: o_s \(send overhead\) is not given by its source",
         lambda: run("meiko_cs2_50mhz", "pingpong", ranks=2)),
        (r"no program; give its C files, or --workload NAME",
         lambda: run_on_testbed("alewife", ranks=2)),
        (r"gone.c: no such file; give the C files of the program",
         lambda: run("alewife", "gone", ranks=2)),
        (r"em3d_shmem is an OpenSHMEM program; the testbed runs MPI programs",
         lambda: run_on_testbed("alewife", workload="em3d/em3d_shmem", ranks=2)),
        (r"mapping 'spread' is neither block, random nor a file",
         lambda: run("alewife", "pingpong", ranks=2, mapping="spread")),
        (r"ranks = 0 must be at least 1", lambda: run("alewife", "pingpong", ranks=0)),
        (r"ended with status 3 on the testbed", lambda: run_program(tmp_path, "int main(void) { return 3; }")),
        (r"did not complete MPI_Init", lambda: run_program(tmp_path, "int main(void) { return 0; }")),
        (r"does not compile for the testbed: .*error", lambda: run_program(tmp_path, "int main(void) { return x; }")),
        (r"program: 0 of 2 ranks reached MPI_Finalize; the others aborted or wait for each other forever",
         lambda: run_program(tmp_path, MPI.format("MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, 0)"))),
        (r"status 134 on the testbed: Not yet implemented: PMPI_Comm_get_parent",
         lambda: run_program(tmp_path, MPI.format("MPI_Comm_get_parent((MPI_Comm*)&x)"))),
        (r"status 4 on the testbed: my own complaint; what it did until then is in",
         lambda: run_program(tmp_path, MPI.format('puts("my own complaint"); return 4'))),
        (r"did not end within 1 s; a rank may wait forever",
         lambda: run_program(tmp_path, "int main(void) { for (volatile int i = 0;; i++); }", timeout_s=1)),
    ]  # fmt: skip
    for message, action in cases:
        with pytest.raises(InputError, match=message):
            action()


MPI = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {{ int x; MPI_Init(&argc, &argv); {}; MPI_Finalize(); return 0; }}
"""


def run_program(folder: Path, text: str, timeout_s: float | None = None) -> TestbedRun:
    source = folder / "program.c"
    source.write_text(text)
    return run_on_testbed("alewife", sources=[source], ranks=2, output=folder, timeout_s=timeout_s)


def test_machine_without_link_rate_or_G_is_refused(toy: Toy, run: Run) -> None:
    loggp = {"other_node": {"L": 5, "o_s": 1, "o_r": 2, "g": 4}}
    machine = toy({"kind": "ring", "nodes": 4, "link_bandwidth": None}, loggp=loggp)
    with pytest.raises(InputError, match=r"toy gives neither G of long messages nor topology.link_bandwidth"):
        run(machine, "pingpong", [0, 1, 1], ranks=2)


def test_without_simgrid_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError, match=r"^SimGrid, which .*, was not found: install libsimgrid-dev"):
        run("alewife", "pingpong", ranks=2)


@pytest.mark.parametrize(
    ("machine", "topology", "expected_ns"),
    [
        # LOGP: o_s + L + o_r = 1.4 + 6.3 + 2.2, 1.7 + 7.5 + 1.6 and 2.0 + 11.1 + 2.6 us
        ("paragon", {"topology": "mesh:4x4"}, 9900),
        ("meiko_cs2", {}, 10800),
        ("myrinet_now", {}, 15700),
    ],
)
def test_the_machines_of_the_LogP_paper(machine: str, topology: dict[str, str], expected_ns: float, run: Run) -> None:
    done = run(machine, "pingpong", [0, 1, 0], ranks=2, settings={**topology, "g": "0us", "bandwidth": "100MB/s"})
    assert float(done.output) == pytest.approx(expected_ns, rel=0.02)


@pytest.mark.parametrize(
    ("text", "described", "nodes"),
    [
        ("mesh:4x3", "mesh 4 x 3", 12),
        ("torus:4x4", "torus 4 x 4", 16),
        ("ring:5", "ring 5", 5),
        ("crossbar:6", "crossbar of 6", 6),
        ("hypercube:3", "hypercube of 8", 8),
        ("fat-tree:4x4", "4-ary fat tree, 2 levels", 16),
        ("dragonfly:3x2x2", "dragonfly 3 x 2 x 2", 12),
    ],
)
def test_topologies_on_the_command_line(text: str, described: str, nodes: int, toy: Toy) -> None:
    machine, _ = apply(toy(LINE), {"topology": text})
    assert machine.topology is not None
    assert (machine.topology.describe(), machine.topology.n_nodes) == (described, nodes)
