"""Shards under Slurm itself: its daemons on this host, as root, with a configuration of the test's own.

It has two nodes of one processor, each with a daemon: both are this host.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.run_contents import contents

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards.analyze import folder_of

pytestmark = pytest.mark.slow

PROGRAMS = ("munged", "slurmctld", "slurmd", "salloc", "sbatch", "srun")
CONFIGURATION = """
ClusterName=logpost
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
NodeName=n1 NodeHostname={host} Port={ports[1]} CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname={host} Port={ports[2]} CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
"""


def where(program: str) -> str | None:
    """Daemons are where a user's PATH does not lead."""
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def free_ports() -> list[int]:
    """Three ports that are free."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(3)]
        for one in sockets:
            one.bind(("", 0))
        return [one.getsockname()[1] for one in sockets]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Slurm with its nodes; the environment for its commands."""
    missing = [program for program in PROGRAMS if where(program) is None]
    if missing:
        pytest.skip(f"Slurm is not here: {', '.join(missing)} (Debian: slurmctld slurmd slurm-client munge)")
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons start jobs as root only")
    folder = tmp_path_factory.mktemp("slurm")
    folder.chmod(0o755)
    for name in ("state", "spool-n1", "spool-n2"):
        (folder / name).mkdir()
    (folder / "key").write_bytes(os.urandom(1024))
    (folder / "key").chmod(0o400)
    file = folder / "slurm.conf"
    host = socket.gethostname().split(".")[0]
    file.write_text(CONFIGURATION.format(host=host, folder=folder, ports=free_ports()))
    environment = {**os.environ, "SLURM_CONF": str(file)}
    munge = [f"--{name}={folder}/munge.{name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
    commands = {
        "munged": ["munged", "--foreground", "--force", f"--key-file={folder}/key", *munge],
        "slurmctld": ["slurmctld", "-D", "-f", str(file)],
        "n1": ["slurmd", "-D", "-N", "n1", "-f", str(file)],
        "n2": ["slurmd", "-D", "-N", "n2", "-f", str(file)],
    }
    with ExitStack() as stack:
        daemons = []
        for name, (program, *options) in commands.items():
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            daemon = subprocess.Popen([str(where(program)), *options], stdout=log, stderr=log, env=environment)
            stack.callback(daemon.wait)
            stack.callback(daemon.terminate)
            daemons.append(daemon)
            time.sleep(0.2)  # munge before those that ask it
        limit = time.monotonic() + 30
        idle = ["sinfo", "--noheader", "--format=%D", "--states=idle"]
        while "2" not in subprocess.run(idle, capture_output=True, text=True, env=environment, check=False).stdout:
            if time.monotonic() > limit or any(one.poll() is not None for one in daemons):
                logs = "\n".join((folder / f"{name}.log").read_text() for name in commands)
                pytest.skip(f"Slurm's daemons do not run on this host: {logs[-600:]}")
            time.sleep(0.1)
        yield environment


def logpost(*words: str) -> list[str]:
    """The command line in a separate process."""
    return [sys.executable, "-m", "logpost.cli.app", *words]


def test_a_step_of_an_allocation_reads_the_blocks(traces: Path, tmp_path: Path, slurm: dict[str, str]) -> None:
    archive, run = str(traces / "scorep-npb-cg-W-nocomp-8"), str(tmp_path / "a.run")
    words = logpost("analyze", archive, "-o", run, "--quiet", "--shards", "3", "--workers", "slurm", "--threads", "1")
    subprocess.run(["salloc", "--quiet", "--ntasks=2", *words], env=slurm, check=True, timeout=250)
    assert not folder_of(run).exists()
    assert contents(Path(run))[0] == contents(analyze(Request(archive, str(tmp_path / "whole.run"), threads=1)))[0]


def test_an_array_of_jobs_reads_the_blocks(traces: Path, tmp_path: Path, slurm: dict[str, str]) -> None:
    archive, run = str(traces / "scorep-npb-cg-W-nocomp-8"), str(tmp_path / "a run")
    words = logpost("analyze", archive, "-o", run, "--quiet", "--shards", "3", "--threads", "1")
    said = subprocess.run([*words, "--workers", "array"], capture_output=True, text=True, check=True).stdout
    script = folder_of(run) / "tasks.sbatch"
    submit, then = said.splitlines()
    assert submit == f"next: sbatch {script}"
    assert then.startswith("then: this command without --workers array")
    subprocess.run(["sbatch", "--wait", "--quiet", script], env=slurm, check=True, timeout=250)
    files = {f"{kind}-{block}" for kind in ("decoded", "crossing", "matched", "joined") for block in range(3)}
    assert files <= {file.name for file in folder_of(run).iterdir()}
    subprocess.run(words, check=True, timeout=250)
    assert contents(Path(run))[0] == contents(analyze(Request(archive, str(tmp_path / "whole.run"), threads=1)))[0]
