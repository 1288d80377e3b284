"""OVL Table 2: by how much the computation may be misjudged (A), and what the model's choice then costs (B)."""

from __future__ import annotations

from logpost.experiments.best_overlap.decomposition import Decomposed, doubles_text
from logpost.experiments.best_overlap.landscapes import Landscape
from logpost.experiments.best_overlap.problems import COMM_BOUND, COMP_BOUND, INFINIBAND, VOLUMES
from logpost.experiments.best_overlap.search import choice, loss_cell
from logpost.experiments.framework.result import Cell, Claim, Column, Origin, Part, Table

OVERESTIMATE = (190, 20, 130, 170, 50, 220, 80, 130, 50, 110)
UNDERESTIMATE = (None, None, 80, 50, 80, 50, 80, 50, 90, 60)
LOSS = (12, 5, None, 4, None, None, None, None, None, None)
MISDIAGNOSED = (48, 22, 12, 6, 1, None, None, None, None, None)
"""Of each volume, per cent, printed; None: "*", which is never in (A) and less than 1 % in (B)."""


def losses(comm: Landscape, comp: Landscape) -> Part:
    """(B): the model's loss, that of the model for the wrong kind of problem, and of underestimation."""
    profile = comm.network.profile()
    rows: list[tuple[Cell, ...]] = []
    wrong_losses, safe_losses = [], []
    for one, other in zip(comm.queued, comp.queued, strict=True):
        wrong = choice(profile, one.V, comm.network.computation(COMP_BOUND, one.V), "pipelined", one.times)
        safe = choice(profile, one.V, comm.network.computation(COMM_BOUND, one.V), "balanced", other.times)
        wrong_losses.append(0.0 if wrong is None else one.loss(wrong))
        safe_losses.append(1.0 if safe is None else other.loss(safe))
        at = VOLUMES.index(one.V)
        rows.append(
            (
                doubles_text(one.V),
                _printed(LOSS[at]),
                loss_cell(one, one.chosen),
                _printed(MISDIAGNOSED[at]),
                loss_cell(one, wrong),
                loss_cell(other, other.chosen),
                loss_cell(other, safe),
            )
        )
    machine = comm.network.machine
    table = Table(
        "Table 2 (B): loss of performance, point to point, Infiniband, NIC with a queue",
        (
            Column("V", Origin.SETTING),
            Column("communication bound: model, printed", Origin.PAPER),
            Column("model", Origin.DERIVED, machine),
            Column("misdiagnosed, printed", Origin.PAPER),
            Column("misdiagnosed", Origin.DERIVED, machine),
            Column("computation bound: (7)", Origin.DERIVED, machine),
            Column("computation bound: (5), t_V underestimated", Origin.DERIVED, machine),
        ),
        tuple(rows),
        note=f"*: less than 1 %. Misdiagnosed: t_V is taken for {COMP_BOUND} G V and (7) is used. Underestimated: t_V "
        f"is taken for {COMM_BOUND} G V.",
    )
    claims = (
        Claim(
            "Misdiagnosing costs most for small problems, and nothing for large ones",
            "48 % at 2K doubles, below 1 % from 64K",
            f"{100 * wrong_losses[0]:.0f} % at {doubles_text(comm.queued[0].V)}, {100 * wrong_losses[-1]:.1f} % at "
            f"{doubles_text(comm.queued[-1].V)}",
            wrong_losses[0] > 0.05 and wrong_losses[-1] < 0.01,
        ),
        Claim(
            "The model of communication-bound programs, (5), is good for computation-bound ones too, when t_V is "
            "underestimated",
            "good solutions regardless of the message size",
            f"loses at most {100 * max(safe_losses):.1f} %",
            max(safe_losses) < 0.01,
        ),
    )
    return Part(tables=(table,), claims=claims)


def sensitivity() -> Table:
    """(A): by how much t_V may be wrong until the model chooses otherwise."""

    def until(V: int, sign: int, most: int) -> int | None:
        t_V = INFINIBAND.computation(COMM_BOUND, V)

        def chosen(percent: int) -> Decomposed | None:
            return choice(INFINIBAND.profile(), V, t_V * (1 + sign * percent / 100), "balanced")

        right = chosen(0)
        return next((p for p in range(10, most + 1, 10) if chosen(p) != right), None)

    return Table(
        "Table 2 (A): error of t_V that changes the model's choice",
        (
            Column("V", Origin.SETTING),
            Column("overestimate, printed", Origin.PAPER),
            Column("overestimate", Origin.FORMULA, INFINIBAND.machine),
            Column("underestimate, printed", Origin.PAPER),
            Column("underestimate", Origin.FORMULA, INFINIBAND.machine),
        ),
        tuple(
            (doubles_text(V), _printed(over), _printed(until(V, 1, 300)), _printed(under), _printed(until(V, -1, 90)))
            for V, over, under in zip(VOLUMES, OVERESTIMATE, UNDERESTIMATE, strict=True)
        ),
        note="In steps of 10 %. *: never. The paper's follow from measured o(S, b) and G(S), these from one o and G.",
    )


def _printed(percent: int | None) -> str:
    """As the paper prints it."""
    return "*" if percent is None else f"{percent} %"
