"""`logpost doctor`: one row per collector, usable or with the way to get what is missing."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.cli.command import logpost

from logpost.collectors.usable import COLLECTORS

NAMES = [collector.name for collector in COLLECTORS]


def test_every_collector_has_a_row_and_the_status_is_0_whatever_is_missing() -> None:
    done = logpost("doctor", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [row["name"] for row in document["collectors"]] == NAMES
    for row in document["collectors"]:
        assert row["usable"] == (row["missing"] == "")
        assert row["usable"] == (row["way_out"] == "") or "no such collector" in row["missing"]
    assert {check["name"] for check in document["checks"]} >= {"C compiler", "OTF2", "assembler", "clock"}


def test_the_tables_name_what_is_missing() -> None:
    # Tests without a marker see a PATH without mpirun, mpicc and smpicc.
    done = logpost("doctor", "-q", COLUMNS="200")
    assert done.returncode == 0
    assert "spack install openmpi otf2" in done.stdout
    assert "apt install libsimgrid-dev libotf2-trace-dev; module load simgrid otf2" in done.stdout
    assert "clock" not in done.stdout, "-q shows only what is missing"


def test_require_is_a_gate(tmp_path: Path) -> None:
    assert logpost("doctor", "-q", "--require", "scorep", PATH=f"{_stand_in()}:{os.environ['PATH']}").returncode == 0
    done = logpost("doctor", "-q", "--require", "scorep")
    assert done.returncode == 1
    assert done.stderr.startswith("logpost: scorep is not usable: scorep, scorep-config, ")
    assert done.stderr.endswith("; module load Score-P; spack install scorep +mpi\n")
    done = logpost("doctor", "--require", "openmp")
    assert done.returncode == 2
    assert "--require openmp is no collector; there are openmpi" in done.stderr
    assert "did you mean openmpi?" in done.stderr


def _stand_in() -> Path:
    return Path(__file__).parents[1] / "collectors" / "scorep" / "stand_in"
