"""Blocks in a folder that is as slow as on a busy shared file system: the same run, and no task is thought lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.run_contents import contents

from logpost.analyzer.pipeline.request import Request

pytestmark = pytest.mark.slow

STALL_S = 2
"""Six times what the slowest call lasts."""


def test_a_slow_folder_changes_no_byte(traces: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow.so"
    source = Path(__file__).with_name("slow_folder.c")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", source, "-o", slow, "-ldl"], check=True)
    archive, run = str(traces / "scorep-npb-cg-W-nocomp-8"), str(tmp_path / "a.run")
    words = ["analyze", archive, "-o", run, "--quiet", "--shards", "3", "--stall", str(STALL_S), "--threads", "1"]
    environment = os.environ | {"LD_PRELOAD": str(slow)}
    subprocess.run([sys.executable, "-m", "logpost.cli.app", *words], env=environment, check=True, timeout=250)
    assert contents(Path(run))[0] == contents(analyze(Request(archive, str(tmp_path / "whole.run"), threads=1)))[0]
