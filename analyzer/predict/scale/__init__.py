"""How a program's time grows with its ranks: growth from several runs, and a replay at the requested size."""

from __future__ import annotations

from logpost.analyzer.predict.scale.scaling import CategoryGrowth, Scaling, scale

__all__ = ["CategoryGrowth", "Scaling", "scale"]
