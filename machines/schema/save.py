"""Write a calibrated machine to its file atomically, after reading it back and checking it."""

from __future__ import annotations

from pathlib import Path

from logpost.errors import InputError
from logpost.machines.schema import Machine
from logpost.machines.schema.load import check_machine_file
from logpost.machines.schema.write import to_toml
from logpost.whole_file import cannot_write, whole_file


def save_machine(machine: Machine, path: Path) -> None:
    """Write the machine to the folder of `path`, read it back, compare, and only then put it in place.

    Raises InputError when the directory cannot be written, what is there is no regular file (nothing can be read back
    from a pipe), or what was read back is not the machine.
    """
    if path.exists() and not path.is_file():
        raise InputError(f"{path} cannot be written: it is not a regular file; choose another place with -o")
    try:
        with whole_file(path, to_toml(machine)) as written:
            found, problems = check_machine_file(written)
            if found != machine:
                reason = problems[0] if problems else "it reads back differently"
                raise InputError(f"{path} was not written, because the file would not be valid: {reason}")
    except OSError as error:
        raise cannot_write(path, error, "choose another place with -o") from error
