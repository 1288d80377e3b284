"""What a verb would write over stays, unless --force is given; and the commands of a README work twice."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.analyzer.two_phases import two_phases
from tests.cli.command import logpost

from logpost.errors import InputError
from logpost.whole_file import refuse_existing


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_phases().write(tmp_path_factory.mktemp("overwriting") / "late.run").path


@pytest.mark.parametrize(
    ("verb", "option"),
    [
        (("report", "RUN"), "--html"),
        (("compare", "RUN", "RUN"), "--html"),
        (("predict", "loggp", "--set", "L=5us", "--set", "o=1us", "--set", "G=1ns/B", "--set", "B=8"), "--csv"),
        (("export", "RUN", "--to", "perfetto"), "-o"),
    ],
    ids=["report", "compare", "predict", "export"],
)
def test_a_file_is_not_written_over_without_force(
    verb: tuple[str, ...], option: str, run: Path, tmp_path: Path
) -> None:
    words = [str(run) if word == "RUN" else word for word in verb]
    (tmp_path / "old").write_text("mine")
    refused = logpost(*words, option, "old", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "logpost: old already exists; pass --force" in refused.stderr
    assert (tmp_path / "old").read_text() == "mine"
    forced = logpost(*words, option, "old", "--force", cwd=tmp_path)
    assert forced.returncode == 0, forced.stderr
    assert (tmp_path / "old").read_bytes() != b"mine"


def test_experiments_keep_an_earlier_page(tmp_path: Path) -> None:
    (tmp_path / "experiments.html").write_text("mine")
    done = logpost("experiments", "run", "diamond-dag", "--quick", "-o", tmp_path)
    assert done.returncode == 2
    assert "experiments.html already exists; pass --force to overwrite it" in done.stderr


def test_what_is_no_file_may_be_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refuse_existing(tmp_path / "pipe", force=False)
    refuse_existing(tmp_path / "new", force=False)
    (tmp_path / "to the pipe").symlink_to(tmp_path / "pipe")  # such as /dev/stdout
    refuse_existing(tmp_path / "to the pipe", force=False)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"link already exists; pass --force .* another place"):
        refuse_existing(tmp_path / "link", force=False)


def test_top_limits_text_json_and_page(run: Path, tmp_path: Path) -> None:

    every = json.loads(logpost("report", run, "--json").stdout)
    most = json.loads(logpost("report", run, "--json", "--top", "1").stdout)
    assert len(every["findings"]) > 1
    assert (most["findings"], most["places"]) == (every["findings"][:1], every["places"][:1])
    for how in ((), ("--full",)):
        text = logpost("report", run, "--top", "1", *how).stdout
        assert f"{len(every['findings']) - 1} further finding" in text
    logpost("report", run, "--html", tmp_path / "a.html", "--top", "1")
    assert (tmp_path / "a.html").read_text().count('<li class="finding">') == 1
    regions = json.loads(logpost("compare", run, run, "--json", "--top", "1").stdout)["regions"]
    assert len(regions) == 1
