"""gamma, the computation of a reduction per byte of an operand: the slope of MPI_Reduce_local over its size.

    T(B) = t0 + gamma B       doubles, MPI_SUM; Thakur, Rabenseifner, Gropp 2005, section 3

Other operations and types may cost more or less: a machine has one gamma.
"""

from __future__ import annotations

import numpy as np

from logpost.machines.calibration.estimate import Estimate, combined
from logpost.machines.calibration.locality import by_size
from logpost.machines.calibration.samples import Samples


def per_byte(samples: Samples) -> Estimate | None:
    """gamma in s/B by least squares, round by round; None where fewer than two sizes were measured."""
    times = by_size(samples, "reduction")
    if len(times) < 2:
        return None
    sizes = np.asarray(list(times), dtype=float)
    centred = sizes - sizes.mean()
    weights = centred / (centred**2).sum()
    return combined(*((float(w), time) for w, time in zip(weights, times.values(), strict=True)))
