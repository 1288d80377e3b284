"""`logpost machines` from the shell's side: output, JSON, exit status, one line for a mistake."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from logpost.cli.app import main
from logpost.machines.schema.load import TEMPLATE, check_machine, library_names, load_machine
from logpost.machines.schema.places import quantities


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
    assert found["paragon"]["verbs"]["analyze"] == {"able": False, "missing": ["G"]}
    assert found["alps"]["verbs"]["analyze"] == {"able": True, "missing": []}
    assert found["alewife"]["topology"] == "mesh 8 x 4"


def test_list_and_show_say_which_verbs_a_machine_feeds(logpost: Any) -> None:
    _, out, _ = logpost("list")
    line = next(line for line in out.splitlines() if line.split()[:1] == ["alewife"])
    assert "analyze, testbed" in line
    assert "analyze" not in next(line for line in out.splitlines() if line.split()[:1] == ["paragon"])
    _, out, _ = logpost("show", "paragon")
    assert "  analyze: lacks G (gap per byte)" in out
    assert "  testbed: lacks topology" in out
    assert "  LoPC: takes it" in out


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


def shown(logpost: Any, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(logpost("show", name, "--json")[1])
    return content


@pytest.mark.parametrize("name", library_names())
def test_show_json_is_the_whole_machine(logpost: Any, name: str) -> None:
    content = shown(logpost, name)
    head = {key: content[key] for key in ("name", "title", "date", "kind", "notes", "sources")}
    made, problems = check_machine({"format": 1, **head, **content["tables"]}, "shown")
    assert (made, problems) == (load_machine(name), [])
    # The flat list is those values and no others.
    assert len(content["values"]) == len(list(quantities(load_machine(name))))


def test_show_json_gives_every_value_its_coordinates(logpost: Any) -> None:
    titan = shown(logpost, "titan_ia64")
    at = {"size_bytes": 16384, "stride_bytes": 1024, "block_bytes": 8, "alone": False}
    assert titan["values"]["log3p.point[0].l_mw"]["at"] == titan["values"]["log3p.point[0].o_net"]["at"] == at
    assert titan["values"]["observed[0].result"]["at"]["name"] == "T01_16KB_1KB"
    assert "half round trip of a 16 KB message" in titan["values"]["observed[0].result"]["at"]["what"]
    assert titan["tables"]["log3p"]["point"][0]["block_bytes"] == 8
    assert titan["tables"]["nic"]["location"] == "Myrinet 2000"
    assert "at" not in titan["values"]["clock.processor"]

    tukey = shown(logpost, "tukey_infiniband")
    assert tukey["values"]["loggp.other_node.range[2].G"]["at"] == {"up_to_bytes": 8}
    assert tukey["tables"]["loggp"]["other_node"]["eager_limit"]["range"] == [8192, 16384]

    alewife = shown(logpost, "alewife")
    miss = {"access": "load", "home": "remote 3-party", "invalidations": 1, "handled_by": "hardware"}
    assert [v["value"] for v in alewife["values"].values() if v.get("at") == miss] == [63]
    assert alewife["values"]["loggp.other_node.range[3].G"]["at"] == {"up_to_bytes": None}
    assert alewife["tables"]["logpc"]["channel_load"] == "printed"
    assert alewife["tables"]["topology"]["routing"].startswith("dimension order")


def test_show_json_of_the_template(logpost: Any) -> None:
    content = shown(logpost, str(TEMPLATE))
    burst = content["values"]["overlap.o[0].o"]
    assert (burst["at"], burst["value"], burst["unit"]) == ({"size_bytes": 1024, "burst": 8}, 0.21, "us")
    pair = {"processors": 64, "size_bytes": 65536, "pattern": "cross-section", "level": "lowest"}
    assert content["values"]["overlap.G[0].G"]["at"] == pair
    # Directly in the class: its one range. The uncertainty is that of the file.
    near = content["tables"]["loggp"]["same_node"]["range"]
    assert (len(near), near[0]["L"]["uncertainty"], near[0]["G"]["interval"]) == (1, 0.01, [58.5, 61.0])
    assert near[0]["G"]["confidence"] == 0.95


def test_mistakes_are_one_line_and_status_2(logpost: Any) -> None:
    status, out, err = logpost("show", "cray-1")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("logpost: unknown machine 'cray-1'")


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
    assert "cannot be written: No such file or " in err
    status, out, _ = logpost("template")
    assert out == TEMPLATE.read_text()


def test_check_lists_every_problem(logpost: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    # A name of the library is that machine's file, unless a file has the name.
    assert logpost("check", "paragon")[:2] == (0, "paragon: good; feeds LogP, LoPC\n")
    monkeypatch.chdir(tmp_path)
    Path("paragon").write_text(bad.read_text())
    assert logpost("check", "paragon")[0] == 2
    assert "cray-1: cannot be read (No such file" in logpost("check", "cray-1")[2]


def test_check_says_that_cycles_need_a_clock(logpost: Any, tmp_path: Path) -> None:
    path = tmp_path / "cycles.toml"
    text = TEMPLATE.read_text().replace("L = 2.1\n", 'L = { value = 21, unit = "cycle" }\n')
    path.write_text(text.replace("[clock]\nprocessor", "[clock]\nnetwork"))
    status, out, _ = logpost("check", str(path))
    assert status == 0
    assert "good; feeds no model yet; " in out
    assert out.endswith(" with [clock] processor\n")
    status, out, _ = logpost("show", str(path))
    assert status == 0
    assert "LogGP: lacks clock.processor" in out


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
