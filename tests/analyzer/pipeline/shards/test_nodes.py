"""Shards under Dask on several nodes: network, process and mount namespaces of this machine, with one shared folder.

Each node has its own host name, processes, network interface and /tmp; a bridge connects them. As root only.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.run_contents import contents

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards.analyze import folder_of

NODES = 3
ROOT = Path(__file__).resolve().parents[4]
SCHEDULER = "tcp://10.77.0.1:8786"


def _refused() -> str | None:
    """Why there can be no nodes here."""
    if find_spec("distributed") is None:
        return "Dask is not installed: pip install 'logpost[dask]'"
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("unshare") is None:
        return "namespaces need root, and the programs ip and unshare"
    tried = subprocess.run(["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "true"], capture_output=True)
    return None if tried.returncode == 0 else "the system permits no namespaces"


REFUSED = _refused()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(REFUSED is not None, reason=str(REFUSED))]


def ip(*arguments: str) -> None:
    """Change network interfaces."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@contextmanager
def network() -> Iterator[list[str]]:
    """A network of that many nodes and one more, the first, which has the bridge; the names of their namespaces."""
    names = [f"logpost{os.getpid()}n{node}" for node in range(NODES + 1)]
    with ExitStack() as stack:
        for node, name in enumerate(names):
            ip("netns", "add", name)
            stack.callback(ip, "netns", "del", name)
            ip("-n", name, "link", "set", "lo", "up")
            if node == 0:
                ip("-n", name, "link", "add", "bridge", "type", "bridge")
                ip("-n", name, "address", "add", "10.77.0.1/24", "dev", "bridge")
                ip("-n", name, "link", "set", "bridge", "up")
            else:
                ip("-n", names[0], "link", "add", f"to{node}", "type", "veth", "peer", "name", "eth0", "netns", name)
                ip("-n", names[0], "link", "set", f"to{node}", "master", "bridge", "up")
                ip("-n", name, "address", "add", f"10.77.0.{node + 1}/24", "dev", "eth0")
                ip("-n", name, "link", "set", "eth0", "up")
        yield names


def on_node(name: str, shared: Path, *command: str) -> list[str]:
    """A command on a node, which sees its own /tmp, this program, and a folder that all share."""
    kept = [shlex.quote(str(place)) for place in (shared, ROOT)]
    places = list(enumerate(kept))
    script = [
        "export PATH=/usr/sbin:/usr/bin:/sbin:/bin",  # that of the tests may be in the hidden /tmp
        f"hostname {name}",
        "mount -t tmpfs none /mnt",
        *(f"mkdir /mnt/{i} && mount --bind {place} /mnt/{i}" for i, place in places),
        "mount -t tmpfs none /tmp",
        *(f"mkdir -p {place} && mount --bind /mnt/{i} {place}" for i, place in places),
        "cd /tmp",
        "exec " + shlex.join(command),
    ]
    # With the first process of the namespace all others end.
    spaces = ["--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return ["ip", "netns", "exec", name, "unshare", *spaces, "sh", "-c", " && ".join(script)]


class Cluster:
    """A scheduler on the first node, and a worker on each other one.

    Attributes:
        shared: the folder that all nodes see.
    """

    def __init__(self, names: list[str], shared: Path, stack: ExitStack) -> None:
        self._names = names
        self.shared = shared
        self._stack = stack
        self._begin(0, "distributed.cli.dask_scheduler", "--host", "10.77.0.1", "--no-dashboard")
        self._workers = [
            self._begin(node, "distributed.cli.dask_worker", SCHEDULER, "--nthreads", "1", "--no-dashboard")
            for node in range(1, NODES + 1)
        ]

    def _begin(self, node: int, *command: str) -> subprocess.Popen[bytes]:
        with (self.shared / f"log{node}").open("ab") as log:
            whole = on_node(self._names[node], self.shared, sys.executable, "-m", *command)
            process = subprocess.Popen(whole, stdout=log, stderr=log)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def analysis(self, archive: Path, run: Path) -> subprocess.Popen[str]:
        """Begin the command, on the node of the scheduler."""
        options = ["--workers", "dask", "--scheduler", SCHEDULER, "--shards", "7", "--stall", "3", "--quiet"]
        command = [sys.executable, "-m", "logpost.cli.app", "analyze", str(archive), "-o", str(run), *options]
        return subprocess.Popen(on_node(self._names[0], self.shared, *command), stderr=subprocess.PIPE, text=True)

    def lose(self, worker: int) -> None:
        """The node of a worker ends, with all of its processes."""
        self._workers[worker].send_signal(signal.SIGKILL)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        names = stack.enter_context(network())
        yield Cluster(names, tmp_path, stack)


def test_nodes_that_share_a_folder_alone_write_the_same_run(traces: Path, cluster: Cluster) -> None:
    """One of them is lost while it has a task: another one decodes the block."""
    archive = Path(shutil.copytree(traces / "scorep-npb-cg-W-nocomp-8", cluster.shared / "archive"))
    whole = contents(analyze(Request(str(archive), str(cluster.shared / "whole.run"), threads=1)))[0]
    run = cluster.shared / "a.run"
    with cluster.analysis(archive, run) as command:
        cluster.lose(_holder_of_a_task(folder_of(str(run)), command) - 1)
        assert command.wait(120) == 0, command.stderr.read() if command.stderr else ""
    assert contents(run)[0] == whole


def _holder_of_a_task(folder: Path, command: subprocess.Popen[str]) -> int:
    """The number of a node that runs a task of the command."""
    while command.poll() is None:
        for file in folder.glob("tasks/*.taken"):
            try:
                host = file.read_text().split()
            except FileNotFoundError:
                continue
            if host:
                return int(host[0].rpartition("n")[2])
        time.sleep(0.01)
    raise AssertionError(f"no node runs a task: {command.stderr.read() if command.stderr else ''}")
