"""`record --io`: calls of the C library on files as regions and I/O operations, and that they do programs no harm."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording
from tests.collectors.recording import Trace

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors.pmpi import interposer
from logpost.errors import InputError

pytestmark = pytest.mark.mpi


def _files(mpi: str, folder: Path, ranks: int, what: str, *options: str) -> recording.Result:
    program = recording.build("files.c", mpi, folder, "-O2", "-g", "-pthread")
    place = folder / f"data{len(list(folder.glob('data*')))}"
    place.mkdir()
    os.mkfifo(place / "input.fifo")
    out = folder / f"out-{place.name}"
    out.mkdir()
    result = recording.run(mpi, out, ranks, program, str(place), what, options=options)
    assert result.status == 0, result.err
    return result


def _regions(trace: Trace, location: int = 0) -> list[str]:
    return [e.region for e in trace.on(location, "ENTER") if e.region.split()[0] in FILE_CALLS]


FILE_CALLS = ("open", "read", "write", "fsync", "close")


def test_a_program_that_uses_files_in_all_ways_does_what_it_does_without(mpi: str, tmp_path: Path) -> None:
    """Return values, errno, contents, cancellation, jumps out of calls, children by fork, vfork and posix_spawn."""
    plain = _files(mpi, tmp_path, 1, "all")
    recorded = _files(mpi, tmp_path, 1, "all", "--io")
    assert "1 s\n" in plain.out
    assert recorded.out == plain.out
    assert _regions(plain.read()) == []
    # In the order of the program: descriptors, then streams whose calls within their buffers are none. The standard
    # output, whose buffer MPICH takes away, is a pipe or a terminal.
    found = [region for region in _regions(recorded.read()) if not re.match(r"write (pipe|\d+)$", region)]
    assert found[:9] == [
        "write /dev/null", "open plain", "open large", "open data1", "open at", "write plain", "write plain",
        "write plain", "write large",
    ]  # fmt: skip
    assert {"fsync plain", "fsync large", "close data1", "read at", "read large", "open stream"} <= set(found)
    # 50,000 bytes by lines and blocks of a buffer of 4,096: 13 system calls each time, and those at the end
    assert 26 <= found.count("read stream") <= 30
    assert 12 <= found.count("write stream") <= 15
    # 150,000 bytes at once, and their end; written in three parts of 50,000
    assert 37 <= found.count("read formats") <= 39
    assert 37 <= found.count("write formats") <= 40
    assert found.count("write lines") == 2, "a stream written by lines"
    assert "write child" not in found, "a child is not recorded"


def test_calls_have_their_bytes_and_their_place(openmpi: str, tmp_path: Path) -> None:
    trace = _files(openmpi, tmp_path, 1, "all", "--io").read()
    (write,) = trace.within(0, "write large", "IO_OPERATION_BEGIN", "IO_OPERATION_COMPLETE")
    assert ["Mode: WRITE" in e.text for e in write] == [True, False]
    assert write[1].number("Bytes Result") == 3
    assert re.search(r'Handle: ".*/data0/large"', write[0].text)
    assert [line for line in trace.defined("IO_REGULAR_FILE") if line.count("/data0/large")]
    assert not [line for line in trace.defined("IO_REGULAR_FILE") if "pipe:" in line]
    contexts = "\n".join(trace.defined("CALLING_CONTEXT"))
    assert re.search(r'Region: "use_descriptors".*files\.c:\d+', contexts)


def test_a_signal_handler_that_leaves_a_call_does_not_end_the_recording(openmpi: str, tmp_path: Path) -> None:
    """The jump out of a read is behind use_signals; the barrier and the files behind it are recorded."""
    trace = _files(openmpi, tmp_path, 1, "all", "--io").read()
    assert "MPI_Barrier" in trace.calls(0)
    entered = [e.region for e in trace.on(0, "ENTER")]
    assert "read pipe" in entered[entered.index("MPI_Barrier") :]


def test_a_rank_that_waits_for_a_file_is_the_finding(openmpi: str, tmp_path: Path) -> None:
    """Rank 0 reads for 0.2 s what another thread writes late; ranks 1 and 2 wait in MPI_Bcast for it."""
    result = _files(openmpi, tmp_path, 3, "waits", "--io")
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "a.run"))))
    first = run.table("findings").collect().row(0, named=True)
    assert re.match(r"rank 0 (reads|opens) input\.fifo .*: \d+ ms at most", first["title"])
    assert "let it overlap" in first["advice"]
    place = run.table("callpaths").filter(callpath=first["callpath"]).collect()["path"].item()
    assert re.search(r"wait_for_input / (read|open) input\.fifo$", place)
    calls = run.table("file_calls").join(run.table("callpaths"), on="callpath").collect()
    assert any(path.endswith("wait_for_input / read input.fifo") for path in calls["path"])
    assert (calls["leave_ps"] - calls["enter_ps"]).max() > 150e9


def test_files_of_one_name_have_their_paths(openmpi: str, tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(
        "#include <mpi.h>\n#include <fcntl.h>\n#include <unistd.h>\n"
        "int main(int argc, char** argv) {\n  MPI_Init(&argc, &argv);\n"
        "  for (int i = 1; i < argc; i++) {\n    int fd = open(argv[i], O_CREAT | O_WRONLY, 0600);\n"
        "    if (write(fd, argv[i], 1) != 1) return 1;\n    close(fd);\n  }\n  MPI_Finalize();\n  return 0;\n}\n"
    )
    program = recording.build(str(source), openmpi, tmp_path)
    paths = [tmp_path / "a" / "out", tmp_path / "b" / "out", tmp_path / "a" / "log"]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
    done = recording.run(openmpi, tmp_path, 1, program, *map(str, paths), options=("--io",))
    assert done.status == 0, done.err
    written = [region for region in _regions(done.read()) if region.startswith("write")]
    assert written == [f"write {paths[0]}", f"write {paths[1]}", "write log"]


def test_another_c_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    with pytest.raises(InputError, match=r"record --io needs x86-64 with glibc; .*: record without --io"):
        interposer.refuse_other_c_libraries()
