"""`analyze` with an archive that many processes read: first the tasks, then the run of what they leave."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards.engine import STALL_S, Workers
from logpost.analyzer.pipeline.shards.job_array import write_job_array
from logpost.analyzer.pipeline.shards.plan import ROUNDS, Plan, make_plan
from logpost.analyzer.pipeline.shards.workers import Engine, run_tasks
from logpost.analyzer.pipeline.supervise import OnProgress, analyze
from logpost.analyzer.run.place import refuse_occupied
from logpost.errors import InputError

PHASES = {
    "decode": "decoding blocks",
    "number": "numbering call paths and operations",
    "match": "matching blocks",
    "join": "joining blocks",
    "meet": "gathering collective operations",
    "choose": "choosing the machine",
    "wait": "finding causes of waits",
    "operate": "replaying collective operations",
    **{f"leave{number}": f"replaying sending NICs, round {number}" for number in range(1, ROUNDS + 1)},
    **{f"reply{number}": f"replaying receivers, round {number}" for number in range(1, ROUNDS + 1)},
    "account": "accounting calls",
    "write": "writing parts of tables",
}


def folder_of(run: str) -> Path:
    """Where the files of the blocks are: next to the run."""
    return Path(run).absolute().with_name(Path(run).name + ".shards")


@contextmanager
def _planned(request: Request, blocks: int) -> Iterator[Plan]:
    """The plan, in its folder; whatever the system refuses there is an error of the user's input."""
    refuse_occupied(Path(request.run), force=request.force)
    folder = folder_of(request.run)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for unfinished in folder.glob("*-*.*"):  # of workers that were lost
            unfinished.unlink(missing_ok=True)
        yield make_plan(request, folder, blocks)
    except OSError as error:
        raise InputError(f"{error.filename or folder}: {error.strerror}; choose another place with -o") from None


def analyze_sharded(
    request: Request,
    blocks: int,
    workers: Workers | Engine,
    on_progress: OnProgress = lambda _phase, _done, _total: None,
    stall_s: float = STALL_S,
) -> Path:
    """Analyze an archive as blocks; the path of the finished run, the same bytes as of `analyze`.

    The folder of the blocks is removed when the run is there. After a failure it stays, and the same request continues
    from it.

    Raises:
        InputError: as `analyze`; a block cannot be read or written, or a task made no progress for `stall_s` seconds.
    """
    with _planned(request, blocks) as plan:
        run_tasks(plan, workers, lambda stage, done: on_progress(PHASES[stage], done, len(plan.tasks(stage))), stall_s)
    run = analyze(replace(request, shards=plan.text()), on_progress)
    shutil.rmtree(plan.folder, ignore_errors=True)
    return run


def prepare_job_array(request: Request, blocks: int, stall_s: float = STALL_S) -> Path:
    """A script for sbatch whose jobs do the tasks; `analyze_sharded` with the same request then continues from there.

    Raises:
        InputError: the run exists, or the script cannot be written.
    """
    with _planned(request, blocks) as plan:
        return write_job_array(plan, stall_s)
