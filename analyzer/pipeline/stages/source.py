"""First stages: the archive in memory, and its size on disk."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from logpost.analyzer.archive._native import Trace
from logpost.analyzer.pipeline.pack_pattern import check
from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.tables.analysis import Report
from logpost.analyzer.pipeline.tables.archive import user_regions
from logpost.replay._native import Spill


def read(request: Request, archive: ReadAhead, report: Report) -> tuple[Path, Trace, Spill | None]:
    """Anchor file, trace, and the file of what exceeds the limit of memory."""
    report("reading", 0, 0)
    anchor, trace = archive.wait()
    spill, archive.spill = archive.spill, None
    if request.pack is not None:
        check(request.pack, user_regions(trace))
    return anchor, trace, spill


def measure(anchor: Path, background: ThreadPoolExecutor) -> Future[int]:
    """The archive's size in bytes."""
    return background.submit(_archive_bytes, anchor)


def _archive_bytes(anchor: Path) -> int:
    """The size of all files of an archive, of which there may be thousands."""
    size = sum(file.stat().st_size for file in (anchor, anchor.with_suffix(".def")) if file.is_file())
    folder = anchor.parent / anchor.stem
    if not folder.is_dir():
        return size
    with os.scandir(folder) as files:
        return size + sum(file.stat().st_size for file in files if file.is_file())
