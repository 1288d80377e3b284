"""SENS Fig. 5: what each application sends with each mechanism, by kind."""

from __future__ import annotations

from logpost.experiments.four_applications.bars import LITTLE, relative_bars
from logpost.experiments.four_applications.runs import Runs
from logpost.experiments.framework.result import Claim, Column, Figure, Number, Origin, Part, Table
from logpost.experiments.support.alewife import MACHINE
from logpost.experiments.support.sens import BULK, INTERRUPTS, POLLING, SHARED
from logpost.experiments.support.sens_breakdown import HEADERS, KINDS

UP_TO = 6
"""Times the volume of messages (SENS 2.1)."""
HUES = dict(zip(KINDS, (2, 0, 1, 4), strict=True))


def volumes(runs: Runs) -> Part:
    """Bars, their numbers, and what the paper says of them."""
    ratios = {a: runs.volumes(a, SHARED, POLLING) for a in runs.apps}
    largest = max(ratios, key=lambda a: ratios[a])
    return Part(
        said=f"Shared memory sends up to {ratios[largest]:.1f} times the bytes of messages "
        f"({largest}; paper: up to 6).",
        tables=(_table(runs),),
        figures=(_figure(runs, ratios),),
        claims=_claims(runs, ratios),
    )


def _table(runs: Runs) -> Table:
    return Table(
        "Fig. 5: communication volume by kind",
        (
            Column("case", Origin.SETTING),
            Column("sent", Origin.TESTBED, MACHINE),
            *(Column(kind, Origin.TESTBED, MACHINE) for kind in KINDS),
            Column("over polling", Origin.DERIVED),
        ),
        tuple(
            (
                one.case,
                Number(one.volume / 1e3, "kB"),
                *(Number(one.sent[kind] / 1e3, "kB") for kind in KINDS),
                Number(one.volume / runs.base(one.application).volume, "×"),
            )
            for one in runs.every
        ),
        note="Bytes that all ranks send in the timed part.",
    )


def _figure(runs: Runs, ratios: dict[str, float]) -> Figure:
    times_as_much = ", ".join(f"{ratio:.1f}" for ratio in ratios.values())
    chart = relative_bars(
        runs,
        HUES,
        lambda one, kind: one.sent[kind],
        lambda one: one.volume,
        "bytes sent, polling = 1",
        f"Communication volume by kind: shared memory sends {times_as_much} times the bytes of messages.",
    )
    return Figure(
        "Fig. 5: communication volume by kind", chart, "Relative to the application's run with polling messages."
    )


def _claims(runs: Runs, ratios: dict[str, float]) -> tuple[Claim, ...]:
    apps = runs.apps
    headers = {a: runs.of(a, BULK).sent[HEADERS] / runs.of(a, POLLING).sent[HEADERS] for a in apps}
    return (
        Claim(
            "Shared memory sends several times the bytes of messages",
            "up to 6 times",
            ", ".join(f"{a} {ratio:.1f}" for a, ratio in ratios.items()),
            1 < max(ratios.values()) <= UP_TO,
            given="the messages of the paper's protocol are what shared memory is simulated with",
        ),
        Claim(
            "Interrupts and polling send the same",
            "the same volume",
            ", ".join(f"{a} {runs.volumes(a, INTERRUPTS, POLLING):.3f}" for a in apps),
            all(runs.of(a, INTERRUPTS).volume == runs.of(a, POLLING).volume for a in apps),
            given="the same program sends the same messages",
        ),
        Claim(
            "Bulk transfer saves headers",
            "saves on message headers",
            ", ".join(f"{a} −{100 * (1 - share):.0f} %" for a, share in headers.items()),
            all(share < 1 for share in headers.values()),
            given="every message has one header, and bulk transfer sends fewer messages",
        ),
        Claim(
            "In ICCG bulk transfer loses by padding what it saves in headers",
            "loses the saving in header traffic",
            f"{runs.volumes('ICCG', BULK, POLLING):.2f} times the bytes of polling",
            runs.volumes("ICCG", BULK, POLLING) > 1 - LITTLE,
            given="an edge is a double and its row's number, padded to two double-words",
        ),
    )
