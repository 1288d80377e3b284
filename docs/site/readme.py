"""Put what the README's commands print below them: they run on the tutorial's recording, at 80 columns.

usage: python docs/site/readme.py    writes the file anew; a test compares it
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from stage import ROOT
from transcript import transcribed
from tutorial import unpack

PAGE = ROOT / "README.md"


def page() -> str:
    """The README with the output of its commands.

    Raises:
        InputError: a command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        traces = Path(folder) / "traces"
        unpack(Path(folder))
        traces.mkdir()
        (Path(folder) / "original").rename(traces / "original")
        return transcribed(PAGE.read_text(encoding="utf-8"), Path(folder), str)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
