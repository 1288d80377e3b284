"""The mechanisms that SENS compares, on a simulated machine: all end, agree, and cost what their messages cost."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable

import pytest

from logpost.collectors.workloads.catalogue import workload

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("smpicc") is None, reason="no SimGrid (libsimgrid-dev) here"),
]

Simulate = Callable[[str, int], list[str]]

MECHANISMS: dict[str, tuple[str, ...]] = {
    "wait": ("--mechanism", "fine", "--receive", "wait"),
    "interrupts": ("--mechanism", "fine", "--receive", "interrupt"),
    "polling": ("--mechanism", "fine", "--receive", "poll"),
    "bulk": ("--mechanism", "bulk"),
    "put": ("--mechanism", "put"),
    "shared": ("--mechanism", "shared"),
    "prefetch": ("--mechanism", "prefetch"),
}
SMALL: dict[str, tuple[str, ...]] = {
    "em3d": ("--iterations", "2", "--nodes", "800", "--degree", "5"),
    "unstruc": ("--nodes", "400", "--iterations", "2"),
    "iccg": ("--brick", "4", "--solves", "1"),
    "moldyn": ("--cells", "6", "--steps", "2", "--rebuild", "2"),
}


def run(command: list[str], *extra: str) -> dict[str, float | str]:
    done = subprocess.run([*command, *extra], capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    found: dict[str, float | str] = {name: float(x) for name, x in re.findall(r"(\w+_s) ([\d.]+)", done.stdout)}
    for before, behind in re.findall(r"(\d+) messages|messages (\d+)", done.stdout):
        found["messages"] = float(before or behind)
    return found | {"checksum": re.findall(r"checksum (\w+)", done.stdout)[0]}


def number(found: dict[str, float | str], name: str) -> float:
    return float(found[name])


@pytest.mark.parametrize("name", SMALL)
def test_every_mechanism_ends_with_the_same_result(simulate: Simulate, name: str) -> None:
    command = [*simulate(name, 8), *SMALL[name]]
    results = {label: run(command, *options) for label, options in MECHANISMS.items()}
    assert len({found["checksum"] for found in results.values()}) == 1
    # A poll that finds nothing costs 5 cycles of 50 ns; as SMPI's MPI_Iprobe costs 100 us and more, polling took 20 to
    # 400 times as long as waiting.
    assert number(results["polling"], "total_s") < 2 * number(results["wait"], "total_s")
    assert number(results["prefetch"], "total_s") < number(results["shared"], "total_s")


def test_a_load_is_a_round_trip(simulate: Simulate) -> None:
    # Two ranks, no work per edge. A load is a request and its answer, an invalidation likewise; each way takes two hops
    # of 0.5 us and 0.2 us for 8 bytes. A rank's loads go one after the other, and over both ranks there are as many
    # invalidations as loads. Above the sum there is only that both ranks' accesses share the links.
    command = [*simulate("em3d", 2), *SMALL["em3d"], "--edge-cycles", "0"]
    shared = run(command, *MECHANISMS["shared"])
    loads_of_a_rank = number(shared, "messages") / 2
    alone_s = 2 * loads_of_a_rank * 2 * (2 * 0.5e-6 + 8 / 40e6)
    assert alone_s < number(shared, "exchange_s") < 2 * alone_s
    # Two ahead: at the best three in flight at a time.
    prefetch = number(run(command, *MECHANISMS["prefetch"]), "exchange_s")
    assert number(shared, "exchange_s") / 3 < prefetch < 0.9 * number(shared, "exchange_s")


def test_a_lock_costs_a_miss_and_changes_nothing_else(simulate: Simulate) -> None:
    # Request and reply before each addition of a rank; barriers make up for what differs between ranks.
    command = [*simulate("unstruc", 8), *SMALL["unstruc"], *MECHANISMS["shared"]]
    plain, locked = run(command), run(command, "--locks")
    assert locked["checksum"] == plain["checksum"]
    assert number(locked, "communication_s") > number(plain, "communication_s")


def test_interrupts_cost_more_than_polling(simulate: Simulate) -> None:
    # SENS 4.3: polling saves 35 % of o_s + o_r = 137 cycles, all of it of o_r: 122 - 48 = 74 cycles.
    command = [*simulate("iccg", 8), *SMALL["iccg"]]
    interrupts = run(command, *MECHANISMS["interrupts"], "--receive-cycles", "122")
    polling = run(command, *MECHANISMS["polling"], "--receive-cycles", "74")
    messages = number(interrupts, "messages")
    assert number(interrupts, "overhead_s") == pytest.approx(messages / 8 * 122 * 50e-9, rel=1e-3)
    assert number(polling, "overhead_s") > messages / 8 * 74 * 50e-9
    assert number(polling, "total_s") < number(interrupts, "total_s")


def test_bulk_pays_for_gathering_and_scattering(simulate: Simulate) -> None:
    # One edge is 16 bytes, a line of the Alewife's: 30 cycles of 50 ns at its source, and 30 at its end.
    command = [*simulate("iccg", 8), *SMALL["iccg"], *MECHANISMS["bulk"]]
    edges = number(run([*simulate("iccg", 8), *SMALL["iccg"], *MECHANISMS["interrupts"]]), "messages")
    copies = number(run(command), "overhead_s") - number(run(command, "--line-cycles", "0"), "overhead_s")
    assert copies == pytest.approx(edges / 8 * 2 * 30 * 50e-9, rel=0.02)


def test_the_check_takes_no_simulated_time(simulate: Simulate) -> None:
    # The serial run of UNSTRUC would take the work of all ranks, which none of them does in the parallel one.
    command = [word for word in simulate("unstruc", 8) if not word.startswith("--log")]
    timed = [*command[:-1], "--cfg=smpi/display-timing:yes", command[-1], *SMALL["unstruc"]]
    done = subprocess.run(timed, capture_output=True, text=True, timeout=60, check=True)
    total = re.search(r"total_s ([\d.]+)", done.stdout)
    simulated = re.search(r"Simulated time: ([\d.]+) seconds", done.stdout + done.stderr)
    assert total
    assert simulated
    assert float(simulated[1]) < 1.5 * float(total[1])


def test_the_catalogue_names_both_forms() -> None:
    for name in SMALL:
        assert [program.name for program in workload(name).programs] == [name, f"{name}_shmem"]
