"""Run a program on a simulated machine and make its archive."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from logpost.collectors import assemble
from logpost.collectors.pmpi import prototypes
from logpost.collectors.testbed import build
from logpost.collectors.testbed.limits import SHORT
from logpost.collectors.testbed.platform import Platform, to_hostfile, to_settings, to_xml
from logpost.errors import InputError

CONFIGURATION: Mapping[str, str] = {
    "network/model": "CM02",
    "network/weight-S": "0",
    "network/TCP-gamma": "0",
    "network/crosstraffic": "0",
    "network/optim": "Full",
    "surf/precision": "1e-12",
    "smpi/simulate-computation": "no",
    "smpi/async-small-thresh": "1073741824",
    "smpi/send-is-detached-thresh": "1073741824",
    "smpi/wtime": "0",
    "smpi/grow-injected-times": "no",
    "smpi/privatization": "dlopen",
}
"""SimGrid's settings: the clean flow model, no measured computation, every protocol left to the machine layer. Rates of
all flows are found anew at each change: with `network/optim:Lazy`, the default, SimGrid 3.32 gives some flows of a halo
exchange more than their max-min share."""

WINDOW_KIB = 64
LARGE = 4 << 20
"""Bytes of a file next to the archive above which it is compressed."""


@dataclass(frozen=True)
class Run:
    """One run: the program's status, its output when it was captured, and the archive unless there is none."""

    status: int
    archive: assemble.Archive | None
    output: str = ""
    host_s: float = 0.0
    """The duration of the simulation on this machine."""


@dataclass(frozen=True)
class Job:
    """What to run. `further_files` holds further files of the archive's directory, by name."""

    program: Path
    name: str
    arguments: Sequence[str] = ()
    further_files: Mapping[str, str] = field(default_factory=dict)
    configuration: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None


def run(
    job: Job,
    platform: Platform,
    output: Path,
    *,
    capture: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Run:
    """Run the program on the platform; the archive is `output`/logpost_<name>_<ranks>_<time>/traces.otf2.

    Next to it: platform.xml (.gz when large), testbed.txt, hostfile, and what the job adds. `capture`: the program's
    output is kept instead of passed on. Raises InputError when SimGrid is missing or the output cannot be written.
    """
    launcher = build.find_smpimain()
    assembler = assemble.find_assembler(say)
    files = {
        "platform.xml": to_xml(platform),
        "testbed.txt": to_settings(platform),
        "hostfile": to_hostfile(platform),
        **job.further_files,
    }
    try:
        output.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".logpost_{job.name}_", suffix=".run", dir=output)).resolve()
    except OSError as error:
        raise InputError(f"cannot write to {output}: {error.strerror}; pass another directory with -o") from error
    try:
        return _run(job, platform, output, scratch, files, launcher, assembler, capture)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _keep(path: Path, place: Path) -> None:
    """Copy a file next to the archive, compressed where it is large (a platform of 512 nodes has 100 MB)."""
    if path.stat().st_size <= LARGE:
        shutil.copyfile(path, place)
        return
    with path.open("rb") as source, gzip.open(f"{place}.gz", "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target, 1 << 20)


def _run(
    job: Job,
    platform: Platform,
    output: Path,
    scratch: Path,
    files: Mapping[str, str],
    launcher: str,
    assembler: Path,
    capture: bool,
) -> Run:
    raw, copies = scratch / "raw", scratch / "copies"
    raw.mkdir()
    copies.mkdir()
    for name, text in files.items():
        (scratch / name).write_text(text, encoding="utf-8")
    stamp = time.strftime("%Y%m%d_%H%M%S")
    (raw / "functions.txt").write_text(prototypes.functions_text(job.name))
    (raw / "record.json").write_text(json.dumps({"program": job.name, "time": stamp}))
    settings = {
        **CONFIGURATION,
        "smpi/iprobe": repr(platform.poll_s),
        "smpi/test": repr(platform.poll_s),
        **job.configuration,
        "smpi/np": str(platform.ranks),
        "smpi/hostfile": str(scratch / "hostfile"),
        "smpi/tmpdir": str(copies),
    }
    command = [launcher, str(job.program), *(f"--cfg={key}:{value}" for key, value in settings.items())]
    # Behind `--`, SimGrid leaves options that it has too (--version, --help) to the program; it takes each `--` out.
    command += ["--log=root.thresh:warning", str(scratch / "platform.xml"), "--", *job.arguments]
    environment = {
        **os.environ,
        "SMPI_GLOBAL_SIZE": str(platform.ranks),
        "LOGPOST_RAW_DIR": str(raw),
        "LOGPOST_WINDOW_KIB": str(WINDOW_KIB),
        "LOGPOST_TESTBED": str(scratch / "testbed.txt"),
        "LOGPOST_PROGRAM": job.name,
        "LOGPOST_COMMAND": " ".join([job.name, *job.arguments]),
        "LOGPOST_SIMULATION": f"{SHORT}; machine {platform.name}",
    }
    begin = time.monotonic()
    try:
        done = subprocess.run(
            command,
            env=environment,
            check=False,
            timeout=job.timeout_s,
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.STDOUT if capture else None,
            text=True,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{job.name} on {platform.ranks} simulated ranks did not end within {job.timeout_s:g} s; "
            "a rank may wait forever in simulated time (a loop of tests that never sleeps)"
        ) from None
    host_s = time.monotonic() - begin
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    if not any(raw.glob("*.raw")):
        return Run(status, None, done.stdout or "", host_s)
    archive = assemble.assemble(assembler, raw, output.resolve())
    for name in files:
        with contextlib.suppress(OSError):
            _keep(scratch / name, archive.path / name)
    return Run(status, archive, done.stdout or "", host_s)
