"""Of what launchers really write, the user gets the sentence that matters."""

from __future__ import annotations

import re

import pytest

from logpost.collectors.calibration.failure import trouble

RULE = "-" * 74
ROOT = f"""{RULE}
mpirun has detected an attempt to run as root.

Running as root is *strongly* discouraged as any mistake (e.g., in
defining TMPDIR) or bug can result in catastrophic damage to the OS.

We reiterate our advice against doing so - please proceed at your own risk.
{RULE}
"""
SLOTS = f"""{RULE}
There are not enough slots available in the system to satisfy the 64
slots that were requested by the application:

  true

Alternatively, you can use the --oversubscribe option to ignore the
number of available slots when deciding the number of processes to
launch.
{RULE}
"""
HYDRA = """ssh: Could not resolve hostname nohost: Name or service not known
[mpiexec@vm] HYDU_sock_write (utils/sock/sock.c:254): write error (Bad file descriptor)
[mpiexec@vm] main (ui/mpich/mpiexec.c:325): process manager error waiting for completion
"""
CRASH = f"""
{"=" * 83}
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 5159 RUNNING AT vm
{"=" * 83}
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)
This typically refers to a problem with your application.
"""
QUEUED = """srun: job 7 queued and waiting for resources
srun: error: Unable to allocate resources: Requested node configuration is not available
"""


@pytest.mark.parametrize(
    ("stdout", "stderr", "message"),
    [
        (
            "",
            ROOT,
            "attempt to run as root; .*OMPI_ALLOW_RUN_AS_ROOT=1 .*OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, ",
        ),
        (
            "",
            SLOTS,
            "^There are not enough slots .* 64 .*; start fewer",
        ),
        ("", HYDRA, "^ssh: .* hostname nohost: Name .*known$"),
        (CRASH, "", r"EXIT STRING: Segmentation fault \(signal 11\)$"),
        (
            "",
            QUEUED,
            "^srun: error: Unable .*: Requested node .*available$",
        ),
        (
            "",
            f"calibration: cannot write: /x\n{RULE}\nMPI_ABORT was invoked\n{RULE}",
            "^calibration: cannot write: /x$",
        ),
        ("", "ls: unrecognized option '--output'\nTry 'ls --help' for more\n", "^ls: unrecognized option '--output'$"),
        ("one\n", "two\nthree\n", "^three$"),
        ("", "", "^$"),
    ],
)
def test_the_message_of_a_failure(stdout: str, stderr: str, message: str) -> None:
    assert re.search(message, trouble(stdout, stderr))


def test_a_long_line_is_cut() -> None:
    assert trouble("", "error " + 300 * "x") == "error " + 234 * "x" + " …"
