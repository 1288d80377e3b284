"""The problems of LOG3P Fig. 12: a grid on some ranks, and what its messages look like."""

from __future__ import annotations

from dataclasses import dataclass

DDT, PACK, OPT = "ddt", "pack", "opt"
VERSIONS = (DDT, PACK, OPT)
"""Datatypes; packing by loops; packing by tiles."""
ELEMENT = 16
"""Bytes of a complex double (NAS FT)."""
GRIDS = {"S": (64, 64, 64), "W": (128, 128, 32), "A": (256, 256, 128), "B": (512, 256, 256)}
"""NAS FT classes, as the program has them."""


@dataclass(frozen=True)
class Problem:
    """A grid on some ranks, and what its messages look like."""

    grid: str
    scale: int
    ranks: int

    @property
    def label(self) -> str:
        """As the paper writes it: FT.B.4; scaled down: FT.B/2.4."""
        return f"FT.{self.grid}{f'/{self.scale}' if self.scale > 1 else ''}.{self.ranks}"

    @property
    def plane(self) -> int:
        """n: values of a plane."""
        nx, ny, _ = GRIDS[self.grid]
        return nx * ny // self.scale**2

    @property
    def nz(self) -> int:
        """Planes of the grid."""
        return GRIDS[self.grid][2] // self.scale

    @property
    def columns(self) -> int:
        """n / P: values of a plane that go to one rank."""
        return self.plane // self.ranks

    @property
    def planes(self) -> int:
        """nz / P: of a rank."""
        return self.nz // self.ranks

    @property
    def message(self) -> int:
        """Bytes from a rank to a rank."""
        return self.columns * self.planes * ELEMENT
