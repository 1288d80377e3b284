"""The limits of an analysis, one sentence each, for the manifest."""

from __future__ import annotations

from logpost.analyzer.archive._native import Trace
from logpost.analyzer.machine.choose import has_transfers
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.manifest import LibraryUsed
from logpost.machines import ReplayParameters
from logpost.replay._native import Analysis
from logpost.replay.cost.message_models import MessageModel


def progress_notes(request: Request, analysis: Analysis, library: LibraryUsed | None) -> list[str]:
    """What serves handshakes of rendezvous and one-sided transfers, if not processors inside of MPI."""
    known = "as transfers of this trace prove"
    if request.asynchronous_progress:
        known = "as stated (--async-progress)"
    elif library is not None and library.values.get("progress") == "asynchronous":
        known = f"as the library profile {library.profile} states"
    notes = []
    if analysis.asynchronous_progress:
        notes.append(f"rendezvous continue while their processors compute (asynchronous progress), {known}")
    elif analysis.asynchronous_transfers:
        notes.append(f"one-sided transfers are served while their targets compute (remote memory access), {known}")
    return notes


def model_notes(model: MessageModel) -> list[str]:
    """What a model other than the whole leaves unexplained."""
    if model is MessageModel.full:
        return []
    return [
        f"messages are split under {model.label} alone ({model.terms}): what it has no term for is residual; "
        "report --models compares the models"
    ]


def limits(trace: Trace, analysis: Analysis, parameters: ReplayParameters) -> list[str]:
    """What the archive or the machine lacks."""
    notes = []
    if analysis.messages:
        if not len(trace.layouts()["blocks"]):
            notes.append("the archive has no datatype layouts: middleware latency is 0 for strided data")
        elif parameters.log3p is None:
            notes.append("the machine has no log3P table: middleware latency is 0 although some messages are strided")
        notes.append("the archive has no arrival stamps: the arrival of a message at a late receiver is modelled")
    if analysis.clock_violations:
        notes.append(
            f"{analysis.clock_violations} messages were received before they were sent: their envelopes are clamped, "
            "and no model is fitted to them"
        )
    if has_transfers(trace):
        notes.append(
            "one-sided transfers queue at their origin only, apart from messages; what a target's network interface "
            "takes is in residual"
        )
    return notes
