"""OpenSHMEM under `oshrun`: each kind of call with target and bytes, and the call that completes it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording
from tests.collectors.recording import Event, Trace

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors import shmem
from logpost.collectors.shmem import generate
from logpost.errors import InputError

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(
        not all(map(shutil.which, ("oshcc", "oshrun", "otf2-print"))),
        reason="no OpenSHMEM here: install openmpi-bin, libopenmpi-dev and otf2-tools",
    ),
]

PES, ROUNDS = 4, 5
ENVIRONMENT = recording.environment(OMPI_MCA_memory="^patcher")  # Debian's library crashes in its own finalization


def _build(folder: Path, source: str, *options: str) -> Path:
    made = folder / Path(source).stem
    command = ["oshcc", "-g", "-O1", "-w", "-o", str(made), str(recording.PROGRAMS / source), *options]
    subprocess.run(command, check=True)
    return made


def _record(folder: Path, program: Path, *arguments: str, pes: int = PES) -> recording.Result:
    return recording.record(folder, "oshrun", "-n", str(pes), str(program), *arguments, env=ENVIRONMENT)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> recording.Result:
    """Everything that the collector notes, on four PEs."""
    folder = tmp_path_factory.mktemp("shmem")
    result = _record(folder / "traces", _build(folder, "shmem.c"))
    assert result.status == 0, result.err
    # word of the left neighbour; counter after inc and add of 2; four PEs' ones; fetch_add gives what was there before
    assert result.out == "7 3 4 1\n"
    return result


@pytest.fixture(scope="module")
def trace(recorded: recording.Result) -> Trace:
    """Its archive."""
    return recorded.read()


def _targets(events: list[Event]) -> set[int]:
    return {event.number("Remote") for event in events}


def test_puts_and_gets_have_targets_and_bytes(trace: Trace) -> None:
    for pe in range(PES):
        right = (pe + 1) % PES
        puts = trace.on(pe, "RMA_PUT")
        # rounds of 16 doubles; p; iput of 8 doubles; putmem; put32 of 3; nbi of 4 longs, twice, of 2 through a
        # context; int_p
        assert [e.number("Bytes") for e in puts] == [128] * ROUNDS + [8, 64, 24, 12, 32, 32, 16, 4]
        assert _targets(puts) == {right}
        gets = trace.on(pe, "RMA_GET")
        assert [e.number("Bytes") for e in gets] == [64] * ROUNDS + [8, 32]  # the word is the own one
        assert [e.number("Remote") for e in gets] == [right] * ROUNDS + [pe, right]
        atomics = trace.on(pe, "RMA_ATOMIC")
        # inc; fetch_add, swap: operand and result; compare_swap: two operands
        assert [(e.number("Sent"), e.number("Received")) for e in atomics] == [(0, 0), (8, 8), (8, 8), (16, 8)]
        assert _targets(atomics) == {right}
        assert not [name for name in trace.calls(pe) if name.startswith("MPI_")]


def test_accesses_are_complete_when_the_program_knows_it(trace: Trace) -> None:
    kinds = ("RMA_OP_COMPLETE_BLOCKING", "RMA_OP_COMPLETE_NON_BLOCKING", "RMA_OP_COMPLETE_REMOTE")

    def complete(function: str, call: int = 0) -> list[str]:
        return [e.kind for e in trace.within(0, function, *kinds)[call]]

    assert complete("shmem_double_put") == ["RMA_OP_COMPLETE_BLOCKING"]  # the buffer is free, no more
    assert complete("shmem_double_get") == ["RMA_OP_COMPLETE_BLOCKING", "RMA_OP_COMPLETE_REMOTE"]
    assert complete("shmem_long_atomic_fetch_add") == ["RMA_OP_COMPLETE_BLOCKING", "RMA_OP_COMPLETE_REMOTE"]
    assert complete("shmem_long_atomic_inc") == ["RMA_OP_COMPLETE_BLOCKING"]
    assert complete("shmem_long_put_nbi") == []
    assert complete("shmem_barrier_all", 0) == []
    assert complete("shmem_barrier_all", 1) == ["RMA_OP_COMPLETE_REMOTE"]  # the round's put
    assert complete("shmem_fence") == []
    assert complete("shmem_quiet", 0) == ["RMA_OP_COMPLETE_REMOTE"]  # of the word
    # three blocking puts; put_nbi, get_nbi: at the origin, too
    both = ["RMA_OP_COMPLETE_NON_BLOCKING", "RMA_OP_COMPLETE_REMOTE"]
    assert complete("shmem_quiet", 1) == ["RMA_OP_COMPLETE_REMOTE"] * 3 + both * 2
    # one was started through the context, one not: each quiet completes its own
    assert complete("shmem_ctx_quiet") == both
    assert complete("shmem_quiet", 2) == both
    started = {e.number("Matching") for e in trace.on(0, "RMA_PUT", "RMA_GET", "RMA_ATOMIC")}
    assert {e.number("Matching") for e in trace.on(0, "RMA_OP_COMPLETE_REMOTE")} == started


def test_strides_are_layouts_of_each_side(trace: Trace) -> None:
    (inside,) = trace.within(0, "shmem_double_iput", "RMA_PUT")
    there = "blocks=8 block_bytes=8 stride_bytes=16 extent_bytes=120"
    assert there in inside[0].attributes
    assert "logpost:target_layout" in inside[0].attributes
    assert '"logpost:layout"' not in inside[0].attributes  # the origin's doubles have no gaps


def test_collective_operations_are_of_their_sets(trace: Trace) -> None:
    ends = [e for e in trace.on(0, "RMA_COLLECTIVE_END") if "HANDLE" not in e.operation]
    apart = [e for e in ends if "PROCESS" not in e.text]
    ends = [e for e in ends if e not in apart]
    # the first, the rounds', after the word, after atomics; sum, broadcast; PEs 0 and 2; sync_all
    assert [e.operation for e in ends] == ["BARRIER"] * (ROUNDS + 3) + ["ALLREDUCE", "BCAST", "BARRIER", "BARRIER"]
    allreduce, bcast, some = ends[-4:-1]
    assert (allreduce.number("Sent"), allreduce.number("Received")) == (4 * 8 * PES, 4 * 8 * PES)
    assert (bcast.number("Sent"), bcast.number("Received")) == (0, 16)
    (root,) = [e for e in trace.on(1, "RMA_COLLECTIVE_END") if e.operation == "BCAST"]
    assert (root.number("Root"), root.number("Sent")) == (1, 16 * PES)
    assert 'Window: "PEs 0 to 2 in steps of 2"' in some.text
    assert trace.members("PEs 0 to 2 in steps of 2") == ["0, 2"]
    assert not trace.within(1, "shmem_barrier")
    assert [e.operation for e in apart] == ["ALLREDUCE"], "of no elements: no image waits for another"


def test_locks_and_waits(trace: Trace) -> None:
    (requested,) = trace.within(0, "shmem_set_lock", "RMA_REQUEST_LOCK", "RMA_ACQUIRE_LOCK")
    assert [e.kind for e in requested] == ["RMA_REQUEST_LOCK", "RMA_ACQUIRE_LOCK"]
    locks = {e.number("Lock") for e in trace.events if e.kind.endswith("_LOCK")}
    assert len(locks) == 1, "all PEs name the lock alike, wherever each has loaded the program"
    assert [len(trace.within(pe, "shmem_clear_lock", "RMA_RELEASE_LOCK")[0]) for pe in range(PES)] == [1] * PES
    assert [len(trace.within(pe, "shmem_int_wait_until", "RMA_WAIT_CHANGE")[0]) for pe in range(PES)] == [1] * PES


def test_the_analysis_sees_transfers_and_waits(recorded: recording.Result, tmp_path: Path) -> None:
    done = recording.logpost("analyze", str(recorded.archive), "-o", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert "finished" not in done.stderr  # no rank is missing, no call is open
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["paradigms"] == ["SHMEM"]
    assert manifest["quality"] == []
    puts = 128 * ROUNDS + 8 + 64 + 24 + 12 + 32 + 32 + 16 + 4
    gets, atomics = 64 * ROUNDS + 8 + 32, 0 + 16 + 16 + 24
    assert manifest["one_sided_bytes"] == {"put": PES * puts, "get": PES * gets, "atomic": PES * atomics}
    transfers = pl.read_parquet(tmp_path / "run" / "transfers.parquet")
    assert transfers.height == PES * (13 + 7 + 4)
    kinds = pl.read_parquet(tmp_path / "run" / "epochs.parquet")["kind"].cast(pl.String).to_list()
    assert kinds.count("change") == PES
    assert kinds.count("lock_exclusive") == PES


@pytest.mark.parametrize(("memory", "waits"), [("heap", False), ("static", True)])
def test_targets_that_must_progress_queue_and_others_do_not(memory: str, waits: bool, tmp_path: Path) -> None:
    result = _record(tmp_path, _build(tmp_path, "shmem_away.c"), memory, pes=2)
    assert result.status == 0, result.err
    done = recording.logpost("analyze", str(result.archive), "-o", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    gets = pl.read_parquet(tmp_path / "run" / "transfers.parquet").filter(pl.col("location") == 0)[1:]
    assert gets.height == 5
    # PE 1 computes for 40 ms, from the barrier that PE 0's 4 ms and its get begin behind. Where processes outnumber
    # cores, a get of shared memory may be interrupted, one of static data arrive late: so the middle, and the longest.
    queued_ms = sorted(gets["processor_queueing_ps"] * 1e-9)
    assert queued_ms[4] > 15 if waits else queued_ms[2] == 0


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that begins and ends in many ways."""
    return _build(tmp_path_factory.mktemp("ends"), "shmem_ends.c", "-lpthread")


