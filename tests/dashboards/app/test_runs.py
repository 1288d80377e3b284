"""The dashboard's runs and machines: by name only, never by a path of a URL."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.dashboards.synthetic import make_run

from logpost.dashboards.app.pages import whatif
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.errors import InputError
from logpost.machines.schema.load import find_machine_file


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    own = tmp_path / "planned.toml"
    own.write_text(find_machine_file("alewife").read_text(encoding="utf-8"), encoding="utf-8")
    return Runs([make_run(tmp_path / "a.run").path], [own])


def test_machines_are_the_own_ones_and_those_of_the_library(runs: Runs, tmp_path: Path) -> None:
    assert runs.machine("planned") == tmp_path / "planned.toml"
    assert runs.machine("alewife") == "alewife"
    for path in (tmp_path / "planned.toml", "../alewife", "/etc/passwd"):
        with pytest.raises(InputError, match="is no machine of the library"):
            runs.machine(str(path))


def test_only_machines_that_can_be_replayed_are_offered(runs: Runs) -> None:
    assert runs.replaying[0] == "planned"
    assert {"alewife", "piz_daint"} <= set(runs.replaying)
    # SENS gives its machines a network, and no overheads.
    assert "sens_t3e" not in runs.replaying


def test_a_machine_file_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run").path
    with pytest.raises(InputError, match=r"nothing\.toml"):
        Runs([run], [tmp_path / "nothing.toml"])


def test_a_mapping_of_a_url_is_no_path(runs: Runs) -> None:
    with pytest.raises(InputError, match=r"/etc/passwd is no mapping; .* cyclic, random, best .*random:SEED"):
        whatif._ask(View(runs, read("/whatif", "?mapping=/etc/passwd")))
    question = whatif._ask(View(runs, read("/whatif", "?mapping=random:3&topology=ring:4&factors=bisection:0.5")))
    assert (question.mapping, question.settings) == ("random:3", ("bisection=x0.5", "topology=ring:4"))
