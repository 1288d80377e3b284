"""`logpost analyze` as a person runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from tests.cli.command import logpost, logpost_process
from tests.said import facts

from logpost.cli.analyze import beyond_the_limit
from logpost.machines.schema.load import find_machine_file


@pytest.fixture
def ping_pong(traces: Path) -> Path:
    return traces / "pipit-ping-pong"


@pytest.mark.parametrize("form", ["directory", "anchor"])
def test_the_run_is_named_after_the_archive(ping_pong: Path, tmp_path: Path, form: str) -> None:
    anchor = next(ping_pong.glob("*.otf2"))
    done = logpost_process("analyze", ping_pong if form == "directory" else anchor, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "run: pipit-ping-pong.run\nnext: logpost report pipit-ping-pong.run\n"
    assert (tmp_path / "pipit-ping-pong.run" / "manifest.json").is_file()


def test_of_the_directory_that_record_was_given_the_newest_archive_is_taken(ping_pong: Path, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "first").symlink_to(ping_pong)
    assert logpost("analyze", "t", "-q", cwd=tmp_path).returncode == 0
    assert (tmp_path / "first.run").is_dir()
    newer = shutil.copytree(ping_pong, tmp_path / "t" / "before_the_first_by_name")
    for anchor in newer.glob("*.otf2"):
        os.utime(anchor, (2e9, 2e9))
    done = logpost("analyze", "t", "-q", cwd=tmp_path)
    said = "logpost: t holds 2 archives; the newest is taken: before_the_first_by_name\n"
    assert (done.returncode, done.stderr) == (0, said)
    assert (tmp_path / "before_the_first_by_name.run").is_dir()


def test_the_machine_recorded_with_the_trace_is_used_unless_another_is_given(ping_pong: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a"
    shutil.copytree(ping_pong, archive)
    # A file of the library by another name: what is taken is the file in the archive, not a machine of the library.
    text = Path(find_machine_file("alewife")).read_text()
    (archive / "machine.toml").write_text(text.replace('name = "alewife"', 'name = "our_own"'))

    def used(*options: str) -> tuple[str, str]:
        done = logpost("analyze", "a", "-o", "a.run", "--force", "-q", *options, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        machine = json.loads((tmp_path / "a.run" / "manifest.json").read_text())["machine"]
        return machine["name"], machine["origin"]

    assert used() == ("our_own", "recorded")
    assert used("-m", "grid5000_taurus") == ("grid5000_taurus", "file")
    assert used("-m", "estimate")[1] == "estimated"
    (archive / "machine.toml").write_text("name = [")
    done = logpost("analyze", "a", "-o", "a.run", "--force", "-q", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "machine.toml: is not TOML" in done.stderr
    assert ": pass another one, or --machine estimate" in done.stderr


def test_quiet_prints_nothing(ping_pong: Path, tmp_path: Path) -> None:
    done = logpost("analyze", ping_pong, "-o", "a.run", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_machine_can_be_named(ping_pong: Path, tmp_path: Path) -> None:
    done = logpost("analyze", ping_pong, "-o", "a.run", "-m", "tukey_infiniband", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    machine = json.loads((tmp_path / "a.run" / "manifest.json").read_text())["machine"]
    assert machine["origin"] == "file"
    assert machine["sha256"]
    assert all(value["source"] for value in machine["values"])


def test_the_run_says_under_which_model_its_messages_are_split(ping_pong: Path, tmp_path: Path) -> None:
    for options, model in (((), "full"), (("--model", "logp"), "logp")):
        done = logpost("analyze", ping_pong, "-o", "a.run", "--force", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        manifest = json.loads((tmp_path / "a.run" / "manifest.json").read_text())
        assert manifest["machine"]["model"] == model
    assert any("split under LogP alone (o_s, L, o_r of a small message" in note for note in manifest["notes"])
    assert "estimated from this trace; LogP alone" in " ".join(
        logpost("report", "a.run", "--full", cwd=tmp_path).stdout.split()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["ARCHIVE", "--model", "log3p", "-m", "estimate"],
            "logpost: machine pipit-ping-pong has no o_mw and no o_net: ",
        ),
        (["nothing"], "logpost: nothing does not exist; give "),
        (["."], "logpost: "),
        (["ARCHIVE", "-m", "cray-9"], "logpost: unknown machine 'cray-9'; use one of "),
        (["ARCHIVE", "--workers", "slurm"], "logpost: --workers slurm reads blocks; say how many"),
        (["ARCHIVE", "--scheduler", "a:1"], "logpost: --scheduler is Dask's; give --workers dask, too\n"),
    ],
)
def test_a_mistake_is_one_line_and_status_two(
    arguments: list[str], message: str, ping_pong: Path, tmp_path: Path
) -> None:
    words = [str(ping_pong) if word == "ARCHIVE" else word for word in arguments]
    done = logpost("analyze", *words, "-o", "a.run", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_help_has_an_example(tmp_path: Path) -> None:
    done = logpost("analyze", "--help", cwd=tmp_path)
    assert "Example: logpost analyze" in done.stdout


def test_every_verb_that_is_listed_exists_and_has_an_example(tmp_path: Path) -> None:
    from logpost.cli.overview import VERBS

    listed = logpost("--help", cwd=tmp_path).stdout
    for verb in VERBS:
        assert f" {verb} " in listed
        assert "xample" in logpost(verb, "--help", cwd=tmp_path).stdout, verb


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memory", "10"], "--memory 10 is no size; .*MB, GB, TB, MiB, GiB, TiB, as in 4GB"),
        (["--memory", "10MB"], "--memory 10MB is less than .* at least 400MB"),
        (["--spill", "nowhere"], "--spill nowhere is no directory; .* another one"),
    ],
)
def test_nonsense_limits_of_memory_are_refused(ping_pong: Path, tmp_path: Path, words: list[str], said: str) -> None:
    done = logpost("analyze", ping_pong, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(f"logpost: {said}\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("limit", "peak", "says"), [(500, 596, True), (600, 596, False), (None, 596, False)])
def test_a_peak_beyond_the_limit_is_said(tmp_path: Path, limit: int | None, peak: int, says: bool) -> None:
    used = {"limit_bytes": limit and limit * 10**6, "peak_bytes": peak * 10**6, "spilled_bytes": 1}
    (tmp_path / "manifest.json").write_text(json.dumps({"memory": used}))
    said = beyond_the_limit(tmp_path)
    assert bool(said) is says
    assert all(facts(sentence) == ["596 MB", "500 MB"] for sentence in said)
    (tmp_path / "manifest.json").write_text("{}")  # of a run from before memory was stated
    assert beyond_the_limit(tmp_path) == []


@pytest.mark.slow
def test_the_manifest_says_limit_and_peak(ping_pong: Path, tmp_path: Path) -> None:
    done = logpost_process("analyze", ping_pong, "-o", "a.run", "--memory", "2GB", "--spill", ".", "-q", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    memory = json.loads((tmp_path / "a.run" / "manifest.json").read_text())["memory"]
    assert memory["limit_bytes"] == 2_000_000_000
    assert 50_000_000 < memory["peak_bytes"] < 1_000_000_000
    assert memory["spilled_bytes"] == 0
