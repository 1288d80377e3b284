"""`record --calibrate quick`: the machine is measured inside MPI_Init, and the program cannot notice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests import give_way
from tests.collectors import recording
from tests.said import facts

from logpost.analyzer.run.directory import Run
from logpost.collectors import record as recorder
from logpost.collectors.assemble import Archive
from logpost.errors import InputError
from logpost.machines import load_machine
from logpost.machines.calibration import samples
from logpost.machines.calibration.while_recording import NAME, SOURCE, Outcome, read_outcome
from logpost.machines.schema.load import find_machine_file
from logpost.machines.values.quantity import Quantity

QUICK = ("--calibrate", "quick")
PASSES = 12
"""Of a measurement that its time does not cut off."""


def _outcome(archive: Path) -> Outcome:
    found = read_outcome(archive)
    assert found is not None
    return found


def _needs_two_processors() -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks need two processors to be measured")


def _needs_quiet(found: Outcome) -> None:
    if "had their processors" in found.reason:
        pytest.skip(found.reason)


def _recorded(mpi: str, program: Path, folder: Path, budget_s: float) -> Archive:
    command = (recording.LAUNCHERS[mpi], "-n", "2", str(program))
    settings = recorder.Settings(output=folder, calibrate_s=budget_s, environment=recording.environment())
    result = recorder.record(command, settings, print, print)
    assert result.status == 0
    assert result.archive is not None
    return result.archive


@pytest.mark.alone
def test_recording_measures_by_default_and_says_so(mpi: str, tmp_path: Path) -> None:
    _needs_two_processors()
    program = recording.build("blocking.c", mpi, tmp_path)
    words = ("-o", str(tmp_path / "out"), "--", recording.LAUNCHERS[mpi], "-n", "2", str(program))
    done = recording.logpost("record", *words)
    assert done.returncode == 0, done.stderr
    (archive,) = (tmp_path / "out").iterdir()
    found = _outcome(archive)
    assert found.budget_s == 0.5
    assert found.sentence() in done.stderr
    assert (archive / "machine.toml").exists() == (not found.reason)


@pytest.mark.alone
def test_the_machine_is_measured_and_analyze_takes_it(mpi: str, tmp_path: Path) -> None:
    """With time enough for a machine that is busy with other work, too."""
    _needs_two_processors()
    result = recording.Result(0, "", "", tmp_path / "out")
    made = _recorded(mpi, recording.build("blocking.c", mpi, tmp_path), result.folder, budget_s=30.0)
    assert made.path == result.archive
    found = _outcome(result.archive)
    assert found == made.calibration
    _needs_quiet(found)
    assert found.reason == ""
    assert list(found.pairs.values()) == [(0, 1)], "one pair in the one class that two ranks have"
    assert 0.0 < found.took_s <= found.budget_s, "by the measurement's own stamps"

    machine = load_machine(result.archive / "machine.toml")
    assert machine.name == NAME
    assert all(source.text.startswith(SOURCE) for source in machine.sources.values())
    ((locality, _),) = found.pairs.items()
    ranges = getattr(machine.loggp, locality).range
    assert ranges
    for row in ranges:
        for name in ("L", "o_s", "o_r", "G"):
            value = getattr(row, name)
            assert isinstance(value, Quantity), name
            assert value.interval is not None, name
            assert value.value is not None, name
            assert (value.samples or 0) > 0
    assert ranges[0].g is not None
    contiguous = [point for point in machine.log3p.point if point.stride_bytes is None]
    strided = [point for point in machine.log3p.point if point.stride_bytes is not None]
    assert {point.size_bytes for point in contiguous} >= {256, 1024, 65536, 131072}
    assert all(point.o_mw and point.T_mem for point in contiguous), "overhead of the middleware, apart from the copy"
    assert {point.block_bytes for point in strided} == {8, 64, 512}
    for point in strided:
        assert point.l_mw is not None
        assert point.l_mw.interval is not None
        assert point.l_mw_self is not None
    # 8192 blocks of 8 B have a price each; 128 blocks of 512 B are few.
    dear, cheap = (
        next(p.l_mw for p in strided if (p.size_bytes, p.block_bytes, p.stride_bytes) == (65536, b, 4 * b))
        for b in (8, 512)
    )
    assert dear is not None
    assert cheap is not None
    assert dear.number() > cheap.number()
    kept = samples.read(result.archive / "calibration.jsonl")
    families = {"one_way", "message_overhead", "protocol", "round_trip", "signature", "stream", "layout", "reduction"}
    assert {point.family for point in kept.points} == families
    assert kept.host.ranks == 2

    run = tmp_path / "run"
    done = recording.logpost("analyze", str(result.archive), "-o", str(run))
    assert done.returncode == 0, done.stderr
    used = Run.open(run).manifest.machine
    assert (used.name, used.origin, used.label) == (NAME, "recorded", "measured while recording")
    assert found.sentence() in used.notes
    report = " ".join(recording.logpost("report", str(run), "--full").stdout.split())
    assert f"{NAME}: measured while recording" in report
    assert f"note: {found.sentence()}" in report

    done = recording.logpost("analyze", str(result.archive), "-o", str(run), "--force", "--machine", "estimate")
    assert done.returncode == 0, done.stderr
    assert Run.open(run).manifest.machine.origin == "estimated"


def _lines(raw: Path, kind: str) -> list[dict[str, Any]]:
    return [json.loads(line) for path in raw.glob(f"{kind}.*.jsonl") for line in path.read_text().splitlines()]


@pytest.mark.alone
def test_layouts_that_the_grid_has_not_are_measured_in_finalize(mpi: str, tmp_path: Path) -> None:
    """Of the program's three layouts, 64 KiB in blocks of 8 B, every 4th, are in the grid that MPI_Init measured."""
    _needs_two_processors()
    program = recording.build("strided.c", mpi, tmp_path)
    command = (recording.LAUNCHERS[mpi], "-n", "2", str(program))
    settings = recorder.Settings(
        output=tmp_path / "out",
        calibrate_s=30.0,
        layouts_s=20.0,
        keep_raw=True,
        environment=recording.environment(),
    )
    result = recorder.record(command, settings, print, print)
    assert result.status == 0
    assert result.archive is not None
    (raw,) = (tmp_path / "out").glob("*.raw")
    about, _, *found = _lines(raw, "layouts")
    assert about["reason"] == ""
    seen = {(line["family"], line["bytes"], line["block_bytes"], line["stride_bytes"]) for line in found}
    grid = {
        (line["bytes"], line["block_bytes"], line["stride_bytes"])
        for line in _lines(raw, "calibration")[2:]
        if line["family"] == "layout" and line["form"] == "datatype"
    }
    if (65536, 8, 32) not in grid:
        pytest.skip("the machine is too busy for log3P's grid")
    assert seen == {("used_layout", 4000, 40, 200), ("used_layout", 24000, 12, 28)}
    _needs_quiet(_outcome(result.archive.path))
    points = load_machine(result.archive.path / "machine.toml").log3p.point
    if about["processor_share"] >= 0.7:
        assert {(p.size_bytes, p.block_bytes, p.stride_bytes) for p in points if p.alone} == {
            (4000, 40, 200),
            (24000, 12, 28),
        }


