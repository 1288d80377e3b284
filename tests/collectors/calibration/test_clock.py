"""The harness's clock cost, from clocks whose cost is known: they replace MPI_Wtime."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from logpost.collectors.calibration.build import compile_program

from .launchers import MPIS, require_mpi

pytestmark = pytest.mark.mpi
CLOCK = """
#include "parts.h"

#include <math.h>
#include <stdlib.h>

static double now_ns = 0, cost_ns, step_ns;
static int reads, interrupted;
/* Half of a call's duration is before the clock is read, half after. Every interrupted-th call lasts 5 us more. */
double MPI_Wtime(void) {
    now_ns += cost_ns / 2;
    double read = step_ns * floor(now_ns / step_ns);
    now_ns += cost_ns / 2 + (interrupted && ++reads % interrupted == 0 ? 5000 : 0);
    return 1e-9 * read;
}
double MPI_Wtick(void) {
    return 1e-9;
}
int main(int argc, char** argv) {
    struct cal c = {0};
    cost_ns = strtod(argv[1], NULL);
    step_ns = strtod(argv[2], NULL);
    interrupted = (int)strtol(argv[3], NULL, 10);
    cal_measure_clock(&c);
    printf("%.3f %.3f\\n", 1e9 * c.clock_cost_s, 1e9 * c.clock_resolution_s);
    return argc != 4;
}
"""


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    _, compiler = require_mpi(next(iter(MPIS)))
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.c").write_text(CLOCK)
    compile_program(compiler, folder / "clock.c", folder / "clock")
    return folder / "clock"


def read(clock: Path, cost_ns: float, step_ns: float, interrupted: int = 0) -> tuple[float, float]:
    done = subprocess.run([clock, str(cost_ns), str(step_ns), str(interrupted)], capture_output=True, check=True)
    cost, resolution = map(float, done.stdout.split())
    return cost, resolution


@pytest.mark.parametrize("cost_ns", [24.0, 25.7, 27.0, 61.3])
@pytest.mark.parametrize("step_ns", [1.0, 10.0, 1000.0])
def test_the_cost_is_finer_than_the_clocks_step(clock: Path, cost_ns: float, step_ns: float) -> None:
    # One read after another shows 20 or 30 ns for 24 to 27 where the clock ticks in 10. A row of 1000 reads is read to
    # one step, 0.01 ns per read at 10 ns and 1 ns at a clock of 1 us.
    assert read(clock, cost_ns, step_ns)[0] == pytest.approx(cost_ns, abs=step_ns / 1000 + 0.001)


def test_interrupts_are_left_out(clock: Path) -> None:
    # 5 us in every 3001st read, so in one row of three: the mean of all reads would be 25.7 + 1.67 = 27.4 ns.
    assert read(clock, 25.7, 10.0, 3001)[0] == pytest.approx(25.7, abs=0.02)


def test_what_can_be_distinguished(clock: Path) -> None:
    # A step of 10 ns is overlooked by reads of 25.7 ns: they see 20 at the least. A clock in steps of 1 us shows these.
    assert read(clock, 25.7, 10.0)[1] == pytest.approx(20.0)
    assert read(clock, 25.7, 1000.0)[1] == pytest.approx(1000.0)
