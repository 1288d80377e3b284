"""A file that appears whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path, text: str) -> Iterator[Path]:
    """The text in a new file beside `path`, for the block to check; it takes `path`'s place when the block ends.

    Where the block raises, or anything cannot be written (OSError), `path` is as before and the new file is gone.
    """
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix, delete=False
    ) as file:
        written = Path(file.name)
    try:
        written.write_text(text, encoding="utf-8")
        yield written
        written.chmod(0o644)
        os.replace(written, path)
    finally:
        written.unlink(missing_ok=True)
