"""Which tests need an MPI, the simulator or a browser, and a PATH that holds them to it.

A test gets its markers from the fixtures and helpers that it uses and the folder it is in; one that starts MPI in
another way says `pytest.mark.mpi`. Every other test belongs to the tier of `make check` and sees a PATH without
the commands of MPI, OpenSHMEM, SimGrid and browsers, in every run: what lacks its marker fails at once, not only where
nothing is installed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BY_FIXTURE = {
    "mpi": "mpi",
    "openmpi": "mpi",
    "mpich": "mpi",
    "mpicc": "mpi",
    "hosts": "mpi",
    "run_workload": "mpi",
    "simgrid": "testbed",
    "simulate": "testbed",
    "quick_result": "testbed",
    "chromium": "browser",
    "visit": "browser",
    "analyzed": "slow",
}
BY_HELPER = {"require_mpi": "mpi", "Simulated": "testbed", "on_testbed": "testbed", "run_on_testbed": "testbed"}
"""Names that a test or one of its fixtures uses."""
BY_FOLDER = {"browser": "browser", "collectors/testbed": "testbed", "truth": "slow"}
"""`truth`: each test simulates programs and analyzes them as a whole; together they last a minute."""
NEEDS = frozenset({"mpi", "testbed", "browser"})
"""Markers of the tests that may use what the tier of `make check` does without."""

FORBIDDEN = re.compile(
    r"(mpi(run|exec|cc|cxx|c\+\+|f77|f90|fort)|osh(run|cc|mem|fort)|shmem(run|cc)|orte|prte|hydra_).*"
    r"|smpi.*|chrom(e|ium).*|google-chrome.*|firefox.*"
)


def markers(fixtures: frozenset[str], names: frozenset[str], folder: str) -> set[str]:
    """Those that follow from a test's fixtures, the names in its code and in theirs, and its folder below `tests`."""
    found = {marker for fixture, marker in BY_FIXTURE.items() if fixture in fixtures}
    found |= {marker for name, marker in BY_HELPER.items() if name in names}
    return found | {marker for place, marker in BY_FOLDER.items() if f"{folder}/".startswith(f"{place}/")}


def path_without(folder: Path, path: str) -> str:
    """`path` with every directory that holds a forbidden command replaced by one of links to its other files.

    Those directories are made in `folder`, named after what they hold, and stay there for the next caller.
    """
    directories = []
    for directory in dict.fromkeys(path.split(os.pathsep)):
        if not os.path.isdir(directory):
            continue
        names = sorted(os.listdir(directory))
        if any(map(FORBIDDEN.fullmatch, names)):
            directories.append(str(_links(folder, Path(directory), [x for x in names if not FORBIDDEN.fullmatch(x)])))
        else:
            directories.append(directory)
    return os.pathsep.join(directories)


def _links(folder: Path, directory: Path, names: list[str]) -> Path:
    """A directory of links to those files of another; one that is there is complete."""
    links = folder / hashlib.sha256(os.fsencode("\0".join([str(directory), *names]))).hexdigest()[:16]
    if not links.is_dir():
        unfinished = Path(tempfile.mkdtemp(dir=folder))
        for name in names:
            (unfinished / name).symlink_to(directory / name)
        try:
            unfinished.rename(links)
        except OSError:  # another process was faster
            shutil.rmtree(unfinished)
    return links


@contextmanager
def path(value: str) -> Iterator[None]:
    """PATH as `value` for a while."""
    before = os.environ["PATH"]
    os.environ["PATH"] = value
    try:
        yield
    finally:
        os.environ["PATH"] = before


def names_something_forbidden(reason: str) -> bool:
    """Whether the reason of a skip is that a forbidden command is not there."""
    return re.search(r"\bs?mpi(run|cc|exec)|MPICH|Open MPI|OpenSHMEM|SimGrid|Chromium", reason) is not None
