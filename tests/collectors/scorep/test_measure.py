"""`logpost record --with scorep` against a stand-in of Score-P: stand_in/ does what version 8.4 documents."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from tests.cli.command import logpost
from tests.collectors.scorep.standing_in import build, record
from tests.said import facts

from logpost.collectors.scorep import archive as archives
from logpost.collectors.scorep import instrumented, measure, variables
from logpost.errors import InputError


def test_the_archive_is_named_and_analyze_takes_it(app: Path, tmp_path: Path) -> None:
    done = record(tmp_path, "-o", "traces", "--", app, 10)
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    (archive,) = (tmp_path / "traces").iterdir()
    assert re.fullmatch(r"scorep_app_\d{8}_\d{6}", archive.name)
    assert said[0] == "logpost: measured by Score-P 8.4 (MPI by mpicc)"
    assert said[1:3] == ["logpost: SCOREP_ENABLE_TRACING=true", "logpost: SCOREP_ENABLE_PROFILING=false"]
    assert re.fullmatch(r"logpost: SCOREP_TOTAL_MEMORY=\d+M", said[3])
    assert said[4] == f"logpost: SCOREP_EXPERIMENT_DIRECTORY={archive}"
    assert said[-1] == f"logpost: next: logpost analyze traces/{archive.name} -o traces/{archive.name}.run"
    assert "SCOREP_ENABLE_TRACING=true" in (archive / "scorep.cfg").read_text()
    following = said[-1].split()[3:]
    analyzed = logpost(*following, cwd=tmp_path)
    assert analyzed.returncode == 0, analyzed.stderr


def test_the_users_own_settings_win_and_are_shown(app: Path, tmp_path: Path) -> None:
    done = record(
        tmp_path, "--json", "--", app, SCOREP_TOTAL_MEMORY="20M", SCOREP_EXPERIMENT_DIRECTORY="mine", SCOREP_TIMER="tsc"
    )
    assert done.returncode == 0, done.stderr
    assert "logpost: SCOREP_TOTAL_MEMORY=20M (yours)" in done.stderr.splitlines()
    document = json.loads(done.stderr.splitlines()[-1])
    assert document["archive"] == str(tmp_path / "mine")
    assert document["locations"] == 1
    assert document["bytes"] == (tmp_path / "mine" / "traces" / "0.evt").stat().st_size
    users = {name for name, value in document["variables"].items() if value["set_by"] == "user"}
    assert users == {"SCOREP_TOTAL_MEMORY", "SCOREP_EXPERIMENT_DIRECTORY", "SCOREP_TIMER"}
    assert "SCOREP_TOTAL_MEMORY=20M" in (tmp_path / "mine" / "scorep.cfg").read_text()


def test_memory_and_filter_are_passed(app: Path, tmp_path: Path) -> None:
    rules = tmp_path / "my.filter"
    rules.write_text("SCOREP_REGION_NAMES_BEGIN\n  EXCLUDE\n    MANGLED tiny\nSCOREP_REGION_NAMES_END\n")
    done = record(tmp_path, "--memory", "10M", "--filter", "my.filter", "--json", "--", app, 500)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stderr.splitlines()[-1])
    assert document["variables"]["SCOREP_TOTAL_MEMORY"]["value"] == "10M"
    assert document["variables"]["SCOREP_FILTERING_FILE"]["value"] == str(rules)
    assert document["bytes"] < 500, "two functions remain: tiny's 1,000 records of 12 bytes are gone"


def test_a_full_trace_buffer_is_said_with_the_value_that_suffices(app: Path, tmp_path: Path) -> None:
    # 300,000 visits of tiny are 600,000 records of 12 bytes: more than the 3 MiB that are given.
    done = record(tmp_path, "--memory", "3M", "--json", "--", app, 300_000)
    assert done.returncode == 0, done.stderr
    assert "[Score-P] Trace buffer flush on rank 0." in done.stderr, "the program's own lines stay"
    size = json.loads(done.stderr.splitlines()[-1])["bytes"]
    needs = -(-int((size + 2 * 2**20) * 1.25) // 2**20)
    assert f"set SCOREP_TOTAL_MEMORY={needs}M (record --memory {needs}M)" in done.stderr
    assert re.search(r"trace buffers were full .* 1 ranks \(first: rank 0\)", done.stderr)
    again = record(tmp_path, "--memory", f"{needs}M", "--", app, 300_000)
    assert "buffers were full" not in again.stderr


def test_exhausted_memory_names_a_larger_value_and_keeps_the_status(app: Path, tmp_path: Path) -> None:
    done = record(tmp_path, "--memory", "1M", "--", app)
    assert done.returncode == 128 + 6, "abort"
    assert "no archive was written: the memory of" in done.stderr
    assert "; set SCOREP_TOTAL_MEMORY=4M (record --memory 4M)" in done.stderr


def test_a_program_that_ends_before_score_p_says_so(app: Path, tmp_path: Path) -> None:
    done = record(tmp_path, "--", app, 10, 7)
    assert done.returncode == 7
    assert ": the command ended with exit status 7 before" in done.stderr
    done = record(tmp_path, "--", app, 10, 0)
    assert done.returncode == 2
    assert "holds no trace; its scorep.cfg shows the variables" in done.stderr


def test_half_an_archive_is_called_incomplete(tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text('#!/bin/sh\nmkdir -p "$SCOREP_EXPERIMENT_DIRECTORY/traces"\n')
    script.chmod(0o755)
    done = record(tmp_path, "--", script)
    assert done.returncode == 2
    assert "is incomplete: the program ended (exit status 0) " in done.stderr


def test_a_script_that_measures_nothing_says_so(tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    done = record(tmp_path, "--", script)
    assert done.returncode == 2
    assert "job.sh did not start an instrumented program there" in done.stderr


def test_an_archive_of_an_earlier_measurement_is_not_taken_for_this_one(app: Path, tmp_path: Path) -> None:
    assert record(tmp_path, "--", app, SCOREP_EXPERIMENT_DIRECTORY="mine").returncode == 0
    os.utime(tmp_path / "mine" / "traces.otf2", (1, 1))
    done = record(tmp_path, "--", app, SCOREP_EXPERIMENT_DIRECTORY="mine")  # exists: the stand-in refuses
    assert done.returncode == 1
    assert "no archive was written" in done.stderr


def test_a_program_that_is_not_instrumented_is_named_with_the_way_to_relink(tmp_path: Path) -> None:
    program = build(tmp_path)
    done = record(tmp_path, "--", program)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"logpost: {program} is not instrumented with Score-P: link it ")
    assert "scorep mpicc -o app ..." in line
    assert "logpost record without --with needs no relinking" in line
    assert not list(tmp_path.glob("scorep_*"))


def test_the_wrapper_of_the_programs_language_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library, wrapper in (("libmpi_mpifh.so.40", "mpif90"), ("libstdc++.so.6", "mpicxx"), ("liboshmem.so", "oshcc")):
        monkeypatch.setattr(instrumented, "_libraries", lambda program, library=library: f"{library} => /usr/lib/x")
        assert f"scorep {wrapper} -o app" in instrumented.how_to_relink(tmp_path / "app")


def test_preloaded_score_p_counts(tmp_path: Path) -> None:
    program = build(tmp_path)
    assert not instrumented.is_instrumented(program, {})
    assert instrumented.is_instrumented(program, {"LD_PRELOAD": "/opt/lib/libscorep_adapter_mpi_event.so"})


def test_without_score_p_an_instrumented_program_is_measured_and_another_refused(app: Path, tmp_path: Path) -> None:
    bare = os.environ["PATH"]
    done = record(tmp_path, "--", app, PATH=bare)
    assert done.returncode == 0, done.stderr
    assert "scorep-config is not on PATH: the program's own" in done.stderr
    done = record(tmp_path, "--", build(tmp_path), PATH=bare)
    assert done.returncode == 2
    assert ", scorep-config, scorep-info not on PATH; load its module" in done.stderr


@pytest.mark.parametrize(
    ("words", "environment", "complaint"),
    [
        (["--memory", "much"], {}, "'much' is no size; .*: 500M or 2G"),
        (["--memory", "5G"], {}, "--memory 5G is more than .*: at most 4095M"),
        (["--filter", "none"], {}, "--filter none is not a file; logpost scorep filter "),
        ([], {"SCOREP_ENABLE_TRACING": "false"}, "SCOREP_ENABLE_TRACING=false is set, .* no trace"),
        (
            ["--memory", "5M"],
            {"SCOREP_TOTAL_MEMORY": "9M"},
            "--memory 5M and SCOREP_TOTAL_MEMORY=9M of your environment",
        ),
        (["-o", "/dev/null"], {}, "cannot write to /dev/null: File exists; .* -o"),
        (["--keep-raw"], {}, "--keep-raw is not for Score-P, .* separate recorder"),
        (["--hang", "1h"], {}, "--hang is not for Score-P, .* separate recorder"),
    ],
)
def test_mistakes_are_one_line(
    app: Path, tmp_path: Path, words: list[str], environment: dict[str, str], complaint: str
) -> None:
    done = record(tmp_path, *words, "--", app, **environment)
    assert done.returncode == 2
    assert re.search(complaint, done.stderr.strip().splitlines()[-1])


def test_options_of_score_p_need_with_scorep(tmp_path: Path) -> None:
    assert "--with gprof is not known; write --with scorep" in logpost("record", "--with", "gprof", "--", "true").stderr
    assert "--memory is Score-P's; write --with scorep, too" in logpost("record", "--memory", "5M", "--", "true").stderr


def test_a_directory_without_permission_is_refused(monkeypatch: pytest.MonkeyPatch, app: Path, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode, **more: mode != os.W_OK)
    with pytest.raises(InputError, match="no permission; pass another directory with -o"):
        measure.measure([str(app)], measure.Settings(tmp_path), print, print)


def test_the_memory_is_a_quarter_of_what_is_free_within_score_ps_limits() -> None:
    # 64 GiB free, 16 processes: 16 GiB / 16 = 1 GiB each
    assert variables.in_mib(variables.estimated_memory(16, 64 << 30)) == "1024M"
    assert variables.in_mib(variables.estimated_memory(1, 64 << 30)) == "4095M"
    assert variables.estimated_memory(4096, 64 << 30) == 16000 * 1024
    assert variables.processes_of(["mpirun", "-np", "12", "./app"]) == 12
    assert variables.processes_of(["./app"]) == len(os.sched_getaffinity(0))


def test_the_launchers_own_options_are_the_users_too() -> None:
    command = ["mpirun", "-x", "SCOREP_TOTAL_MEMORY=1G", "-genv", "SCOREP_TIMER", "tsc", "-n", "2", "./app"]
    found = variables.set_by_user(command, {"SCOREP_EXPERIMENT_DIRECTORY": "", "HOME": "/"})
    assert found == {"SCOREP_TOTAL_MEMORY": "1G", "SCOREP_TIMER": "tsc"}


def test_more_than_score_p_takes_leads_to_a_filter(tmp_path: Path) -> None:
    said = archives.more_memory(5 << 30)
    assert facts(said) == ["5120", "4095"]
    assert said.endswith(": filter functions (logpost scorep filter)")


def test_the_needed_memory_is_that_of_the_largest_process(tmp_path: Path) -> None:
    # Rank 1 has two threads of 1 MiB: (1 + 2 + 1 + 2) MiB x 1.25 = 7.5 MiB.
    (tmp_path / "traces").mkdir()
    for location in (0, 1, (1 << 32) + 1):
        with (tmp_path / "traces" / f"{location}.evt").open("wb") as file:
            file.truncate(1 << 20)
    assert archives.needed_memory(tmp_path) == int(7.5 * (1 << 20))
