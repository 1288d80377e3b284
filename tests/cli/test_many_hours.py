"""3,000 ranks for 2 hours are 6,000 hours; 2^63 ps, what int64 holds, are 2,562. Every sum over ranks stays exact."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.command import logpost

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.wide import WIDE, exact_sum

pytestmark = pytest.mark.slow

RANKS = 3000
US = 10**6
HOUR = 3600 * 10**12
# many_hours.c: each rank sends until 1 us; rank 0 computes until 2 H, the others wait for it since H; the barrier lasts
# 1 us after it, the receive 2 us.
COMPUTE = (2 * HOUR - US) + (RANKS - 1) * (HOUR - US)
WAIT = (RANKS - 1) * HOUR
PROGRAM = RANKS * (2 * HOUR + 3 * US)
MESSAGES = RANKS * (2 * HOUR + 3 * US)  # from the send's enter at 0 to the receive's end


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many_hours")
    words = [
        subprocess.check_output(["otf2-config", option], text=True).split()
        for option in ("--cflags", "--ldflags", "--libs")
    ]
    source = Path(__file__).with_name("many_hours.c")
    writer = folder / "many_hours"
    subprocess.run(["cc", "-o", writer, source, *(word for line in words for word in line)], check=True)
    subprocess.run([writer, folder / "archive", str(RANKS)], check=True)
    done = logpost("analyze", folder / "archive", "-o", folder / "run")
    assert done.returncode == 0, done.stderr
    return folder / "run"


def test_the_run_adds_up_exactly(run: Path) -> None:
    assert min(COMPUTE, WAIT, PROGRAM, MESSAGES) > 2**63
    opened = Run.open(run)
    accounting = opened.table("accounting").collect()
    assert exact_sum(accounting["exposed_ps"]) == PROGRAM
    assert exact_sum(opened.table("pairs").collect()["envelope_ps"]) == MESSAGES
    costs = opened.table("delay_costs").collect()
    assert costs["short_term_ps"].dtype == WIDE
    assert exact_sum(costs["short_term_ps"]) + exact_sum(costs["long_term_ps"]) == WAIT
    assert opened.table("findings").collect()["exposed_ps"].to_list() == [WAIT]


def test_the_report_states_the_sums(run: Path, tmp_path: Path) -> None:
    text = " ".join(logpost("report", run, "--full").stdout.split())
    assert "sum over ranks: 21600000 s" in text  # 6000 h
    assert "compute 10803600 s 50.0 %" in text  # 3001 h
    assert "collective wait 10796400 s 50.0 %" in text  # 2999 h
    facts = json.loads(logpost("report", run, "--json").stdout)
    assert facts["breakdown_s"]["compute"] == pytest.approx(COMPUTE / 1e12, rel=1e-12)
    assert facts["breakdown_s"]["collective_wait"] == pytest.approx(WAIT / 1e12, rel=1e-12)
    assert facts["messages"]["envelope_s"] == pytest.approx(MESSAGES / 1e12, rel=1e-12)
    page = tmp_path / "page.html"
    done = logpost("report", run, "--html", page)
    assert done.returncode == 0, done.stderr
    assert "10796400" in page.read_text(encoding="utf-8")


def test_compare_takes_the_sums(run: Path) -> None:
    done = logpost("compare", run, run, "--fail-if", "collective_wait > +1%")
    assert done.returncode == 0, done.stderr
    assert "10796400 s → 10796400 s (0.0 %)" in " ".join(done.stdout.split())


def test_whatif_adds_up_the_regions(run: Path) -> None:
    before = json.loads(logpost("whatif", run, "--set", "L=5us", "--json").stdout)["before"]
    assert before["in_communication_ps"] + before["between_communication_ps"] == PROGRAM
    assert before["between_communication_ps"] == COMPUTE


def test_exports_state_the_sums(run: Path, tmp_path: Path) -> None:
    done = logpost("export", run, "--to", "csv", "-o", tmp_path / "tables")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "tables" / "delay_costs.csv").open(encoding="utf-8") as file:
        assert sum(int(row["short_term_ps"]) + int(row["long_term_ps"]) for row in csv.DictReader(file)) == WAIT
    for form in ("perfetto", "goal"):
        done = logpost("export", run, "--to", form, "-o", tmp_path / form)
        assert done.returncode == 0, done.stderr
