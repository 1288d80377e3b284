"""GASNet's text traces -> OTF2 archive, by the assembler (collectors/assembler/native/gasnet_*)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from logpost.collectors.assemble import Archive, find_assembler, summary_of
from logpost.errors import InputError
from logpost.whole_file import cannot_write, permit, refuse_existing


def import_gasnet(
    files: Sequence[Path], output: Path, *, force: bool = False, say: Callable[[str], None] = lambda text: None
) -> Archive:
    """Make the archive of one run's trace files; it appears in ``output`` whole or not at all.

    Raises InputError with the assembler's message: no file of GASNet's, files of different runs, no place to write.
    """
    refuse_existing(output, force=force)
    if force and output.exists() and not (output / "traces.otf2").is_file():
        raise InputError(f"{output} holds no archive and is not overwritten; choose another place")
    assembler = find_assembler(say)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{output.name}.", suffix=".partial", dir=output.parent))
    except OSError as error:
        raise cannot_write(output, error) from error
    try:
        command = [str(assembler), "--gasnet", str(partial / "a"), *map(str, files)]
        summary = summary_of(command, "no archive was made")
        if output.exists():
            shutil.rmtree(output)
        permit(partial / "a", directory=True)
        (partial / "a").rename(output)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Archive(output, summary)
