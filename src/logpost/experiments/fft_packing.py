"""LOG3P Fig. 12: the transpose of a 3-D FFT by datatypes, packing and tiled packing; which is best, and who says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import Need
from logpost.experiments.framework.result import Claim, Column, Difference, Figure, Number, Origin, Result, Table
from logpost.experiments.support.launches import Program, Spread, contiguous_times, cores, run_here
from logpost.experiments.support.this_machine import NAME, calibrated, locality, undisturbed

if TYPE_CHECKING:
    from logpost.machines.schema import Machine

VERSIONS = ("ddt", "pack", "opt")
ELEMENT = 16
"""Bytes of a complex double."""
GRIDS = {"S": (64, 64, 64), "W": (128, 128, 32), "A": (256, 256, 128), "B": (512, 256, 256)}
"""NAS FT classes, as the program has them."""


@dataclass(frozen=True)
class Problem:
    """A grid on some ranks, and what its messages look like."""

    grid: str
    scale: int
    ranks: int

    @property
    def label(self) -> str:
        """As the paper writes it: FT.B.4; scaled down: FT.B/2.4."""
        return f"FT.{self.grid}{f'/{self.scale}' if self.scale > 1 else ''}.{self.ranks}"

    @property
    def plane(self) -> int:
        """n: values of a plane."""
        nx, ny, _ = GRIDS[self.grid]
        return nx * ny // self.scale**2

    @property
    def nz(self) -> int:
        """Planes of the grid."""
        return GRIDS[self.grid][2] // self.scale

    @property
    def columns(self) -> int:
        """n / P: values of a plane that go to one rank."""
        return self.plane // self.ranks

    @property
    def planes(self) -> int:
        """nz / P: of a rank."""
        return self.nz // self.ranks

    @property
    def message(self) -> int:
        """Bytes from a rank to a rank."""
        return self.columns * self.planes * ELEMENT


@dataclass(frozen=True)
class Times:
    """One version on one problem, seconds per transform: stacked parts by each model and measured."""

    version: str
    transforms: float
    """The 1-D FFTs: the same code in all versions."""
    packing: float
    """By the program."""
    contiguous: Mapping[str, float]
    strided: Mapping[str, float]
    total: Spread
    """As the program times the whole; the parts above are the least of each."""

    @property
    def computation(self) -> float:
        """As LOG3P counts it: with the program's own packing."""
        return self.transforms + self.packing

    def of(self, source: str) -> float:
        """The whole by `LogGP`, `log3P` or `measured`."""
        return self.computation + self.contiguous[source] + self.strided[source]


SOURCES = ("LogGP", "log3P", "measured")


def run(context: Context) -> Result:
    """Measure the layouts' costs as log3P does, predict the transposes, and measure them."""
    machine = undisturbed(calibrated(context)).machine
    problems = context.size([Problem("B", 4, 2), Problem("B", 2, 2), Problem("B", 4, 4)], [Problem("S", 1, 2)])
    found = {problem: _times(context, machine, problem) for problem in problems}
    first = next((p for p in reversed(problems) if p.ranks <= cores()), problems[0])
    best = {source: _best(found[first], source) for source in SOURCES}
    return Result(
        summary=f"{first.label}: LogGP ranks {best['LogGP']} best, log3P ranks {best['log3P']} best, and measured "
        f"{best['measured']} is: {_said(found[first])}.",
        tables=tuple(_table(problem, found[problem]) for problem in problems),
        figures=(_figure(found),),
        claims=_claims(found, first),
        differences=(
            Difference(
                "The grids are smaller than the paper's: classes B and C on 4, 8 and 16 processors moved 64 and 128 MB "
                "per process.",
                "this machine's memory and time; a rank's data are still larger than its caches in the full form.",
            ),
            Difference(
                "A rank's message to itself and its packing loops are a larger part than on 4 to 16 processors.",
                f"with P ranks one message of P stays at home; with {cores()} cores more ranks take turns, and what is "
                "printed as communication then holds the others' computation.",
            ),
            Difference(
                "log3P's l_mw is that of the application's own datatypes in a message to itself, as 4.1 measures it; "
                "between two ranks ddt's exchange takes longer than it says.",
                "a library that copies contiguous data once, from process to process, sends strided data in fragments "
                "through a shared buffer, packed and unpacked by turns. A message to oneself has neither path.",
            ),
            Difference(
                "Which of pack and opt is best depends on the grid.",
                "tiles pay where the rows that are read together fall into the same cache sets, and cost a second copy "
                "where all fits into the cache.",
            ),
            Difference(
                "In the measured bars the strided part of ddt is what its exchange takes beyond that of opt.",
                "MPI does not say how long it gathers. LogGP's and log3P's bars have the measured computation, as in "
                "the paper.",
            ),
        ),
        notes=(
            f"{cores()} cores: problems on more ranks share them.",
            "LogGP sends (P − 1) messages of s bytes, (P − 1)(o_s + L + o_r + (s − 1) G), with the calibration's "
            "values for long messages between two ranks; log3P one message to itself, o_mw + T_mem + l_mw, and P − 1 "
            "to others, o_mw + o_net + l_mw.",
        ),
    )


