"""SENS's four parts of a run's time."""

from __future__ import annotations

from logpost.analyzer.report.sens_view import NOT_ASSIGNED, PARTS, sens_view
from logpost.analyzer.run.schema import CATEGORIES
from logpost.analyzer.run.undivided import UNDIVIDED, merged


def test_every_category_is_in_one_part_and_the_sum_stays() -> None:
    times = {category: 2**i for i, category in enumerate(CATEGORIES)}
    view = sens_view(times)
    assert [part.name for part in view] == [*PARTS, NOT_ASSIGNED]
    assert sum(part.exposed_ps or 0 for part in view) == sum(times.values())
    assert sorted(one for part in view for one in part.categories) == sorted(CATEGORIES)
    assert set(view[-1].categories) == {"residual", "mpi_other"}
    assert sum(part.share for part in view) == 1.0


def test_parts_of_which_nothing_is_divided_are_not_known() -> None:
    undivided = ("send_overhead", "middleware", "recv_overhead", "latency")
    times = merged(dict.fromkeys(CATEGORIES, 10), undivided)
    view = {part.name: part for part in sens_view(times, undivided)}
    assert view["message_overhead"].exposed_ps is None
    assert view["network_wait"].exposed_ps == 40  # without latency
    assert UNDIVIDED in view[NOT_ASSIGNED].categories
    assert view[NOT_ASSIGNED].exposed_ps == 40 + 20
