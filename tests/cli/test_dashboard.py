"""`logpost dashboard` on the command line: what it prints, and what it says where something is missing."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import logpost
from tests.dashboards.synthetic import make_run

pytestmark = pytest.mark.slow


def test_without_dash_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "dash":
            raise ModuleNotFoundError("No module named 'dash'", name="dash")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    found = logpost("dashboard", tmp_path)
    assert found.returncode == 2
    assert found.stderr.startswith("logpost: the dashboard needs the Python package ")
    assert found.stderr.endswith(": pip install 'logpost[dashboard]'\n")
    assert found.stderr.count("\n") == 1


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    found = logpost("dashboard", tmp_path)
    assert found.returncode == 2
    assert "is not a run" in found.stderr


@pytest.mark.parametrize("options", [[], ["--token"]])
def test_it_prints_a_working_address_and_the_tunnel_to_it(options: list[str], tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run").path
    command = [sys.executable, "-c", "from logpost.cli.app import main; main()", "dashboard", str(run), "--port", "0"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            tunnel = process.stdout.readline().strip()
            match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/(\?token=[0-9a-f]{48})?", address)
            assert match
            assert (match[2] is not None) == bool(options)
            assert f"ssh -N -L {match[1]}:127.0.0.1:{match[1]} " in tunnel
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            assert "logpost" in opener.open(address, timeout=30).read().decode()
        finally:
            process.terminate()
