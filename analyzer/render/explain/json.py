"""Explained messages as one JSON object, for scripts: times in picoseconds, exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from logpost.analyzer.explain.calls import CallCandidate
from logpost.analyzer.explain.collective import ExplainedCollective
from logpost.analyzer.explain.messages import Candidate, ExplainedMessage, Explanation, Side, Split
from logpost.analyzer.explain.transfer import ExplainedTransfer


def as_json(found: Explanation) -> dict[str, Any]:
    """The object that `logpost explain RUN MESSAGE|CALL --json` prints; its keys are a promise to scripts."""
    return {
        "run": found.run,
        "machine": found.machine,
        "models": [
            {
                "model": fit.model.value,
                "terms": fit.model.terms,
                "residual_share": fit.messages.residual_share
                if fit.messages is not None and fit.misfit_known
                else None,
                "deficit_share": None if fit.messages is None else fit.messages.deficit_share,
                "reason": fit.reason,
            }
            for fit in found.fits
        ],
        "messages": [_message(message) for message in found.messages],
        "collectives": [_collective(one) for one in found.collectives],
        "transfers": [_transfer(one) for one in found.transfers],
        "left_out": found.left_out,
        "transfers_left_out": found.transfers_left_out,
    }


def candidates_json(
    messages: Sequence[Candidate],
    transfers: Sequence[CallCandidate],
    operations: Sequence[CallCandidate],
    run: str,
    machine: str,
) -> dict[str, Any]:
    """The object that `logpost explain RUN --json` prints."""
    return {
        "run": run,
        "machine": machine,
        "candidates": [asdict(one) for one in messages],
        "transfers": [asdict(one) for one in transfers],
        "collectives": [asdict(one) for one in operations],
    }


def _message(message: ExplainedMessage) -> dict[str, Any]:
    return {
        "message": message.name,
        "sender": message.sender,
        "receiver": message.receiver,
        "bytes": message.bytes,
        "layout": None if message.layout is None else message.layout.model_dump(),
        "locality": message.locality,
        "hops": None if message.hops < 0 else message.hops,
        "tag": message.tag,
        "any_source": message.any_source,
        "clock_violation": message.clock_violation,
        "begin_ps": message.begin_ps,
        "envelope_ps": message.end_ps - message.begin_ps,
        "calls": [_side(side) for side in message.sides],
        "partitions": [_split(split) for split in message.splits],
        "values": [value.model_dump() for value in message.values],
    }


def _collective(one: ExplainedCollective) -> dict[str, Any]:
    return {
        "operation": one.operation,
        "members": one.members,
        "location": one.where,
        "call": one.call,
        "callpath": one.place.path,
        "enter_ps": one.enter_ps,
        "since_ps": one.since_ps,
        "leave_ps": one.leave_ps,
        "ways": [
            {
                "model": path.model.value,
                "algorithm": path.algorithm,
                "segments": [asdict(stretch) for stretch in path.stretches],
                "end_ps": path.end_ps,
            }
            for path in one.paths
        ],
    }


def _transfer(one: ExplainedTransfer) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "origin": one.origin,
        "target": one.target,
        "bytes": one.bytes,
        "layout": None if one.layout is None else one.layout.model_dump(),
        "target_layout": None if one.target_layout is None else one.target_layout.model_dump(),
        "begin_ps": one.begin_ps,
        "envelope_ps": one.end_ps - one.begin_ps,
        "partitions": [
            {"model": split.model.value, "parts_ps": split.parts_ps, "deficit_ps": split.deficit_ps}
            for split in one.splits
        ],
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "role": side.role.removesuffix("_call"),
        "call": side.call,
        "location": side.where,
        "region": side.place.region,
        "callpath": side.place.path,
        "file": side.place.file,
        "line": side.place.line,
        "enter_ps": side.enter_ps,
        "leave_ps": side.leave_ps,
    }


def _split(split: Split) -> dict[str, Any]:
    return {
        "model": split.model.value,
        "protocol": "rendezvous" if split.rendezvous else "eager",
        "segments": [asdict(piece) for piece in split.pieces],
        "parts_ps": dict.fromkeys(split.undivided) | split.parts_ps,
        "deficit_ps": split.deficit_ps,
    }
