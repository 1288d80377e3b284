"""`logpost record` as a command: what it finds, what it says, and what it refuses before the program starts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.command import imported
from tests.collectors import recording

from logpost.collectors import mpi as detection
from logpost.collectors import record as recorder
from logpost.errors import InputError
from logpost.machines.schema.load import find_machine_file


def _one_line(text: str) -> str:
    lines = text.strip().splitlines()
    assert len(lines) == 1, text
    return lines[0]


def test_a_recording_that_measures_nothing_imports_no_arrays(
    openmpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in recording.environment().items():
        monkeypatch.setenv(name, value)
    program = recording.build("blocking.c", openmpi, tmp_path)
    launch = ("--", recording.LAUNCHERS[openmpi], "-n", 2, program)
    modules = imported("record", "--calibrate", "none", "-o", tmp_path / "out", *launch)
    assert "logpost.collectors.record" in modules
    assert modules & {"numpy", "polars", "pyarrow"} == set()
    assert {name for name in modules if name.startswith("logpost.machines")} == set()


def test_archive_is_named_and_described(mpi: str, tmp_path: Path) -> None:
    program = recording.build("blocking.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path / "out", 2, program, options=("--json",))
    assert result.status == 0, result.err
    assert re.fullmatch(r"logpost_blocking_2_\d{8}_\d{6}", result.archive.name)
    assert [p.name for p in (tmp_path / "out").iterdir()] == [result.archive.name], "raw logs are gone"
    summary = json.loads(result.err.splitlines()[-1])
    assert Path(summary["archive"]) == result.archive
    assert {key: summary[key] for key in ("ranks", "recorded", "finalized", "threads", "stopped", "hosts")} == {
        "ranks": 2, "recorded": 2, "finalized": 2, "threads": 2, "stopped": 0, "hosts": 1,
    }  # fmt: skip
    trace = result.read()
    assert summary["events"] == len(trace.events)
    names = {"openmpi": "Open MPI v", "mpich": "MPICH Version"}
    assert re.search(rf"LOGPOST::MPI\nProperty value\s+{names[mpi]}", trace.info)
    assert re.search(
        r"LOGPOST::CLOCK\nProperty value\s+(rdtsc, \d{9,10}|CLOCK_MONOTONIC_RAW, 1000000000) ticks", trace.info
    )
    resolution = re.search(r"Ticks per Seconds: (\d+)", trace.definitions)
    assert resolution is not None
    assert int(resolution[1]) == summary["ticks_per_second"]
    host = os.uname().nodename
    assert [line for line in trace.defined("SYSTEM_TREE_NODE") if f'Name: "{host}"' in line and 'Class: "node"' in line]
    cores = [line for line in trace.defined("SYSTEM_TREE_NODE_PROPERTY") if "logpost:cores" in line]
    assert len(cores) == 1
    assert f"Value: {os.sysconf('SC_NPROCESSORS_ONLN')}" in cores[0]
    bindings = [line for line in trace.defined("LOCATION_PROPERTY") if "logpost:cpu_binding" in line]
    assert len(bindings) == 2
    assert all(re.search(r'Value: "[\d,-]+"', line) for line in bindings)
    assert {line.split('"')[1] for line in trace.defined("LOCATION_GROUP")} == {"MPI Rank 0", "MPI Rank 1"}
    (root,) = [line for line in trace.defined("REGION") if re.match(r"REGION\s+0\s", line)]
    assert 'Name: "blocking"' in root


def test_the_machine_is_kept_with_the_archive(mpi: str, tmp_path: Path) -> None:
    program = recording.build("blocking.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path / "out", 2, program, options=("--machine", "alewife"))
    assert result.status == 0, result.err
    assert (result.archive / "machine.toml").read_bytes() == find_machine_file("alewife").read_bytes()


def test_the_other_clock(mpi: str, tmp_path: Path) -> None:
    """Without a good TSC the clock is CLOCK_MONOTONIC_RAW, and the archive says so."""
    program = recording.build("blocking.c", mpi, tmp_path)
    command = (recording.LAUNCHERS[mpi], "-n", "2", str(program))
    result = recording.record(tmp_path, *command, env=recording.environment(LOGPOST_CLOCK="monotonic"))
    trace = result.read()
    assert "CLOCK_MONOTONIC_RAW, 1000000000 ticks per second" in trace.info
    assert "Ticks per Seconds: 1000000000" in trace.definitions


def test_one_process_without_a_launcher(mpi: str, tmp_path: Path) -> None:
    program = recording.build("surroundings.c", mpi, tmp_path)
    result = recording.record(tmp_path, str(program), "many", "5")
    assert result.status == 0, result.err
    assert result.read().calls(0).count("MPI_Comm_size") == 5


def test_wrapper_scripts_are_seen_through(mpi: str, tmp_path: Path) -> None:
    program = recording.build("surroundings.c", mpi, tmp_path)
    script = tmp_path / "job.sh"
    script.write_text(f'#!/bin/sh\nexec {recording.LAUNCHERS[mpi]} -n 1 "{program}" many 5\n')
    script.chmod(0o755)
    result = recording.record(tmp_path, "sh", str(script), options=("--mpi", recording.COMPILERS[mpi]))
    assert result.status == 0, result.err
    assert result.archive.name.startswith("logpost_job_1_")


def test_a_program_without_mpi_runs_and_says_why_nothing_was_recorded(openmpi: str, tmp_path: Path) -> None:
    result = recording.record(tmp_path, "sh", "-c", "echo out; echo err >&2; exit 42")
    assert (result.status, result.out) == (42, "out\n")
    assert "err" in result.err.splitlines()  # the recorder may be built first
    assert "the command ended with exit status 42 before" in result.err
    assert result.err.splitlines()[-1].endswith(": sh -c 'echo out; echo err >&2; exit 42'")
    assert not list(tmp_path.iterdir())


def test_a_program_that_made_no_mpi_call_is_status_2(openmpi: str, tmp_path: Path) -> None:
    source = tmp_path / "hello.c"
    source.write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n')
    program = tmp_path / "hello"
    subprocess.run(["cc", "-o", str(program), str(source)], check=True)
    result = recording.run(openmpi, tmp_path / "out", 2, program)
    assert (result.status, result.out) == (2, "hello\nhello\n")
    assert f"nothing was recorded: {program} links no MPI library" in _one_line(result.err)
    assert not list((tmp_path / "out").iterdir())


def test_what_mpirun_says_is_above_its_status(openmpi: str, tmp_path: Path) -> None:
    """Its messages reach the terminal untouched; logpost says whose status it was."""
    program = recording.build("blocking.c", openmpi, tmp_path)
    command = (recording.LAUNCHERS[openmpi], "-n", "1", "--host", "no-such-host.invalid", str(program))
    alone = subprocess.run(command, capture_output=True, text=True, check=False, env=recording.environment())
    assert alone.returncode != 0
    result = recording.record(tmp_path / "out", *command)
    assert result.status == alone.returncode
    *above, last, alone_again = result.err.strip().splitlines()
    assert len(above) >= len(alone.stderr.strip().splitlines()) > 0
    said = f"mpirun.openmpi ended with exit status {alone.returncode} before a process was seen to start MPI"
    assert last == f"logpost: nothing was recorded: {said}; see its message above"
    assert alone_again.split()[-len(command) :] == list(command)


def test_a_status_is_said_with_the_archive(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("death.c", openmpi, tmp_path)
    result = recording.run(openmpi, tmp_path / "out", 2, program, "exit")
    assert result.status == 7
    assert "mpirun.openmpi ended with exit status 7; the archive holds" in result.err
    assert result.archive.is_dir()


def test_the_next_line_works_and_so_do_the_commands_of_the_readme_twice(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("blocking.c", openmpi, tmp_path)
    newest = []
    for _ in range(2):
        words = ("record", "-o", "traces", "--", recording.LAUNCHERS[openmpi], "-n", "2", str(program))
        done = recording.logpost(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        following = done.stderr.strip().splitlines()[-1].removeprefix("logpost: next: ").split()
        assert following[:2] == ["logpost", "analyze"]
        newest.append(Path(following[2]).name)
        again = recording.logpost(*following[1:], cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        done = recording.logpost("analyze", "traces", "-o", "app.run", "--force", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        manifest = json.loads((tmp_path / "app.run" / "manifest.json").read_text())
        assert newest[-1] in manifest["source"]["anchor"], "the newest archive of the folder"
    assert newest[0] != newest[1]


def test_a_signal_is_a_status(openmpi: str, tmp_path: Path) -> None:
    assert recording.record(tmp_path, "sh", "-c", "kill -9 $$").status == 128 + 9


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["record"], "no command to record; write logpost record "),
        (["record", "--", "./no-such-program"], "./no-such-program: no such program"),
        (["record", "--", "./imb.c"], "./imb.c is not executable; compile it"),
        (["record", "--", "app-that-is-here"], " is not on PATH; name the file as ./app-that-is-here"),
        (["record", "--", "./folder"], "./folder is a directory"),
        (["record", "--machine", "no-such", "--", "true"], "unknown machine 'no-such'"),
        (["record", "--mpi", "/no/mpicc", "--", "true"], "--mpi /no/mpicc is not an mpicc"),
        (["record", "--recover", "/tmp", "--", "true"], "--recover takes a directory and no program"),
        (["record", "--recover", "/no/such"], "/no/such holds no raw logs"),
        (["record", "-o", "/dev/null", "--", "true"], "/dev/null is not a directory"),
    ],
)
def test_mistakes_are_one_line_and_status_2(openmpi: str, words: list[str], complaint: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (tmp_path / "imb.c").touch()
    (tmp_path / "app-that-is-here").touch(mode=0o755)
    (tmp_path / "folder").mkdir()
    done = recording.logpost(*words, env=recording.environment(XDG_CACHE_HOME=str(cache)), cwd=tmp_path)
    assert done.returncode == 2
    assert not cache.exists(), "seconds went into what is compiled"
    assert complaint in _one_line(done.stderr)
    assert "Traceback" not in done.stderr


def _path_with(tmp_path: Path, *programs: str) -> str:
    """A PATH on which only some programs are."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in programs:
        found = shutil.which(program)
        assert found is not None, program
        (folder / program).symlink_to(found)
    return str(folder)


