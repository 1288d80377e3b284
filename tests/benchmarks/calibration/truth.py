"""What a calibration has to predict, measured by strided_messages.c: messages and broadcasts, launch by launch."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from logpost.collectors.calibration.build import compile_program

CONTIGUOUS = 8
"""Stride in bytes of doubles without gaps."""
REFERENCES = ((1024, CONTIGUOUS), (4096, 64), (32768, 64))
"""(size, stride) in bytes, of the calibration's grid: measured again in each launch."""
_SOURCE = Path(__file__).with_name("strided_messages.c")
_PATIENCE_S = 120.0


@dataclass(frozen=True)
class Case:
    """One time to predict: of what, of how many bytes with which stride over how many ranks."""

    kind: str
    size: int
    stride: int
    ranks: int


@dataclass(frozen=True)
class Time:
    """Median and smallest sample of one launch, in seconds."""

    median_s: float
    least_s: float


@dataclass
class Truth:
    """Times by number of the calibration's pass after which they were measured, from 0."""

    cases: dict[Case, dict[int, Time]] = field(default_factory=dict)
    references: dict[Case, dict[int, dict[tuple[int, int], list[float]]]] = field(default_factory=dict)
    """Of each case's launch: medians in seconds of the references, by size and stride."""


def build(compiler: str, folder: Path) -> Path:
    """strided_messages for the MPI of a compiler wrapper."""
    program = folder / "strided_messages"
    compile_program(compiler, _SOURCE, program)
    return program


def take(
    truth: Truth,
    number: int,
    launch: Sequence[str],
    program: Path,
    *,
    kinds: Iterable[str],
    sizes: Iterable[int],
    strides: Iterable[int],
    options: Sequence[str] = (),
    references: Sequence[tuple[int, int]] = (),
) -> None:
    """Measure all kinds, sizes and strides (bytes) in one launch, after the pass of that number."""
    output = program.with_suffix(".jsonl")
    grid = ["--kinds", ",".join(kinds), "--bytes", _listed(sizes), "--strides", _listed(strides)]
    if references:
        grid += ["--reference-bytes", _listed(size for size, _ in references)]
        grid += ["--reference-strides", _listed(stride for _, stride in references)]
    command = [*launch, str(program), "--output", str(output), *grid, *options]
    subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE_S)
    points = [json.loads(line) for line in output.read_text().splitlines()[1:]]
    again: dict[tuple[int, int], list[float]] = {}
    answer = Time(0.0, 0.0)
    for p in points:
        if p["family"] == "reference":
            again.setdefault((p["bytes"], p["stride_bytes"]), []).append(p["median_s"])
        elif p["family"] == "answer":
            answer = Time(p["median_s"], p["minimum_s"])
    for p in points:
        if p["family"] in ("reference", "answer"):
            continue
        case = Case(p["family"], p["bytes"], p["stride_bytes"], p["ranks"])
        off = Time(0.0, 0.0) if case.kind == "ping" else answer
        time = Time(p["median_s"] - off.median_s, p["minimum_s"] - off.least_s)
        truth.cases.setdefault(case, {})[number] = time
        truth.references.setdefault(case, {})[number] = again


def _listed(values: Iterable[int]) -> str:
    return ",".join(map(str, values))
