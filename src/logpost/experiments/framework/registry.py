"""Finds the experiments: every file and folder of the package holds one `EXPERIMENT`, but for the shared folders."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Sequence

from logpost import experiments as package
from logpost.errors import InputError, suggestion
from logpost.experiments.framework.experiment import PAPERS, Experiment

_SHARED = {"framework", "support"}
"""Folders that hold no experiment."""


@functools.cache
def experiments() -> dict[str, Experiment]:
    """Name -> experiment, in the order of the papers and of each paper's figures."""
    found = [
        importlib.import_module(f"{package.__name__}.{module.name}").EXPERIMENT
        for module in pkgutil.iter_modules(package.__path__)
        if module.name not in _SHARED
    ]
    papers = list(PAPERS)
    found.sort(key=lambda one: (papers.index(one.paper), one.order, one.name))
    return {one.name: one for one in found}


def chosen(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names, `all` for every one.

    Raises:
        InputError: the name is unknown.
    """
    known = experiments()
    if "all" in names:
        return list(known.values())
    for name in names:
        if name not in known:
            raise InputError(f"unknown experiment {name}; use all or {', '.join(known)}{suggestion(name, known)}")
    return [known[name] for name in dict.fromkeys(names)]
