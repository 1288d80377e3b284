"""LoGPC's network contention: Agarwal's open model, and the same closed by its own delay.

With s = B t_c the time a message occupies a channel:

    open    m given         C_n = sum_i k_i w_i ,  w_i = rho_i s/(1-rho_i) (k_i-1)/k_i^2 (1+1/n) ,  rho_i = m s k_i/ch
            (3)-(6); equal dimensions: C_n = (n+1)(k_d-1) s^2 m/ch / (1 - m s k_d/ch)
    closed  (7)             1/(T + w C_n) = m_c
            x = 1/m_c ,  (x - T)(x - e) = c ,  e = s k_d/ch ,  c = w (n+1)(k_d-1) s^2/ch
            x = [(T+e) + sqrt((T-e)^2 + 4c)]/2 ,  C_n = (x-T)/w ,  rho = e/x

Symbols: B message size (bytes), t_c time a byte occupies a channel, s channel time of a message, k_i mean hops
in dimension i, n number of dimensions, ch channels per dimension (2 bidirectional, 1 unidirectional), m
messages per node and time, T inter-message time without contention, T_c = x with it, w how often C_n enters one
period (Diamond DAG: 2), rho channel utilisation.

Units of B: (4) lets a byte occupy a channel for one cycle, while G = 0.5 cycle/byte says two bytes per cycle.
``units="printed"`` uses t_c = 1 cycle, as the printed bound 2.2 needs; ``units="consistent"`` uses t_c = G of
the link and is right for any other machine.

Message lengths that vary: rho uses E[B], the numerator E[B^2] (M/G/1); mean B alone underestimates.

Source: LOGPC (3)-(7), (13); closed form derived from them. The other root of (7) has rho >= 1 or m_c
< 0.

Validity: rho < 1, n >= 2 (one dimension with k_d > 1 is refused; a dimension of one node is none). An open network at
rho >= 1 is saturated and C_n is inf; the closed form never gets there, because its delay slows the senders down. A
dimension with k_i <= 1 adds no wait, whatever its load (the equations turn negative). Means cannot see hot-spots.
Dimensions with different k_i have no closed form: x is the one root above max(T, e_i) of x - T - w sum_i A_i/(x -
e_i), found by bisection.

Errors: ModelError for a network without dimensions, negative arguments, an interval of 0, E[B^2] < E[B]^2, other than
1 or 2 channels, unknown units, waits for n = 1, more dimensions than k_d.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from logpost.replay.cost.arrays import ModelError, Number, NumberLike, scalar_or_array, values, whole
from logpost.replay.models.interface import Model, Output, Parameter
from logpost.replay.models.kary_ncube import ONE_DIMENSION, SIDES, dimensions, mean_distances

_MOST_DIMENSIONS = 64
"""Of a network: with two nodes in each it has as many as 64 bits number."""

Units: TypeAlias = Literal["printed", "consistent"]


def channel_time(units: str, G: NumberLike, cycle: NumberLike = 1.0) -> Number:
    """t_c: one cycle per byte ("printed", LOGPC (4)) or the link's own gap per byte ("consistent")."""
    if units == "printed":
        return values("cycle", cycle, above=0.0)
    if units == "consistent":
        return values("G", G, above=0.0)
    raise ModelError(f"units = {units!r}: choose printed (one byte per cycle) or consistent (G per byte)")


