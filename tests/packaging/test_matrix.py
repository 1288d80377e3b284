"""The matrix says of each row whether it passed, failed or was not run, and why."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from tests.packaging.script import loaded


@pytest.fixture(scope="module")
def matrix() -> ModuleType:
    return loaded("matrix")


def test_every_row_says_how_it_ended(matrix: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> str:
        return str(matrix.run(sys.executable, "-c", "print('no luck'); raise SystemExit(3)"))

    def lacks() -> str:
        raise matrix.NotRunError("no such thing here")

    rows = [matrix.Row("Python 3.9", lambda: "3.9.1"), matrix.Row("MPI 1", lacks), matrix.Row("libotf2 9", fails)]
    assert matrix.main([], rows) == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "Python 3.9    passed   3.9.1"
    assert second == "MPI 1         not run  no such thing here"
    assert third.startswith("libotf2 9     FAILED   ")
    assert third.endswith("exit status 3: no luck")
    assert matrix.main(["python"], rows) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "MPI 1         not run  not selected",
        "libotf2 9     not run  not selected",
    ]


def test_a_python_and_a_libotf2_that_are_not_here_are_named(matrix: ModuleType) -> None:
    with pytest.raises(matrix.NotRunError, match=r"no python3\.99 here"):
        matrix.python("3.99")
    with pytest.raises(matrix.NotRunError, match="no libotf2 77 here; name its otf2-config in LOGPOST_OTF2_CONFIGS"):
        matrix.otf2("77")
