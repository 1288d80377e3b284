"""What-if replays of one-sided programs, compared with a simulator that runs them on the other machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.truth.programs import SIMULATE, program_ps, simulate

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Ask
from logpost.analyzer.predict.whatif.ask import Replay
from logpost.analyzer.run.directory import Run

PROGRAMS = (
    "rma_fence",
    "rma_late_post",
    "rma_late_complete",
    "rma_locks",
    "rma_put_unattended",
    "rma_get_unattended",
    "rma_remote_access",
)
SETTINGS = ("L=4", "L=20", "G=4")
MOST = 0.005
"""A lock that is handed on costs the simulator a latency, and the replay two."""


@pytest.mark.slow
@pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")
def test_one_sided_programs_take_on_another_machine_what_the_replay_says(tmp_path: Path) -> None:
    """Of fences, accesses, exposures, locks and targets that do not attend: within half a percent of the truth."""
    simulate(tmp_path / "A", cases=PROGRAMS)
    replays = {}
    for name in PROGRAMS:
        place = tmp_path / "A" / name
        request = Request(
            str(place / "traces.otf2"), str(tmp_path / f"{name}.run"), machine=str(place / "machine.toml")
        )
        replays[name] = Replay(Run.open(analyze(request)))
    for setting in SETTINGS:
        simulate(tmp_path / setting, "--set", setting, cases=PROGRAMS)
        parameter, _, factor = setting.partition("=")
        for name, replay in replays.items():
            truth = program_ps(tmp_path / setting / name)
            predicted = replay.predict(Ask(settings=(f"{parameter}=x{factor}",))).predicted_ps
            assert predicted == pytest.approx(truth, rel=MOST), (name, setting)
