"""Every model for a column of rows, as a ratio to LogGP's time for as many.

The bar is a ratio of 500: 20 s for 10^6 rows where LogGP needs 0.04 s. Models that are played request by
request are listed without one; `logpost models NAME` states their cost.
"""

from __future__ import annotations

import time

import numpy as np
from tests.replay.models.test_registry import needed

from logpost.replay.models import MODELS, Model, ModelError

ROWS, PLAYED_ROWS = 200_000, 2_000
BAR = 500.0
PLAYED = frozenset({"logp-benchmark"})


def main() -> int:
    """Print the table; 1 where a model misses the bar."""
    loggp = _seconds_per_row(MODELS["loggp"], ROWS)
    missed = 0
    print(f"{'model':26}{'x LogGP':>10}{'s for 10^6 rows':>18}")
    for name, model in MODELS.items():
        each = _seconds_per_row(model, PLAYED_ROWS if name in PLAYED else ROWS)
        over = name not in PLAYED and each > BAR * loggp
        missed += over
        print(f"{name:26}{each / loggp:10.1f}{each * 1e6:18.2f}{'   above the bar' if over else ''}", flush=True)
    return 1 if missed else 0


def _seconds_per_row(model: Model, rows: int) -> float:
    """Times vary from row to row, so that no two rows are equal; sizes and counts do not."""
    rng = np.random.default_rng(1)
    varied = {p.name for p in model.parameters if p.kind in ("time", "time_per_byte")}
    given = {
        name: value * rng.uniform(1.0, 1.001, rows) if name in varied else np.full(rows, float(value))
        for name, value in needed(model).items()
    }
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        found = model.predict(**given)
        best = min(best, time.process_time() - start)
        if not found:
            raise ModelError(f"model {model.name} gave no results")
    return best / rows


if __name__ == "__main__":
    raise SystemExit(main())