@pytest.mark.parametrize("killed", [False, True], ids=["no time", "killed"])
def test_no_layout_is_measured_without_time_or_with_a_killed_rank(mpi: str, tmp_path: Path, killed: bool) -> None:
    _needs_two_processors()
    program = recording.build("strided.c", mpi, tmp_path)
    words = ("1",) if killed else ()
    options = (*QUICK, "--keep-raw", "--calibrate-layouts", "20" if killed else "0")
    result = recording.run(mpi, tmp_path / "out", 2, program, *words, options=options)
    assert (result.status != 0) == killed
    (raw,) = (tmp_path / "out").glob("*.raw")
    assert _lines(raw, "calibration") != []
    assert _lines(raw, "layouts") == []


@pytest.mark.alone
@pytest.mark.parametrize("windows", ["a", "c", "ac"])
def test_transfers_through_windows_like_the_programs_are_measured_in_finalize(
    mpi: str, tmp_path: Path, windows: str
) -> None:
    _needs_two_processors()
    program = recording.build("windows.c", mpi, tmp_path)
    command = (recording.LAUNCHERS[mpi], "-n", "2", str(program), windows)
    settings = recorder.Settings(
        output=tmp_path / "out",
        calibrate_s=30.0,
        layouts_s=20.0,
        keep_raw=True,
        # Open MPI 4.1 makes no window of the program's memory without it
        environment=recording.environment(OMPI_MCA_btl_vader_single_copy_mechanism="cma"),
    )
    result = recorder.record(command, settings, print, print)
    assert result.status == 0
    assert result.archive is not None
    (raw,) = (tmp_path / "out").glob("*.raw")
    lines = _lines(raw, "transfers")
    if len(windows) > 1:
        assert lines == [], "the archive does not say which window a transfer is through"
        return
    about, _, *found = lines
    assert about["reason"] == ""
    assert {line["family"] for line in found} == {"one_sided"}
    assert {line["operation"] for line in found} == {"put", "get"}
    assert {line["bytes"] for line in found} >= {8, 1 << 20}
    _needs_quiet(_outcome(result.archive.path))
    if about["processor_share"] < 0.7:
        pytest.skip("there was too much other load while transfers were measured")
    points = load_machine(result.archive.path / "machine.toml").one_sided.point
    for operation in ("put", "get"):
        times = {one.size_bytes: one.T.base() for one in points if one.operation == operation}
        assert times[1 << 20] > times[8] > 0


