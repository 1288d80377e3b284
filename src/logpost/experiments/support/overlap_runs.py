"""OVL's programs for every message size and burst, on the testbed and on this machine, and the map of their times."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logpost.errors import InputError
from logpost.experiments.framework.context import Context

if TYPE_CHECKING:
    from logpost.dashboards.figures.chart import Chart
    from logpost.replay.models.overlap_profile import OverlapProfile

DOUBLE = 8
_MEAN = re.compile(r"\bmean_us ([0-9.]+)")


@dataclass(frozen=True)
class Network:
    """What a machine of the paper is simulated with; times in us, G in us per byte."""

    machine: str
    label: str
    L: float
    """Round trip, printed."""
    o: float
    G: float
    HD: float
    """Printed."""
    outstanding: float = float("inf")

    def profile(self) -> OverlapProfile:
        """For the model: what the testbed is given."""
        from logpost.replay.models.overlap_profile import OverlapProfile
        from logpost.replay.models.units import MICROSECOND

        return OverlapProfile.constant(
            o=self.o, G=self.G, L_roundtrip=self.L, unit=MICROSECOND, HD=self.HD, outstanding_bytes=self.outstanding
        )


@dataclass(frozen=True)
class Decomposed:
    """A volume cut into messages of S bytes in bursts of b."""

    V: int
    S: int
    b: int


def decompositions(V: int, most: int, bursts: Sequence[int]) -> list[Decomposed]:
    """S = V/1, V/2, ... of at least a double, at most `most` messages; b of the bursts, at most V/S."""
    sizes = []
    count = 1
    while count <= most and V // count >= DOUBLE:
        sizes.append(V // count)
        count *= 2
    return [Decomposed(V, S, b) for S in sizes for b in bursts if b <= V // S]


def on_testbed(
    context: Context,
    network: Network,
    ratio: float,
    case: Decomposed,
    *,
    pattern: str = "E",
    ranks: int = 2,
    arguments: Sequence[str] = ("--topology", "point"),
) -> float:
    """Time of a get program on the simulated network, us; its archive is not kept, as there are hundreds.

    Args:
        context: of the experiment.
        network: values; a get has the latency of its round trip, and half of o at either end.
        ratio: computation over communication, t_V / (G V).
        case: how the volume is cut.
        pattern: of OVL Fig. 6.
        ranks: processes, each on a node of a crossbar.
        arguments: topology and schedule of the peers.

    Raises:
        InputError: as `run_on_testbed`; the program printed no time.
    """
    from logpost.machines import load_machine
    from logpost.machines.topologies import Crossbar
    from logpost.testbed import run_on_testbed

    # Archives are named by the second: runs at once need a folder each.
    place = context.folder / "testbed" / uuid.uuid4().hex
    machine = load_machine(network.machine).model_copy(update={"topology": Crossbar(kind="crossbar", nodes=ranks)})
    run = run_on_testbed(
        machine,
        workload="overlap",
        ranks=ranks,
        arguments=[
            *("--pattern", pattern, "--mechanism", "get", *arguments, "--repeat", "1"),
            *("--volume", str(case.V), "--size", str(case.S), "--burst", str(case.b)),
        ],
        settings={
            "L": f"{network.L}us",
            "o_s": f"{network.o / 2}us",
            "o_r": f"{network.o / 2}us",
            "G": f"{1e3 * network.G}ns/B",
            # An addition for every double: t_V = V / (8 speed) = ratio G V.
            "speed": f"{1.0 / (DOUBLE * ratio * network.G * 1e-6):.9g}",
        },
        output=place,
    )
    shutil.rmtree(place, ignore_errors=True)
    found = _MEAN.search(run.output)
    if found is None:
        raise InputError(f"overlap printed no time on the testbed: {run.output.strip()[:200]}")
    return float(found[1])


@dataclass(frozen=True)
class Searched:
    """An exhaustive search over one volume, and the model's choice in it; us."""

    V: int
    ratio: float
    base: float
    """Blocking, one message."""
    times: Mapping[Decomposed, float]
    chosen: Decomposed | None
    """None: the model has no decomposition that overlaps perfectly."""

    @property
    def best(self) -> Decomposed:
        """The least time."""
        return min(self.times, key=lambda case: self.times[case])

    def loss(self, case: Decomposed) -> float:
        """(T - T_opt) / T_base."""
        from logpost.replay.models.overlap import loss

        return float(loss(self.times[case], self.times[self.best], self.base))

    def gain_reached(self, case: Decomposed) -> float:
        """Of what the best decomposition saves on blocking, the share that this one saves."""
        saved = self.base - self.times[self.best]
        return (self.base - self.times[case]) / saved if saved > 0 else 1.0


def choice(
    profile: OverlapProfile, V: int, t_V: float, form: str, tried: Container[Decomposed] | None = None, **more: object
) -> Decomposed | None:
    """The model's best point among those that were tried; None where none overlaps perfectly."""
    from logpost.replay.models.overlap_search import search

    found = search(profile, float(V), t_V, form=form, **more)  # type: ignore[arg-type]
    for point in found.points:
        case = Decomposed(V, round(point.S), round(point.b))
        if tried is None or case in tried:
            return case
    return None


def loss_map(searches: Sequence[Searched], summary: str) -> Chart:
    """Fig. 7: loss over volume (across) and message size (up), at the best burst; the best and the model's choice."""
    from logpost.dashboards.figures.chart import Chart, axis, figure

    sizes = sorted({case.S for one in searches for case in one.times})
    columns = [_size(one.V) for one in searches]
    z: list[list[float | None]] = []
    for size in sizes:
        row: list[float | None] = []
        for one in searches:
            here = [case for case in one.times if size == case.S]
            row.append(100.0 * min(one.loss(case) for case in here) if here else None)
        z.append(row)
    rows = [_size(size) for size in sizes]
    fig = figure(
        max(360, 26 * len(rows) + 120),
        xaxis=axis("problem size V (B)", type="category", showgrid=False),
        yaxis=axis("message size S (B)", type="category", showgrid=False),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    fig.add_heatmap(
        x=columns,
        y=rows,
        z=z,
        colorscale="Viridis",
        reversescale=True,
        zmin=0,
        zmax=max(10.0, min(100.0, max(v for row in z for v in row if v is not None))),
        colorbar={"title": {"text": "loss (% of blocking)", "side": "right"}, "thickness": 12, "outlinewidth": 0},
        hovertemplate="V %{x}, S %{y}: loss %{z:.1f} %<extra></extra>",
    )
    for name, symbol, ink, chosen in (
        ("best of all", "circle", "#d55e00", [one.best for one in searches]),
        ("model's choice", "x", "#ffffff", [one.chosen for one in searches]),
    ):
        marked = [(_size(one.V), _size(c.S), c.b) for one, c in zip(searches, chosen, strict=True) if c is not None]
        fig.add_scatter(
            name=name,
            x=[m[0] for m in marked],
            y=[m[1] for m in marked],
            text=[f"b = {m[2]}" for m in marked],
            mode="markers",
            marker={"symbol": symbol, "size": 13, "color": ink, "line": {"width": 1.5, "color": "#222"}},
            hovertemplate="V %{x}, S %{y}, %{text}<extra>" + name + "</extra>",
        )
    return Chart(fig, summary)


def _size(value: int) -> str:
    for unit, factor in (("M", 2**20), ("K", 2**10)):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return str(value)


def size_text(value: int) -> str:
    """Bytes as people read them: 16 KB."""
    return f"{_size(value)}B" if " " in _size(value) else f"{value} B"