def _regions(trace: Trace, location: int) -> list[str]:
    return [e.region for e in trace.on(location, "ENTER")][1:]  # the first is the program


BEGIN = ["shmem_init", "shmem_long_p", "shmem_barrier_all"]


def test_mpi_with_it_is_shown_once(ends: Path, tmp_path: Path) -> None:
    result = _record(tmp_path, ends, "mpi", pes=2)
    assert result.status == 0, result.err
    trace = result.read()
    assert _regions(trace, 0) == ["MPI_Init", *BEGIN, "MPI_Barrier", "shmem_finalize"]
    assert len(trace.on(0, "COMM_CREATE")) == len(trace.on(0, "COMM_DESTROY")) == 2
    assert len(trace.on(0, "RMA_WIN_CREATE")) == len(trace.on(0, "RMA_WIN_DESTROY")) == 1
    run = tmp_path / "run"
    assert recording.logpost("analyze", str(result.archive), "-o", str(run)).returncode == 0
    assert json.loads((run / "manifest.json").read_text())["paradigms"] == ["MPI", "SHMEM"]


def test_an_end_without_finalization_is_the_programs_not_mpis(ends: Path, tmp_path: Path) -> None:
    result = _record(tmp_path, ends, "start_pes", pes=2)
    assert result.status == 0, result.err
    # What the library does at exit, by calls of MPI, stands for shmem_finalize.
    assert _regions(result.read(), 0) == ["start_pes", *BEGIN[1:], "shmem_finalize"]