def test_no_layout_is_measured_where_init_had_no_time(mpi: str, tmp_path: Path) -> None:
    """Without values of contiguous messages its l_mw would be of no use."""
    _needs_two_processors()
    command = (recording.LAUNCHERS[mpi], "-n", "2", str(recording.build("strided.c", mpi, tmp_path)))
    settings = recorder.Settings(
        output=tmp_path / "out",
        calibrate_s=1e-6,
        layouts_s=20.0,
        keep_raw=True,
        environment=recording.environment(),
    )
    assert recorder.record(command, settings, print, print).status == 0
    (raw,) = (tmp_path / "out").glob("*.raw")
    assert len(_lines(raw, "calibration")) == 2, "what was measured, and where"
    assert _lines(raw, "layouts") == []
    assert _lines(raw, "transfers") == []


def test_ranks_that_outnumber_processors_are_not_measured_and_it_is_said(mpi: str, tmp_path: Path) -> None:
    program = recording.build("blocking.c", mpi, tmp_path)
    processor = str(min(os.sched_getaffinity(0)))
    command = (recording.LAUNCHERS[mpi], "-n", "2", "taskset", "-c", processor, str(program))
    result = recording.record(tmp_path / "out", *command, options=(*QUICK, "--mpi", recording.COMPILERS[mpi], "-q"))
    assert result.status == 0, result.err
    prefix, said = result.err.strip().split(": ", 1)  # quiet prints problems, and this is one
    assert prefix == "logpost"
    assert facts(said) == ["2", "1", "0"]
    assert _outcome(result.archive).pairs == {}
    assert sorted(p.name for p in result.archive.glob("*.*")) == ["calibration.json", "traces.def", "traces.otf2"]

    run = tmp_path / "run"
    assert recording.logpost("analyze", str(result.archive), "-o", str(run)).returncode == 0
    used = Run.open(run).manifest.machine
    assert used.origin == "estimated"
    assert said in used.notes
    assert said in " ".join(recording.logpost("report", str(run), "--full").stdout.split())


@pytest.mark.parametrize("threads", ["0", "3"], ids=["MPI_Init", "MPI_THREAD_MULTIPLE"])
def test_the_program_cannot_notice(mpi: str, tmp_path: Path, threads: str) -> None:
    """Handles, attributes, error handlers, pending messages, threads, files, processors: as without."""
    program = recording.build("unnoticed.c", mpi, tmp_path)
    seen = {}
    for how in ("none", "quick"):
        result = recording.run(mpi, tmp_path / how, 2, program, threads, options=("--calibrate", how))
        assert result.status == 0, result.err
        seen[how] = sorted(result.out.splitlines())
        assert read_outcome(result.archive) is None or how == "quick"
    assert seen["quick"] == seen["none"]
    assert {"0: strays 0", "1: strays 0", "0: handlers fatal fatal"} <= set(seen["quick"])


@pytest.mark.alone
@pytest.mark.parametrize(
    ("hosts", "streams"),
    [({}, ("same_socket", "neighbour")), ({"PLACES_HOSTS": "2"}, ("other_node", "cross_section"))],
    ids=["one host", "two hosts"],
)
def test_one_pair_and_all_that_share_an_end_stream(
    mpi: str, tmp_path: Path, hosts: dict[str, str], streams: tuple[str, str]
) -> None:
    """Four ranks that take this machine for one with processors for each, in one place or in two."""
    preloaded = recording.build("places.c", mpi, tmp_path, "-shared", "-fPIC", "-ldl")
    library = ":".join([str(preloaded), *(path for _, path in give_way.environment(tmp_path))])
    environment = recording.environment(LD_PRELOAD=library, OMPI_MCA_mpi_yield_when_idle="1", **hosts)
    program = recording.build("counted.c", mpi, tmp_path)
    settings = recorder.Settings(output=tmp_path / "out", calibrate_s=10.0, keep_raw=True, environment=environment)
    result = recorder.record((recording.LAUNCHERS[mpi], "-n", "4", str(program)), settings, print, print)
    assert result.status == 0
    (raw,) = (tmp_path / "out").glob("*.raw")
    about, *lines = _lines(raw, "calibration")
    assert about["reason"] == ""
    found = [line for line in lines if line["family"] == "pattern_gap"]
    assert {(line["locality"], line["pattern"]) for line in found} == {streams}
    points = {(line["pairs"], line["bytes"]) for line in found}
    assert points == {(pairs, size) for pairs in (1, 2) for size in (65536, 262144)}
    assert {line["peers"] for line in found} == {2, 4}


