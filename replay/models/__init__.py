"""The models: one file each, equation first.

Closed forms are functions of the model's own module and, by name, entries of ``MODELS``. The replay engine uses
``open_contention``, ``closed_contention`` and ``lopc.amva`` for the statistical waits; what one message costs is in
``logpost.replay.cost.message``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from logpost.replay.models.registry import MODELS, model
    from logpost.replay.models.units import TimeUnit, cycles

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

_PLACES = {
    "cost.arrays": ("ModelError", "Number", "NumberLike"),
    "models.interface": ("Model", "Output", "Parameter"),
    "models.logpc": ("LongMessageParameters",),
    "models.network_contention": (
        "Contention",
        "Network",
        "closed_contention",
        "interval_without_contention",
        "open_contention",
    ),
    "models.overlap_profile": ("OverlapProfile",),
    "models.parameters": ("LogGPParameters",),
    "models.registry": ("MODELS", "model"),
    "models.units": ("TimeUnit", "cycles"),
}


def __getattr__(name: str) -> Any:
    """Each on first use: a replay needs one of them, an analysis two, and the registry imports every model's file."""
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"logpost.replay.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
