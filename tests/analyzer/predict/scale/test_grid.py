"""Grids from partners of messages, and the same grids of other sizes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.said import facts

from logpost.analyzer.predict.scale.grid import Grid, balanced, enlarged, recognize, roles


def messages(grid: Grid, *steps: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Senders and receivers of messages by these steps, where there is a rank."""
    ranks = np.arange(grid.ranks)
    senders, receivers = [], []
    for step in steps:
        to = grid.rank(grid.coordinates(ranks) + np.asarray(step))
        senders.append(ranks[to >= 0])
        receivers.append(to[to >= 0])
    return np.concatenate(senders), np.concatenate(receivers)


FACES = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]


@pytest.mark.parametrize(
    ("grid", "steps", "text"),
    [
        (Grid((8,), (True,)), [(1,)], "ring of 8 ranks"),
        (Grid((8,), (False,)), [(1,)], "chain of 8 ranks"),
        (Grid((4, 3), (False, False)), [(1, 0), (-1, 0), (0, 1), (0, -1)], "4 x 3 grid of ranks"),
        (Grid((3, 4, 5), (True, True, True)), FACES, "3 x 4 x 5 torus of ranks"),
        (Grid((4, 4), (True, False)), [(1, 0), (0, 1)], "4 x 4 grid, closed in part of ranks"),
        (Grid((5, 5), (True, True)), [(1, 1), (-1, 0)], "5 x 5 torus of ranks"),
    ],
)
def test_partners_show_the_grid(grid: Grid, steps: list[tuple[int, ...]], text: str) -> None:
    found = recognize(grid.ranks, *messages(grid, *steps))
    assert found == grid
    assert found.text == text


def test_messages_from_all_to_all_are_no_grid() -> None:
    senders, receivers = np.divmod(np.arange(16 * 16), 16)
    assert recognize(16, senders, receivers) is None
    assert recognize(1, senders[:0], senders[:0]) is None


def test_steps_take_the_shorter_way_around() -> None:
    ring = Grid((5,), (True,))
    assert ring.steps(np.array([0, 4, 0]), np.array([4, 0, 2]))[:, 0].tolist() == [-1, 1, 2]


@pytest.mark.parametrize(
    ("ranks", "extents"), [(64, (4, 4, 4)), (4096, (16, 16, 16)), (128, (8, 4, 4)), (7, (7, 1, 1))]
)
def test_balanced_extents(ranks: int, extents: tuple[int, ...]) -> None:
    assert balanced(ranks, 3) == extents


def test_a_grid_is_enlarged_by_the_rule_that_made_the_known_ones() -> None:
    closed = (False, False)
    assert enlarged([Grid((4, 4), closed), Grid((8, 4), closed)], 64).extents == (8, 8)  # type: ignore[union-attr]
    assert enlarged([Grid((4, 4), closed), Grid((4, 8), closed)], 128).extents == (8, 16)  # type: ignore[union-attr]
    assert enlarged([Grid((3, 4), closed), Grid((3, 8), closed)], 96).extents == (3, 32)  # type: ignore[union-attr]
    assert enlarged([Grid((3, 4), closed), Grid((3, 8), closed)], 97) is None
    assert enlarged([Grid((3, 4), closed), Grid((12,), (False,))], 96) is None


def test_ranks_inside_do_as_ranks_inside_and_ends_as_ends() -> None:
    found = roles(Grid((4,), (False,)), Grid((7,), (False,)))
    assert found.tolist() == [0, 1, 2, 1, 2, 1, 3]  # type: ignore[union-attr]
    assert roles(Grid((4,), (True,)), Grid((6,), (True,))).tolist() == [0, 1, 2, 3, 0, 1]  # type: ignore[union-attr]


def test_two_ranks_have_no_inside() -> None:
    found = roles(Grid((2, 4), (False, True)), Grid((4, 4), (False, True)))
    assert isinstance(found, str)
    assert facts(found) == ["2"]
