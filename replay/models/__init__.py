"""The models: one file each, equation first.

Closed forms are functions of the model's own module and, by name, entries of ``MODELS``. The replay engine uses
the staged models ``LogP``, ``LogGP``, ``LoPC``, ``LoGPC``, ``Log3P`` and ``Overlap`` through
``StagedModel.stages``, and ``open_contention``, ``closed_contention`` and ``lopc.amva`` for the statistical
waits.
"""

from __future__ import annotations

from logpost.replay.models.arrays import ModelError, Number, NumberLike
from logpost.replay.models.interface import Messages, MessageStages, Model, Output, Parameter, StagedModel
from logpost.replay.models.log3p import Log3P, Log3PTable
from logpost.replay.models.loggp import LogGP
from logpost.replay.models.logp import LogP
from logpost.replay.models.logpc import LoGPC, LongMessageParameters
from logpost.replay.models.lopc import LoPC
from logpost.replay.models.network_contention import (
    Contention,
    Network,
    closed_contention,
    interval_without_contention,
    open_contention,
)
from logpost.replay.models.overlap import Overlap
from logpost.replay.models.overlap_profile import OverlapProfile
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.registry import MODELS, model
from logpost.replay.models.units import TimeUnit, cycles

__all__ = [
    "MODELS",
    "Contention",
    "LoGPC",
    "LoPC",
    "Log3P",
    "Log3PTable",
    "LogGP",
    "LogGPParameters",
    "LogP",
    "LongMessageParameters",
    "MessageStages",
    "Messages",
    "Model",
    "ModelError",
    "Network",
    "Number",
    "NumberLike",
    "Output",
    "Overlap",
    "OverlapProfile",
    "Parameter",
    "StagedModel",
    "TimeUnit",
    "closed_contention",
    "cycles",
    "interval_without_contention",
    "model",
    "open_contention",
]
