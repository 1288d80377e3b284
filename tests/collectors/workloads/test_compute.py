"""`logpost_compute.h`: real work under a real compiler, simulated work on the testbed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from logpost.collectors.workloads.catalogue import FOLDER

HEADER = FOLDER / "logpost_compute.h"

REAL = f"""
#include <stdio.h>
#include "{HEADER}"
static double cpu_s(void) {{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}}
int main(void) {{
    double start = cpu_s();
    logpost_compute_seconds(0.05);
    double seconds = cpu_s();
    logpost_compute_flops(4e7);
    double few = cpu_s();
    logpost_compute_flops(8e7);
    double many = cpu_s();
    logpost_account_flops(1e15);
    logpost_compute_seconds(0);
    logpost_compute_seconds(-1);
    printf("%g %g %g %g", seconds - start, few - seconds, many - few, cpu_s() - many);
    return 0;
}}
"""

SIMULATED = f"""
#include <mpi.h>
#include <stdio.h>
#include "{HEADER}"
int main(int argc, char **argv) {{
    MPI_Init(&argc, &argv);
    double start = MPI_Wtime();
    logpost_compute_seconds(0.25);
    double seconds = MPI_Wtime();
    logpost_compute_flops(1e6);
    double flops = MPI_Wtime();
    logpost_account_flops(2e6);
    double accounted = MPI_Wtime();
    logpost_compute_seconds(1e-7);
    printf("%.9f %.9f %.9f %.9f", seconds - start, flops - seconds, accounted - flops, MPI_Wtime() - accounted);
    MPI_Finalize();
    return 0;
}}
"""


def test_work_is_real_without_a_simulator(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    (tmp_path / "a.c").write_text(REAL)
    subprocess.run([compiler, "-std=gnu11", "-O2", "-Wall", "-Werror", "-o", "a", "a.c"], cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "a")], capture_output=True, text=True, timeout=60, check=True)
    seconds, few, many, nothing = map(float, done.stdout.split())
    assert seconds >= 0.05
    # Twice the operations cost more, whatever a core delivers; no core does 1e11 flop/s in four scalar chains.
    assert few > 4e7 / 1e11
    assert many > few
    assert nothing < 0.01


@pytest.mark.testbed
@pytest.mark.skipif(shutil.which("smpicc") is None, reason="no SimGrid (libsimgrid-dev) here")
def test_work_is_simulated_to_the_digit(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(SIMULATED)
    subprocess.run(["smpicc", "-std=gnu11", "-O2", "-w", "-o", "a", "a.c"], cwd=tmp_path, check=True)
    (tmp_path / "hosts").write_text("n0\n")
    (tmp_path / "p.xml").write_text(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        '<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-0" speed="20Mf" bw="1GBps" lat="1us"/>'
        "</platform>\n"
    )
    command = ["smpirun", "-np", "1", "-platform", "p.xml", "-hostfile", "hosts", "--log=root.thresh:critical"]
    command += ["--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", "./a"]  # asking the time is free
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    # A host of 20 Mflop/s: 1e6 flop are 0.05 s; and 0.1 us count too, though smpi_execute would drop them.
    assert [float(word) for word in done.stdout.split()] == pytest.approx([0.25, 0.05, 0.1, 1e-7], abs=1e-9)
