"""Reading machine files: TOML -> checked `Machine`, with messages that name file, key, value and the way out."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from logpost.errors import InputError, suggestion
from logpost.machines.schema import Machine
from logpost.machines.schema.consistency import ContradictionsError
from logpost.machines.schema.places import key_name
from logpost.machines.schema.wording import meant, must_be
from logpost.machines.values.toml import read_toml, shortened

LIBRARY = Path(__file__).resolve().parent.parent / "library"
RECORDED = "machine.toml"
"""The machine that an archive was recorded on, in the archive's directory."""

TEMPLATE = Path(__file__).resolve().parent / "template.toml"


def template_text() -> str:
    """The commented template of `logpost machines template`; it passes its own check."""
    return TEMPLATE.read_text(encoding="utf-8")


def library_names() -> list[str]:
    """Names of the machines that come with logpost, sorted."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def find_machine_file(name_or_path: str | Path) -> Path:
    """The file of a machine that is given by name or by path.

    A name is looked up in the library; anything with a slash or ending in `.toml` is a path. Raises InputError.
    """
    text = str(name_or_path)
    if not text.endswith(".toml") and "/" not in text:
        path = LIBRARY / f"{text}.toml"
        if path.is_file():
            return path
        if Path(text).is_file():
            raise InputError(f"unknown machine {text!r}; if you mean the file of that name, write ./{text}")
        raise InputError(
            f"unknown machine {text!r}; use one of {', '.join(library_names())}; "
            f"give your own file by its path, e.g. ./my-cluster.toml{suggestion(text, library_names())}"
        )
    path = Path(text)
    if not path.is_file():
        raise InputError(f"{path} is not a file; give the path of a machine file or a name of `logpost machines list`")
    return path


def load_machine(name_or_path: str | Path) -> Machine:
    """Load and check a machine by name or path. Raises InputError with the first problem and their number."""
    return load_machine_file(find_machine_file(name_or_path))


def load_machine_file(path: Path) -> Machine:
    """Load and check one file."""
    found, problems = check_machine_file(path)
    if found is None:
        more = f" (and {len(problems) - 1} more; see `logpost machines check {path}`)" if len(problems) > 1 else ""
        raise InputError(problems[0] + more)
    return found


def check_machine_file(path: Path) -> tuple[Machine | None, list[str]]:
    """The machine and no problem, or None and every problem, one line each."""
    try:
        raw = read_toml(path)
    except InputError as error:
        return None, [str(error)]
    return check_machine(raw, str(path))


def check_machine(raw: dict[str, Any], file: str) -> tuple[Machine | None, list[str]]:
    """Like `check_machine_file`, for a document that is already parsed."""
    try:
        return Machine.model_validate(raw), []
    except ValidationError as error:
        return None, [line for problem in error.errors() for line in _sentences(file, raw, dict(problem))]


def file_hash(name_or_path: str | Path) -> str:
    """SHA-256 of the machine file, as a run's manifest records it."""
    return hashlib.sha256(find_machine_file(name_or_path).read_bytes()).hexdigest()


def _sentences(file: str, raw: dict[str, Any], problem: dict[str, Any]) -> list[str]:
    """A problem as lines: one, but what contradicts itself across tables was found all at once."""
    cause = problem.get("ctx", {}).get("error")
    if not isinstance(cause, ContradictionsError):
        return [_sentence(file, raw, problem)]
    lines = []
    for one in cause.found:
        place = as_written(raw, one.place)
        value = _value_at(raw, place) if one.of_value else ""
        lines.append(f"{file}: {key_name(place)}{value} {one.words}")
    return lines


def _sentence(file: str, raw: dict[str, Any], problem: dict[str, Any]) -> str:
    """One problem as "file: key = value: what is wrong; the way out"."""
    loc = problem["loc"]
    # The checker puts the kind of a topology after its name.
    place = as_written(raw, [part for i, part in enumerate(loc) if i != 1 or loc[0] != "topology" or part not in _TAGS])
    kind = str(problem["type"])
    if kind == "missing" and isinstance(place[-1], int):
        place, kind = place[:-1], "tuple_type"
    if kind == "union_tag_not_found":
        place, kind = [*place, "kind"], "missing"
    if kind == "missing":
        return f"{file}: {key_name(place[:-1]) or 'the file'}{_value_at(raw, place[:-1])} {_missing(str(place[-1]))}"
    if kind == "union_tag_invalid":
        place = [*place, "kind"]
    what = f"{file}: {key_name(place)}{_value_at(raw, place)}"
    if kind == "extra_forbidden":
        return f"{what} is not a key of machine files{meant(problem['loc'])}"
    words = must_be({**problem, "type": kind})
    return f"{what}{':' if kind == 'value_error' else ''} {words}" if place else f"{file}: {words}"


def as_written(raw: Any, place: Sequence[int | str]) -> list[int | str]:
    """A place in the checked document as the file has it: without the range of a class whose values are directly
    in it, and without the `value` of a number in its short form.
    """
    written: list[int | str] = []
    here = raw
    rest = list(place)
    while rest:
        part = rest.pop(0)
        if part == "range" and isinstance(here, dict) and "range" not in here and rest[:1] == [0]:
            rest.pop(0)
            continue
        if part == "value" and not rest and written and not isinstance(here, (dict, list)) and here is not None:
            break
        written.append(part)
        try:
            here = here[part]
        except (KeyError, IndexError, TypeError):
            here = None
    return written


_TAGS = {"mesh", "torus", "k-ary n-cube", "ring", "hypercube", "fat tree", "dragonfly", "crossbar", "switched"}


def _missing(key: str) -> str:
    ways = {
        "source": 'has no source; add source = "KEY" (an entry of [sources]) to it, its table or the file',
        "unit": 'has no unit; add unit = "..." to it, or units = ["..."] to its table or the file',
    }
    return ways.get(key, f"lacks the key {key}; see `logpost machines template`")


def _value_at(raw: Any, place: Sequence[int | str]) -> str:
    """` = value` for a place in the document, empty when there is no such place or it is a big table."""
    here = raw
    for part in place:
        try:
            here = here[part]
        except (KeyError, IndexError, TypeError):
            return ""
    if isinstance(here, dict):
        return f" = {_shown(here['value'])}" if "value" in here else ""
    if isinstance(here, list):
        return f" = {_shown(here)}" if len(_shown(here)) < 40 else ""
    return f" = {_shown(here)}" if place else ""


def _shown(value: object) -> str:
    """A value in Python's notation, but true, false and dates as TOML has them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    try:
        return shortened(repr(value))
    except ValueError:
        # More digits than Python writes.
        return "a very large number"


__all__ = [
    "LIBRARY",
    "TEMPLATE",
    "check_machine",
    "check_machine_file",
    "file_hash",
    "find_machine_file",
    "library_names",
    "load_machine",
    "load_machine_file",
    "template_text",
]
