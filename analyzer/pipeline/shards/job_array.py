"""The tasks as an array of batch jobs: workers that Slurm starts when it has room, each independently."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from logpost.analyzer.pipeline.shards.plan import Plan
from logpost.analyzer.pipeline.shards.task_folder import TaskFolder

SCRIPT = """#!/bin/sh
#SBATCH --job-name=logpost
#SBATCH --array=0-{last}
#SBATCH --ntasks=1
#SBATCH --output={log}
# Each job takes tasks until none is left. More jobs than blocks are of no use, fewer will do: sbatch --array=0-3 {name}
exec {python} -m logpost.analyzer.pipeline.shards.take_tasks {folder} "${{SLURM_CPUS_PER_TASK:-1}}" {stall_s:g}
"""


def write_job_array(plan: Plan, stall_s: float) -> Path:
    """Write the script for sbatch, with no task begun yet; its path."""
    TaskFolder.fresh(plan)
    folder = Path(plan.folder)
    script = folder / "tasks.sbatch"
    script.write_text(
        SCRIPT.format(
            last=plan.blocks - 1,
            # sbatch takes a line as it is, but for a quoted argument's ends and the job's own numbers.
            log='"' + str(folder / "tasks" / "array-").replace("%", "%%") + '%a.log"',
            name=script.name,
            python=shlex.quote(sys.executable),
            folder=shlex.quote(plan.folder),
            stall_s=stall_s,
        ),
        encoding="utf-8",
        errors="surrogateescape",
    )
    return script