def test_none_leaves_nothing(mpi: str, tmp_path: Path) -> None:
    program = recording.build("blocking.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path / "out", 2, program, options=("--calibrate", "none"))
    assert "machine" not in result.err
    assert sorted(p.name for p in result.archive.glob("*.*")) == ["traces.def", "traces.otf2"]


def test_a_file_is_kept_as_by_machine(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("blocking.c", openmpi, tmp_path)
    result = recording.run(openmpi, tmp_path / "out", 2, program, options=("--calibrate", "alewife"))
    assert (result.archive / "machine.toml").read_bytes() == find_machine_file("alewife").read_bytes()
    assert read_outcome(result.archive) is None


def test_one_rank_has_nothing_to_measure(mpi: str, tmp_path: Path) -> None:
    program = recording.build("surroundings.c", mpi, tmp_path)
    result = recording.record(tmp_path / "out", str(program), "many", "5", options=QUICK)
    assert result.status == 0, result.err
    assert ": one rank sends no messages" in result.err
    quiet = recording.record(tmp_path / "quiet", str(program), "many", "5", options=(*QUICK, "-q"))
    assert "logpost" not in quiet.err, "it is no problem"


@pytest.mark.alone
def test_sampling_ends_with_its_time(mpi: str, tmp_path: Path) -> None:
    _needs_two_processors()
    program = recording.build("blocking.c", mpi, tmp_path)
    none = _recorded(mpi, program, tmp_path / "none", 1e-6)
    assert none.calibration is not None
    assert none.calibration.reason.startswith("within 1e-06 s there was no time ")
    assert not (none.path / "machine.toml").exists()

    some = _recorded(mpi, program, tmp_path / "some", 0.02)
    rounds = 0
    if (some.path / "calibration.jsonl").exists():
        kept = samples.read(some.path / "calibration.jsonl")
        rounds = max((len(p.time.rounds_s) for p in kept.of("one_way")), default=0)
    assert rounds < PASSES, "cut off, or the test's time is too long"


def test_children_of_a_measured_program_start(openmpi: str, tmp_path: Path) -> None:
    """Their parents wait for them and could not take part; they have no measurement."""
    program = recording.build("spawn.c", openmpi, tmp_path)
    result = recording.run(openmpi, tmp_path / "out", 2, program, options=(*QUICK, "--keep-raw"))
    assert result.status == 0, result.err
    assert result.read().members("MPI_COMM_WORLD (world 1)") == ["2, 3"]
    (raw,) = (tmp_path / "out").glob("*.raw")
    (left,) = raw.glob("calibration.*.jsonl")
    assert json.loads(left.read_text().splitlines()[0])["ranks"] == 2

    again = recorder.recover(raw, tmp_path / "again", print)[0]
    assert again.calibration == _outcome(result.archive), "recovered with what was measured"


def test_two_machines_are_one_too_many(openmpi: str, tmp_path: Path) -> None:
    result = recording.record(tmp_path / "out", "true", options=("--machine", "alewife", "--calibrate", "none"))
    assert result.status == 2
    assert "--machine alewife and --calibrate none both " in result.err


def test_layouts_are_measured_with_the_machine_only(openmpi: str, tmp_path: Path) -> None:
    options = ("--calibrate", "none", "--calibrate-layouts", "2")
    result = recording.record(tmp_path / "out", "touch", str(tmp_path / "ran"), options=options)
    assert result.status == 2
    assert "--calibrate-layouts 2 measures in addition to --calibrate quick" in result.err
    assert not (tmp_path / "ran").exists()


def test_an_unknown_file_is_refused_before_the_program_runs(openmpi: str, tmp_path: Path) -> None:
    result = recording.record(tmp_path / "out", "touch", str(tmp_path / "ran"), options=("--calibrate", "fast"))
    assert result.status == 2
    assert "unknown machine 'fast'" in result.err
    assert not (tmp_path / "ran").exists()


def test_a_damaged_outcome_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "calibration.json").write_text('{"reason": ""}')
    with pytest.raises(InputError, match=r"calibration.json is damaged \('budget_s'\); remove it, and analyze again"):
        read_outcome(tmp_path)
