"""The bytes of a run, for tests that compare runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from logpost.analyzer.run.place import MANIFEST


def contents(run: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Every file of a run; of the manifest, what an analysis says of its memory apart: it differs from run to run."""
    files = {str(file.relative_to(run)): file.read_bytes() for file in sorted(run.rglob("*")) if file.is_file()}
    manifest = json.loads(files.pop(MANIFEST))
    memory = manifest.pop("memory")
    files[MANIFEST] = json.dumps(manifest).encode()
    return files, memory
