"""A message that is chosen says what it waited for, in words that lead on."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.dashboards.synthetic import make_run

from logpost.dashboards.app.pages import messages
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View


def test_the_causes_of_a_late_message_are_shown(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    numbered = run.table("messages").with_columns(recv_number=pl.int_range(pl.len(), dtype=pl.Int32)).collect()
    numbered.write_parquet(run.path / "messages.parquet")
    late = numbered.sort("late_sender_ps").row(-1, named=True)
    name = f"{late['recv_location']}:{late['recv_number']}"
    said = str(messages.layout(View(Runs([run.path]), read("/messages", f"?message={name}"))))
    assert "What it waited for" in said
    assert f" from rank {late['send_location']} to rank {late['recv_location']}; its calls: " in said
    assert f"rank {late['send_location']} " in said
    assert " that were waited" in said
    for wrong in ("0:99999", "x", "1:2:3"):
        assert "waited for" not in str(messages.layout(View(Runs([run.path]), read("/messages", f"?message={wrong}"))))
