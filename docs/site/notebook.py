"""Make the page of the notebook: its cells run in order, each with its output below, as in Jupyter."""

from __future__ import annotations

import ast
import contextlib
import html
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from catalogue import SCRIPT
from stage import ROOT

from logpost.errors import InputError

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
PAGE = "docs/notebook.md"


def write(pages: Path, work: Path) -> None:
    """Write the page below `pages`; the cells run in `work`, where the tutorial's runs are.

    Raises:
        InputError: a cell raises.
    """
    with _directory(work):
        parts = rendered(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
    (pages / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (pages / PAGE).write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def rendered(notebook: dict[str, Any]) -> list[str]:
    """The cells as Markdown, each of code with what it shows.

    Raises:
        InputError: a cell raises.
    """
    namespace: dict[str, Any] = {}
    parts = [f'<script src="../{SCRIPT}"></script>']
    for number, cell in enumerate(notebook["cells"], 1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source.strip())
            continue
        parts.append(f"```python\n{source}\n```")
        try:
            shown = _run(source, namespace)
        except Exception as error:
            raise InputError(f"{NOTEBOOK.name}: cell {number} raises {type(error).__name__}: {error}") from error
        if shown:
            parts.append(shown)
    return parts


def _run(source: str, namespace: dict[str, Any]) -> str:
    """Run a cell; the value of its last line as HTML, behind what it prints."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, NOTEBOOK.name, "exec"), namespace)
        value = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), namespace) if last else None
    text = f"<pre>{html.escape(printed.getvalue())}</pre>" if printed.getvalue() else ""
    return text + ("" if value is None else _html(value))


def _html(value: Any) -> str:
    """As Jupyter shows it: a figure as itself, a frame as a table, else its repr."""
    if hasattr(value, "to_html"):
        return re.sub(r"\n\s*", " ", value.to_html(full_html=False, include_plotlyjs=False))
    if hasattr(value, "_repr_html_"):
        return re.sub(r"\n\s*", " ", value._repr_html_())
    return f"<pre>{html.escape(repr(value))}</pre>"


@contextlib.contextmanager
def _directory(path: Path) -> Iterator[None]:
    """`contextlib.chdir`, which Python 3.10 lacks."""
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
