"""`logpost machines` from the shell's side: output, JSON, exit status, one line for a mistake."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from logpost.cli.app import main
from logpost.machines.load import TEMPLATE, library_names


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *args: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["logpost", "machines", *args])
    monkeypatch.setenv("COLUMNS", "120")
    status = 0
    try:
        main()
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 0
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def logpost(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda *args: run(capsys, monkeypatch, *args)


def test_list(logpost: Any) -> None:
    status, out, _ = logpost("list")
    assert status == 0
    for name in library_names():
        assert name in out
    assert "mesh 8 x 4" in out
    status, out, _ = logpost("list", "--quiet")
    assert out.split() == library_names()


def test_list_json(logpost: Any) -> None:
    status, out, _ = logpost("list", "--json")
    found = {entry["name"]: entry for entry in json.loads(out)["machines"]}
    assert status == 0
    assert found["paragon"]["year"] == 1996
    assert found["paragon"]["feeds"]["LogGP"] == {"able": False, "missing": ["G"]}
    assert found["alewife"]["topology"] == "mesh 8 x 4"


@pytest.mark.parametrize("name", library_names())
def test_show_every_machine(logpost: Any, name: str) -> None:
    status, out, _ = logpost("show", name)
    assert status == 0
    assert name in out
    assert "not stated by the source" in out or "±" in out or " to " in out


def test_show_has_numbers_sources_remarks_and_lines(logpost: Any) -> None:
    _, out, _ = logpost("show", "alewife")
    for part in (
        "LOGPC, Table 2",
        "0.3625",
        "inferred: memory is nearly twice",
        "mean hops",
        "other_node: time over",
        "◆",
    ):
        assert part in out
    _, out, _ = logpost("show", "alewife", "--no-plot")
    assert "◆" not in out
    _, out, _ = logpost("show", "alewife", "--quiet")
    assert "Note:" not in out


def test_show_json_has_unit_and_source_for_every_value(logpost: Any) -> None:
    _, out, _ = logpost("show", "alewife", "--json")
    content = json.loads(out)
    value = content["values"]["loggp.other_node.range[3].G"]
    assert (value["value"], value["unit"], value["source"], value["where"]) == (0.5, "cycle/B", "LOGPC", "Table 2")
    assert all({"unit", "source"} <= set(v) for v in content["values"].values())
    assert content["topology_facts"]["mean hops, uniform, self included"] == 3.875
    assert content["topology_table"]["dims"] == [8, 4]
    assert "per_hop" not in content["topology_table"]
    assert "topology.per_hop" in content["values"]
    assert content["mapping"]["kind"] == "block"


def test_mistakes_are_one_line_and_status_2(logpost: Any) -> None:
    status, out, err = logpost("show", "cray-1")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("logpost: no machine is called 'cray-1'")


def test_template_passes_check(logpost: Any, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    status, out, _ = logpost("template", "-o", str(path))
    assert (status, path.read_text()) == (0, TEMPLATE.read_text())
    assert "logpost machines check" in out
    status, out, err = logpost("check", str(path))
    assert status == 0
    assert "good; feeds LogP, LogGP" in out
    status, _, err = logpost("template", "-o", str(path))
    assert status == 2
    assert "already exists; pass --force to overwrite it" in err
    assert logpost("template", "-o", str(path), "--force", "--quiet")[:2] == (0, "")
    status, _, err = logpost("template", "-o", str(tmp_path / "no" / "where.toml"))
    assert status == 2
    assert "cannot be written: No such file or directory; choose another place" in err
    status, out, _ = logpost("template")
    assert out == TEMPLATE.read_text()


def test_check_lists_every_problem(logpost: Any, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text(TEMPLATE.read_text())
    bad.write_text(TEMPLATE.read_text().replace('source = "BENCH"', "", 1).replace('date = "2026', 'date = "26', 1))
    status, out, err = logpost("check", str(good), str(bad))
    assert status == 2
    assert f"{good}: good" in out
    assert "has no source; add source" in err
    assert all(line.startswith(f"logpost: {bad}: ") for line in err.splitlines())
    status, out, _ = logpost("check", str(bad), "--json")
    assert status == 2
    assert len(json.loads(out)["files"][str(bad)]) == len(err.splitlines())
    assert logpost("check", str(good), "--quiet") == (0, "", "")


def test_check_says_that_cycles_need_a_clock(logpost: Any, tmp_path: Path) -> None:
    path = tmp_path / "cycles.toml"
    text = TEMPLATE.read_text().replace("L = 2.1\n", 'L = { value = 21, unit = "cycle" }\n')
    path.write_text(text.replace("[clock]\nprocessor", "[clock]\nnetwork"))
    status, out, _ = logpost("check", str(path))
    assert status == 0
    assert out.endswith("good; feeds no model yet; values in cycles become times with [clock] processor\n")
    status, out, _ = logpost("show", str(path))
    assert status == 0
    assert "LogGP: needs clock.processor" in out


# Ten ways to break the template as people do, and the start of the one line that each must give.
BROKEN = [
    ('unit = "GHz"', 'unit = "Ghz"', "clock.processor = 2.45: unit 'Ghz' is not known; use one of Hz, kHz, MHz, GHz"),
    ("o_s = 0.1\n", "os = 0.1\n", "loggp.same_node.os = 0.1 is not a key of machine files; do you mean o_s?"),
    ("o_s = 0.1\n", 'o_s = "0.1 us"\n', "loggp.same_node.o_s = '0.1 us' is not a number, nor a table of value"),
    ("L = 2.1\n", "L = -2.1\n", "loggp.other_node.range[1].L = -2.1: must not be negative"),
    ('"fat tree"', '"fattree"', "topology.kind = 'fattree' must be one of 'mesh', 'torus'"),
    ('host = "node1, node2"\n', "", "sources.BENCH: a source of kind 'measurement' needs host"),
    ("confidence = 0.95", "confidence = 95", "loggp.same_node.G.confidence = 95 must be less than 1"),
    ('kind = "block"', 'kind = "blok"', "mapping.kind = 'blok' must be 'block', 'cyclic', 'random' or 'list'"),
    ("format = 1", "format = = 1", "is not TOML: Invalid value (at line 7, column 10)"),
    (
        ', source = "VENDOR" }   #',
        ', source = "VENDER" }   #',
        "clock.processor cites source 'VENDER', which [sources]",
    ),
]


@pytest.mark.parametrize(("good", "bad", "said"), BROKEN)
def test_a_broken_file_gives_one_line_and_status_2(
    logpost: Any, tmp_path: Path, good: str, bad: str, said: str
) -> None:
    path = tmp_path / "mine.toml"
    text = TEMPLATE.read_text()
    assert good in text
    path.write_text(text.replace(good, bad, 1))
    status, out, err = logpost("check", str(path))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"logpost: {path}: {said}")
