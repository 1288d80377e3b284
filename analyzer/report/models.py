"""What the comparison of the models says: which one explains the messages of a run, and in what words."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.report.data import Messages, ModelFit
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


KINDS = {"messages": "message time", "transfers": "the time of transfers", "collectives": "the time in collectives"}
"""What the models are compared on, by the name of `ModelFit`'s sums, and what a misfit is a share of."""

Fit = tuple[MessageModel, Messages]
"""A model and its sums over everything of a kind."""


def fits_of(fits: Sequence[ModelFit], kind: str = "messages") -> list[Fit]:
    """The sums over a kind of `KINDS` of the models that the machine has values for."""
    return [(fit.model, sums) for fit in fits if (sums := getattr(fit, kind)) is not None]


def best(fits: Sequence[Fit]) -> MessageModel | None:
    """The model with the smallest misfit; of equal ones that with the fewest terms; None without a message, or where no
    misfit is known."""
    known = [(sums.misfit_ps, SIMPLEST_FIRST.index(model), model) for model, sums in fits if _tests(sums)]
    return min(known)[-1] if known else None


def _tests(sums: Messages) -> bool:
    """Whether these sums say how well a model explains them."""
    return sums.count > 0 and sums.residual_known


def verdict(fits: Sequence[ModelFit], *, estimated: bool) -> str:
    """The model with the smallest misfit of each kind, what tests no model, and what a machine estimated from the trace
    means.

    Args:
        fits: of every model.
        estimated: the machine is estimated from the same trace.
    """
    if any(sums.count and not sums.residual_known for kind in KINDS for _, sums in fits_of(fits, kind)):
        return (
            "The machine is estimated from the same messages and does not distinguish the residual from other "
            "transport: no model can be compared. Analyze with --machine FILE."
        )
    said = [sentence for kind in KINDS if (sentence := _smallest(fits_of(fits, kind), KINDS[kind]))]
    if not said:
        return "no message matched: no model can be compared"
    if any(sums.count for _, sums in fits_of(fits)):
        said.append("Messages that waited for their receivers test no model: their transport is hidden.")
    if any(sums.not_computed_ps for _, sums in fits_of(fits)):
        said.append(
            "Not computed is late receiver while the receiver's processor worked for other messages, in models without "
            "the processor's queue."
        )
    if estimated:
        said.append(
            "The machine is estimated from the same messages under LogGP, which favours the models with its values."
        )
    return " ".join(said)


def _smallest(fits: Sequence[Fit], of: str) -> str:
    """Which model has the smallest misfit; empty where none can be compared."""
    found = best(fits)
    if found is None:
        return ""
    least = next(sums for model, sums in fits if model is found)
    equal = [model.label for model, sums in fits if sums.misfit_ps == least.misfit_ps and model is not found]
    also = f", as {' and '.join(equal)} with more terms" if equal else ""
    return f"The smallest misfit is that of {found.label}: {percent_text(least.misfit_share)} of {of}{also}."


def parts_present(fits: Sequence[Fit]) -> list[str]:
    """Parts that some model gives time to, in their order."""
    order = dict.fromkeys((*SHOWN, *(part for _, sums in fits for part in sums.parts_ps)))
    return [part for part in order if any(sums.parts_ps.get(part) for _, sums in fits)]


def share_text(sums: Messages, part: str, between: str) -> str:
    """A part's share, or the deficit's, and its interval where that is as wide as one decimal shows."""
    time = sums.deficit_ps if part == "deficit" else sums.parts_ps.get(part, 0)
    share = percent_text(time / max(1, sums.envelope_ps))
    low, high = (f"{100 * end:.1f}" for end in sums.share_intervals.get(part, (0.0, 0.0)))
    return share if low == high else f"{share}{between}{low} to {high}"


def misfit_text(sums: Messages) -> str:
    """A model's misfit as a share of their time; a dash where it is not known."""
    return percent_text(sums.misfit_share) if sums.residual_known else "–"
