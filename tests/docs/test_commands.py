"""Every command in the README and the documentation runs, or is an exception with its reason.

The commands of a block run one after the other in one folder, on stand-ins for what they read (`stand_ins.py`).
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.archives import DATA, unpacked
from tests.cli.command import logpost
from tests.collectors import recording
from tests.collectors.conftest import require
from tests.docs.blocks import PAGES, Block, blocks
from tests.docs.stand_ins import EM3D, StandIns, smaller

NOT_HERE = {
    r"make (?:demo|docs|test|wheel)": "collectors/test_demo.py, docs/test_site.py, this suite; make wheel-test",
    r"spack .*|rattler-build .*": "needs Spack or conda; packaging/test_recipes.py compares what the recipes state",
    r"man logpost-analyze": "needs an installed wheel; packaging/test_manpages.py checks the pages",
    r"logpost --(?:install|show)-completion": "changes the shell's files, or detects it: cli/test_help.py",
    r"(?:pip|apt) install .*": "changes the machine; make wheel-test installs the wheel, packaging/setup the others",
    r"uvx .*": "needs wheels and tools from an index: packaging/wheel-test",
    r"cp /usr/share/.*|.* (?:hpcc|lmp -in in\.\w+)": "collectors/test_real_programs.py records them on smaller inputs",
    r".*mpiexec -n 4 (?:\.venv/bin/)?python .*": "needs an MPI from PyPI: collectors/test_real_programs.py",
    r"logpost analyze t -o ring.run .*": "of the recording before it",
    r"logpost calibrate .*": "takes three minutes; cli/test_calibrate.py runs it from samples",
    r"logpost experiments run all .*": "takes many minutes; the tests in experiments run each in its quick form",
    r"scorep mpicc .*|logpost record --with scorep .*": "needs Score-P; collectors/scorep has a stand-in of it",
    r"logpost record --recover traces": "needs a killed recording: collectors/test_death.py",
    r"logpost testbed run .* -w iccg .*": "lasts minutes: collectors/workloads/test_mechanisms.py",
    r"mpif90 -fcoarray.*": "needs OpenCoarrays: collectors/test_coarrays.py",
    r"\./configure .*|GASNET_TRACEFILE=.*": "needs GASNet with tracing",
    r"ibnetdiscover .*": "needs InfiniBand; machines/site/test_ibnetdiscover.py reads what it prints",
    r"txt2bin .*": "needs LogGOPSim; analyzer/export/test_goal.py replays the schedule by the rules of its papers",
}
"""Commands that this test does not run, with what is missing, or which of the tests runs them."""
HOW_MANY = 40

INCONCLUSIVE = re.compile(r"logpost compare a1\.run .*")
"""Gates that may end with status 3: three equal runs show nothing of their spread."""

BLOCKS = [block for page in PAGES for block in blocks(page)]


def reason(command: str) -> str | None:
    """Why a command is not run here."""
    return next((why for pattern, why in NOT_HERE.items() if re.fullmatch(pattern, command, re.DOTALL)), None)


def needs(command: str) -> str:
    """`mpi` or `testbed` where a command starts such programs, else nothing."""
    if "logpost testbed" in command:
        return "testbed"
    return "mpi" if re.search(r"\bmpirun\b|\brecord\b|workloads (?:build|run)", command) else ""


def having(marker: str) -> list[Block]:
    """Blocks with a command to run that needs this; each command of several pages once."""
    found: dict[tuple[str, ...], Block] = {}
    for block in BLOCKS:
        if any(needs(command) == marker and not reason(command) for command in block.commands):
            found.setdefault(block.commands, block)
    return list(found.values())


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> StandIns:
    folder = tmp_path_factory.mktemp("stand-ins")
    archive = unpacked(EM3D / "original.tar.xz", folder)
    instrumented = unpacked(DATA / "archives" / "scorep-npb-sp-S-comp-4.tar.xz", folder)
    for source, run in ((archive, "em3d.run"), (instrumented, "sp.run")):
        done = logpost("analyze", source, "-o", folder / run)
        assert done.returncode == 0, done.stderr
    return StandIns(archive, folder / "em3d.run", folder / "sp.run")


@pytest.fixture
def openmpi() -> str:
    """Open MPI, which the commands' `mpirun` is."""
    return require("openmpi")


@pytest.fixture
def simgrid() -> None:
    """SimGrid."""
    if shutil.which("smpirun") is None:
        pytest.skip("SimGrid (libsimgrid-dev) is not installed")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate folder for the commands, with `logpost` on the PATH of those that need a shell."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "logpost").write_text(f'#!/bin/sh\nexec {sys.executable} -m logpost.cli.app "$@"\n')
    (tools / "logpost").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def run(block: Block, marker: str, stand_ins: StandIns, folder: Path) -> None:
    """The commands of a block that need this, in order, and the analyses of what they leave."""
    began = False
    for command in block.commands:
        began = began or needs(command) == marker
        follows = began and re.match("logpost analyze", command) and needs(command) == ""
        if reason(command) or (needs(command) != marker and not follows):
            continue
        ran = smaller(command)
        stand_ins.supply(ran, folder)
        done = execute(ran, folder)
        allowed = (0, 3) if INCONCLUSIVE.fullmatch(command) else (0,)
        assert done.returncode in allowed, f"{block}: {command}\n{done.stderr}"


def execute(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command in a folder: in this process where it is one of logpost's alone, else in a shell."""
    if needs(command) == "mpi" or re.search(r"[;$|]|^\w+=", command):
        return subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=recording.environment(),
            capture_output=True,
            text=True,
            timeout=200,
        )
    done = subprocess.CompletedProcess[str]([], 0, "", "")
    for one in command.split(" && "):
        words = [
            path
            for word in shlex.split(one)[1:]
            for path in (sorted(glob.glob(word, root_dir=folder)) if "*" in word else [word])
        ]
        done = logpost(*words, cwd=folder)
        if done.returncode:
            break
    return done


@pytest.mark.slow
@pytest.mark.parametrize("block", having(""), ids=str)
def test_commands_on_runs_and_archives(block: Block, stand_ins: StandIns, shell: Path) -> None:
    run(block, "", stand_ins, shell)


@pytest.mark.mpi
@pytest.mark.parametrize("block", having("mpi"), ids=str)
def test_commands_that_start_mpi_programs(block: Block, openmpi: str, stand_ins: StandIns, shell: Path) -> None:
    run(block, "mpi", stand_ins, shell)


@pytest.mark.testbed
@pytest.mark.parametrize("block", having("testbed"), ids=str)
def test_commands_in_simulated_time(block: Block, simgrid: None, stand_ins: StandIns, shell: Path) -> None:
    run(block, "testbed", stand_ins, shell)


def test_exceptions_are_counted_and_needed() -> None:
    every = [command for block in BLOCKS for command in block.commands]
    unused = [pattern for pattern in NOT_HERE if not any(re.fullmatch(pattern, one, re.DOTALL) for one in every)]
    assert unused == []
    assert sum(reason(command) is not None for command in every) == HOW_MANY
    assert len(every) > 3 * HOW_MANY


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
def test_python_of_the_pages_runs(page: str) -> None:
    for block in blocks(page, "python"):
        for text in block.commands:
            exec(compile(text, page, "exec"), {})
