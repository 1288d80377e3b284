"""Changes of a file: of its bytes, of the numbers and lines of a text, of a JSON's values, of a table's columns."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

NUMBERS = (
    *("0", "-1", "1", "-0.0", "1e-320", "1e308", "-1e308", "1e400", "nan", "inf", "-inf", "0x7f", "1_000"),
    *(str(2**power + more) for power in (31, 32, 53, 62, 63, 64, 127) for more in (-1, 0)),
    *(str(-(2**power)) for power in (31, 63)),
)
"""Where numbers of a format or of a machine end, and what is none."""
WORDS = (
    "",
    "\0",
    "é",
    "\ud83d\ude00",
    "\u202e",
    "\x1b[31m",
    "a" * 5000,
    "../..",
    "[",
    "]",
    "{",
    '"',
    "%s",
    "true",
    "[[x]]",
)
CHANGES = (1, 1, 1, 2, 4)
"""How many of one file: one shows which check is missing, several show what the checks let through together."""
_NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")


def change_bytes(data: bytes, random: Random) -> bytes:
    """Bits flipped, stretches dropped, repeated, overwritten, the end cut off."""
    changed = bytearray(data)
    for _ in range(random.choice(CHANGES)):
        at = random.randrange(len(changed) + 1)
        length = min(len(changed) - at, random.choice((1, 1, 2, 4, 8, 64, 1024)))
        match random.randrange(6):
            case 0 if length:
                changed[at] ^= 1 << random.randrange(8)
            case 1:
                del changed[at : at + length]
            case 2:
                changed[at:at] = changed[at : at + length]
            case 3:
                changed[at : at + length] = random.randbytes(length)
            case 4:
                changed[at : at + length] = random.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * length
            case _ if random.randrange(4) == 0:
                del changed[at:]
    return bytes(changed)


def change_text(data: bytes, random: Random) -> bytes:
    """Numbers at the ends of their ranges, lines that are missing, twice or in another place; or bytes."""
    for _ in range(random.choice(CHANGES)):
        lines = data.split(b"\n")
        at, other = random.randrange(len(lines)), random.randrange(len(lines))
        match random.randrange(7):
            case 0 | 1 | 2 if numbers := list(_NUMBER.finditer(data)):
                chosen = random.choice(numbers)
                data = data[: chosen.start()] + random.choice(NUMBERS).encode() + data[chosen.end() :]
                continue
            case 3:
                del lines[at]
            case 4:
                lines.insert(other, lines[at])
            case 5:
                words = lines[at].split(b" ")
                words[random.randrange(len(words))] = random.choice(WORDS).encode("utf-8", "surrogatepass")
                lines[at] = b" ".join(words)
            case _:
                return change_bytes(data, random)
        data = b"\n".join(lines)
    return data


def change_json(data: bytes, random: Random) -> bytes:
    """Values of another size or kind, members that are missing; or a changed text."""
    if random.randrange(3) == 0:
        return change_text(data, random)
    root = json.loads(data)
    for _ in range(random.choice(CHANGES)):
        if not (places := _places(root)):
            break
        holder, key = random.choice(places)
        match random.randrange(4):
            case 0:
                del holder[key]
            case 1:
                holder[key] = random.choice((None, True, {}, [], -1, 0, 2**63, 2**64, 1e308, float("nan")))
            case 2:
                holder[key] = random.choice(WORDS)
            case _:
                holder[key] = [holder[key]]
    return json.dumps(root).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a tree of JSON as what holds it and its key or number."""
    found: list[tuple[Any, Any]] = []
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        found += [(value, key), *_places(value[key])]
    return found


def change_table(path: Path, random: Random) -> None:
    """A Parquet table with other values, rows, columns or types; every other time its bytes."""
    if random.randrange(2):
        path.write_bytes(change_bytes(path.read_bytes(), random))
        return
    table = pl.read_parquet(path)
    for _ in range(random.choice(CHANGES)):
        if not table.width:
            break
        name = random.choice(table.columns)
        kind = table.schema[name]
        match random.randrange(6):
            case 0:
                table = table.drop(name)
            case 1:
                table = table.head(random.randrange(table.height + 1))
            case 2:
                table = pl.concat([table, table.tail(1)])
            case 3 if not kind.is_nested():
                table = table.with_columns(pl.col(name).cast(pl.String, strict=False))
            case 4 if isinstance(kind, pl.datatypes.IntegerType) and table.height:
                ends = pl.select(least=kind.min(), most=kind.max()).row(0)
                value = random.choice((*ends, 0, 1))
                at = pl.int_range(table.height) == random.randrange(table.height)
                table = table.with_columns(pl.when(at).then(pl.lit(value, kind)).otherwise(name).alias(name))
            case _:
                table = table.with_columns(pl.lit(None, kind).alias(name))
    table.write_parquet(path)
