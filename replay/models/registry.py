"""All models by name: the closed forms for people, the staged ones for the replay engine.

A new model is one file with its equations and a ``MODEL``; it appears in `logpost models` and `logpost predict`
by one line here.
"""

from __future__ import annotations

from logpost.errors import suggestion
from logpost.replay.cost.arrays import ModelError
from logpost.replay.models import (
    broadcast,
    diamond_dag,
    kary_ncube,
    locality,
    log3p,
    loggops,
    loggp,
    lognp,
    logp,
    logp_benchmark,
    logpc,
    logpc_all_to_all,
    lopc,
    lopc_general,
    network_contention,
    overlap,
    overlap_search,
)
from logpost.replay.models.interface import Model

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        logp.MODEL,
        logp_benchmark.MODEL,
        logp_benchmark.EXTRACT,
        loggp.MODEL,
        loggops.MODEL,
        lopc.MODEL,
        lopc_general.MODEL,
        logpc.SHORT,
        logpc.LONG,
        kary_ncube.MODEL,
        locality.MODEL,
        network_contention.MODEL,
        logpc_all_to_all.SHORT,
        logpc_all_to_all.LONG,
        diamond_dag.MODEL,
        lognp.MODEL,
        log3p.MODEL,
        log3p.EXTRACT,
        lognp.COMPLEXITY,
        broadcast.LOGGP,
        broadcast.LOG3P,
        overlap.MODEL,
        overlap_search.MODEL,
    )
}


def model(name: str) -> Model:
    """The closed form called ``name``. Raises ModelError naming the models there are."""
    if name not in MODELS:
        raise ModelError(f"no model is called {name!r}; there are {', '.join(MODELS)}{suggestion(name, MODELS)}")
    return MODELS[name]
