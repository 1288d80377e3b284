"""Waits in the network are a finding: hot links are named, and a network that is loaded evenly is said to be one."""

from __future__ import annotations

from tests.analyzer.story import MS, Story, evidence_of

from logpost.analyzer.findings.finders import hot_link


def crossing(*loads: tuple[int, int, int, int], network: int = 10 * MS) -> Story:
    """Rank 1 waits 20 ms in a receive, for `network` of it in the network; rank 0 waits as long at the end.

    `loads`: from, to, bytes, granted ps.
    """
    story = Story(2, 100 * MS)
    receive = story.path("main", "MPI_Recv")
    story.call(0, 0, 20 * MS, story.path("main", "MPI_Send"), send_overhead=20 * MS)
    story.call(0, 80 * MS, 100 * MS, story.path("main", "MPI_Barrier"), collective_wait=20 * MS)
    story.call(1, 0, 20 * MS, receive, latency=20 * MS - network, network_contention=network)
    story.rows["traffic"].append(
        {
            "traffic_phase": 0,
            "begin_ps": 0,
            "end_ps": 100 * MS,
            "messages": 10,
            "bytes": 1000,
            "utilisation": 0.5,
            "contention_ps": 1.0,
            "excess_ps": network,
            "granted_ps": network,
        }
    )
    for start, end, carried, granted in loads:
        story.rows["links"].append(
            {
                "traffic_phase": 0,
                "from_vertex": start,
                "to_vertex": end,
                "messages": 10,
                "bytes": carried,
                "utilisation": carried / 1000,
                "granted_ps": granted,
            }
        )
    return story


def test_a_hot_link_is_named_with_those_who_wait_for_it() -> None:
    # Mean load (900 + 3 * 100) / 4 = 300: the first link has three times as much.
    others = [(1, 2, 100, 0), (2, 3, 100, 0), (3, 4, 100, 0)]
    found = crossing((0, 1, 900, 8 * MS), *others).alone(hot_link.find)
    finding = found.row(0, named=True)
    assert finding["title"] == (
        "rank 1 waits in MPI_Recv for hot link 0 to 1 of the network: 3.0 × the mean load of the links in use"
    )
    assert "send fewer bytes across these links" in finding["advice"]
    assert finding["exposed_ps"] == 10 * MS
    assert finding["gain"] == 0.1
    assert "waited over it: 80.0 %" in evidence_of(finding)


def test_an_even_load_names_the_busiest_link_and_is_less_certain() -> None:
    found = crossing((0, 1, 400, 6 * MS), (1, 2, 300, 2 * MS), (2, 3, 300, 2 * MS)).alone(hot_link.find)
    finding = found.row(0, named=True)
    assert finding["title"] == (
        "rank 1 waits in MPI_Recv for the network: "
        "its busiest link, 0 to 1, is offered 0.40 × what it carries in a phase"
    )
    assert finding["confidence"] == 0.3


def test_waits_of_less_than_a_hundredth_are_no_finding() -> None:
    assert crossing((0, 1, 900, MS), (1, 2, 100, 0), network=MS // 2).alone(hot_link.find).is_empty()


def test_without_a_known_network_nothing_is_said() -> None:
    assert crossing().alone(hot_link.find).is_empty()
