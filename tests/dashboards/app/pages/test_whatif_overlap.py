"""The map of overlap on the What if page, and traffic between nodes: valid queries, and the errors of invalid ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.dashboards.synthetic import make_run

from logpost.dashboards.app.jobs import WorkingError
from logpost.dashboards.app.pages import network, whatif_overlap
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.errors import InputError
from logpost.machines.topologies.parse import parse_topology
from logpost.replay.models.registry import model


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("overlap")
    return Runs([make_run(folder / "a.run").path, make_run(folder / "silent.run", messages=False).path])


def _said(runs: Runs, query: str) -> str:
    return whatif_overlap.CHARTS["whatif.overlap"](View(runs, read("/whatif", query))).summary


def test_without_a_word_it_is_the_largest_message_and_as_much_computation(runs: Runs) -> None:
    said = _said(runs, "?machine=piz_daint")
    assert said.startswith("64.0 KiB with ")
    assert ", other node of piz_daint. Best: messages of " in said
    assert _said(runs, "?machine=piz_daint&volume=1MiB&compute=2ms").startswith("1.00 MiB with 2.00 ms of computation")


def test_no_message_is_smaller_than_a_number(runs: Runs) -> None:
    def sizes(volume: str) -> list[str]:
        made = whatif_overlap.CHARTS["whatif.overlap"](
            View(runs, read("/whatif", f"?machine=piz_daint&volume={volume}"))
        )
        return list(made.figure.layout.xaxis.ticktext)

    assert sizes("80B") == ["10 B", "20 B", "40 B", "80 B"]
    assert sizes("4B") == ["4 B"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?machine=piz_daint&volume=2048GiB", "2.00 TiB to move: give 1 B to 1.00 TiB"),
        ("?machine=piz_daint&volume=much", "V = 'much' is not a number with a unit"),
        ("?machine=alewife&volume=4B", "the machine states no time per byte"),
        ("?machine=/etc/passwd", "is no machine of the library"),
        ("?run=silent.run&machine=piz_daint", "no message .* in the selection: .* bytes"),
    ],
)
def test_an_invalid_query_is_refused(runs: Runs, query: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        _said(runs, query)


def test_no_decomposition_at_all_is_said(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("T", "T_blocking", "N", "n_b", "hides_initiation", "hides_burst", "below_queue_depth", "below_outstanding")
    nothing = replace(model("overlap"), evaluate=lambda _given: dict.fromkeys(names, np.nan))
    monkeypatch.setattr(whatif_overlap, "model", lambda _name: nothing)
    with pytest.raises(InputError, match="fits into the queue of this machine"):
        _said(runs, "?machine=piz_daint")


def test_nodes_that_no_picture_holds_are_refused(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(view: View) -> Chart:
        while True:
            try:
                return network.CHARTS["network.nodes"](view)
            except WorkingError:  # a loaded machine adds up the pairs for longer than a page waits
                continue

    assert "mapped cyclic" in made(View(runs, read("/network", "?mapping=cyclic"))).summary
    assert "mapped" not in made(View(runs, read("/network", "?mapping=/etc/passwd"))).summary
    with pytest.raises(InputError, match="no message or transfer in the selection"):
        made(View(runs, read("/network", "?run=silent.run")))
    monkeypatch.setattr(network, "MOST_NODES", 3)
    with pytest.raises(InputError, match="more than 3 nodes"):
        made(View(runs, read("/network", "")))


def test_without_links_the_page_says_why(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    view = View(runs, read("/network", ""))
    assert "The machine has no topology" in str(network.layout(view))
    notes = ["hops are not known: too few nodes", "o_s is 0", "network contention (C_n) is 0: no way is known"]
    monkeypatch.setattr(view.manifest.machine, "notes", notes)
    monkeypatch.setattr(network, "_topology", lambda _: parse_topology("mesh:8x4", "S"))
    said = str(network.layout(view))
    assert "has a network (mesh 8 x 4), but no link " in said
    assert "Hops are not known: too few nodes. " in said
    assert "o_s is 0" not in said