def test_threads_and_forked_children(ends: Path, tmp_path: Path) -> None:
    result = _record(tmp_path, ends, "threads", pes=2)
    assert result.status == 0, result.err
    trace = result.read()
    threads = sorted({e.location for e in trace.events if e.location & 0xFFFFFFFF == 0})
    puts = [len(trace.on(location, "RMA_PUT")) for location in threads]
    assert puts == [1, 1000, 1000, 1000]
    complete = [e for location in threads for e in trace.on(location, "RMA_OP_COMPLETE_REMOTE")]
    assert len({e.number("Matching") for e in complete}) == 3001, "each once, by whichever thread's quiet"
    forked = _record(tmp_path / "forked", ends, "fork", pes=2)
    assert forked.status == 0, forked.err
    assert _regions(forked.read(), 0) == [*BEGIN, "shmem_finalize"]


@pytest.mark.parametrize(
    ("how", "status", "last"), [("stuck", 134, ["shmem_barrier_all"]), ("global_exit", 3, ["shmem_global_exit"])]
)
def test_what_kills_the_program_leaves_its_calls(
    ends: Path, tmp_path: Path, how: str, status: int, last: list[str]
) -> None:
    result = _record(tmp_path, ends, how, pes=2)
    assert result.status == status
    trace = result.read()
    assert _regions(trace, 0) == BEGIN + last
    # PE 1 aborts while PE 0 waits for it in a barrier.
    waiting = [e for e in trace.on(0, "ENTER") if "collective comm=0" in e.attributes]
    assert [e.region for e in waiting] == (["shmem_barrier_all"] if how == "stuck" else [])


