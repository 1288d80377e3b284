"""Is a calibration good for something: strided messages and broadcasts at sizes and strides that it did not measure.

On this machine: calibrate with two ranks; between the calibration's passes measure half round trips of strided doubles,
and linear and tree broadcasts. Predict them from the machine file with log3P and with LogGP, which knows no stride, and
print mean, median and largest error. Bars for log3P: messages 5 %, broadcasts 6 % on average.

On a shared virtual machine the same message may take two and a half times as long for some seconds (its two processors
are moved apart), in calibration and truth alike. So there are three blocks:
  least times            both sides from the shortest time of each point, as LOG3P 4.1 measures: what the machine can do
  medians, pass by pass  the machine file of one pass against what was measured right after it; of each case the median
                         over the passes of predicted/measured. Each launch measures a few of the calibration's own
                         messages again; where these have changed by more than 5 % the machine has another speed, and
                         the pass is not compared with that launch.
  medians, as filed      the machine file of all passes against the median of all measurements: the mix of fast and slow
                         seconds that the two happened to see is added. Shown, not judged.

The third column is log3P with LOG3P 4.1's l_mw = T00(s, d) - T00(s) from messages to oneself; the file has the
difference of messages to another rank.

Broadcasts over more ranks than processors wait for processors, which no model here knows: on this machine the bar is
for those that have one each, the others are shown. What the models say about up to eight ranks is measured on a
simulated cluster (SimGrid SMPI) of eight hosts, with overheads per byte and a middleware that packs strided messages at
a price (packing_middleware.h), calibrated by the same programs.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.benchmarks.calibration.errors import judge
from tests.benchmarks.calibration.truth import CONTIGUOUS, REFERENCES, Truth, build, take

from logpost.collectors.calibration.grid import DEFAULT, Grid
from logpost.collectors.calibration.measure import measure

SIZES = (640, 1536, 3072, 6144, 12288, 24576, 49152, 98304)
STRIDES = (24, 48, 96, 192, 384, 768, 1536)
BROADCAST_SIZES = (1536, 6144, 24576)
BROADCAST_STRIDES = (CONTIGUOUS, 96, 384)
BUDGET_S = 100.0
CROWDED_PASSES = 3
"""Passes after which broadcasts over more ranks than processors are measured: their times are the scheduler's."""
_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
_GRID = replace(DEFAULT, signature_sizes=(8,), burst_sizes=(8,), depth_sizes=(8,))
_TESTBED_GRID = Grid(
    sizes=(1, 8, 64, 512, 1024, 4096, 16384, 65536),
    signature_sizes=(8,),
    bursts=(1, 2, 4, 8, 64, 128, 256),
    burst_sizes=(8,),
    burst_lengths=(1, 8),
    depth_sizes=(8,),
    gap_sizes=(1024, 16384),
    layout_sizes=(256, 1024, 4096, 16384, 65536),
    strides=(16, 64, 256, 1024),
    largest_eager=65536,
)


def main() -> int:
    """Print the tables; 1 when a bar is missed."""
    os.environ.update({name: text for name, text in _ENVIRONMENT.items() if name not in os.environ})
    missed, tables = 0, 0
    for name in ("openmpi", "mpich", "simulated"):
        with tempfile.TemporaryDirectory() as folder:
            if name == "simulated":
                if shutil.which("smpirun") is None:
                    print("smpirun is not installed: no broadcasts over more ranks than processors")
                    continue
                missed += simulated(Path(folder))
            else:
                if shutil.which(f"mpirun.{name}") is None:
                    print(f"mpirun.{name} is not installed")
                    continue
                missed += real([f"mpirun.{name}"], f"mpicc.{name}", Path(folder), crowds=(4, 8))
            tables += 1
    return int(missed > 0 or not tables)


def real(launch: Sequence[str], compiler: str, folder: Path, crowds: Sequence[int] = ()) -> int:
    """Calibrate under one MPI with two ranks, and print the tables; how many bars are missed.

    `crowds`: further numbers of ranks to broadcast over.
    """
    program = build(compiler, folder)
    truth = Truth()
    two = [*launch, "-n", "2"]
    broadcasts: dict[str, Any] = {"kinds": ("linear", "tree"), "sizes": BROADCAST_SIZES, "strides": BROADCAST_STRIDES}

    def measure_cases(passes: int) -> None:
        number = passes - 1
        strides = (CONTIGUOUS, *STRIDES)
        take(truth, number, two, program, **broadcasts, references=REFERENCES, options=("--budget-s", "1"))
        take(
            truth,
            number,
            two,
            program,
            kinds=("ping",),
            sizes=SIZES,
            strides=strides,
            references=REFERENCES,
            options=("--budget-s", "1.5"),
        )
        if passes <= CROWDED_PASSES:
            for ranks in crowds:
                options = ("--budget-s", "0.5", "--batch", "10")
                take(truth, number, [*launch, "-n", str(ranks)], program, **broadcasts, options=options)

    found = measure(
        two,
        output=folder / "samples.jsonl",
        compiler=compiler,
        grid=_GRID,
        budget_s=BUDGET_S,
        after_pass=measure_cases,
    )
    return judge(found, truth, len(os.sched_getaffinity(0)))


def simulated(folder: Path) -> int:
    """Eight hosts, one switch: L = 10 µs, G = 0.1 ns/B, o = 5 µs + 0.5 ns/B at either side, everything eager."""
    from tests.collectors.calibration.launchers import Simulated

    hosts = Simulated(folder, hosts=8, G=1e-10, eager=1 << 20)
    hosts.settings = [s for s in hosts.settings if "smpi/o" not in s]
    hosts.settings += [f"--cfg=smpi/{call}:0:5e-06:5e-10" for call in ("os", "ois", "or")]
    compiler = _packing_compiler(folder)
    program = build(compiler, folder)
    truth = Truth()

    def launch(ranks: int) -> list[str]:
        command = hosts.launch
        command[command.index("-np") + 1] = str(ranks)
        return command

    for ranks in (2, 4, 8):
        kinds = ("ping", "linear", "tree") if ranks == 2 else ("linear", "tree")
        options = ("--budget-s", "1000", "--batch", "4", "--settle-s", "1e-3")
        where: dict[str, Any] = {"sizes": BROADCAST_SIZES, "strides": BROADCAST_STRIDES}
        take(truth, 0, launch(ranks), program, kinds=kinds, **where, options=options)
    output = folder / "samples.jsonl"
    found = measure(launch(2), output=output, compiler=compiler, grid=_TESTBED_GRID, budget_s=20, passes=2, batch=4)
    return judge(found, truth, 8)


def _packing_compiler(folder: Path) -> str:
    """A compiler wrapper for simulated programs whose strided messages have a price."""
    wrapper = folder / "smpicc-packing"
    header = Path(__file__).with_name("packing_middleware.h")
    wrapper.write_text(f'#!/bin/sh\nexec smpicc -include "{header}" "$@"\n')
    wrapper.chmod(0o755)
    return str(wrapper)


if __name__ == "__main__":
    sys.exit(main())
