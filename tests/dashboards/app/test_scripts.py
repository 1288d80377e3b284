"""Large scripts go out as gzip, unchanged, and ag-grid's is none of the first page."""

from __future__ import annotations

import gzip
import re
import time
from pathlib import Path

import plotly.offline
import pytest
from flask.testing import FlaskClient
from tests.dashboards.synthetic import make_run

from logpost.dashboards.app.app import make_app
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.scripts import KEPT_S, PREFIX

PLOTLY = f"{PREFIX}plotly/package_data/plotly.min.js"


@pytest.fixture
def client(tmp_path: Path) -> FlaskClient:
    client: FlaskClient = make_app(Runs([make_run(tmp_path / "a.run").path])).server.test_client()
    return client


def test_plotly_is_sent_as_gzip_to_browsers_that_accept_it(client: FlaskClient) -> None:
    client.get("/")  # registers the scripts
    whole = client.get(PLOTLY)
    assert "Content-Encoding" not in whole.headers
    assert whole.headers["Cache-Control"] == f"private, max-age={KEPT_S}"
    for _ in range(600):
        sent = client.get(PLOTLY, headers={"Accept-Encoding": "gzip, br"})
        if "Content-Encoding" in sent.headers:
            break
        time.sleep(0.05)
    assert sent.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(sent.data) == whole.data == plotly.offline.get_plotlyjs().encode()
    assert len(sent.data) < 0.4 * len(whole.data)


def test_the_first_page_loads_no_grid(client: FlaskClient) -> None:
    scripts = re.findall(r'<script (?:defer )?src="([^"]+)"', client.get("/").get_data(as_text=True))
    assert any("dash_renderer" in script for script in scripts)
    assert not any("ag_grid" in script for script in scripts)
    assert client.get(f"{PREFIX}dash_ag_grid/dash_ag_grid.min.js").status_code == 200
