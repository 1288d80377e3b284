"""The models: one file each, equation first.

Closed forms are functions of the model's own module and, by name, entries of ``MODELS``. The replay engine uses
``open_contention``, ``closed_contention`` and ``lopc.amva`` for the statistical waits; what one message costs is in
``logpost.replay.cost.message``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from logpost.replay.cost.arrays import ModelError, Number, NumberLike
from logpost.replay.models.interface import Model, Output, Parameter
from logpost.replay.models.logpc import LongMessageParameters
from logpost.replay.models.network_contention import (
    Contention,
    Network,
    closed_contention,
    interval_without_contention,
    open_contention,
)
from logpost.replay.models.overlap_profile import OverlapProfile
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import TimeUnit, cycles

if TYPE_CHECKING:
    from logpost.replay.models.registry import MODELS, model

__all__ = [
    "MODELS",
    "Contention",
    "LogGPParameters",
    "LongMessageParameters",
    "Model",
    "ModelError",
    "Network",
    "Number",
    "NumberLike",
    "Output",
    "OverlapProfile",
    "Parameter",
    "TimeUnit",
    "closed_contention",
    "cycles",
    "interval_without_contention",
    "model",
    "open_contention",
]


def __getattr__(name: str) -> Any:
    """The registry, on first use: it imports every model's file, of which an analysis needs two."""
    if name in ("MODELS", "model"):
        return getattr(import_module("logpost.replay.models.registry"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
