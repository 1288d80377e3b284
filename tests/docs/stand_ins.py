"""What the commands of the pages read: runs, archives, machine files, programs, made by their names."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from tests.analyzer.chains import chain
from tests.analyzer.whole_machine import write_whole_machine
from tests.collectors import recording
from tests.collectors.gasnet_traces import Trace
from tests.docs.blocks import ROOT

EM3D = ROOT / "docs" / "tutorial"
"""Archives of the tutorial: EM3D on 16 simulated ranks, in either order of communication."""

SMALLER = {
    r"(?<=mpirun -n )(?:4|8|64)(?= \./(?:app|production)\b)": "2",
    r"(?<=scale )app64\.run app128\.run app256\.run --to 4096": "app4.run app8.run app16.run --to 64",
    r"(?<=--ranks )32\b|(?<=-m alewife -n )32\b": "4",
    r"(?<=-m paragon -n )16\b": "2",
    r"\b1 2 3(?=;)": "1",
    r"app\.run(?= --(?:scale-compute solve|sweep L|grid L))|(?<=scorep filter )app\.run": "regions.run",
    r"\bsolve(?==)": "x_solve",
    r"/opt/mpi/bin/mpicc": "mpicc",
    r"\b18:3:6": "18,9",
    r"\b1us:100us:5": "1us,2us",
}
"""Words that are replaced before a command runs, for the tests' time or for what sites name in their own way."""

OUTPUTS = ("-o", "--output", "--html", "--page", "--rankfile", "--map")
"""Options whose argument a command writes."""

GOAL = """num_ranks 2
rank 0 {
l1: calc 1000
l2: send 64b to 1 tag 7
l2 requires l1
}
rank 1 {
l1: recv 64b from 0 tag 7
}
"""


STRIDED = """
[[log3p.point]]
size_bytes = 16384
stride_bytes = 1024
block_bytes = 8
o_mw = 3
l_mw = 40
o_net = 12
"""
"""The point that a machine file needs to predict messages of strided data."""


def smaller(command: str) -> str:
    """The command with its sizes, and what sites name in their own way, replaced."""
    for pattern, word in SMALLER.items():
        command = re.sub(pattern, word, command)
    return command


class StandIns:
    """Makes what a command reads where it is not there yet.

    `archive` is EM3D's, `run` its analysis, and `instrumented` the run of a program with user regions.
    """

    def __init__(self, archive: Path, run: Path, instrumented: Path) -> None:
        self.archive, self.run, self.instrumented = archive, run, instrumented
        self.makers: dict[str, Callable[[Path], object]] = {
            r"(?:before|app|[ab][123])\.run": self._run,
            r"app\d+\.run": lambda path: chain(int(path.stem.removeprefix("app")), path),
            r"regions\.run": lambda path: shutil.copytree(self.instrumented, path, copy_function=os.link),
            r"(?:baseline|new)/\*\.run": self._three_runs,
            r"(?:traces|my-trace|t)": self._archive,
            r"runs/logpost_em3d_32_\*/": lambda path: self._archive(path.with_name("logpost_em3d_32_now")),
            r"traces\.otf2": lambda path: shutil.copytree(self.archive, path.parent, dirs_exist_ok=True),
            r"(?:cluster|my-cluster|mn)\.toml": self._machine,
            r"trace-\*": self._gasnet,
            r"fabric\.txt": lambda path: path.write_text("SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]\n"),
            r"app\.goal": lambda path: path.write_text(GOAL),
            r"app\.c": lambda path: shutil.copyfile(recording.PROGRAMS / "blocking.c", path),
            r"input\.txt": lambda path: path.write_text("8\n"),
            r"job\.sh": self._job,
            r"\./(?:app|production)": self._program,
        }

    def supply(self, command: str, folder: Path) -> None:
        """Make in `folder` what `command` reads."""
        words = [word.strip("'\"") for word in command.split()]
        written = {word for option, word in pairwise(words) if option in OUTPUTS}
        for word in dict.fromkeys(words):
            path = folder / word
            if word in written or path.exists():
                continue
            for pattern, make in self.makers.items():
                if re.fullmatch(pattern, word):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    make(path)

    def _run(self, path: Path) -> None:
        shutil.copytree(self.run, path, copy_function=os.link)

    def _three_runs(self, path: Path) -> None:
        for number in range(3):
            self._run(path.with_name(f"{number}.run"))

    def _archive(self, path: Path) -> None:
        shutil.copytree(self.archive, path)

    def _machine(self, path: Path) -> None:
        made = Path(write_whole_machine(path.parent)).rename(path)
        made.write_text(made.read_text() + STRIDED)

    def _gasnet(self, path: Path) -> None:
        Trace(0).send(10, 1).write(path.parent)
        Trace(1).handle(20, 25, 0).write(path.parent)

    def _job(self, path: Path) -> None:
        path.write_text("mpirun -n 2 ./app\n")
        self._program(path.with_name("app"))

    def _program(self, path: Path) -> None:
        recording.build("blocking.c", "openmpi", path.parent)
        if path.name != "blocking":
            (path.parent / "blocking").rename(path)
