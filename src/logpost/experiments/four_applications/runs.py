"""SENS's applications with each mechanism on the testbed, analyzed with the machine that was simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.experiments.framework.context import Context
from logpost.experiments.support.sens import MECHANISMS, POLLING, Mechanism, Workload, run_mechanism, workloads_of
from logpost.experiments.support.sens_breakdown import Kernel, breakdown, kernel_of, volume
from logpost.experiments.support.sens_sweep import OWN_CLOCK

VALUE_BYTES = {"EM3D": 8, "UNSTRUC": 24, "ICCG": 8, "MOLDYN": 24}
"""What a load or an addition carries: one double, or three ("3 single-precision results for each node", 4.2)."""


@dataclass(frozen=True)
class Done:
    """An application with a mechanism."""

    application: str
    mechanism: Mechanism
    kernel: Kernel
    parts: dict[str, float]
    """Seconds, mean of the ranks; they add up to the run time."""
    sent: dict[str, int]
    """Bytes of each kind, all ranks."""
    printed_s: float
    """The run time by the program's own clock, which for MOLDYN includes the dealing of the molecules."""

    @property
    def case(self) -> str:
        """In the first column of a table."""
        return f"{self.application}, {self.mechanism.name}"

    @property
    def total_s(self) -> float:
        """Run time."""
        return self.kernel.total_ps * 1e-12

    @property
    def clock_s(self) -> float:
        """The run time as `run_time` has it."""
        return self.printed_s if self.application in OWN_CLOCK else self.total_s

    @property
    def volume(self) -> int:
        """Bytes, all ranks."""
        return sum(self.sent.values())


@dataclass(frozen=True)
class Runs:
    """All of them."""

    done: Mapping[tuple[str, Mechanism], Done]
    apps: Sequence[str]

    @property
    def every(self) -> list[Done]:
        """Application by application, mechanism by mechanism."""
        return list(self.done.values())

    def of(self, application: str, mechanism: Mechanism) -> Done:
        """One of them."""
        return self.done[application, mechanism]

    def base(self, application: str) -> Done:
        """That to which the others of an application are set in proportion."""
        return self.done[application, POLLING]

    def fastest(self, application: str, among: Sequence[Mechanism] = MECHANISMS) -> Done:
        """The shortest run time."""
        return min((self.done[application, mechanism] for mechanism in among), key=lambda one: one.total_s)

    def slower(self, application: str, one: Mechanism, other: Mechanism) -> float:
        """Run time with one mechanism over that with another, minus one."""
        return self.of(application, one).total_s / self.of(application, other).total_s - 1

    def volumes(self, application: str, one: Mechanism, other: Mechanism) -> float:
        """Bytes sent with one mechanism over those with another."""
        return self.of(application, one).volume / self.of(application, other).volume


def workloads(context: Context) -> tuple[Workload, ...]:
    """The paper's sizes as far as time allows: UNSTRUC's and EM3D's, of which one iteration runs."""
    nodes, mesh, brick, cells = context.size(full=(10000, 2000, 8, 8), quick=(1600, 500, 3, 6))
    em3d, unstruc, iccg, moldyn = workloads_of(nodes=nodes, mesh=mesh, brick=brick, cells=cells)
    return context.size(full=(em3d, unstruc, iccg, moldyn), quick=(em3d, iccg))


def run_all(context: Context, chosen: Sequence[Workload]) -> Runs:
    """Every workload with every mechanism; archives and runs are kept."""
    cases = [(workload, mechanism) for workload in chosen for mechanism in MECHANISMS]

    def one(case: tuple[Workload, Mechanism]) -> tuple[Kernel, float, float]:
        """The timed part; what the program charges for the mechanism, and its own clock, s."""
        workload, mechanism = case
        name = _name(workload, mechanism)
        simulated = run_mechanism(context, workload, mechanism, name)
        analyzed = context.analyze(simulated.archive, str(simulated.archive / "machine.toml"), name)
        return kernel_of(analyzed), simulated.values.get("overhead_s", 0.0), simulated.values["total_s"]

    outcomes = dict(
        zip(
            ((workload.application, mechanism) for workload, mechanism in cases),
            context.each("applications and mechanisms on the testbed", cases, one),
            strict=True,
        )
    )
    # Analyses end in any order; the page lists them in that of the bars.
    names = [_name(workload, mechanism) for workload, mechanism in cases]
    context.kept.sort(key=lambda kept: names.index(kept.label))
    done = {}
    for (application, mechanism), (kernel, charged_s, printed_s) in outcomes.items():
        # An application computes the same with whatever mechanism: the shortest busy time of any of its runs.
        work_ps = min(outcomes[application, m][0].compute_ps - outcomes[application, m][1] * 1e12 for m in MECHANISMS)
        done[application, mechanism] = Done(
            application,
            mechanism,
            kernel,
            breakdown(kernel, charged_s, work_ps, is_memory=mechanism.is_memory),
            volume(kernel, VALUE_BYTES[application], is_memory=mechanism.is_memory),
            printed_s,
        )
    return Runs(done, [workload.application for workload in chosen])


def _name(workload: Workload, mechanism: Mechanism) -> str:
    """Of a run's archive and analysis."""
    return f"{workload.program}-{mechanism.file}"
