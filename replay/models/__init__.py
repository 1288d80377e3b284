"""The models: one file each, equation first.

Closed forms are functions of the model's own module and, by name, entries of ``MODELS``. The replay engine uses
``open_contention``, ``closed_contention`` and ``lopc.amva`` for the statistical waits; what one message costs is in
``logpost.replay.cost``.
"""

from __future__ import annotations

from logpost.replay.arrays import ModelError, Number, NumberLike
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
