"""UNSTRUC's mean number of neighbours, which SENS does not print: derived for meshes of tetrahedra.

Euler's relation of a large mesh, nodes − edges + faces − tetrahedra = 0 with two tetrahedra at each face, gives
edges = nodes + tetrahedra: a node with t tetrahedra per node in the whole has 2 + 2 t neighbours in the mean.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from logpost.collectors.workloads.catalogue import FOLDER
from logpost.experiments.four_applications.bands import DEGREES

SAMPLES = 400_000
"""Tetrahedra: their mean volume is known to 0.1 %."""


def degree(tetrahedra: float) -> float:
    return 2.0 + 2.0 * tetrahedra


def delaunay_tetrahedra() -> float:
    """Per random point, one in each unit of volume: four are a tetrahedron if no other is in the sphere through them.

    In terms of that sphere's centre and radius r, and of the points' directions u on it, dx₁ … dx₄ is r⁸ 3! |volume of
    the u| dr du₁ … du₄, so that t is 3!/4! (4π)⁴ E|volume| times the integral of r⁸ exp(−4/3 π r³) dr. With
    x = 4/3 π r³, r⁸ dr = d(r⁹)/9 = d((3x/4π)³)/9, and that integral is (3/4π)³ 3!/9.
    """
    directions = np.random.default_rng(1).normal(size=(SAMPLES, 4, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    volume = np.abs(np.linalg.det(directions[:, 1:] - directions[:, :1])).mean() / 6.0
    radial = (3.0 / (4.0 * math.pi)) ** 3 * math.gamma(4.0) / 9.0
    return float(6.0 / 24.0 * (4.0 * math.pi) ** 4 * volume * radial)


def default() -> float:
    source = (FOLDER / "unstruc" / "unstruc.c").read_text(encoding="utf-8")
    return float(re.findall(r"\.degree = ([\d.]+)", source)[0])


def test_the_default_is_that_of_a_delaunay_mesh_of_random_points() -> None:
    # In closed form: the mean volume is 4π/105, so that t = 24 π²/35 = 6.768.
    assert delaunay_tetrahedra() == pytest.approx(24.0 * math.pi**2 / 35.0, rel=0.004)
    assert default() == pytest.approx(degree(24.0 * math.pi**2 / 35.0), abs=0.005)


def test_the_band_ends_at_a_regular_mesh() -> None:
    # A cube per node, cut into the fewest tetrahedra that it can be cut into: five, one of them in the middle.
    assert list(DEGREES) == [degree(5.0)]
