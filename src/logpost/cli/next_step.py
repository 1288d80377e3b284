"""What to type next."""

from __future__ import annotations

import os
import shlex
from pathlib import Path


def analyze_next(archive: Path) -> str:
    """The line that names the command for an archive that was made."""
    shown = shlex.quote(os.path.relpath(archive))
    return f"next: logpost analyze {shown} -o {shown}.run"
