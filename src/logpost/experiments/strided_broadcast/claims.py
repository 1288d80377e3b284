"""Which of LOG3P's statements on broadcasts hold here, and why numbers differ from the paper's."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from logpost.experiments.framework.result import Claim, Difference
from logpost.experiments.strided_broadcast.cases import MODELS, Case, mean_error
from logpost.experiments.strided_broadcast.tables import PRINTED
from logpost.experiments.support.this_machine import locality

if TYPE_CHECKING:
    from logpost.machines.schema import Machine


BETTER = "log3P predicts strided broadcasts better than LogGP (a core for each rank)"
GROWS = "LogGP's error grows with the stride"
GROWS_WITH_SIZE = "LogGP's error on strided data grows with the size"
TOO_LOW = "LogGP underestimates strided data"
ACCURATE = "log3P's error is a few per cent"
TITAN_SELF_US, TITAN_REMOTE_US = 452.0, 580.0
"""Half round trips of 16 KB at a stride of 1 KB, to oneself and to another node, measured (LOG3P 4.1)."""
TITAN_ERROR = 0.05
"""Mean of log3P's, point to point (4.3.1)."""
TITAN_O_MW_US, TITAN_O_NET_US, TITAN_T_MEM_US = 29.0, 131.0, 3.0
"""From contiguous messages (LOG3P 4.1)."""
ON_TITAN = "log3P's error is a few per cent on the paper's machine, with its own l_mw (16 KB, stride 1 KB)"
STATEMENTS = {
    BETTER: "3 % against 20.3 % (linear), 6 % against 46 % (tree)",
    GROWS: "accurate for small strides, 54 % and more for 512 B",
    GROWS_WITH_SIZE: "it increases with data size and stride",
    TOO_LOW: "middleware latency is not in it",
    ACCURATE: "3 % mean, 11 % largest (linear)",
}
"""What LOG3P states -> what it prints."""
REASON = (
    "through shared memory a rank that packs and a rank that unpacks work at the same time, which a message to oneself "
    "does not show (strided-messages has both ways); and the speed of a shared machine changes between the "
    "calibration and the broadcasts"
)
NO_CASE = "cannot be judged: no broadcast had a core for each rank"


def claims(within: Sequence[Case]) -> tuple[Claim, ...]:
    """Judged on broadcasts with a core for each rank."""
    reached = _reached(within) if within else dict.fromkeys(STATEMENTS, (NO_CASE, None))
    claims = [Claim(text, printed, *reached[text], reason=REASON) for text, printed in STATEMENTS.items()]
    return (*claims, _on_titan())


def _on_titan() -> Claim:
    """The prediction of 4.1 from the paper's own measurements: l_mw from a message to oneself, then one to another."""
    from logpost.replay.models import log3p

    l_mw = TITAN_SELF_US - TITAN_O_MW_US - TITAN_T_MEM_US
    predicted = float(log3p.point_to_point(TITAN_O_MW_US, l_mw, TITAN_O_NET_US))
    error = predicted / TITAN_REMOTE_US - 1.0
    return Claim(
        ON_TITAN,
        "5 % mean, point to point",
        f"{100 * error:.1f} %: l_mw = {TITAN_SELF_US:g} − {TITAN_O_MW_US:g} − {TITAN_T_MEM_US:g} = {l_mw:g} us of a "
        f"message to oneself predicts {predicted:g} us between nodes, measured {TITAN_REMOTE_US:g} us",
        abs(error) < TITAN_ERROR,
        given=f"{TITAN_O_MW_US:g} + {l_mw:g} + {TITAN_O_NET_US:g} is the sum of three values of 4.1, with l_mw taken "
        "from the same measurement",
    )


def _reached(within: Sequence[Case]) -> dict[str, tuple[str, bool | None]]:
    """What came out for each of STATEMENTS, and whether it holds."""
    strided = [one for one in within if one.strided]
    contiguous = [one for one in within if not one.strided]
    mean = {model: mean_error(strided, model) for model in MODELS}
    by_stride = {
        stride: mean_error([c for c in within if c.stride == stride], "LogGP") for stride in {c.stride for c in within}
    }
    widest, least = max(by_stride), min(by_stride)
    by_size = {size: mean_error([c for c in strided if c.size == size], "LogGP") for size in {c.size for c in strided}}
    largest, smallest = max(by_size), min(by_size)
    return {
        BETTER: (f"{mean['log3P']:.0f} % against {mean['LogGP']:.0f} %", mean["log3P"] < mean["LogGP"]),
        GROWS: (
            f"{by_stride[least]:.0f} % at {least} B, {by_stride[widest]:.0f} % at {widest} B",
            by_stride[widest] > by_stride[least],
        ),
        GROWS_WITH_SIZE: (
            f"{by_size[smallest]:.0f} % at {smallest:,} B, {by_size[largest]:.0f} % at {largest:,} B",
            by_size[largest] > by_size[smallest],
        ),
        TOO_LOW: (
            f"too low in {sum(c.error('LogGP') < 0 for c in strided)} of {len(strided)} cases",
            all(c.error("LogGP") < 0 for c in strided),
        ),
        ACCURATE: (
            f"{mean_error(within, 'log3P'):.0f} % mean, contiguous {mean_error(contiguous, 'log3P'):.0f} %",
            mean_error(within, "log3P") < PRINTED["linear", "log3P"][1],
        ),
    }


def differences(machine: Machine, crowded: Sequence[Case]) -> tuple[Difference, ...]:
    """What is unlike the paper, with its likely reason."""
    limit = machine.loggp.eager_limit(locality(machine))
    said = "" if limit is None else f" Sends above {limit.number():,.0f} B wait for their receive here."
    found = [
        Difference(
            "log3P's errors here are larger than the paper's.",
            REASON + "." + said,
        ),
    ]
    if strided := [one for one in crowded if one.strided]:
        mean = {model: mean_error(strided, model) for model in MODELS}
        factor = statistics.median(one.predicted["LogGP"] / one.measured.least for one in crowded)
        found.append(
            Difference(
                f"With more ranks than cores LogGP predicts {100 * factor:.0f} % of what is measured (median); for "
                f"strided data log3P is off by {mean['log3P']:.0f} % in the mean, LogGP by {mean['LogGP']:.0f} %.",
                "the paper had a processor for each rank. Here ranks take turns on a core; each turn costs more than a "
                "message.",
            )
        )
    return tuple(found)