def test_sizes_beyond_an_int_none_and_with_oneself(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "SHMEM_SYMMETRIC_HEAP_SIZE": "2200M"}
    program = _build(tmp_path, "huge_shmem.c")
    result = recording.record(tmp_path, "oshrun", "-n", "2", str(program), env=environment)
    assert result.status == 0, result.err
    trace = result.read()
    puts = [(e.number("Remote"), e.number("Bytes")) for e in trace.on(0, "RMA_PUT")]
    assert puts == [(1, 2049 * 2**20), (1, 0), (0, 8)]
    assert [(e.number("Remote"), e.number("Bytes")) for e in trace.on(0, "RMA_GET")] == [(1, 0)]
    run = _analyzed(result)
    assert run.table("transfers").select(pl.col("bytes").sum()).collect().item() == 2049 * 2**20 + 8


@pytest.mark.alone  # minutes, and two polling processes
@pytest.mark.timeout(1800)
def test_ten_million_puts(tmp_path: Path) -> None:
    """The log is written to the disk as it grows, so the program stays small."""
    program = _build(tmp_path, "huge_shmem.c")
    result = recording.record(tmp_path, "oshrun", "-n", "2", str(program), "10000000", env=ENVIRONMENT, limit_s=900)
    assert result.status == 0, result.err
    assert int(result.out.split()[1]) < 100_000_000, "bytes of memory"
    puts = _analyzed(result).table("transfers").select(pl.len(), pl.col("bytes").sum()).collect()
    assert puts.row(0) == (10_000_000, 80_000_000)


def _analyzed(result: recording.Result) -> Run:
    run = Run.open(analyze(Request(str(result.archive), str(result.folder / "run"))))
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
    return run


def test_all_of_the_library_is_in_the_table() -> None:
    """What OpenSHMEM 1.4 has for many types is wrapped; what only reads the own process is not."""
    names = {f.name for f in generate.functions()}
    for wanted in ("shmem_ctx_longdouble_put", "shmem_uint16_iget", "shmem_put128_nbi", "shmem_ctx_getmem_nbi"):
        assert wanted in names
    for wanted in (
        "shmem_ulong_atomic_fetch_xor",
        "shmem_double_swap",
        "shmem_complexd_prod_to_all",
        "shmem_alltoalls64",
    ):
        assert wanted in names
    assert "shmem_my_pe" not in names


def test_another_openshmem_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sma.c").write_text("void shmem_init(void) {}\n")
    (tmp_path / "main.c").write_text("void shmem_init(void);\nint main(void) { shmem_init(); return 0; }\n")
    compiler = ["cc", "-o"]
    subprocess.run([*compiler, "libsma.so", "-shared", "-fPIC", "sma.c"], check=True, cwd=tmp_path)
    options = ["-L.", "-lsma", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([*compiler, "app", "main.c", *options], check=True, cwd=tmp_path)
    with pytest.raises(InputError, match=r"app uses .*libsma.so; of OpenSHMEM libraries only Open MPI's"):
        shmem.refuse_others(["oshrun", "-n", "2", str(tmp_path / "app")])


def test_rows_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for row, complaint in (
        ("rma put | nothing", "cannot read 'rma put"),
        ("rma odd | void f(int a)", "unknown hook 'odd'"),
    ):
        (tmp_path / "functions.txt").write_text(row + "\n")
        monkeypatch.setattr(generate, "TABLE", tmp_path / "functions.txt")
        generate.functions.cache_clear()
        with pytest.raises(ValueError, match=complaint):
            generate.wrappers({"f"}, 1)
    monkeypatch.undo()
    generate.functions.cache_clear()
