"""The command line on the sources that are under test: in this process, or in a separate one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import IO
from unittest import mock

from tests.analyzer import in_process

from logpost.cli.app import main


def logpost(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `logpost ARGUMENTS` prints and ends with, in this process: an uncaught exception is the test's failure."""
    words = ["logpost", *map(str, arguments)]
    with ExitStack() as stack:
        out, err = (stack.enter_context(_caught(number)) for number in (1, 2))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        stack.enter_context(_directory(cwd or Path.cwd()))
        stack.enter_context(mock.patch.dict(os.environ, {"COLUMNS": "100", **environment}))
        stack.enter_context(mock.patch.object(sys, "argv", words))
        stack.enter_context(mock.patch("logpost.analyzer.pipeline.supervise.analyze", in_process.analyze))
        stack.enter_context(mock.patch("logpost.analyzer.pipeline.worker_process.begin_early"))
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        return subprocess.CompletedProcess(words, status, *(_text(stream) for stream in (out, err)))


@contextmanager
def _caught(descriptor: int) -> Iterator[IO[str]]:
    """A file in the place of a descriptor: what native code and child processes write is there, too."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        before = os.dup(descriptor)
        os.dup2(file.fileno(), descriptor)
        try:
            yield file
        finally:
            os.dup2(before, descriptor)
            os.close(before)


@contextmanager
def _directory(path: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def _text(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def logpost_process(
    *arguments: object, cwd: Path | None = None, stdout: IO[str] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `logpost ARGUMENTS` as a program and wait for it; `stdout`: where its output is written instead of kept."""
    return _python("-m", "logpost.cli.app", *arguments, cwd=cwd, stdout=stdout, **environment)


def imported(*arguments: object, cwd: Path | None = None) -> set[str]:
    """The modules that Python has when `logpost ARGUMENTS` has ended."""
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr))\n"
        "sys.argv[0] = 'logpost'\n"
        "from logpost.cli.app import main\n"
        "main()\n"
    )
    done = _python("-c", code, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def _python(
    *words: object, cwd: Path | None, stdout: IO[str] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "100", **environment},
        stdout=stdout or subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
