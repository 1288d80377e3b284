"""A verb that receives SIGTERM ends the programs that its threads wait for, and those that they start next."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from logpost.collectors.descendants import alive, descendants

VERB = """
import subprocess, sys, threading
from concurrent.futures import ThreadPoolExecutor
from logpost.cli.ending import cleaned_up_on_signals

stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"

def one(program):
    ready.wait()
    for _ in range(3):  # a thread whose program ends starts another
        subprocess.run(program)

ready = threading.Barrier(3)
with cleaned_up_on_signals(with_programs=True), ThreadPoolExecutor() as pool:
    futures = [pool.submit(one, ["sleep", "60"]), pool.submit(one, [sys.executable, "-c", stubborn])]
    ready.wait()
    for future in futures:
        future.result()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.slow
def test_a_signal_ends_programs_that_threads_wait_for(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "from logpost.cli import ending; ending.GRACE_S = 0.3\n" + VERB],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    ) as verb:
        assert verb.stdout is not None
        verb.stdout.readline()  # the stubborn one ignores SIGTERM by now
        while len(started := descendants(verb.pid)) < 2:
            time.sleep(0.01)
        verb.send_signal(number)
        assert verb.wait(timeout=60) == 128 + number
    assert not alive(started)
