"""The topologies, one file each; `AnyTopology` is the union that a machine file's `kind` selects from."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from logpost.machines.topologies.base import Topology
from logpost.machines.topologies.cartesian import Cartesian
from logpost.machines.topologies.crossbar import Crossbar
from logpost.machines.topologies.dragonfly import Dragonfly
from logpost.machines.topologies.fat_tree import FatTree
from logpost.machines.topologies.hypercube import Hypercube
from logpost.machines.topologies.kary_ncube import KaryNcube
from logpost.machines.topologies.mesh import Mesh
from logpost.machines.topologies.ring import Ring
from logpost.machines.topologies.switched import Switched
from logpost.machines.topologies.torus import Torus

AnyTopology = Annotated[
    Mesh | Torus | KaryNcube | Ring | Hypercube | FatTree | Dragonfly | Crossbar | Switched, Field(discriminator="kind")
]

__all__ = [
    "AnyTopology",
    "Cartesian",
    "Crossbar",
    "Dragonfly",
    "FatTree",
    "Hypercube",
    "KaryNcube",
    "Mesh",
    "Ring",
    "Switched",
    "Topology",
    "Torus",
]
