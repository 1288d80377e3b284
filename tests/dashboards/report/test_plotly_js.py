"""The packed library: every address is removed, the code around it stays."""

from __future__ import annotations

import pytest

from logpost.dashboards.report.plotly_js import offline


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{dflt:"https://cdn.plot.ly/un/"}', '{dflt:"about:blank"}'),
        ("tiles:['https://a.tile.example.org/{z}/{x}.png']", "tiles:['about:blank']"),
        (r'"wss:\/\/example.com\/socket"', '"about:blank"'),
        ('svg:"http://www.w3.org/2000/svg"', 'svg:"http://www.w3.org/2000/svg"'),
        ("i=['http:','https:'];", "i=['http:','https:'];"),
        ("ui.sendDataToCloud=function(e,t){e.emit()}", "ui.sendDataToCloud=function(e,t){return;e.emit()}"),
        ('showSendToCloud:{valType:"boolean",dflt:!0},', 'showSendToCloud:{valType:"boolean",dflt:!1},'),
    ],
)
def test_addresses_and_the_upload_go(before: str, after: str) -> None:
    assert offline(before) == after
