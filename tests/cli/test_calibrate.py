"""`logpost calibrate` as a person runs it: from kept samples, and from the measurement to an analyzed trace."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import logpost, logpost_process
from tests.machines.calibration.virtual import Virtual
from tests.said import facts

from logpost.cli.calibrate import MOST_LINES
from logpost.collectors.calibration.simulated import Truth
from logpost.machines import load_machine
from logpost.machines.calibration.samples import write

TRUTH = Truth(L=6.3e-6, o_s=1.4e-6, o_r=2.2e-6, g=7.6e-6, G=1e-9, o_s_per_byte=0.1e-9, o_r_per_byte=0.2e-9)
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    write(folder / "s.jsonl", Virtual(TRUTH, noise=0.02).samples())
    write(folder / "again.jsonl", Virtual(TRUTH, noise=0.02, seed=2).samples())
    slower = Truth(L=9e-6, o_s=1.4e-6, o_r=2.2e-6, g=9e-6, G=1e-9, o_s_per_byte=0.1e-9, o_r_per_byte=0.2e-9)
    write(folder / "slower.jsonl", Virtual(slower, noise=0.02, seed=3).samples())
    times = replace(TRUTH, L=3 * TRUTH.L, o_s=3 * TRUTH.o_s, o_r=3 * TRUTH.o_r, g=3 * TRUTH.g)
    write(folder / "thrice.jsonl", Virtual(times, noise=0.2, seed=4).samples())
    return folder


def test_samples_become_a_checked_file_and_a_table(kept: Path, tmp_path: Path) -> None:
    done = logpost(
        "calibrate", "-o", "my-cluster.toml", "--page", "p.html", "--samples", kept / "s.jsonl", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "my-cluster.toml written and checked: 116 values." in done.stdout
    assert "p.html written: the plots." in done.stdout
    assert re.search(r"other node .*eager limit .* 16,384 B .*16,384 B to 32,767 B", done.stdout)
    latency = re.search(r"up to 16 KiB +L +(\d+\.\d+) µs ", done.stdout)
    assert latency
    assert float(latency[1]) == pytest.approx(TRUTH.L * 1e6, rel=0.02)
    assert "larger" in done.stdout
    assert "not reached by" in done.stdout
    assert load_machine(tmp_path / "my-cluster.toml").name == "my-cluster"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["my-cluster.toml", "p.html"]


def test_a_machine_file_has_the_network_that_is_named(kept: Path, tmp_path: Path) -> None:
    words = ("calibrate", "-o", "m.toml", "--topology", "fat-tree:4x4", "--samples", kept / "s.jsonl")
    done = logpost(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    made = load_machine(tmp_path / "m.toml")
    assert made.topology is not None
    assert made.topology.n_nodes == 16
    assert "network: 4-ary fat tree, 2 levels, from fat-tree:4x4." in made.notes


def test_links_are_measured_of_a_known_network_only(tmp_path: Path) -> None:
    done = logpost("calibrate", "-o", "m.toml", "--contention", "--", "mpirun", "-n", "2", cwd=tmp_path)
    assert done.returncode == 2
    assert facts(done.stderr) == ["--contention", "--topology"]


def test_nothing_is_cut_on_a_narrow_screen(kept: Path, tmp_path: Path) -> None:
    done = logpost("calibrate", "-o", "m.toml", "--samples", kept / "s.jsonl", cwd=tmp_path, COLUMNS="80")
    assert "…" not in done.stdout
    assert re.search(r"o_s per byte +\d+\.?\d* ps/B +", done.stdout)
    # A sentence is one line, for grep and for terminals of any width.
    assert re.search(r"^±5 % at 95 % confidence not reached by \d+ of 116 values:$", done.stdout, re.MULTILINE)


def test_the_file_serves_every_verb_without_an_edit(kept: Path, traces: Path, tmp_path: Path) -> None:
    done = logpost("calibrate", "-q", "-o", "my-cluster.toml", "--samples", kept / "s.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    checked = logpost("machines", "check", "my-cluster.toml", cwd=tmp_path)
    assert checked.stdout == "my-cluster.toml: good; feeds LogP, LogGP, LoPC, log3P, overlap\n"
    shown = logpost("machines", "show", "my-cluster.toml", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "SIGNATURE: logpost calibrate with Virtual MPI 1.0" in shown.stdout
    # o_s + L + (n - 1) G + o_r with the truth's values: 1.4 + 0.1024 + 6.3 + 1.023 + 2.2 + 0.2048 = 11.23 us.
    predicted = logpost(
        *("predict", "loggp", "-m", "./my-cluster.toml", "--set", "B=1024", "--json", "--unit", "us"), cwd=tmp_path
    )
    assert json.loads(predicted.stdout)["rows"][0]["T"] == pytest.approx(11.23, rel=0.03)
    trace = traces / "pipit-ping-pong"
    analyzed = logpost("analyze", trace, "-m", "my-cluster.toml", "-o", "a.run", "-q", cwd=tmp_path)
    assert (analyzed.returncode, analyzed.stderr) == (0, "")
    machine = json.loads((tmp_path / "a.run" / "manifest.json").read_text())["machine"]
    assert machine["origin"] == "file"
    assert {v["parameter"] for v in machine["values"]} >= {"L", "o_s", "o_r", "g", "G", "eager_limit"}
    assert all(v["uncertainty"] is not None for v in machine["values"] if v["parameter"] == "L")
    done = logpost("report", "a.run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "my-cluster" in done.stdout


def test_a_second_calibration_is_compared_with_the_first(kept: Path, tmp_path: Path) -> None:
    logpost("calibrate", "-q", "-o", "a.toml", "--samples", kept / "s.jsonl", cwd=tmp_path)
    same = logpost("calibrate", "-o", "b.toml", "--samples", kept / "again.jsonl", "--against", "a.toml", cwd=tmp_path)
    agreeing, compared = map(int, re.findall(r"Against a.toml: (\d+) of (\d+) values agree", same.stdout)[0])
    assert compared == 116
    assert agreeing >= 95
    tables = re.findall(
        r"(\w+) (\d+) of (\d+)[,)]", same.stdout.partition("within their intervals (")[2].partition("\n")[0]
    )
    assert [name for name, _, _ in tables] == ["LogGP", "overlap", "log3P", "memory", "observed"]
    assert [sum(int(row[column]) for row in tables) for column in (1, 2)] == [agreeing, compared]
    other = logpost(
        *("calibrate", "-o", "c.toml", "--samples", kept / "slower.jsonl", "--against", "a.toml", "--json"),
        cwd=tmp_path,
    )
    against = json.loads(other.stdout)["against"]
    assert "loggp.other_node.L (up to 16384 B)" in {d["value"] for d in against["differing"]}
    assert against["compared"] == 116
    assert against["tables"]["loggp"] == {"compared": 14, "agreeing": 14 - changed(against, "loggp.")}
    assert sum(table["agreeing"] for table in against["tables"].values()) == against["agreeing"]


def changed(against: dict[str, Any], table: str) -> int:
    return sum(d["value"].startswith(table) for d in against["differing"])


def test_what_is_left_out_of_a_list_is_where_the_line_says(kept: Path, tmp_path: Path) -> None:
    logpost("calibrate", "-q", "-o", "a.toml", "--samples", kept / "s.jsonl", cwd=tmp_path)
    other = logpost(
        *("calibrate", "-o", "b.toml", "--samples", kept / "thrice.jsonl", "--against", "a.toml"), cwd=tmp_path
    )
    assert re.search(r"^  and \d+ more \(see --json\)$", other.stdout.partition("Beyond their")[2], re.MULTILINE)
    wide = re.search(r"  and (\d+) more \(the file .* --json ", other.stdout)
    assert wide is not None
    assert (tmp_path / "b.toml").read_text().count("±5 % not reached: ") == MOST_LINES + int(wide[1])


def test_a_page_that_cannot_be_written_costs_no_machine_file(kept: Path, tmp_path: Path) -> None:
    # A name of 255 bytes leaves no room for that of the new file next to it.
    page = "p" * 250 + ".html"
    done = logpost("calibrate", "-o", "m.toml", "--page", page, "--samples", kept / "s.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"logpost: {page} cannot be written: File name too long; ")
    assert done.stderr.endswith("(the machine file m.toml is written)\n")
    assert done.stderr.count("\n") == 1
    assert load_machine(tmp_path / "m.toml").name == "m"


@pytest.mark.slow
def test_a_page_is_written_to_a_pipe(kept: Path, tmp_path: Path) -> None:
    done = logpost_process(
        "calibrate", "-q", "-o", "m.toml", "--page", "/dev/stdout", "--samples", kept / "s.jsonl", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("<!DOCTYPE html>")


def test_json_holds_what_the_screen_says(kept: Path, tmp_path: Path) -> None:
    done = logpost("calibrate", "-o", "x.toml", "--name", "mine", "--samples", kept / "s.jsonl", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (found["machine"], found["name"], len(found["values"])) == ("x.toml", "mine", 116)
    latency = found["values"]["loggp.other_node.range[0].L"]
    assert found["values"]["log3p.point[0].o_mw"]["at"]["size_bytes"] == 1024
    assert latency["interval"][0] <= latency["value"] <= latency["interval"][1]
    assert found["refused"] == []
    assert found["not_extracted"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "calibrate needs an output file; pass -o my-cluster.toml"),
        (["-o", "new.toml"], "calibrate needs either a launcher after -- (mpirun -n 2) or --samples FILE"),
        (["-o", "new.toml", "--samples", "s.jsonl", "--", "mpirun"], "calibrate needs either a launcher after --"),
        (["-o", "old.toml", "--samples", "s.jsonl"], "old.toml already exists; pass --force to overwrite it"),
        (["-o", "no/x.toml", "--samples", "s.jsonl"], "-o no/x.toml cannot be written: no is not a directory"),
        (
            ["-o", "new.toml", "--samples", "none.jsonl"],
            "cannot read the samples none.jsonl: No such file",
        ),
        (["-o", "new.toml", "--samples", "."], "cannot read the samples .: Is a directory; name"),
        (["-o", "new.toml", "--samples", "bad.jsonl"], "bad.jsonl, line 1 is not JSON"),
        (["-o", "new.toml", "--name", "A B", "--", "mpirun"], "'A B' is not a valid machine name; pass --name a-b"),
        (["-o", "new.toml", "--keep-samples", "s.jsonl", "--", "mpirun"], "s.jsonl already exists; pass --force to"),
        (["-o", ".", "--force", "--", "mpirun"], "-o . cannot be written: it is a directory; name"),
        (["-o", "new.toml", "--page", "no/p", "--", "mpirun"], "--page no/p cannot be written: no is not a directory"),
        (["-o", "new.toml", "--samples", "s.jsonl", "--against", "x"], "unknown machine 'x'"),
        (
            ["-o", "new.toml", "--page", "./new.toml", "--", "mpirun"],
            "-o and --page name the same file, new.toml; give",
        ),
        (["-o", "new.toml", "--keep-samples", "new.toml", "--", "mpirun"], "-o and --keep-samples name the same file"),
        (["-o", "new.toml", "--page", "k", "--keep-samples", "k", "--", "mpirun"], "--page and --keep-samples name"),
        (["-o", "link.toml", "--page", "new.toml", "--", "mpirun"], "-o and --page name the same file, new.toml; give"),
        (["-o", "s.jsonl", "--force", "--samples", "s.jsonl"], "-o and --samples name the same file, s.jsonl; give"),
        (["-o", "new.toml", "--page", "s.jsonl", "--samples", "s.jsonl"], "--page and --samples name the same file"),
        (["-o", "pipe", "--force", "--", "mpirun"], "-o pipe cannot be written: it is not "),
        (["-o", "/dev/null", "--force", "--", "mpirun"], "-o /dev/null cannot be written: it is not a regular"),
        (
            ["-o", "new.toml", "--keep-samples", "pipe", "--force", "--", "mpirun"],
            "--keep-samples pipe cannot be written: it is not a",
        ),
        (["-o", "dangling.toml", "--", "mpirun"], "-o dangling.toml cannot be written: "),
        (
            ["-o", "new.toml", "--page", "p", "--samples", "slow.jsonl"],
            "slow.jsonl, line 2: median_s must be 0 or from",
        ),
        (["-o", "new.toml", "--", "no-such-launcher", "-n", "2"], "no-such-launcher is not on PATH"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    kept: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    shutil.copy(kept / "s.jsonl", tmp_path)
    (tmp_path / "old.toml").write_text("kept\n")
    (tmp_path / "bad.jsonl").write_text("{\n")
    host, point, *_ = (kept / "s.jsonl").read_text().splitlines()
    (tmp_path / "slow.jsonl").write_text(f"{host}\n{json.dumps({**json.loads(point), 'median_s': 1e300})}\n")
    (tmp_path / "link.toml").symlink_to("new.toml")
    (tmp_path / "dangling.toml").symlink_to("nowhere/m.toml")
    os.mkfifo(tmp_path / "pipe")
    before = sorted(os.listdir(tmp_path))
    done = logpost("calibrate", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"logpost: {message}")
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "old.toml").read_text() == "kept\n"


def test_a_machine_file_does_not_go_to_a_pipe(tmp_path: Path) -> None:
    done = logpost_process("calibrate", "-o", "/dev/stdout", "--force", "--", "mpirun", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("logpost: -o /dev/stdout cannot be written: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("name", "path"), [("mine.toml", "mine.toml"), ("mine", "./mine"), ("a b.toml", "'a b.toml'")])
def test_the_command_that_it_ends_with_works(kept: Path, tmp_path: Path, name: str, path: str) -> None:
    done = logpost("calibrate", "-o", name, "--samples", str(kept / "s.jsonl"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    use = done.stdout.splitlines()[-1]
    assert use == f"Use it: logpost analyze ARCHIVE -m {path}"
    assert load_machine(Path(tmp_path, shlex.split(use)[-1])).name == Path(name).stem.replace(" ", "-")
    shown = logpost("machines", "check", shlex.split(use)[-1], cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr


@pytest.mark.alone
@pytest.mark.mpi
def test_from_the_measurement_to_the_analysis_of_a_recorded_program(tmp_path: Path) -> None:
    """A short calibration of this machine, a program recorded on it, and its analysis with the file as it is."""
    if shutil.which("mpicc") is None or shutil.which("mpirun") is None:
        pytest.skip("no mpicc and mpirun here")
    from logpost.collectors.calibration.grid import DEFAULT
    from logpost.collectors.calibration.measure import measure

    launcher = ["mpirun", "-n", "2"]
    os.environ.update(AS_ROOT)
    if "Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout:
        launcher.append("--oversubscribe")
    grid = replace(
        DEFAULT,
        sizes=(8, 64, 512, 2048, 8192, 32768, 131072),
        signature_sizes=(8,),
        bursts=(1, 2, 4, 8, 32, 64),
        burst_sizes=(8, 4096),
        burst_lengths=(1, 4, 16),
        depth_sizes=(8,),
        gap_sizes=(4096,),
        layout_sizes=(1024, 4096),
        strides=(64, 256),
        largest_eager=65536,
    )
    measure(launcher, output=tmp_path / "s.jsonl", budget_s=6.0, passes=2, grid=grid)
    done = logpost_process("calibrate", "-o", "here.toml", "--samples", "s.jsonl", "--page", "here.html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    machine = load_machine(tmp_path / "here.toml")
    assert machine.loggp.of("same_socket") or machine.loggp.of("same_node")
    (tmp_path / "p.c").write_text(
        """
        #include <mpi.h>
        int main(int argc, char **argv) {
            MPI_Init(&argc, &argv);
            int rank;
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            static char data[65536];
            for (int i = 0; i < 50; i++) {
                int n = i % 2 ? 65536 : 64;
                if (rank == 0) {
                    MPI_Send(data, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
                    MPI_Recv(data, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                } else if (rank == 1) {
                    MPI_Recv(data, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    MPI_Send(data, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
                }
            }
            MPI_Finalize();
            return 0;
        }
        """
    )
    subprocess.run(["mpicc", "-o", "p", "p.c"], cwd=tmp_path, check=True)
    recorded = logpost_process("record", "-o", "t", "-q", "--", *launcher, "./p", cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    analyzed = logpost_process("analyze", "t", "-m", "here.toml", "-o", "p.run", "-q", cwd=tmp_path)
    assert (analyzed.returncode, analyzed.stderr) == (0, "")
    report = json.loads(logpost_process("report", "p.run", "--json", cwd=tmp_path).stdout)
    assert report["messages"]["count"] == 100
