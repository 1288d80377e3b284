"""What the comparison of the models says: which one explains the messages of a run, and in what words."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.report.data import ModelFit
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.units import percent_text
from logpost.replay.cost.message_models import MessageModel

SIMPLEST_FIRST = (
    MessageModel.logp,
    MessageModel.loggp,
    MessageModel.log3p,
    MessageModel.logpc,
    MessageModel.full,
)
"""By the number of terms: of models that explain a run equally well, the first says all that the others say."""


def usable(fits: Sequence[ModelFit]) -> list[ModelFit]:
    """The fits whose models the machine has values for."""
    return [fit for fit in fits if fit.messages is not None]


def best(fits: Sequence[ModelFit]) -> ModelFit | None:
    """The fit with the smallest misfit; of equal ones that with the fewest terms; None without a message, or where no
    misfit is known."""
    known = [fit for fit in fits if fit.messages is not None and fit.messages.count and fit.misfit_known]
    return min(known, key=lambda fit: (fit.misfit_ps, SIMPLEST_FIRST.index(fit.model)), default=None)


def verdict(fits: Sequence[ModelFit], *, estimated: bool) -> str:
    """The model with the smallest misfit, what tests no model, and what a machine estimated from the trace means.

    Args:
        fits: of every model.
        estimated: the machine is estimated from the same trace.
    """
    found = best(fits)
    if any(fit.messages is not None and fit.messages.count and not fit.misfit_known for fit in fits):
        return (
            "The machine is estimated from the same messages and does not distinguish the residual from other "
            "transport: no model can be compared. Analyze with --machine FILE."
        )
    if found is None:
        return "no message matched: no model can be compared"
    equal = [fit.model.label for fit in usable(fits) if fit.misfit_ps == found.misfit_ps and fit is not found]
    also = f", as {' and '.join(equal)} with more terms" if equal else ""
    said = (
        f"The smallest misfit is that of {found.model.label}: {percent_text(found.misfit_share)} of message time{also}."
        " Messages that waited for their receivers test no model: their transport is hidden."
    )
    if estimated:
        said += (
            " The machine is estimated from the same messages under LogGP, which favours the models with its values."
        )
    return said


def parts_present(fits: Sequence[ModelFit]) -> list[str]:
    """Parts that some model gives time to, in their order."""
    return [part for part in SHOWN if any(fit.messages and fit.messages.parts_ps.get(part) for fit in usable(fits))]


def misfit_text(fit: ModelFit) -> str:
    """A model's misfit as a share of message time; a dash where it is not known."""
    return percent_text(fit.misfit_share) if fit.misfit_known else "–"
