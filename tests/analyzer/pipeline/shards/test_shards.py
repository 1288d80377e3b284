"""Archives read as blocks: the same bytes of the run, in any order of tasks, with workers lost on the way."""

from __future__ import annotations

import os
import random
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.analyzer.hanging import begun, copy_of, only_child, repair, unreadable
from tests.analyzer.in_process import analyze
from tests.analyzer.run_contents import contents

from logpost.analyzer.archive import _native
from logpost.analyzer.archive._native import ArchiveError, replayed_blocks
from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.analyzer.pipeline import read_ahead
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards import task
from logpost.analyzer.pipeline.shards.analyze import analyze_sharded, folder_of, prepare_job_array
from logpost.analyzer.pipeline.shards.engine import Workers
from logpost.analyzer.pipeline.shards.plan import OF_ALL, ROUNDS, STAGES, STEPS, Plan, make_plan
from logpost.analyzer.pipeline.shards.task_folder import TaskFolder
from logpost.analyzer.pipeline.shards.workers import local_command, run_tasks, slurm_command, worker_command
from logpost.analyzer.pipeline.stages import replays
from logpost.errors import InputError
from logpost.machines.schema.load import find_machine_file

pytestmark = pytest.mark.slow

ARCHIVES = [
    "scorep-npb-cg-W-nocomp-8",  # messages
    "scorep-prk-rma-stencil-8",  # one-sided epochs
    "casita-2_cuda_simple",  # streams in addition to ranks
    "casita-10_scorep_mpi_tags",
    "scorep-lulesh-nocomp-8",  # collectives in addition to messages
    "tau-requests-2",  # receives whose sends are missing
]


def blocks_read(request: Request, folder: Path, blocks: int, seed: int = 0) -> Plan:
    """All tasks of a plan, those of a step in any order."""
    folder.mkdir()
    plan = make_plan(request, folder, blocks)
    choose = random.Random(seed)
    for step in STEPS:
        tasks = [(stage, block) for stage in step for block in plan.tasks(stage)]
        choose.shuffle(tasks)
        for stage, block in tasks:
            assert task.run(plan, stage, block)
    return plan


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_run_has_the_same_bytes_whatever_the_shards(traces: Path, tmp_path: Path, name: str) -> None:
    same_bytes(Request(str(traces / name), "", threads=1), tmp_path, (1, 2, 7, 32), one_sided="rma" in name)


def same_bytes(request: Request, folder: Path, numbers: Sequence[int], *, one_sided: bool = False) -> None:
    """A request gives the same run as any number of blocks, which have replayed its messages and, of a program without
    one-sided communication, accounted its calls and written their tables."""
    whole, _ = contents(analyze(replace(request, run=str(folder / "whole.run"))))
    for blocks in numbers:
        plan = blocks_read(request, folder / str(blocks), blocks, seed=blocks)
        names = [file.name for file in Path(plan.folder).iterdir()]
        assert len([name for name in names if name.startswith("split-")]) == blocks
        accounted = len([name for name in names if name.startswith("accounted-")])
        assert accounted == (0 if one_sided else blocks)
        written = len([name for name in names if name.startswith("written-")])
        assert written == accounted
        assert 10 * blocks + 3 <= len(names) - accounted - written <= (8 + 2 * ROUNDS) * blocks + 3
        with replays_of_blocks() as found:
            run = analyze(replace(request, run=str(folder / f"{blocks}.run"), shards=plan.text()))
        assert contents(run)[0] == whole
        assert [one is not None for one in found] == [True]


@contextmanager
def replays_of_blocks() -> Iterator[list[object]]:
    """What analyses find of messages that blocks have replayed; None where they replay them again."""
    found: list[object] = []

    def noted(*given: Any) -> Any:
        found.append(replayed_blocks(*given))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_ahead, "replayed_blocks", noted)
        yield found


def test_the_plan_has_the_engine_s_rounds() -> None:
    assert ROUNDS == _native.ROUNDS


