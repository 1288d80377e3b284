"""LOGP Table 4 and section 3.5: K senders to one receiver, and one sender to many receivers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Claim, Column, Difference, Number, Origin, Part, Table
from logpost.experiments.logp_signatures.simulated import MYRINET, US, Played

if TYPE_CHECKING:
    from logpost.collectors.calibration.simulated import Truth

CROWDS = {"meiko_cs2": 15, MYRINET: 3, "paragon": 7}
"""K of Table 4."""
MANY = 15
"""Receivers of one sender: all others in the largest of the paper's configurations, sixteen nodes (3)."""
FASTER_TO_MANY, TO_MANY = ("paragon", MYRINET), 1.4
"""Machines on which the paper measured so many times the message bandwidth to many receivers (3.5)."""
WITHIN = 0.05
"""The accuracy of the paper's measurements (3.3)."""


def crowds(context: Context, machines: Sequence[Played]) -> Part:
    """The gap of the simulated machines when several issue, or several answer."""
    from logpost.machines import load_machine

    requests = context.size(2000, 400)
    rows, ratios, many, turning = [], {}, {}, {}
    for one in machines:
        k, alone = CROWDS[one.name], _gap(one.truth, requests, 1, 1)
        ratios[one.name] = _gap(one.truth, requests, k, 1) / alone
        many[one.name] = alone / _gap(one.truth, requests, 1, MANY)
        turned = _turning(one.truth)
        turning[one.name] = _gap(turned, requests, 1, 1) / _gap(turned, requests, 1, MANY)
        observed = {row.name: row.result for row in load_machine(one.name).observed}
        printed = observed["k_to_1"].number()
        faster = observed.get("one_to_many")
        rows += [
            (
                f"{one.label}: g of K = {k} to 1 over g of 1 to 1",
                Number(printed),
                Number(float(k)),
                Number(ratios[one.name], digits=4),
                Number(_gap(turned, requests, k, 1) / _gap(turned, requests, 1, 1), digits=4),
            ),
            (
                f"{one.label}: message bandwidth of 1 to many over 1 to 1",
                None if faster is None else Number(faster.number()),
                Number(1.0),
                Number(many[one.name], digits=4),
                Number(turning[one.name], digits=4),
            ),
        ]
    table = Table(
        "Table 4 and section 3.5: many senders, many receivers",
        (
            Column("quantity", Origin.SETTING),
            Column("paper, measured", Origin.PAPER),
            Column("LogP", Origin.FORMULA),
            Column("simulated machine", Origin.TESTBED),
            Column("g by the receiver's turn-around alone", Origin.TESTBED),
        ),
        tuple(rows),
        reference="paper, measured",
        note=f"Many: {MANY} receivers. Turn-around: g − o_s − o_r at the receiver, between request and reply, and "
        "no gap of the interfaces; L is what the round trip leaves. Both machines have the same round trip and gap.",
    )
    worst = max(abs(ratios[name] / k - 1) for name, k in CROWDS.items())
    said = ", ".join(f"{ratios[one.name]:.2f} (K = {CROWDS[one.name]})" for one in machines)
    claims = (
        Claim(
            "The gap grows in proportion to the number of senders",
            "6 (K = 7), 16.8 (K = 15), 3 (K = 3)",
            said,
            worst < WITHIN,
            given="a LogP machine takes one message per g: the paper's “aggregate bandwidth will be limited by the "
            "bandwidth of the contended receiver”",
        ),
        Claim(
            "LogP asserts the same gap when one node issues requests to many others",
            "the same performance",
            ", ".join(f"{many[one.name]:.2f} times the bandwidth" for one in machines),
            all(abs(of - 1.0) < WITHIN for of in many.values()),
            given="the machine simulated is that of the model",
        ),
        Claim(
            "Where turning a request around at the receiver is the bottleneck, many receivers give more bandwidth, "
            "as on Paragon and Myrinet",
            f"{TO_MANY} times",
            ", ".join(f"1 to {turning[one.name]:.2f} ({one.label})" for one in machines if one.name in FASTER_TO_MANY),
            all(turning[name] >= TO_MANY for name in FASTER_TO_MANY),
            assumption="a band: the paper does not print how much of g is the receiver's turn-around and how much "
            "the interfaces' own; none of it gives 1, all of it the upper end",
        ),
    )
    differences = (
        Difference(
            "One sender to many receivers is no faster here, where the paper measured 1.4 times the bandwidth on "
            "Paragon and Myrinet.",
            "LogP has one g for sending and for receiving, so the sender's interface limits both cases alike. The "
            "paper's own reading is that turning a request around at the receiver is the bottleneck there: it is the "
            "last column.",
        ),
        Difference(
            "Table 4's ratios are K exactly here; the paper's are 16.8 (15), 3 (3) and 6 (7).",
            "the simulated receivers handle messages in a steady rhythm. The paper's depart by up to 14 % in both "
            "directions; it gives no reason.",
        ),
    )
    return Part(tables=(table,), claims=claims, differences=differences)


def _turning(truth: Truth) -> Truth:
    """A machine of the same round trip and gap, whose gap is due to the receiver's turn-around alone."""
    turn_around = truth.g - truth.o_s - truth.o_r
    return replace(truth, g=0.0, turn_around=turn_around, L=truth.L - turn_around / 2)


def _gap(truth: Truth, requests: int, requesters: int, responders: int) -> float:
    """Between two requests of a sender once all queues have filled (the second half of them), us."""
    from logpost.collectors.calibration.simulated import issue_times

    times = issue_times(truth, requests, requesters=requesters, responders=responders)
    half = requests // 2
    return float(times[-1] - times[half - 1]) / (requests - half) * US