def test_what_is_missing_is_named_with_its_package(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("blocking.c", openmpi, tmp_path)
    tools = ("mpirun.openmpi", "ldd", "sh", "true", "orted")
    path = _path_with(tmp_path, *tools)
    env = recording.environment(PATH=path)
    env.pop("CC", None)
    done = recording.logpost("record", "-o", str(tmp_path), "--", "mpirun.openmpi", "-n", "1", str(program), env=env)
    assert done.returncode == 2
    assert "apt install gcc" in _one_line(done.stderr)
    # a compiler, and no mpicc: the headers of the program's own library are found next to it, or named
    (Path(path) / "cc").symlink_to(shutil.which("cc") or "cc")
    done = recording.logpost("record", "-o", str(tmp_path), "--mpi", "mpich", "--", "true", env=env)
    assert done.returncode == 2
    assert "install libmpich-dev" in _one_line(done.stderr)


def test_without_libotf2_the_package_is_named(openmpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from logpost.collectors import assemble

    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho 'fatal error: otf2/otf2.h: No such file or directory' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(assemble, "_is_current", lambda path: False)
    with pytest.raises(InputError, match="libotf2-trace-dev"):
        assemble.find_assembler()


OMPI, HYDRA = "mpirun.openmpi", "mpirun.mpich"


@pytest.mark.parametrize(
    ("command", "abi", "expected"),
    [
        (f"{OMPI} -n 2 ./a", "openmpi", f"{OMPI} -x LD_PRELOAD=/l.so -x LOGPOST_RAW_DIR -n 2 ./a"),
        (f"{OMPI} -x LD_PRELOAD a", "openmpi", f"{OMPI} -x LOGPOST_RAW_DIR -x LD_PRELOAD=/l.so a"),
        # a preload of the user's own stays, in front of ours
        (f"{OMPI} -x LD_PRELOAD=/u.so a", "openmpi", f"{OMPI} -x LOGPOST_RAW_DIR -x LD_PRELOAD=/u.so:/l.so a"),
        (f"{HYDRA} -n 2 ./a", "mpich", f"{HYDRA} -genv LD_PRELOAD /l.so -genv LOGPOST_RAW_DIR /raw -n 2 ./a"),
        (
            f"{HYDRA} -genv LD_PRELOAD /u.so ./a",
            "mpich",
            f"{HYDRA} -genv LOGPOST_RAW_DIR /raw -genv LD_PRELOAD /u.so:/l.so ./a",
        ),
        ("srun -n 2 ./a", "openmpi", "srun -n 2 ./a"),
    ],
)
def test_variables_travel_with_the_launcher(openmpi: str, mpich: str, command: str, abi: str, expected: str) -> None:
    variables = {"LD_PRELOAD": "/l.so", "LOGPOST_RAW_DIR": "/raw"}
    assert recorder.with_environment(command.split(), abi, variables) == expected.split()


@pytest.mark.parametrize(
    ("soname", "abi"),
    [
        ("libmpi.so.40", "openmpi"),
        ("libmpi.so.12", "mpich"),
        ("libmpich.so.12", "mpich"),
        ("libmpi_cray.so.12", "mpich"),
        ("libmpi_abi.so.1", "abi"),
        ("libmpi_cxx.so.40", None),
        ("libm.so.6", None),
    ],
)
def test_sonames_name_the_interface(soname: str, abi: str | None) -> None:
    assert detection.abi_of_soname(soname) == abi


def test_the_program_gives_the_archive_its_name(tmp_path: Path) -> None:
    script = tmp_path / "heat.py"
    script.write_text("")
    assert detection.program_name(["mpirun", "-n", "4", "python3", str(script), "x"]) == "heat"
    assert detection.program_name(["mpirun", "-n", "4", "/usr/bin/true", "5"]) == "true"
    assert detection.program_name(["/usr/bin/true"]) == "true"


def test_a_static_program_is_refused_with_the_line_that_relinks_it(openmpi: str, tmp_path: Path) -> None:
    source, program = tmp_path / "app.c", tmp_path / "app"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", "-o", str(program), str(source)], check=True)
    done = recording.record(tmp_path, recording.LAUNCHERS[openmpi], "-n", "1", str(program))
    assert done.status == recorder.NOTHING_RECORDED
    assert f"nothing was recorded: {program} is statically linked" in done.err
    assert "relink it without -static: mpicc -o app " in done.err


def test_a_program_of_one_mpi_under_the_launcher_of_another_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "app"
    monkeypatch.setattr(detection, "program_of", lambda _: program)
    monkeypatch.setattr(detection, "is_elf", lambda _: True)
    monkeypatch.setattr(detection, "is_interpreter", lambda _: False)
    monkeypatch.setattr(detection, "is_static", lambda _: False)
    monkeypatch.setattr(detection, "linked_library", lambda _: Path("/usr/lib/libmpich.so.12"))
    monkeypatch.setattr(detection, "launcher_abi", lambda _: detection.OPENMPI)
    why = recorder.why_nothing(["mpirun", str(program)], 0)
    assert why.startswith(f"{program} uses MPICH, but mpirun belongs to Open MPI; ")
    assert why.endswith(" the mpirun of MPICH")


def test_a_program_of_one_mpi_that_the_launcher_of_another_starts_alone_is_reported_too(
    openmpi: str, mpich: str, tmp_path: Path
) -> None:
    """Each of its processes is a separate world, and succeeds."""
    source = tmp_path / "alone.c"
    source.write_text("#include <mpi.h>\nint main(void) { return MPI_Init(0, 0) || MPI_Finalize(); }\n")
    program = recording.build(str(source), openmpi, tmp_path)
    result = recording.record(tmp_path, recording.LAUNCHERS[mpich], "-n", "2", str(program))
    assert result.status == 0
    assert f"{program} uses Open MPI, but {recording.LAUNCHERS[mpich]} belongs to MPICH; " in result.err
    assert "alone in its MPI_COMM_WORLD\n" in result.err