def test_blocks_beyond_the_limit_of_memory_give_the_same(traces: Path, tmp_path: Path) -> None:
    """Of a limit of one byte: no block stays mapped."""
    archive = traces / "scorep-npb-cg-W-nocomp-8"
    request = Request(str(archive), str(tmp_path / "whole.run"), threads=1)
    whole, _ = contents(analyze(request))
    plan = blocks_read(Request(str(archive), ""), tmp_path / "blocks", 3)
    run = analyze(replace(request, run=str(tmp_path / "a.run"), shards=plan.text(), memory=1))
    found, memory = contents(run)
    assert found == whole
    assert memory["spilled_bytes"] > 0


def test_clocks_are_corrected_after_the_blocks_are_gathered(traces: Path, tmp_path: Path) -> None:
    archive = traces / "casita-10_scorep_mpi_tags"
    request = Request(str(archive), str(tmp_path / "whole.run"), threads=1, clock=ClockMode.clc)
    whole, _ = contents(analyze(request))
    plan = blocks_read(request, tmp_path / "blocks", 2)
    assert not any(Path(plan.folder).glob("split-*"))  # their times are not yet corrected
    found, _ = contents(analyze(replace(request, run=str(tmp_path / "a.run"), shards=plan.text())))
    assert found == whole


def test_what_is_whole_is_not_made_again_and_what_is_damaged_is(traces: Path, tmp_path: Path) -> None:
    archive = traces / "scorep-npb-cg-W-nocomp-8"
    plan = blocks_read(Request(str(archive), ""), tmp_path / "blocks", 2)
    assert not task.run(plan, "decode", 0)
    joined, decoded = (tmp_path / "blocks" / name for name in ("joined-0", "decoded-0"))
    sound = {file: file.read_bytes() for file in (joined, decoded)}
    for file, content in sound.items():
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(InputError, match=r"joined-0: damaged; run the same command again"):
        analyze(Request(str(archive), str(tmp_path / "a.run"), shards=plan.text()))
    with pytest.raises(ArchiveError, match=r"decoded-0: damaged; run the same command again"):
        task.run(plan, "join", 0)
    assert task.run(plan, "decode", 0)
    assert task.run(plan, "join", 0)
    assert {file: file.read_bytes() for file in sound} == sound
    other = plan._replace(key=plan.key ^ 1)
    with pytest.raises(ArchiveError, match=r"decoded-1: damaged, .* same command again"):
        task.run(other, "match", 1)


def test_a_damaged_part_of_a_table_is_one_line(traces: Path, tmp_path: Path) -> None:
    plan = blocks_read(Request(str(traces / "scorep-npb-cg-W-nocomp-8"), ""), tmp_path / "blocks", 2)
    part = tmp_path / "blocks" / "written-1"
    sound = part.read_bytes()
    part.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    with pytest.raises(InputError, match=r"written-1: damaged; run the same command again"):
        analyze(Request(plan.archive, str(tmp_path / "a.run"), shards=plan.text()))
    assert task.run(plan, "write", 1)
    assert part.read_bytes() == sound


def test_blocks_that_do_not_fit_together_are_refused(traces: Path, tmp_path: Path) -> None:
    """Files of one key from two archives, as if somebody had mixed two folders."""
    plan = blocks_read(Request(str(traces / "scorep-npb-cg-W-nocomp-8"), ""), tmp_path / "blocks", 2)
    other = blocks_read(Request(str(traces / "pipit-ping-pong"), ""), tmp_path / "other", 2)
    forged = plan._replace(archive=other.archive, folder=str(tmp_path / "forged"))
    Path(forged.folder).mkdir()
    for block in range(2):
        task.run(forged, "decode", block)
        os.link(tmp_path / "blocks" / f"matched-{block}", tmp_path / "forged" / f"matched-{block}")
    task.run(forged, "number", 0)
    with pytest.raises(ArchiveError, match=r"forged: blocks of different analyses; remove it, "):
        task.run(forged, "join", 0)


