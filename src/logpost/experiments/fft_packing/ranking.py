"""LOG3P Fig. 12: three versions of the transpose by LogGP, by log3P and measured, and the best by each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from logpost.dashboards.figures.bars import Part, stacked
from logpost.experiments.fft_packing.problem import DDT, ELEMENT, OPT, PACK, VERSIONS, Problem
from logpost.experiments.fft_packing.times import LOG3P, LOGGP, MEASURED, SOURCES, Times
from logpost.experiments.framework.result import Claim, Column, Figure, Number, Origin, Table
from logpost.experiments.framework.words import change_text
from logpost.experiments.support.launches import cores
from logpost.experiments.support.this_machine import NAME

PRINTED_GAIN, PRINTED_SHARE, PRINTED_PACK = 0.435, 0.516, 0.485
"""Of opt on ddt, and of packing in the time of ddt and of pack, FT.B on 4 processors (4.3.4)."""
IN_CACHE = (
    "two ranks of one node have planes that fit into the caches, where packing costs little, and the computation "
    "varies by more between launches than the versions differ"
)


def best_version(times: Mapping[str, Times], source: str) -> str:
    """The version with the shortest time by one of SOURCES."""
    return min(VERSIONS, key=lambda version: times[version].of(source))


def measured_text(times: Mapping[str, Times]) -> str:
    """All versions as measured."""
    return ", ".join(f"{version} {1e3 * times[version].of(MEASURED):.3g} ms" for version in VERSIONS)


def ranking_table(problem: Problem, times: Mapping[str, Times]) -> Table:
    """A row per version."""

    def ms(value: float) -> Number:
        return Number(1e3 * value, "ms")

    beyond = f", more ranks than the {cores()} cores" if problem.ranks > cores() else ""
    return Table(
        f"{problem.label}: time of a transform{beyond}",
        (
            Column("version", Origin.SETTING),
            Column(LOGGP, Origin.FORMULA, NAME),
            Column(LOG3P, Origin.FORMULA, NAME),
            Column(MEASURED, Origin.MEASURED),
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
                ms(one.of(LOGGP)),
                ms(one.of(LOG3P)),
                ms(one.of(MEASURED)),
                ms(one.total.median),
                ms(one.transforms),
                ms(one.packing),
                *(ms(one.contiguous[source] + one.strided[source]) for source in SOURCES),
            )
            for version, one in times.items()
        ),
        reference=MEASURED,
        note=f"Messages of {problem.message / 1024 / 1024:.3g} MB; the sender's blocks have "
        f"{problem.columns * ELEMENT:,} B, the receiver's values are {problem.nz * ELEMENT:,} B apart. Computation is "
        "measured, in the models too. Each part is the shortest over launches (LOG3P 4.1); the 1-D FFTs are the same "
        "code in all versions, so the shortest over all versions is used.",
    )


def ranking_figure(found: Mapping[Problem, Mapping[str, Times]]) -> Figure:
    """Fig. 12: for each problem LogGP, log3P and measured, with a bar per version, stacked from three parts."""
    bars: list[str] = []
    groups: list[str] = []
    computation, contiguous, strided = [], [], []
    for problem, times in found.items():
        for source in SOURCES:
            for version, one in times.items():
                bars.append(version)
                groups.append(f"{problem.label}: {source}")
                computation.append(1e3 * one.computation)
                contiguous.append(1e3 * one.contiguous[source])
                strided.append(1e3 * one.strided[source])
    problem, times = next(iter(found.items()))
    chart = stacked(
        bars,
        [
            Part("computation, with packing by hand", computation, 0),
            Part("contiguous", contiguous, 1),
            Part("strided (l_mw)", strided, 2),
        ],
        "time of a transform (ms)",
        f"{problem.label}: LogGP has {best_version(times, LOGGP)} shortest, log3P {best_version(times, LOG3P)}, "
        f"measured {best_version(times, MEASURED)}.",
        groups=groups,
    )
    return Figure("Fig. 12: predicted and measured, three versions of the transpose", chart)


def ranking_claims(found: Mapping[Problem, Mapping[str, Times]], first: Problem) -> tuple[Claim, ...]:
    """What the paper says of the versions; numbers are those of `first`."""

    def ranked(source: str) -> list[str]:
        return [best_version(times, source) for times in found.values()]

    def reached(source: str) -> str:
        return ", ".join(f"{problem.label}: {best_version(times, source)}" for problem, times in found.items())

    main = found[first]
    ddt, opt = main[DDT], main[OPT]
    share = ddt.strided[MEASURED] / ddt.of(MEASURED)
    gain = 1 - opt.of(MEASURED) / ddt.of(MEASURED)
    packing = {version: main[version].packing / main[version].of(MEASURED) for version in (PACK, OPT)}
    off = {
        problem: {version: one.of(LOGGP) / one.of(MEASURED) - 1 for version, one in times.items()}
        for problem, times in found.items()
    }
    return (
        Claim("LogP and LogGP rank ddt best", "ddt", reached(LOGGP), set(ranked(LOGGP)) == {DDT}),
        Claim("log3P ranks opt best", "opt", reached(LOG3P), set(ranked(LOG3P)) == {OPT}, reason=IN_CACHE),
        Claim(
            "opt is the fastest when measured",
            "opt",
            reached(MEASURED),
            set(ranked(MEASURED)) == {OPT},
            reason=IN_CACHE,
        ),
        Claim(
            "log3P names the version that is fastest when measured",
            "in all three problems",
            _agreement(found, LOG3P) + "; LogGP: " + _agreement(found, LOGGP),
            ranked(LOG3P) == ranked(MEASURED),
            reason=IN_CACHE,
        ),
        Claim(
            "opt gains on ddt (judged: at least half of the printed gain)",
            "43.5 % on 4 processors",
            f"{100 * gain:.0f} % ({first.label})".replace("-", "−"),
            gain > PRINTED_GAIN / 2,
            reason=IN_CACHE,
        ),
        Claim(
            "Strided data in the middleware are about half of ddt's time (judged: at least half of the printed share)",
            "51.6 % (4 processors), 59.3 % (16)",
            f"{100 * share:.0f} % ({first.label})",
            share > PRINTED_SHARE / 2,
            reason=IN_CACHE,
        ),
        Claim(
            "Packing by hand is about half of pack's time (judged: at least half of the printed share)",
            f"{100 * PRINTED_PACK:.1f} % (4 processors)",
            f"{100 * packing[PACK]:.0f} % ({first.label})",
            packing[PACK] > PRINTED_PACK / 2,
            reason=IN_CACHE,
        ),
        Claim(
            "Packing is a much smaller part of opt than of ddt (judged: at most half of it)",
            "11.3 against 59.3 % (16 processors)",
            f"{100 * packing[OPT]:.0f} against {100 * share:.0f} % ({first.label})",
            packing[OPT] <= share / 2,
            reason=IN_CACHE,
        ),
        Claim(
            "LogGP underestimates ddt, and is further off there than for pack and opt, whose packing is computation",
            "significantly underestimates ddt; accurate for pack and opt",
            "; ".join(
                f"{problem.label}: " + ", ".join(f"{version} {change_text(of)}" for version, of in errors.items())
                for problem, errors in off.items()
            ),
            all(errors[DDT] < -max(abs(errors[PACK]), abs(errors[OPT])) for errors in off.values()),
            reason=IN_CACHE,
        ),
    )


def _agreement(found: Mapping[Problem, Mapping[str, Times]], source: str) -> str:
    right: Sequence[bool] = [best_version(times, source) == best_version(times, MEASURED) for times in found.values()]
    return f"right in {sum(right)} of {len(right)}"
