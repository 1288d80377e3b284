"""Traffic between nodes before and after: a mapping that puts partners on one node takes it off the network."""

from __future__ import annotations

import polars as pl
from tests.said import facts

from logpost.dashboards.figures.node_traffic import node_traffic


def test_partners_on_one_node_leave_the_network_empty() -> None:
    # Ranks 0 and 1 exchange 1 KiB each way, 2 and 3 likewise, and 0 sends 1 KiB to 2.
    pairs = pl.DataFrame(
        {"send_location": [0, 1, 2, 3, 0], "recv_location": [1, 0, 3, 2, 2], "bytes": [1024] * 5},
        schema_overrides={"bytes": pl.UInt64},
    )
    dealt, packed = {0: 0, 1: 1, 2: 0, 3: 1}, {0: 0, 1: 0, 2: 1, 3: 1}
    made = node_traffic(pairs, {"as it was": dealt, "mapped block": packed})
    assert facts(made.summary) == ["80.0 %", "20.0 %"]
    before, after = (view.traces[0] for view in made.views)
    assert [view.label for view in made.views] == ["As it was", "Mapped block"]
    assert before["z"] == [[None, 2048], [2048, None]]
    assert after["z"] == [[None, 1024], [None, None]]
    assert before["zmax"] == after["zmax"] == 2048
    assert after["text"][0][1] == "node 0 → node 1<br>1.00 KiB"
    named = node_traffic(pairs, {"as it was": dealt}, {0: "cn17", 1: "<b>"})
    assert named.views[0].traces[0]["text"][0][1] == "cn17 → &lt;b&gt;<br>2.00 KiB"
    assert list(named.figure.layout.xaxis.ticktext) == ["cn17", "&lt;b&gt;"]


def test_a_mapping_that_puts_partners_side_by_side_crosses_fewer_links() -> None:
    # Nodes 0 to 3 in a row, so a byte from node a to node b crosses |a - b| links. Ranks 0 and 3 exchange 1 KiB each
    # way, and rank 1 sends 2 KiB to rank 2: (2 * 1024 * 3 + 2048 * 1) / 4096 = 2 as it was; with rank 3 on node 1 and
    # ranks 1 and 2 one node further, every byte crosses one link.
    pairs = pl.DataFrame(
        {"send_location": [0, 3, 1], "recv_location": [3, 0, 2], "bytes": [1024, 1024, 2048]},
        schema_overrides={"bytes": pl.UInt64},
    )
    placements = {"as it was": {0: 0, 1: 1, 2: 2, 3: 3}, "mapped better": {0: 0, 3: 1, 1: 2, 2: 3}}
    hops = {(a, b): abs(a - b) for a in range(4) for b in range(4)}
    made = node_traffic(pairs, placements, hops=hops)
    assert made.summary.endswith(": 2.00 as it was; 1.00 mapped better.")
    assert "crosses" not in node_traffic(pairs, placements).summary
