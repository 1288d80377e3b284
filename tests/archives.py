"""The real archives: packed in `tests/data/archives`, and any more in `../shared/traces` next to the checkout.

`LOGPOST_SHARED` names another place than `../shared`. The native tests unpack the same files (tests/CMakeLists.txt).
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(__file__).resolve().parent / "data"
SHARED = Path(os.environ.get("LOGPOST_SHARED", ROOT.parent / "shared"))


def packed() -> list[Path]:
    """The packed archives; the stem of the file is the name of the folder in it."""
    return sorted((DATA / "archives").glob("*.tar.xz"))


def name_of(file: Path) -> str:
    """`casita-1_sptc` of `casita-1_sptc.tar.xz`."""
    return file.name.removesuffix(".tar.xz")


def unpacked(file: Path, folder: Path) -> Path:
    """A packed archive as a folder of its name in `folder`."""
    with tarfile.open(file) as tar:
        # Debian 12's Python 3.11.2 has no filters; the files are the repository's own.
        if hasattr(tarfile, "data_filter"):
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(folder)
    return folder / name_of(file)


def unpack(folder: Path) -> None:
    """Every packed archive as a folder of its name in `folder`."""
    for file in packed():
        unpacked(file, folder)


def not_packed() -> list[Path]:
    """Folders of archives that are not packed."""
    have = {name_of(file) for file in packed()}
    return sorted(
        {anchor.parent for anchor in (SHARED / "traces").glob("*/*.otf2")} - {SHARED / "traces" / n for n in have}
    )
