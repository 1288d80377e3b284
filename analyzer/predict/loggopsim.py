"""A schedule under LogGOPSim's rules, where the times of another simulator are wanted.

An arriving message takes its receiver's processor even before the receive is posted, and both NICs for g + (s - 1) G.
Our own replay lets a message wait until it is received, and takes NICs for max(g, s G). Nothing is calibrated: the
schedule has the recorded computation, and the machine all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.replay._native import GoalError, GoalSchedule, UnmatchedError
from logpost.replay.graph import Scenario, changed
from logpost.replay.graph.changes import SWITCHES
from logpost.replay.graph.engine import native_scenario
from logpost.replay.graph.network_changes import is_of_network
from logpost.replay.graph.setting import parted

RULES = "loggopsim"


@dataclass(frozen=True)
class Scheduled:
    """How long a schedule lasts on a machine as it is, and as it is changed."""

    rules: str
    settings: list[str]
    machine: str
    before_ps: int
    predicted_ps: int
    ends_ps: list[int]
    """by rank, as changed"""
    left_out: dict[str, int] = field(default_factory=dict)
    """what of the run the schedule does not have, and how often"""


def scheduled(
    file: Path,
    machine: str | Path,
    settings: Sequence[str] = (),
    *,
    unit_ps: int,
    places: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Scheduled:
    """Replay a schedule on a machine, and with these settings on top of it.

    Args:
        file: GOAL's text form.
        machine: a name or a file.
        settings: of the machine's values.
        unit_ps: of the schedule's times.
        places: node and socket of each rank; empty: each is on another node.

    Raises:
        InputError: the file is no schedule, its messages have no receives, or a setting is not one of LogGOPSim's.
    """
    for text in settings:
        name, _ = parted(text)
        if is_of_network(text) or name in SWITCHES:
            raise InputError(f"--set {text}: LogGOPSim has L, o, g, G and eager_limit; leave out --rules {RULES}")
    ran_on = load_machine(machine)
    recorded = Scenario(replay_parameters(ran_on))
    try:
        schedule = GoalSchedule(file)
        before, after = (
            schedule.loggopsim_times(native_scenario(one), unit_ps, *map(list, places)).tolist()
            for one in (recorded, changed(recorded, settings))
        )
    except GoalError as error:
        raise InputError(f"{error}") from None
    except UnmatchedError as error:
        raise InputError(f"{file}: {error}: LogGOPSim cannot run it") from None
    return Scheduled(RULES, list(settings), ran_on.name, max(before), max(after), after)
