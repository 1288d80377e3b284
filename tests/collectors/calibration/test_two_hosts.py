"""Ranks on two hosts are measured as what they are: other nodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .launchers import MPIS, require_mpi, run

if TYPE_CHECKING:
    from tests.two_hosts import TwoHosts


@pytest.mark.alone
@pytest.mark.mpi
def test_messages_between_hosts_are_of_the_class_other_node(hosts: TwoHosts, tmp_path: Path) -> None:
    require_mpi("Open MPI")
    compiler = MPIS["Open MPI"][1]
    host, *points = run(
        [*hosts.launch, "-n", "2"], compiler, "overhead", tmp_path, "--bytes", "8,65536", "--budget-s", "1"
    )
    assert host["hosts"] == list(hosts.names)
    assert {p["locality"] for p in points} == {"other_node"}
    one_way = {p["bytes"]: p["median_s"] for p in points if p["family"] == "one_way"}
    assert 0.0 < one_way[8] < one_way[65536]
