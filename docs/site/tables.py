"""Generate the reference of a run's tables from their declarations: every column with its type, unit and sentence."""

from __future__ import annotations

from pathlib import Path

from logpost.analyzer.run.schema import TABLES

PAGE = "reference/tables.md"


def write(pages: Path) -> None:
    """Write the page below `pages`."""
    text = [
        "# Tables of a run\n\n`analyze` writes these as Parquet files, and `logpost.open_run(path).NAME` is one as a "
        "polars frame. A unit of 1 is a fraction; none is a name or a number."
    ]
    for table in TABLES.values():
        rows = [f"| `{one.name}` | {one.dtype} | {one.unit} | {_cell(one.sentence)} |" for one in table.columns]
        text.append(
            f"## {table.name}\n\nA row is {table.row}.\n\n| column | type | unit | what |\n|---|---|---|---|\n"
            + "\n".join(rows)
        )
    (pages / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (pages / PAGE).write_text("\n\n".join(text) + "\n", encoding="utf-8")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