def test_a_changed_archive_is_another_plan(traces: Path, tmp_path: Path) -> None:
    archive = traces / "pipit-ping-pong"
    plan = make_plan(Request(str(archive), ""), tmp_path, 2)
    assert Plan.of_text(plan.text()) == plan == make_plan(Request(str(archive), ""), tmp_path, 2)
    assert make_plan(Request(str(archive), "", clock=ClockMode.none), tmp_path, 2).key != plan.key
    assert make_plan(Request(str(archive), ""), tmp_path, 3).key != plan.key
    elsewhere = make_plan(Request(str(archive), "", machine="alewife"), tmp_path, 2)
    assert elsewhere.key == plan.key
    assert elsewhere.split != plan.split


def test_a_changed_machine_is_chosen_again(copied: Path, tmp_path: Path) -> None:
    """Its file changes between the tasks and the same command; so does what a recording left with the archive."""
    machine = tmp_path / "machine.toml"
    machine.write_bytes(find_machine_file("alewife").read_bytes())
    request = Request(str(copied), "", machine=str(machine))
    plan = make_plan(request, tmp_path, 2)
    machine.write_text(machine.read_text() + "\n# changed\n")
    changed = make_plan(request, tmp_path, 2)
    assert (changed.key == plan.key, changed.split == plan.split) == (True, False)
    (copied / "topology.txt").write_text("SwitchName=s Nodes=a\n")
    assert make_plan(request, tmp_path, 2).split != changed.split


