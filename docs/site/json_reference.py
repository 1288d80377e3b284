"""Generate docs/json.md, the reference of `--json`: the keys of real outputs, with their types, units and sentences.

usage: python docs/site/json_reference.py    writes the page anew; a test compares it

Sentences are the docstrings of the structure that an output is made from, followed along its type hints; units follow
from the keys' endings, as everywhere in the project.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from api import attribute_docs
from pydantic import BaseModel
from stage import ROOT
from transcript import output
from tutorial import unpack

from logpost.analyzer.compare.two_runs import Comparison
from logpost.analyzer.explain.messages import Explanation
from logpost.analyzer.predict.roofline import Roofline
from logpost.analyzer.predict.whatif import Prediction
from logpost.analyzer.report.data import Report
from logpost.analyzer.run.manifest import Manifest
from logpost.cli.output import JSON_VERSION
from logpost.cli.overview import EXIT_STATUS

PAGE = ROOT / "docs" / "json.md"
COMMANDS: dict[str, type] = {
    "logpost report original.run --json --models": Report,
    "logpost compare original.run improved.run --json --fail-if 'waiting > +5%'": Comparison,
    "logpost whatif original.run --json --set L=x2": Prediction,
    "logpost explain original.run 0:100 --json": Explanation,
    "logpost roofline original.run --json": Roofline,
    "cat original.run/manifest.json": Manifest,
}
"""What is shown, and the structure that it is made from."""
UNITS = {"_ps": "ps", "_s": "s", "_share": "fraction", "share": "fraction", "_bytes": "bytes", "bytes": "bytes"}
TYPES = {str: "text", bool: "true or false", int: "integer", float: "number", type(None): "null"}


def page() -> str:
    """The page, from the archives of the tutorial.

    Raises:
        InputError: a command fails.
    """
    text = [
        f"# JSON, version {JSON_VERSION}\n\nEvery verb that shows figures has `--json`. Its object begins with "
        f"`json_version`, which is {JSON_VERSION}: a key that is removed, or has another meaning, makes a new version; "
        "an added key does not. `manifest.json` of a run is such an object with a `format_version`. A key that ends in "
        "`_s` is in seconds, `_ps` in picoseconds; null is a value that is not known. `[]` is each element of a list, "
        "`*` each of several names (categories, parameters, ranks). The keys are those of the tutorial's runs; what "
        "these lack (threads, one-sided communication) is null there.\n\nThis page is made by "
        "`python docs/site/json_reference.py`.",
        f"## Exit status\n\n{EXIT_STATUS}. An error is one line on standard error, that begins with `logpost:`.",
    ]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        unpack(work)
        for name in ("original", "improved"):
            output(f"logpost analyze {name} -o {name}.run", work)
        for command, root in COMMANDS.items():
            document = json.loads(output(command, work))
            rows = [f"| `{key}` | {kind} | {_unit(key)} | {said} |" for key, kind, said in keys(document, root)]
            text.append(f"## {command}\n\n| key | type | unit | what |\n|---|---|---|---|\n" + "\n".join(rows))
    return "\n\n".join(text) + "\n"


def keys(value: Any, structure: type | None, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Each key with its type and the sentence of the structure's field of that name."""
    for name, child in value.items():
        field, sentence = _field(structure, name)
        path = f"{prefix}{name}"
        while isinstance(child, list) and child and isinstance(child[0], (list, dict)):
            path, child = f"{path}[]", _all_keys(child)
        if isinstance(child, dict) and child:
            yield path, "list of objects" if path.endswith("[]") else "object", sentence
            below = {"*": next(iter(child.values()))} if _same_kind(child) else child
            yield from keys(below, field, f"{path}.")
        else:
            yield path, _type(child), sentence


def _all_keys(several: list[Any]) -> Any:
    """One element with the keys of all; a key keeps its first value that is not null or empty."""
    if not isinstance(several[0], dict):
        return several[0]
    merged: dict[str, Any] = {}
    for one in several:
        for name, value in one.items():
            if merged.get(name) in (None, [], {}):
                merged[name] = value
    return merged


def _same_kind(child: dict[str, Any]) -> bool:
    """Whether the names of an object are data: all of its values are alike numbers, or objects of the same names."""
    values = list(child.values())
    if len(values) < 4:
        return False
    if all(isinstance(one, dict) for one in values):
        return all(one.keys() == values[0].keys() for one in values)
    # A structure of numbers has names with different units.
    return all(type(one) in (int, float, type(None)) for one in values) and not any(map(_unit, child))


def _field(structure: type | None, name: str) -> tuple[type | None, str]:
    """The structure of a key's value, and what its field says; seconds of JSON are picoseconds of the structure."""
    if structure is None or not (dataclasses.is_dataclass(structure) or issubclass(structure, BaseModel)):
        return None, ""
    hints = typing.get_type_hints(structure)
    names = [name, f"{name[:-2]}_ps" if name.endswith("_s") else name, name.removesuffix("_s")]
    found = next((one for one in names if one in hints), None)
    if found is None:
        return None, ""
    if issubclass(structure, BaseModel):
        sentence = structure.model_fields[found].description or ""
    else:
        sentence = attribute_docs(structure).get(found, "")
    return _innermost(hints[found]), sentence.replace("|", "\\|")


def _innermost(hint: Any) -> type | None:
    """The structure within `tuple[Place, ...]`, `Place | None` or `dict[str, Place]`."""
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint
    inner = (_innermost(one) for one in typing.get_args(hint) if one not in (type(None), Ellipsis))
    return next((one for one in inner if one is not None and one not in TYPES), None)


def _unit(key: str) -> str:
    name = key.rpartition(".")[2].removesuffix("[]")
    if name == "*":
        return _unit(key.rpartition(".")[0])
    return next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")


def _type(value: Any) -> str:
    if isinstance(value, list):
        return f"list of {_plural(value[0])}" if value else "list"
    if isinstance(value, dict):
        return "object"
    return TYPES[type(value)]


def _plural(value: Any) -> str:
    return {str: "texts", int: "integers", float: "numbers"}.get(type(value), f"{_type(value)}s")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
