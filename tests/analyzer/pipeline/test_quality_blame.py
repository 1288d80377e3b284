"""Records that contradict each other are the recording's in an archive of logpost's own, else the trace's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from logpost.analyzer.pipeline.stages.describe import counted


@pytest.mark.parametrize(("properties", "blamed"), [({"LOGPOST::CLOCK": "tsc"}, "recording"), ({}, "trace")])
def test_the_blame_of_a_counter(properties: dict[str, str], blamed: str) -> None:
    def row(name: str, severity: str, blame: str) -> dict[str, object]:
        return {"name": name, "severity": severity, "blame": blame, "count": 1, "sentence": name}

    rows = [
        row("collective_incomplete", "error", "trace"),
        row("event_file_missing", "data_loss", "trace"),
        row("send_not_received", "info", "program"),
    ]
    trace = cast("Any", SimpleNamespace(properties=lambda: properties.items(), quality=lambda: rows))
    assert [one.blame for one in counted(trace)] == [blamed, "trace", "program"]
