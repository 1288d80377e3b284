"""Programs of other authors: Debian's hpcc and lammps on Open MPI, mpi4py on the MPI it was built with."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.collectors import recording

LJ = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 50
run 100
"""


def _balanced(trace: recording.Trace, ranks: int) -> Counter[str]:
    """All messages have both ends; the counts of the kinds of events."""
    count = Counter(e.kind for e in trace.events)
    assert count["ENTER"] == count["LEAVE"]
    assert count["MPI_SEND"] + count["MPI_ISEND"] == count["MPI_RECV"] + count["MPI_IRECV"]
    assert count["MPI_IRECV_REQUEST"] == count["MPI_IRECV"] + count["MPI_REQUEST_CANCELLED"]
    assert count["MPI_ISEND"] == count["MPI_ISEND_COMPLETE"]
    assert count["MPI_COLLECTIVE_BEGIN"] == count["MPI_COLLECTIVE_END"]
    # every pair of ranks and communicator: as many bytes out as in
    sent: Counter[tuple[str, int]] = Counter()
    for e in trace.events:
        if e.kind in ("MPI_SEND", "MPI_ISEND"):
            sent[e.comm, e.number("Tag")] += e.number("Length")
        elif e.kind in ("MPI_RECV", "MPI_IRECV"):
            sent[e.comm, e.number("Tag")] -= e.number("Length")
    assert not {key: bytes_ for key, bytes_ in sent.items() if bytes_}
    assert {e.location for e in trace.events} == set(range(ranks))
    return count


def test_lammps(openmpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("lmp") is None:
        pytest.skip("lammps is not installed")
    monkeypatch.chdir(tmp_path)
    Path("in.lj").write_text(LJ)
    result = recording.record(tmp_path, "mpirun.openmpi", "-n", "2", "lmp", "-in", "in.lj")
    assert result.status == 0, result.err
    assert "Total wall time" in result.out
    count = _balanced(result.read(), 2)
    assert count["MPI_SEND"] > 500


def test_hpcc(openmpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    if shutil.which("hpcc") is None or not example.exists():
        pytest.skip("hpcc is not installed")
    monkeypatch.chdir(tmp_path)
    lines = example.read_text().splitlines()
    lines[5], lines[7], lines[10] = "200 Ns", "40 NBs", "1 Ps"  # small, on a grid of 1 x 2
    Path("hpccinf.txt").write_text("\n".join(lines) + "\n")
    result = recording.record(tmp_path, "mpirun.openmpi", "-n", "2", "hpcc")
    assert result.status == 0, result.err
    trace = result.read()
    count = _balanced(trace, 2)
    # hpcc cancels receives, sends thousands that share one handle, and makes communicators by the dozen
    assert count["MPI_REQUEST_CANCELLED"] > 0
    assert count["MPI_ISEND"] > 1000
    assert len(trace.defined("COMM")) > 10
    assert any("logpost:layout" in e.attributes for e in trace.events)


@pytest.mark.mpi
def test_mpi4py(tmp_path: Path) -> None:
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if importlib.util.find_spec("mpi4py") is None or not mpiexec.exists():
        pytest.skip("mpi4py and its MPI are not installed here: pip install mpi4py mpich")
    script = tmp_path / "ring.py"
    script.write_text(
        "from mpi4py import MPI\n"
        "c = MPI.COMM_WORLD\n"
        "got = c.sendrecv({'rank': c.rank}, dest=(c.rank + 1) % c.size, source=(c.rank - 1) % c.size)\n"
        "assert got['rank'] == (c.rank - 1) % c.size\n"
        "print(c.allreduce(c.rank))\n"
    )
    result = recording.record(
        tmp_path, str(mpiexec), "-n", "2", sys.executable, str(script), env=recording.environment(**os.environ)
    )
    assert result.status == 0, result.err
    assert result.out.split() == ["1", "1"]
    assert result.archive.name.startswith("logpost_ring_2_")
    count = _balanced(result.read(), 2)
    assert count["MPI_SEND"] + count["MPI_ISEND"] >= 2