@dataclass(frozen=True)
class Network:
    """The properties of a network that contention depends on.

    k_d: mean hops per dimension, one entry each (a single entry with ``n`` repeats it).
    channels: physical channels per dimension, 2 when the two directions are separate.
    channel_time: time a byte occupies a channel, in the time unit of T.
    dimensions: how many there are, when it is not the number of k_d: in a row whose machine has one node in a
    dimension, that is none.
    """

    k_d: tuple[Number, ...]
    channel_time: Number = 1.0
    channels: int = 2
    dimensions: Number | None = None

    def __post_init__(self) -> None:
        if not self.k_d:
            raise ModelError("k_d is empty: give the mean hops of each dimension")
        if self.channels not in (1, 2):
            raise ModelError(f"channels = {self.channels}: 1 (unidirectional) or 2 (bidirectional) per dimension")
        object.__setattr__(self, "k_d", tuple(values("k_d", k) for k in self.k_d))
        object.__setattr__(self, "channel_time", values("channel_time", self.channel_time, above=0.0))
        if self.dimensions is not None:
            counted = whole("dimensions", values("dimensions", self.dimensions, at_most=len(self.k_d)), at_least=1.0)
            object.__setattr__(self, "dimensions", counted)

    @classmethod
    def symmetric(cls, k_d: NumberLike, n: int = 2, *, channel_time: NumberLike = 1.0, channels: int = 2) -> Network:
        """n dimensions with the same mean distance, the paper's form (2 k_d = 3.875 for Alewife)."""
        if n < 1:
            raise ModelError(f"n = {n}: a network has at least one dimension")
        return cls((values("k_d", k_d),) * n, values("channel_time", channel_time), channels)

    @property
    def n(self) -> Number:
        """The number of dimensions; one per row where columns differ in it."""
        return float(len(self.k_d)) if self.dimensions is None else self.dimensions


@dataclass(frozen=True)
class Contention:
    """T_c inter-message time with contention, C_n wait per message, rho of the busiest channel."""

    T_c: Number
    C_n: Number
    rho: Number


_Array: TypeAlias = "NDArray[np.float64]"


def _per_dimension(network: Network, B: NumberLike, B2: NumberLike | None) -> tuple[list[_Array], list[_Array]]:
    """e_i = E[s] k_i/ch and A_i = (1+1/n)(k_i-1) E[s^2]/ch, the latter 0 for k_i <= 1."""
    size = np.asarray(values("B", B))
    square = size**2 if B2 is None else np.asarray(values("B2", B2))
    if (square < size**2 * (1.0 - 1e-12)).any():
        raise ModelError("E[B^2] is less than E[B]^2: the second moment of a length cannot be")
    s, s2 = size * network.channel_time, square * np.asarray(network.channel_time) ** 2
    factor = (1.0 + 1.0 / network.n) / network.channels
    occupied = [np.asarray(s * k / network.channels) for k in network.k_d]
    numerator = [np.asarray(factor * np.maximum(np.asarray(k) - 1.0, 0.0) * s2) for k in network.k_d]
    if any(((A > 0.0) & (np.asarray(network.n) == 1.0)).any() for A in numerator):
        raise ModelError(ONE_DIMENSION)
    return occupied, numerator


