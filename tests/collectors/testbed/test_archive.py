"""What a simulated run leaves: the same archive every time, the simulated machine, real programs' results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logpost.machines import load_machine, replay_parameters
from logpost.machines.schema import Machine
from logpost.testbed import LIMITS, TestbedRun, run_on_testbed

Run = Callable[..., TestbedRun]
Toy = Callable[..., Machine]

EM3D = ("--iterations", "1", "--nodes", "200", "--degree", "8")


def contents(archive: Path) -> dict[str, bytes]:
    """Definitions and events, byte by byte; the anchor file holds a random number."""
    files = [archive / "traces.def", *sorted((archive / "traces").iterdir())]
    return {str(path.relative_to(archive)): path.read_bytes() for path in files}


def test_two_runs_give_the_same_archive(tmp_path: Path) -> None:
    runs = [
        run_on_testbed("alewife", workload="em3d", arguments=EM3D, ranks=8, output=tmp_path / name) for name in "ab"
    ]
    one, two = (contents(done.archive) for done in runs)
    assert len(one) == 1 + 8 * 2  # definitions, and per rank its own and its events
    assert one == two
    assert runs[0].summary == runs[1].summary
    assert runs[0].summary["events"]


def test_the_simulated_machine_is_kept_next_to_the_archive(toy: Toy, run: Run) -> None:
    machine = toy({"kind": "mesh", "dims": [4]})
    done = run(machine, "pingpong", [0, 1, 1], ranks=3, settings={"latency": "7us"}, mapping="block")
    kept = load_machine(done.archive / "machine.toml")
    assert kept == done.machine
    assert kept.loggp.other_node is not None
    assert kept.loggp.other_node.range[0].L is not None
    assert kept.loggp.other_node.range[0].L.base() == 7e6
    assert '<link id="1-2" bandwidth="250000000.0Bps"' in (done.archive / "platform.xml").read_text()


def test_the_gap_that_a_machine_file_lacks_is_kept_as_it_was_simulated(run: Run, tmp_path: Path) -> None:
    """The file of Berkeley's NOW has no G; its links have 80 MB/s, so a byte is simulated as 12.5 ns."""
    done = run(load_machine("myrinet_now"), "pingpong", [0, 1, 2], ranks=2)
    kept = load_machine(done.archive / "machine.toml")
    assert kept.loggp.other_node is not None
    (values,) = kept.loggp.other_node.range
    assert values.G is not None
    assert values.G.base() == pytest.approx(12_500)
    assert "occupies the link" in kept.sources[str(values.G.source)].text
    parameters = replay_parameters(kept)  # what analyze needs
    assert parameters.G_ps_per_byte[parameters.class_start[3]] == pytest.approx(12_500)


def test_every_rank_is_in_the_archive_in_simulated_time(toy: Toy, run: Run) -> None:
    done = run(toy({"kind": "mesh", "dims": [4]}), "pingpong", [0, 3, 1], ranks=4)
    assert done.summary["ranks"] == done.summary["recorded"] == done.summary["finalized"] == 4
    assert done.summary["ticks_per_second"] == 10**12
    assert done.summary["warnings"] == []
    # Two round trips of 2 * (8 us + 0.1 us (3 - 5/3)) each end the run; a picosecond more where times are rounded.
    assert done.summary["length_ticks"] == pytest.approx(4 * (8_000_000 + 133_333), abs=10)


@pytest.mark.parametrize(
    ("workload", "arguments"),
    [
        ("em3d", (*EM3D, "--mechanism", "put")),
        ("em3d", (*EM3D, "--order", "improved", "--capacity", "0")),
        ("remap", ("--messages", "20")),
        ("broadcast", ("--repeat", "2", "--algorithm", "binomial")),
        ("fft3d", ("--scale", "2", "--iterations", "1", "--exchange", "collective")),
        ("diamond", ("--n", "64", "--blocks", "8")),
        ("overlap", ("--repeat", "1", "--volume", "65536", "--size", "8192", "--mechanism", "two-sided")),
        ("unstruc", ("--nodes", "200", "--iterations", "1", "--mechanism", "bulk")),
        ("moldyn", ("--cells", "6", "--steps", "1")),
        ("iccg", ("--brick", "3", "--solves", "1")),
    ],
)
def test_workloads_find_their_own_results_right(
    workload: str, arguments: tuple[str, ...], tmp_path: Path, toy: Toy
) -> None:
    machine = toy({"kind": "torus", "dims": [4, 2]}, nic={"queue": 256})
    done = run_on_testbed(machine, workload=workload, arguments=arguments, ranks=8, output=tmp_path, timeout_s=60)
    assert done.summary["finalized"] == 8
    assert done.summary["contradictory_statuses"] == 0
    assert done.summary["unknown_communicator"] == 0


def test_limits_are_stated_in_the_archive(toy: Toy, run: Run) -> None:
    done = run(toy({"kind": "ring", "nodes": 3}), "pingpong", [0, 1, 1], ranks=2)
    anchor = (done.archive / "traces.otf2").read_bytes()
    assert b"LOGPOST::SIMULATION" in anchor
    assert b"flow-level sharing of links, no packets, no wormhole blocking" in anchor
    assert any("flow-level" in line for line in LIMITS)
