"""The cost of a message, for columns of messages: the native function that the split uses, too.

    o_s | l_mw/2 | L + (B - 1) G | l_mw/2 | o_r          LogGP, with the middleware latency of strided data
    o_mw/2 | l_mw/2 | o_net | l_mw/2 | o_mw/2            log3P

Symbols (picoseconds): as in machine files; o_s is o(S, b) in a burst of b >= 2 messages where the machine states it
(OVL), o_r of a long message across the network is max(0, o_r + a G + B G_m - (B - 1) G) where the machine states G_m
(LOGPC eq. 2), and L grows by the latency of a hop per hop beyond the mean distance where it states one.

l_mw is measured over the size and the stride with blocks of one or several sizes. Between two of these it is linear in
the number of blocks of the same bytes: a block's price is its turn in the copying loop, and the copy of its bytes.
Above the largest block that line continues, limited to the largest block's value. With one size of blocks, and below
the smallest, the number of blocks and their stride decide: n blocks are read at the size that n of the measured blocks
have. A single block is contiguous and has no l_mw, and so have adjacent blocks; below the smallest size the line runs
from one block. Blocks of no stated size are taken as the smallest; a table without stated blocks is read at the size.

Tables are linear in size and continue beyond their largest one with the slope of their last segment; between strides
they are linear in log2 of the stride, and the largest one holds beyond it. Both are counted: see `extrapolated`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logpost.machines.parameters import class_index
from logpost.replay import _native
from logpost.replay._native import Parameters
from logpost.replay.cost.arrays import Number, NumberLike, scalar_or_array, values

TERMS = ("o_s", "o_r", "l_mw", "L", "serialization", "service", "o_control", "L_control")


@dataclass(frozen=True)
class MessageCosts:
    """Terms of each message in picoseconds, NaN where the machine does not state a value.

    service is max(g, B G), for which an endpoint is taken; o_control and L_control are the overhead and the
    latency of a rendezvous's control message.
    """

    o_s: Number
    o_r: Number
    l_mw: Number
    L: Number
    serialization: Number
    service: Number
    o_control: Number
    L_control: Number
    rendezvous: NDArray[np.bool_]
    beyond_sizes: NDArray[np.bool_]
    beyond_strides: NDArray[np.bool_]

    @property
    def total(self) -> Number:
        """End to end on an idle machine, eager."""
        return self.o_s + self.l_mw + self.L + self.serialization + self.o_r

    @property
    def extrapolated(self) -> int:
        """Messages with a term beyond the machine's measured sizes or strides."""
        return int(np.count_nonzero(self.beyond_sizes | self.beyond_strides))


def message_costs(
    parameters: Parameters,
    size: NumberLike,
    *,
    locality: str = "other_node",
    block: NumberLike = 0.0,
    stride: NumberLike = 0.0,
    burst: NumberLike = 1.0,
    hops: NumberLike = -1.0,
) -> MessageCosts:
    """Costs of messages of `size` bytes, broadcast like numpy arrays.

    Args:
        parameters: a machine's, from `native_parameters`.
        size: bytes.
        locality: class of the machine.
        block: bytes of a block; 0: those that the machine was measured with.
        stride: bytes from block to block; 0 and up to a block: contiguous.
        burst: messages initiated back to back.
        hops: links on the way; -1: not known.
    """
    shaped = np.broadcast_arrays(
        values("size", size),
        values("block", block),
        values("stride", stride),
        values("burst", burst, at_least=1.0),
        values("hops", hops, at_least=-1.0),
    )
    flat = [np.ascontiguousarray(column.ravel(), dtype=np.float64) for column in shaped]
    shape = shaped[0].shape
    where = np.full(flat[0].shape, class_index(locality), dtype=np.uint8)
    terms, flags = _native.costs(parameters, where, *flat)
    rendezvous, beyond_sizes, beyond_strides = (flags[:, i].astype(bool).reshape(shape) for i in range(3))
    return MessageCosts(
        **{name: scalar_or_array(terms[:, i].reshape(shape)) for i, name in enumerate(TERMS)},
        rendezvous=rendezvous,
        beyond_sizes=beyond_sizes,
        beyond_strides=beyond_strides,
    )


def range_of(parameters: Parameters, size: NumberLike, locality: str = "other_node") -> NDArray[np.int64]:
    """The LogGP range that each size falls into, counted from the class's first."""
    sizes = np.asarray(values("size", size))
    flat = np.ascontiguousarray(sizes.ravel(), dtype=np.float64)
    found = _native.ranges(parameters, class_index(locality), flat)
    return np.asarray(found).reshape(sizes.shape)