def test_names_of_files_are_as_the_user_wrote_them(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest names the machine's file; here by a path from the folder in which the command began."""
    (copied / "machine.toml").write_bytes(find_machine_file("alewife").read_bytes())
    monkeypatch.chdir(copied)
    for request in (Request(".", "", threads=1, machine="./machine.toml"), Request("../archive", "", threads=1)):
        whole, _ = contents(analyze(replace(request, run=str(tmp_path / "whole.run"), force=True)))
        plan = blocks_read(request, tmp_path / f"blocks {request.machine}".replace("/", ""), 2)
        found, _ = contents(analyze(replace(request, run=str(tmp_path / "a.run"), force=True, shards=plan.text())))
        assert found == whole


def test_the_machine_is_chosen_once(traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the task: behind it, nothing is estimated."""
    request = Request(str(traces / "pipit-ping-pong"), str(tmp_path / "a.run"), threads=1)
    whole, _ = contents(analyze(replace(request, run=str(tmp_path / "whole.run"))))
    plan = blocks_read(request, tmp_path / "blocks", 2)
    monkeypatch.setattr(replays, "choose_machine", None)
    assert contents(analyze(replace(request, shards=plan.text())))[0] == whole


def fake(folder: Path, name: str, script: str) -> Path:
    """An executable shell script."""
    file = folder / name
    file.write_text("#!/bin/sh\n" + script)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


@pytest.fixture
def copied(traces: Path, tmp_path: Path) -> Path:
    """A small archive of two locations that a test may change."""
    return copy_of(traces / "pipit-ping-pong", tmp_path)


ALL_DONE = [(stage, 1 + block) for stage in STAGES for block in range(1 if stage in OF_ALL else 2)]


def test_a_lost_worker_s_task_is_run_again(copied: Path, tmp_path: Path) -> None:
    """First the process of a task is killed by SIGKILL, then the worker itself."""
    request = Request(str(copied), str(tmp_path / "a.run"), threads=1)
    whole = contents(analyze(replace(request, run=str(tmp_path / "whole.run"))))[0]
    with begun(copied, folder_of(request.run), stall_s=60) as tasks:
        os.kill(only_child(tasks.worker("decode-1", 0)), signal.SIGKILL)
        worker = tasks.worker("decode-1", 1)
        repair(copied, 1)
        os.kill(worker, signal.SIGKILL)
        tasks.ended.result(timeout=60)
        assert sorted(tasks.done) == sorted(ALL_DONE)
    run = analyze(replace(request, shards=tasks.plan.text()))
    assert contents(run)[0] == whole


def test_a_task_without_progress_is_killed_and_run_again(copied: Path, tmp_path: Path) -> None:
    # Longer than a process may need to start on busy cores: it would be killed before it did anything.
    with begun(copied, tmp_path / "blocks", stall_s=5) as tasks:
        tasks.worker("decode-1", 1)
        repair(copied, 1)  # the second process may hang already; the third cannot
        tasks.ended.result(timeout=120)
        assert sorted(tasks.done) == sorted(ALL_DONE)


def test_a_task_that_never_makes_progress_is_an_error(copied: Path, tmp_path: Path) -> None:
    with (
        begun(copied, tmp_path / "blocks", stall_s=0.3) as tasks,
        pytest.raises(
            InputError,
            match=r"block 1 of 2: .* no progress for 0\.3 s, 3 times, .* decode; ",
        ),
    ):
        tasks.ended.result(timeout=60)
    run_tasks(tasks.plan, Workers.local)


def test_workers_that_are_always_lost_are_an_error(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(fake(tmp_path, "python", "echo broken >&2; kill -9 $$\n")))
    plan = make_plan(Request(str(traces / "pipit-ping-pong"), ""), tmp_path, 1)
    with pytest.raises(
        InputError,
        match=r"pipit-ping-pong: .* lost 3 times \(status -9: broken\); .*same command again",
    ):
        run_tasks(plan, Workers.local)


def test_a_task_whose_process_is_always_lost_is_an_error(copied: Path, tmp_path: Path) -> None:
    with begun(copied, tmp_path / "blocks", stall_s=60) as tasks:
        for tries in range(3):
            os.kill(only_child(tasks.worker("decode-1", tries)), signal.SIGKILL)
        with pytest.raises(
            InputError,
            match=r"block 1 of 2: .* lost 3 times .* decode \(status -9\); .*same ",
        ):
            tasks.ended.result(timeout=60)


def test_workers_end_with_the_process_that_began_them(copied: Path, tmp_path: Path) -> None:
    """Its standard input closes, as when that process was killed."""
    (tmp_path / "blocks").mkdir()
    plan = make_plan(Request(str(copied), ""), tmp_path / "blocks", 2)
    TaskFolder.fresh(plan)
    with unreadable(copied, 1), subprocess.Popen(local_command(plan, 60), stdin=subprocess.PIPE) as worker:
        while not (tmp_path / "blocks" / "tasks" / "decode-0.done").exists():
            time.sleep(0.005)
        task = only_child(worker.pid)
        assert worker.stdin is not None
        worker.stdin.close()
        assert worker.wait(60) == 1
        for _ in range(2000):
            if not Path(f"/proc/{task}").exists():
                break
            time.sleep(0.005)
        assert not Path(f"/proc/{task}").exists()


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Files of this process and its children stop growing there, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


def test_a_full_disk_is_one_line_that_names_the_block(traces: Path, tmp_path: Path) -> None:
    plan = make_plan(Request(str(traces / "scorep-npb-cg-W-nocomp-8"), ""), tmp_path, 2)
    with largest_file(4096), pytest.raises(ArchiveError) as refused:
        task.run(plan, "decode", 1)
    line = str(refused.value)
    assert line.startswith(f"block 1 of 2 cannot be written to {tmp_path}/")
    assert "(File too large); fix that, and run " in line
    assert not list(tmp_path.iterdir())
    with largest_file(4096), pytest.raises(InputError, match=r"^block \d of 2 .*cannot be written .*File too "):
        run_tasks(plan, Workers.local)


def test_a_shared_folder_and_srun_are_all_that_slurm_needs(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for srun, not Slurm: it notes its options, and runs the command behind them twice at once."""
    fake(
        tmp_path,
        "srun",
        f'echo "$1 $2 $3 $4" >> {tmp_path}/steps\nshift 4\necho "srun: job 1 queued" >&2\n"$@" &\n"$@"\nwait\n',
    )
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_NTASKS", "2")
    request = Request(str(traces / "pipit-ping-pong"), str(tmp_path / "a.run"), threads=1)
    run = analyze_sharded(request, 2, Workers.slurm)
    assert (tmp_path / "steps").read_text().splitlines() == ["--ntasks=2 --kill-on-bad-exit=0 --input=none --quiet"]
    assert not folder_of(request.run).exists()
    assert contents(run)[0] == contents(analyze(replace(request, run=str(tmp_path / "whole.run"))))[0]


def test_a_step_takes_the_processors_of_its_allocation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, "srun", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SLURM_NTASKS", "16")
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "4")
    command = slurm_command(Plan("a", "/shared", 7, True, 0), 60)
    assert command[:3] == ["srun", "--ntasks=7", "--cpus-per-task=4"]
    assert command[-3:] == ["/shared", "4", "60"]


def test_slurm_without_srun_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"--workers slurm: .* srun on PATH; .* allocation of Slurm"):
        run_tasks(Plan("a", str(tmp_path), 1, True, 0), Workers.slurm)


