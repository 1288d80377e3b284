"""The models that a message can be split under: which of a machine's values each of them knows.

The native core reduces a machine's values to those of the model (`replay/native/cost/model.cpp`); docs/split.md,
section 8, is the table of terms. Imports nothing, because the command line names the models.
"""

from __future__ import annotations

from enum import Enum


class MessageModel(str, Enum):
    """As users name them; the order is the native core's."""

    full = "full"
    loggp = "loggp"
    logpc = "logpc"
    log3p = "log3p"
    logp = "logp"

    @property
    def label(self) -> str:
        """As the papers write it."""
        return _LABELS[self]

    @property
    def terms(self) -> str:
        """What it says that a message consists of."""
        return _TERMS[self]


_LABELS = {
    MessageModel.full: "full",
    MessageModel.loggp: "LogGP",
    MessageModel.logpc: "LoGPC",
    MessageModel.log3p: "log3P",
    MessageModel.logp: "LogP",
}
_TERMS = {
    MessageModel.full: "LoGPC, and l_mw of log3P, o(S, b) in bursts, L by hops",
    MessageModel.loggp: "o_s, L + (B-1) G, o_r; NIC: max(g, B G)",
    MessageModel.logpc: "LogGP, o_r after the DMA (G_m, a), queue for the processor (C_r)",
    MessageModel.log3p: "o_mw/2 + l_mw/2, o_net(B), l_mw/2 + o_mw/2; no queue",
    MessageModel.logp: "o_s, L, o_r of a small message; NIC: g",
}
