"""What is changed, and the commands that get it: one subject for each kind of file that logpost reads."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.archives import unpack
from tests.cli.command import logpost
from tests.collectors import raw_logs
from tests.collectors.gasnet_traces import Trace
from tests.fuzz.mutations import change_bytes, change_json, change_table, change_text
from tests.rewritten import PROGRAM, rewritten

Commands = list[list[object]]

ARCHIVES = ("pipit-ping-pong", "casita-10_scorep_mpi_tags", "scorep-prk-rma-transpose-flush-4", "otf2-integrity-1")
RUNS = ARCHIVES[:3]
NETWORKS = ("alewife", "sens_t3d", "alps", "meiko_cs2")
"""Machines with a topology and without, measured and printed."""
DIMEMAS = """#DIMEMAS_CONFIGURATION
#1:
"environment information" {
  char "machine_name"[];
  int "machine_id"; // "which"
};;

"environment information" {"mn", 0, "", 2, 250.0, 0, 3};;
"multi node information" {0, 2, "", 4, 1.0, 1.0E-6, 500.0, 0, 1, 1, 8.0E-6, 2, 2, 0.0};;
"""


@dataclass(frozen=True)
class Subject:
    """`prepare` makes sound files once; `change` makes a changed copy of them and says what to do with it."""

    prepare: Callable[[Path], None]
    change: Callable[[Path, Path, Random], Commands]
    forks: bool = False
    """Its commands fork processes: a process whose table library has threads must not, so each round has its own."""


def _archives(folder: Path) -> None:
    unpack(folder / "all")
    for name in ARCHIVES:
        shutil.move(folder / "all" / name, folder / name)
    shutil.rmtree(folder / "all")


def _runs(folder: Path) -> None:
    _archives(folder / "archives")
    for name in RUNS:
        done = logpost("analyze", _anchor(folder / "archives" / name), "-o", folder / f"{name}.run", "-m", NETWORKS[0])
        assert done.returncode == 0, done.stderr


def _anchor(archive: Path) -> Path:
    return next(archive.glob("*.otf2"))


def _copied(source: Path, target: Path) -> list[Path]:
    """A copy; its files, in an order that is always the same."""
    shutil.copytree(source, target)
    return sorted(path for path in target.rglob("*") if path.is_file())


def _changed(files: Sequence[Path], random: Random, change: Callable[[bytes, Random], bytes] = change_bytes) -> None:
    for path in random.sample(files, min(len(files), random.choice((1, 1, 2)))):
        path.write_bytes(change(path.read_bytes(), random))


def _change_archive(sound: Path, scratch: Path, random: Random) -> Commands:
    _changed(_copied(sound / random.choice(ARCHIVES), scratch / "archive"), random)
    run = scratch / "a.run"
    analysis: list[object] = ["analyze", _anchor(scratch / "archive"), "-o", run]
    return [[*analysis, *random.choice(([], ["-m", "alewife"], ["--clock", "clc"]))], ["report", run]]


def _change_definitions(sound: Path, scratch: Path, random: Random) -> Commands:
    """References to nothing, to themselves, in a circle, ids defined twice: of real archives, and of archives made by
    chance, which have calling contexts."""
    made, seed = scratch / "archive", random.randrange(2**32)
    if random.randrange(2):
        rewritten(_anchor(sound / random.choice(ARCHIVES)), made, "odd", seed)
    else:
        subprocess.run([PROGRAM.with_name("archive_fuzz"), "write", made, str(seed)], check=True)
    run = scratch / "a.run"
    analysis: list[object] = ["analyze", _anchor(made), "-o", run]
    uses: Commands = [["report", run], ["explain", run], ["export", run, "--to", "perfetto", "-o", scratch / "p.json"]]
    return [[*analysis, *random.choice(([], ["-m", "alewife"], ["--clock", "clc"]))], random.choice(uses)]


def _change_run(sound: Path, scratch: Path, random: Random) -> Commands:
    name, run = random.choice(RUNS), scratch / "a.run"
    files = _copied(sound / f"{name}.run", run)
    for path in random.sample(files, random.choice((1, 1, 2))):
        if path.suffix == ".parquet":
            change_table(path, random)
        else:
            path.write_bytes((change_json if path.suffix == ".json" else change_text)(path.read_bytes(), random))
    uses: Commands = [
        ["report", run],
        ["report", run, "--json"],
        ["report", run, "--html", scratch / "a.html"],
        ["compare", run, sound / f"{name}.run"],
        ["compare", sound / f"{name}.run", run, "--html", scratch / "c.html"],
        ["explain", run],
        ["explain", run, "0"],
        ["roofline", run],
        ["history", "add", scratch / "history.parquet", run],
        ["scale", run, sound / f"{name}.run", "--to", "64"],
        ["whatif", run],
        ["whatif", run, "--overlap"],
        ["whatif", run, "--set", "L=x2", "-o", scratch / "b.run"],
        ["whatif", run, "--sweep", "L=x0.1:x10:3"],
        ["export", run, "--to", "csv", "-o", scratch / "csv"],
        ["export", run, "--to", "perfetto", "-o", scratch / "p.json"],
        ["export", run, "--to", "goal", "-o", scratch / "a.goal"],
    ]
    return random.sample(uses, 2)


def _machines(folder: Path) -> None:
    _runs(folder)
    for name in NETWORKS:
        source = Path(__file__).parents[2] / "machines" / "library" / f"{name}.toml"
        shutil.copy(source, folder / source.name)
    (folder / "dimemas.cfg").write_text(DIMEMAS)
    (folder / "placement").write_text("".join(f"{rank}\n" for rank in range(8)))


def _change_machine(sound: Path, scratch: Path, random: Random) -> Commands:
    file = scratch / "m.toml"
    shutil.copy(sound / f"{random.choice(NETWORKS)}.toml", file)
    _changed([file], random, change_text)
    run = sound / f"{random.choice(RUNS)}.run"
    uses: Commands = [
        ["machines", "check", file],
        ["machines", "show", file],
        ["machines", "show", file, "--json"],
        ["predict", "loggp", "-m", file, "--set", "B=1KiB"],
        ["predict", "log3p", "-m", file, "--set", "B=1MiB"],
        ["whatif", run, "-m", file],
        ["analyze", _anchor(sound / "archives" / random.choice(RUNS)), "-m", file, "-o", scratch / "a.run"],
        ["explain", run, "-m", file],
    ]
    return random.sample(uses, 2)


def _change_description(sound: Path, scratch: Path, random: Random) -> Commands:
    name = random.choice(("dimemas.cfg", "placement"))
    file = scratch / name
    file.write_bytes(change_text((sound / name).read_bytes(), random))
    if name == "placement":
        return [["whatif", sound / f"{RUNS[0]}.run", "-m", NETWORKS[0], "--mapping", file]]
    made = scratch / "m.toml"
    return [["machines", "import", "dimemas", file, "-o", made], ["machines", "check", made]]


def _gasnet(folder: Path) -> None:
    first = Trace(0).send(100, peer=1).send(110, peer=1, arguments=" 0x2").handle(221, 222, peer=1)
    first.at(230, "(P) PUT_NB: sz =     64,  peer = TM0:1", place="/src/heat.c:41")
    first.at(280, "(S) WAIT_SYNCNB: waittime = 50.000us", place="/src/heat.c:42")
    second = Trace(1).handle(150, 152, peer=0).handle(160, 165, peer=0, arguments=" 0x2").send(200, peer=0)
    second.at(290, "(W) Team TM0:1 scratch: size=0 symmetric_offset=0")
    for trace in (first, second):
        trace.write(folder)


def _change_gasnet(sound: Path, scratch: Path, random: Random) -> Commands:
    files = _copied(sound, scratch / "gasnet")
    _changed(files, random, change_text)
    made = scratch / "archive"
    return [["import", "gasnet", *files, "-o", made], ["analyze", made, "-o", scratch / "a.run"]]


def _raw(folder: Path) -> None:
    a, b = (raw_logs.Log(rank, 2) for rank in (0, 1))
    for log in (a, b):
        log.sync(1_000_000, 500_000, 10**18)
        log.call("MPI_Init", 1_000_000, 1_001_000)
    for step in range(20):
        at = 1_002_000 + 1000 * step
        a.message(raw_logs.SEND, at, at + 100, 1, 7, 64)
        b.message(raw_logs.RECV, at, at + 300, 0, 7, 64)
        for log in (a, b):
            log.level(at + 400, at + 410, step % 3)
    for log in (a, b):
        log.sync(3_000_000, 1_500_000, 10**18 + 1_000_000)
    a.call("MPI_Finalize", 2_000_000, 2_001_000)
    b.dies_in("MPI_Recv", 2_000_000, raw_logs.RECV, peer=0, tag=7)
    raw_logs.write(folder, a, b)


def _change_raw(sound: Path, scratch: Path, random: Random) -> Commands:
    _changed(_copied(sound, scratch / "raw"), random)
    # The archive's name has the time in it: found when the command runs.
    return [
        ["record", "--recover", scratch / "raw", "-o", scratch / "made"],
        ["analyze", scratch / "made", "-o", scratch / "a.run"],
    ]


SUBJECTS = {
    "archive": Subject(_archives, _change_archive),
    "definitions": Subject(_archives, _change_definitions, forks=True),
    "run": Subject(_runs, _change_run),
    "machine": Subject(_machines, _change_machine),
    "description": Subject(_machines, _change_description),
    "gasnet": Subject(_gasnet, _change_gasnet),
    "raw logs": Subject(_raw, _change_raw, forks=True),
}
