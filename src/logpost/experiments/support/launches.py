"""Programs on the machine that the experiments run on: started by its MPI, and what they print.

They are launched several times, because what changes between launches (placement, frequency, neighbours on a shared
machine) is most of what a second measurement would find.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.errors import InputError
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.needs import Need, missing
from logpost.experiments.support.printed import printed_times

_PATIENCE_S = 600.0
"""For a program of seconds: on a busy machine, ranks that wait for each other by turns are a hundred times slower."""


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0))


def launcher(ranks: int) -> list[str]:
    """`mpirun` for these ranks; more of them than cores are allowed (other MPIs than Open MPI ignore the setting)."""
    return ["env", "OMPI_MCA_rmaps_base_oversubscribe=1", "mpirun", "-n", str(ranks)]


def check() -> None:
    """Raises InputError where MPI programs cannot be started, with the way out."""
    if reason := missing([Need.MPI]):
        raise InputError(reason)
    consent = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    if os.geteuid() != 0 or all(os.environ.get(name) == "1" for name in consent):
        return
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False)
    if "Open MPI" in version.stdout:
        raise InputError(
            f"Open MPI does not start programs as root: set {consent[0]}=1 and {consent[1]}=1, or run as another user"
        )


@dataclass(frozen=True)
class Spread:
    """Of several launches: the shortest, as LOG3P 4.1 takes it (of the means), and the median."""

    least: float
    median: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of one value per launch."""
        return cls(min(values), statistics.median(values))


@dataclass(frozen=True)
class Program:
    """A program of `logpost workloads list` with its arguments, on so many ranks (there may be fewer cores)."""

    workload: str
    arguments: tuple[str, ...]
    ranks: int = 2


def run_here(context: Context, phase: str, programs: Sequence[Program], launches: int) -> list[dict[str, Spread]]:
    """What each program prints under the real MPI, over several launches.

    All are launched once before any is launched again, so that a slow second of the machine does not hit all launches
    of one program.

    Raises:
        InputError: one cannot be built or started, found its own result wrong, or printed no times.
    """
    check()
    rounds = context.each(phase, [one for _ in range(launches) for one in programs], _launch, concurrent=1)
    return [
        {name: Spread.of([one[name] for one in rounds[i :: len(programs)]]) for name in rounds[i]}
        for i in range(len(programs))
    ]


def _launch(one: Program) -> dict[str, float]:
    from logpost.collectors.workloads.build import build, launch_environment
    from logpost.collectors.workloads.catalogue import workload

    program = workload(one.workload).program(None)
    said = f"{one.workload} on {one.ranks} ranks"
    done = _run([*launcher(one.ranks), str(build(program)), *one.arguments], said, launch_environment(program))
    values = printed_times(done.stdout)
    if done.returncode != 0 or not values:
        raise _failure(said, done)
    return values


def _run(
    command: Sequence[str], said: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Wait for a program, but not forever."""
    try:
        return subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{said} did not finish in {_PATIENCE_S:.0f} s") from None


def _failure(said: str, done: subprocess.CompletedProcess[str]) -> InputError:
    """The last line that a program printed."""
    last = ((done.stderr or done.stdout).strip().splitlines() or ["it printed nothing"])[-1]
    return InputError(f"{said} ended with status {done.returncode}: {last}")


Layout = tuple[str, str, int, int]
"""Of a message: transfer (self, remote, memory_copy), form (contiguous, datatype, packed), bytes, stride in bytes."""


SOCKETS = "OMPI_MCA_btl=tcp,self"
"""Open MPI's messages between ranks go through sockets, also within a node (other MPIs ignore it)."""


def layout_times(
    context: Context, name: str, arguments: Sequence[str], launches: int, *, sockets: bool = False
) -> dict[Layout, float]:
    """Half round trips by the calibration's layout program: T00 to oneself, T01 to another rank, T_mem of a copy.

    Args:
        context: of the experiment.
        name: of the files that keep the samples.
        arguments: of the program.
        launches: of which each time is the smallest sample (LOG3P 3.2).
        sockets: between ranks, instead of what the MPI would choose.

    Returns:
        seconds of each layout.

    Raises:
        InputError: the program cannot be started, or fails.
    """
    from logpost.collectors.calibration.build import build
    from logpost.machines.calibration.samples import parse

    check()
    program = build("mpicc", ["layout"])["layout"]
    context.folder.mkdir(parents=True, exist_ok=True)
    found: dict[Layout, float] = {}
    for launch in range(launches):
        context.progress(f"{name} on this machine", launch, launches)
        output = context.folder / f"{name}-{launch}.jsonl"
        start = ["env", SOCKETS, *launcher(2)] if sockets else launcher(2)
        done = _run([*start, str(program), "--output", str(output), *arguments], "the layout program")
        if done.returncode != 0 or not output.exists():
            raise _failure("the layout program", done)
        for line in output.read_text(encoding="utf-8").splitlines()[1:]:
            point = parse(json.loads(line), output.name)
            if point.family != "layout":
                continue
            key = (str(point["transfer"]), str(point["form"]), point.bytes, int(point["stride_bytes"]))
            found[key] = min(found.get(key, float("inf")), point.time.minimum_s)
    return found