def open_contention(
    B: NumberLike, interval: NumberLike, network: Network, *, B2: NumberLike | None = None
) -> Contention:
    """(3)-(6) for messages of B bytes (B2: mean square) that leave each node every ``interval`` = 1/m.

    A rate measured in a trace contains the contention already: this is the form for it.
    C_n is inf where rho >= 1 in a dimension with k_i > 1.
    """
    x = np.asarray(values("interval", interval, above=0.0, finite=False))
    occupied, numerator = _per_dimension(network, B, B2)
    x, *rest = np.broadcast_arrays(x, *occupied, *numerator)
    occupied, numerator = rest[: len(network.k_d)], rest[len(network.k_d) :]
    rho = np.max([e / x for e in occupied], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        C_n = _open_at(x, occupied, numerator)
    return Contention(T_c=scalar_or_array(x), C_n=scalar_or_array(C_n), rho=scalar_or_array(rho))


def closed_contention(
    B: NumberLike, T: NumberLike, network: Network, *, per_period: NumberLike = 1.0, B2: NumberLike | None = None
) -> Contention:
    """(7): messages that would leave every T without contention; C_n enters ``per_period`` times.

    Equal dimensions are solved in closed form (so is one that messages wait in alone), others by bisection.
    """
    period, w = values("T", T), values("per_period", per_period)
    occupied, numerator = _per_dimension(network, B, B2)
    period, w, *rest = np.broadcast_arrays(period, w, *occupied, *numerator)
    occupied, numerator = rest[: len(network.k_d)], rest[len(network.k_d) :]
    waits = [A > 0.0 for A in numerator]
    used = [np.where(hit, e, np.nan) for hit, e in zip(waits, occupied, strict=True)]
    # fmin/fmax skip the dimensions in which nothing waits.
    e_min, e_max = np.nan_to_num(np.fmin.reduce(used)), np.nan_to_num(np.fmax.reduce(used))
    c = w * np.sum(numerator, axis=0)
    delay = np.asarray(closed_form_delay(period, e_max, c))
    if (e_min < e_max).any():
        delay = np.where(e_min < e_max, _root_delay(period, w, occupied, numerator, e_min, e_max), delay)
    delay = np.where(c > 0.0, delay, 0.0)
    x = period + delay
    with np.errstate(divide="ignore", invalid="ignore"):
        C_n = np.where(w > 0.0, delay / w, _open_at(x, occupied, numerator))
        # Nothing on the channel is no load, at whatever rate; a full one without waits is at most busy.
        shares = [np.where(hit | (x >= e), e / x, 1.0) for hit, e in zip(waits, occupied, strict=True)]
        rho = np.max([np.where(e > 0.0, share, 0.0) for e, share in zip(occupied, shares, strict=True)], axis=0)
    return Contention(T_c=scalar_or_array(x), C_n=scalar_or_array(C_n), rho=scalar_or_array(rho))


def interval_without_contention(
    B: NumberLike, interval: NumberLike, network: Network, *, B2: NumberLike | None = None
) -> Number:
    """T = 1/m - C_n(m): what a measured rate would be without the contention that is in it.

    The other way round of (7), for what-ifs: change the network, then close again from T. Where the model
    predicts more wait than there is time (or a saturated channel), T is 0.
    """
    result = open_contention(B, interval, network, B2=B2)
    return scalar_or_array(np.maximum(np.asarray(result.T_c) - result.C_n, 0.0))


def closed_form_delay(T: NumberLike, e: NumberLike, c: NumberLike) -> Number:
    """x - T with x the larger root of (x-T)(x-e) = c, free of cancellation:

    x - T = [(e-T) + sqrt((e-T)^2 + 4c)]/2 = 2c/[(T-e) + sqrt((T-e)^2 + 4c)].
    """
    period, occupied, product = np.broadcast_arrays(values("T", T), values("e", e), values("c", c))
    apart = occupied - period
    root = np.sqrt(apart**2 + 4.0 * product)
    with np.errstate(divide="ignore", invalid="ignore"):
        small = np.where(product > 0.0, 2.0 * product / (root - apart), 0.0)
    return scalar_or_array(np.where(apart > 0.0, (apart + root) / 2.0, small))


def _open_at(x: _Array, occupied: list[_Array], numerator: list[_Array]) -> _Array:
    """(5), (6) at the interval x: A_i/(x - e_i), inf where rho_i >= 1, 0 where k_i <= 1 (A_i = 0)."""
    terms = [np.where(A > 0.0, A / np.maximum(x - e, 0.0), 0.0) for e, A in zip(occupied, numerator, strict=True)]
    return np.asarray(np.sum(terms, axis=0))


def _root_delay(
    T: _Array, w: _Array, occupied: list[_Array], numerator: list[_Array], e_min: _Array, e_max: _Array
) -> _Array:
    """x - T for different dimensions: the delay lies between the closed forms with the smallest and largest e_i."""
    c = w * np.sum(numerator, axis=0)
    high = np.asarray(closed_form_delay(T, e_max, c))
    low = np.maximum(np.asarray(closed_form_delay(T, e_min, c)), e_max - T)
    for _ in range(200):
        middle = 0.5 * (low + high)
        with np.errstate(divide="ignore", invalid="ignore"):
            longer = w * _open_at(T + middle, occupied, numerator) > middle
        low, high = np.where(longer, middle, low), np.where(longer, high, middle)
        if ((high - low) <= 1e-15 * high).all():
            break
    return np.asarray(0.5 * (low + high))


def network_from(given: Mapping[str, Any]) -> Network:
    """The network that NETWORK_PARAMETERS describe."""
    sides = [given[name] for name in SIDES if name in given]
    k_d: tuple[Number, ...]
    if "k_d" in given:
        n = values("n", given["n"], at_least=1.0)
        counted = np.asarray(n)
        bad = counted[(counted != np.rint(counted)) | (counted > _MOST_DIMENSIONS)]
        if bad.size:
            raise ModelError(
                f"n = {bad.flat[0]:g}: the number of dimensions is one whole number up to {_MOST_DIMENSIONS}"
            )
        most = int(np.max(counted, initial=1.0))
        k_d = tuple(scalar_or_array(np.where(counted > i, given["k_d"], 0.0)) for i in range(most))
    elif sides:
        n = dimensions(sides)
        k_d = mean_distances(sides, given["topology"], self_messages=given["self_messages"] == "yes")
        if given["average"] == "yes":
            mean = sum(k_d[1:], start=k_d[0]) / n
            k_d = tuple(scalar_or_array(np.where(np.asarray(k) > 0.0, mean, 0.0)) for k in k_d)
    else:
        raise ModelError("k_d is missing: give k_d (and n), or the nodes per dimension kx, ky, kz")
    return Network(
        k_d,
        channel_time(given["units"], given["G"], given["cycle"]),
        1 if given["topology"] == "unidirectional_torus" else 2,
        n,
    )


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    network = network_from(given)
    T = values("T", given["T"], above=0.0)
    closed = closed_contention(given["B"], T, network, per_period=given["w"])
    opened = open_contention(given["B"], T, network)
    return {
        "C_n": closed.C_n,
        "T_c": closed.T_c,
        "rho": closed.rho,
        "C_n_open": opened.C_n,
        "rho_open": opened.rho,
    }


NETWORK_PARAMETERS = (
    Parameter("k_d", "ratio", "mean hops per dimension", optional=True),
    Parameter("n", "count", "dimensions", default=2.0),
    Parameter("kx", "count", "nodes in x, instead of k_d", optional=True),
    Parameter("ky", "count", "nodes in y", optional=True),
    Parameter("kz", "count", "nodes in z", optional=True),
    Parameter("topology", "choice", "network", default="mesh", choices=("mesh", "torus", "unidirectional_torus")),
    Parameter("self_messages", "choice", "messages to oneself counted in k_d", default="yes", choices=("yes", "no")),
    Parameter(
        "average", "choice", "one mean k_d (the paper) or one per dimension", default="yes", choices=("yes", "no")
    ),
    Parameter(
        "units",
        "choice",
        "channel time of a byte: a cycle or G",
        default="consistent",
        choices=("printed", "consistent"),
    ),
    Parameter("cycle", "time", "a cycle, for units=printed", default=1.0),
    Parameter("G", "time_per_byte", "gap per byte of the link"),
)

MODEL = Model(
    name="logpc-network",
    title="LoGPC network contention: open (rate given) and closed (rate slowed by its own delay)",
    equations=(
        "open:   C_n = (n+1)(k_d-1) s^2 m/2 / (1 - m s k_d/2) ,  s = B t_c ,  m = 1/T",
        "closed: T_c = T + w C_n = [(T+e) + sqrt((T-e)^2 + 4c)]/2 ,  e = s k_d/2 ,  c = w (n+1)(k_d-1) s^2/2",
        "rho = m s k_d/2",
    ),
    source="Moritz & Frank: LoGPC (3)-(7); closed form derived from them",
    validity="rho < 1 (open: inf above), n >= 2, k_d > 1 (else C_n = 0), uniform traffic",
    parameters=(
        Parameter("B", "bytes", "message size"),
        Parameter("T", "time", "time between two messages of a node, without contention"),
        Parameter("w", "ratio", "how often C_n enters one period", default=1.0),
        *NETWORK_PARAMETERS,
    ),
    outputs=(
        Output("C_n", "time", "wait per message, closed"),
        Output("T_c", "time", "time between messages with contention"),
        Output("rho", "ratio", "channel utilisation, closed"),
        Output("C_n_open", "time", "wait per message at the rate 1/T (inf: saturated)"),
        Output("rho_open", "ratio", "channel utilisation at the rate 1/T"),
    ),
    evaluate=_evaluate,
    notes=(
        "The printed bound 2.2 needs units=printed; with units=consistent the same equations give 1.389 B / 1.411 B.",
        "k_d = 1.9375 from (11) counts self-messages; the paper's 2.22 B needs k_d = 2 (self_messages=no).",
    ),
)