def test_the_script_of_a_job_array_does_the_tasks(traces: Path, tmp_path: Path) -> None:
    """Each job does what the others leave: here one does all, and another starts too late."""
    request = Request(str(traces / "pipit-ping-pong"), str(tmp_path / "a b.run"), threads=1)
    script = prepare_job_array(request, 2, stall_s=60)
    assert "#SBATCH --array=0-1\n" in script.read_text()
    for _ in range(2):
        subprocess.run(["sh", script], check=True)
    assert TaskFolder(folder_of(request.run)).all_done()
    run = analyze_sharded(request, 2, Workers.local)
    assert not folder_of(request.run).exists()
    assert contents(run)[0] == contents(analyze(replace(request, run=str(tmp_path / "whole.run"))))[0]


def test_a_worker_without_its_folder_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(worker_command(str(tmp_path), 1), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{tmp_path}/tasks/plan.json: No such file or directory; run the")
    assert done.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_refused(traces: Path, tmp_path: Path) -> None:
    (tmp_path / "a.run.shards").write_text("")
    with pytest.raises(InputError, match=r"a\.run\.shards: File exists; choose another place with -o"):
        analyze_sharded(Request(str(traces / "pipit-ping-pong"), str(tmp_path / "a.run")), 2, Workers.local)


def test_a_damaged_archive_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "traces.otf2").write_text("no archive")
    request = Request(str(tmp_path), str(tmp_path / "a.run"))
    with pytest.raises(InputError, match=r"traces\.otf2: not a readable OTF2 anchor file"):
        analyze_sharded(request, 2, Workers.local)
    assert folder_of(request.run).is_dir()


@pytest.mark.parametrize("written", ["", "here", "here 4", "here 4194305"])
def test_the_owner_of_a_task_is_known_once_all_of_it_is_written(traces: Path, tmp_path: Path, written: str) -> None:
    """A shared file system shows a file before its whole content: a part of a process number may be no process."""
    tasks = TaskFolder.fresh(make_plan(Request(str(traces / "pipit-ping-pong"), ""), tmp_path, 1))
    task = tasks.take(60)
    assert task is not None
    taken = tmp_path / "tasks" / f"{task.name}.taken"
    assert taken.read_text().split()[1:] == [str(os.getpid()), "0"]
    taken.write_text(written.replace("here", os.uname().nodename))
    other = TaskFolder(tmp_path)
    assert other.take(60) is None
    assert other.take(0) == task._replace(tries=1)


@pytest.mark.parametrize(("call", "tries"), [("link", 0), ("unlink", 1)])
def test_a_process_killed_while_it_takes_a_task_delays_no_other(
    traces: Path, tmp_path: Path, call: str, tries: int
) -> None:
    tasks = TaskFolder.fresh(make_plan(Request(str(traces / "pipit-ping-pong"), ""), tmp_path, 1))
    pid = os.fork()
    if pid == 0:
        setattr(os, call, lambda *_: os._exit(0))
        TaskFolder(tmp_path).take(60)
        os._exit(1)
    assert os.waitpid(pid, 0) == (pid, 0)
    task = tasks.take(60)
    assert task is not None
    assert task.tries == tries