def _times(context: Context, machine: Machine, problem: Problem) -> dict[str, Times]:
    """All three versions of one problem."""
    loggp = _loggp(machine, problem)
    contiguous, strided = _log3p(context, problem)
    # Several: the first transform also waits for the memory to be mapped.
    iterations = context.size(max(2, 8 * 2**20 // (problem.plane * problem.nz)), 12)
    common = ("--grid", problem.grid, "--scale", str(problem.scale), "--iterations", str(iterations))
    programs = [Program("fft3d", (*common, "--version", version), problem.ranks) for version in VERSIONS]
    runs = run_here(context, f"{problem.label} on this machine", programs, context.size(3, 2))
    measured = dict(zip(VERSIONS, runs, strict=True))

    def least(version: str, name: str) -> float:
        return measured[version][name].least / iterations

    transforms = min(
        least(version, "total_s") - least(version, "pack_s") - least(version, "exchange_s") for version in VERSIONS
    )
    plain = min(least(version, "exchange_s") for version in ("pack", "opt"))
    return {
        version: Times(
            version,
            transforms,
            least(version, "pack_s"),
            {
                "LogGP": loggp,
                "log3P": contiguous,
                "measured": min(least(version, "exchange_s"), plain)
                if version == "ddt"
                else least(version, "exchange_s"),
            },
            {
                "LogGP": 0.0,
                "log3P": strided if version == "ddt" else 0.0,
                "measured": max(least(version, "exchange_s") - plain, 0.0) if version == "ddt" else 0.0,
            },
            Spread(least(version, "total_s"), measured[version]["total_s"].median / iterations),
        )
        for version in VERSIONS
    }


def _loggp(machine: Machine, problem: Problem) -> float:
    """Seconds of the P - 1 messages to others, contiguous."""
    from logpost.replay.models import loggp
    from logpost.replay.models.machine_values import machine_values

    values = machine_values(loggp.MODEL, machine, {"B": float(problem.message)}, locality=locality(machine))
    picoseconds = sum(float(np.asarray(values[name])) for name in ("o_s", "L", "o_r"))
    picoseconds += (problem.message - 1) * float(np.asarray(values["G"]))
    return (problem.ranks - 1) * picoseconds * 1e-12


def _log3p(context: Context, problem: Problem) -> tuple[float, float]:
    """Contiguous and strided seconds of a transpose, from messages to oneself and half round trips.

    l_mw = T00(s,d) - T00(s) is that of the program itself on one rank, where its whole transpose is a message to
    itself with the same values the same nz apart; it grows with the bytes.
    """
    from logpost.replay.models import log3p

    s = problem.message
    launches = context.size(3, 1)
    half = contiguous_times(context, s, launches)
    iterations = context.size(2, 8)
    common = ("--grid", problem.grid, "--scale", str(problem.scale), "--iterations", str(iterations))
    programs = [Program("fft3d", (*common, "--version", version), 1) for version in ("ddt", "pack")]
    described, packed = (
        one["exchange_s"].least / iterations
        for one in run_here(context, f"{problem.label}: messages to oneself", programs, launches)
    )
    share = s / (problem.plane * problem.nz * ELEMENT)
    T00, T_mem = half["self"].least, min(half["memory_copy"].least, half["self"].least)
    found = log3p.extract(
        T00=T00,
        T01=max(half["remote"].least, T00 - T_mem),
        T00_strided=T00 + max(described - packed, 0.0) * share,
        T_mem=T_mem,
    )
    contiguous = (problem.ranks - 1) * (found.o_mw + found.o_net) + T00
    return contiguous, problem.ranks * found.l_mw


def _best(times: Mapping[str, Times], source: str) -> str:
    return min(VERSIONS, key=lambda version: times[version].of(source))


def _said(times: Mapping[str, Times]) -> str:
    return ", ".join(f"{version} {1e3 * times[version].of('measured'):.3g} ms" for version in VERSIONS)


def _table(problem: Problem, times: Mapping[str, Times]) -> Table:
    def ms(value: float) -> Number:
        return Number(1e3 * value, "ms")

    beyond = f", more ranks than the {cores()} cores" if problem.ranks > cores() else ""
    return Table(
        f"{problem.label}: time of a transform{beyond}",
        (
            Column("version", Origin.SETTING),
            Column("LogGP", Origin.FORMULA, NAME),
            Column("log3P", Origin.FORMULA, NAME),
            Column("measured", Origin.MEASURED),
            Column("median of whole launches", Origin.DERIVED),
            Column("1-D FFTs", Origin.DERIVED),
            Column("packing by the program", Origin.DERIVED),
            Column("exchange, LogGP", Origin.DERIVED),
            Column("exchange, log3P", Origin.DERIVED),
            Column("exchange, measured", Origin.DERIVED),
        ),
        tuple(
            (
                version,
                ms(one.of("LogGP")),
                ms(one.of("log3P")),
                ms(one.of("measured")),
                ms(one.total.median),
                ms(one.transforms),
                ms(one.packing),
                *(ms(one.contiguous[source] + one.strided[source]) for source in SOURCES),
            )
            for version, one in times.items()
        ),
        reference="measured",
        note=f"Messages of {problem.message / 2**20:.3g} MB; the sender's blocks have {problem.columns * ELEMENT:,} B, "
        f"the receiver's values are {problem.nz * ELEMENT:,} B apart. Computation is measured, in the models too. "
        "Each part is the least over launches (LOG3P 4.1); the 1-D FFTs are the same code in all "
        "versions, so their least over all.",
    )


def _figure(found: Mapping[Problem, Mapping[str, Times]]) -> Figure:
    """Fig. 12: for each problem LogGP, log3P and measured, with a bar per version, stacked from three parts."""
    from logpost.dashboards.figures.bars import Part, stacked

    bars: list[str] = []
    groups: list[str] = []
    parts: dict[str, list[float]] = {"computation, with packing by hand": [], "contiguous": [], "strided (l_mw)": []}
    for problem, times in found.items():
        for source in SOURCES:
            for version, one in times.items():
                bars.append(version)
                groups.append(f"{problem.label}: {source}")
                parts["computation, with packing by hand"].append(1e3 * one.computation)
                parts["contiguous"].append(1e3 * one.contiguous[source])
                parts["strided (l_mw)"].append(1e3 * one.strided[source])
    problem, times = next(iter(found.items()))
    chart = stacked(
        bars,
        [Part(name, values, hue) for hue, (name, values) in enumerate(parts.items())],
        "time of a transform (ms)",
        f"{problem.label}: LogGP has {_best(times, 'LogGP')} shortest, log3P {_best(times, 'log3P')}, measured "
        f"{_best(times, 'measured')}.",
        groups=groups,
    )
    return Figure("Fig. 12: predicted and measured, three versions of the transpose", chart)


def _claims(found: Mapping[Problem, Mapping[str, Times]], first: Problem) -> tuple[Claim, ...]:
    def ranked(source: str) -> list[str]:
        return [_best(times, source) for times in found.values()]

    def reached(source: str) -> str:
        return ", ".join(f"{problem.label}: {_best(times, source)}" for problem, times in found.items())

    main = found[first]
    ddt, opt = main["ddt"], main["opt"]
    share = ddt.strided["measured"] / ddt.of("measured")
    gain = 1 - opt.of("measured") / ddt.of("measured")
    return (
        Claim("LogP and LogGP rank ddt best", "ddt", reached("LogGP"), set(ranked("LogGP")) == {"ddt"}),
        Claim("log3P ranks opt best", "opt", reached("log3P"), set(ranked("log3P")) == {"opt"}),
        Claim("opt is best in truth", "opt", reached("measured"), set(ranked("measured")) == {"opt"}),
        Claim(
            "log3P names the version that is best in truth",
            "in all three problems",
            _agreement(found, "log3P") + "; LogGP: " + _agreement(found, "LogGP"),
            ranked("log3P") == ranked("measured"),
        ),
        Claim(
            "opt gains on ddt",
            "43.5 % on 4 processors",
            f"{100 * gain:.0f} % ({first.label})".replace("-", "−"),
            gain > 0.05,
        ),
        Claim(
            "Strided data in the middleware take about half of ddt's time",
            "51.6 % (4 processors), 59.3 % (16)",
            f"{100 * share:.0f} % ({first.label})",
            share > 0.25,
        ),
    )


def _agreement(found: Mapping[Problem, Mapping[str, Times]], source: str) -> str:
    right: Sequence[bool] = [_best(times, source) == _best(times, "measured") for times in found.values()]
    return f"right in {sum(right)} of {len(right)}"


EXPERIMENT = Experiment(
    name="fft-packing",
    title="3-D FFT's transpose: datatypes, packing, tiled packing; what LogGP and log3P rank best, and what is",
    paper="LOG3P",
    where="Fig. 12, section 4.3.4",
    needs=(Need.MPI,),
    run=run,
    order=2,
)
