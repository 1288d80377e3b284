"""Generate the reference of the Python interface from docstrings: `logpost.open_run`, and what that returns."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import logpost
from logpost.analyzer.predict.whatif import Prediction
from logpost.dashboards.notebook import Figures, OpenRun

PAGE = "reference/python.md"


def write(pages: Path) -> None:
    """Write the page below `pages`."""
    text = [
        "# Python interface\n\nTables are polars frames, figures plotly figures: [a notebook](../docs/notebook.md). "
        "What is not on this page may change without notice.",
        f"## logpost.open_run\n\n{_entry('logpost.open_run', logpost.open_run)}",
        *(_class(kind, shown) for kind, shown in ((OpenRun, "run"), (Figures, "run.plot"), (Prediction, "prediction"))),
    ]
    (pages / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (pages / PAGE).write_text("\n\n".join(text) + "\n", encoding="utf-8")


def _class(kind: type, shown: str) -> str:
    """A section: the class, its attributes that have a docstring, and its public methods in the order of the source."""
    members = [
        _entry(f"{shown}.{name}", member)
        for name, member in vars(kind).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    ]
    attributes = "\n".join(f"- `{shown}.{name}`: {sentence}" for name, sentence in attribute_docs(kind).items())
    parts = [f"## {kind.__name__}", _plain(inspect.getdoc(kind) or ""), attributes, *members]
    return "\n\n".join(part for part in parts if part)


def _entry(name: str, member: object) -> str:
    """A heading with the signature, and the docstring."""
    head = name
    if inspect.isfunction(member):
        signature = inspect.signature(member)
        kept = [one for one in signature.parameters.values() if one.name != "self"]
        head = f"{name}{signature.replace(parameters=kept)}"
    return f"### {name}\n\n```python\n{head.replace(chr(39), '')}\n```\n\n{_plain(inspect.getdoc(member) or '')}"


def _plain(text: str) -> str:
    """A docstring as Markdown: its `Raises:` as a list."""
    body, _, raises = text.partition("\nRaises:\n")
    listed = re.sub(r"^ +(\w+): ", r"- raises `\1`: ", raises, flags=re.MULTILINE)
    return f"{body}\n{listed}".strip()


def attribute_docs(kind: type) -> dict[str, str]:
    """Names of a class's attributes to the string below each, in one line; those without one are absent."""
    lines = inspect.getsource(kind)
    found = re.findall(r'^    (\w+): [^\n]*\n    """(.*?)"""', lines, re.MULTILINE | re.DOTALL)
    return {name: " ".join(sentence.split()) for name, sentence in found}
