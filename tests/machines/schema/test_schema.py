"""What a machine file may say, and the sentence for each thing that is refused."""

from __future__ import annotations

import copy
import datetime
import re
from pathlib import Path
from typing import Any

import pytest
from tests.machines.builders import DOCUMENT, document, machine, problems

from logpost.errors import InputError
from logpost.machines.schema.load import TEMPLATE, check_machine, check_machine_file, load_machine, load_machine_file
from logpost.machines.values.quantity import NOT_STATED


def test_defaults_of_the_file_reach_every_value() -> None:
    ranges = machine().loggp.of("other_node")
    assert ranges is not None
    (only,) = ranges.range
    assert only.L is not None
    assert (only.L.value, only.L.unit, only.L.source) == (5, "us", "BENCH")
    assert only.G is not None
    assert only.G.unit == "ns/B"  # the default of its own dimension
    assert only.L.uncertainty_text() == NOT_STATED


def test_inner_defaults_win_and_where_stays_with_its_source() -> None:
    sources = {**DOCUMENT["sources"], "BOOK": {"kind": "manual", "text": "data sheet"}}
    made = machine(
        sources=sources,
        where="run 1",
        loggp={
            "same_node": {"units": ["ns"], "where": "run 2", "L": 7, "G": 1},
            "other_node": {"source": "BOOK", "L": 8, "G": {"value": 2, "source": "BENCH", "unit": "ps/B"}},
        },
    )
    near, far = made.loggp.same_node, made.loggp.other_node
    assert near is not None
    assert far is not None
    near_L, near_G = near.range[0].L, near.range[0].G
    assert near_L is not None
    assert near_G is not None
    assert (near_L.unit, near_L.where) == ("ns", "run 2")
    assert near_G.unit == "ns/B"  # of the file: the class replaces only the unit of time
    far_L, far_G = far.range[0].L, far.range[0].G
    assert far_L is not None
    assert far_G is not None
    # "run 1" is a place in BENCH and says nothing about BOOK.
    assert (far_L.source, far_L.where) == ("BOOK", None)
    assert (far_G.source, far_G.where, far_G.unit) == ("BENCH", None, "ps/B")


def test_a_count_needs_no_unit_but_a_ratio_does() -> None:
    made = machine(overlap={"HD": 32})
    assert made.overlap.HD is not None
    assert made.overlap.HD.unit == "1"
    assert "logpc.dma_contention = 45 has no unit" in problems(logpc={"dma_contention": 45})[0]


def test_dates_need_no_quotes() -> None:
    made = machine(date=datetime.date(2026, 1, 31))
    assert (made.date, made.year) == ("2026-01-31", 2026)


def test_class_without_ranges_gives_nothing() -> None:
    made = machine(loggp={"other_node": {"eager_limit": {"value": 1024, "unit": "B"}}})
    assert made.loggp.of("other_node") is None


GAP = {"processors": 2, "size_bytes": 8, "pattern": "cross-section", "level": "lowest"}

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"source": None}, r"toy.toml: loggp.other_node.L = 5 has no source; add source = \"KEY\""),
    ({"units": ["us"]}, r"loggp.other_node.G = 4 has no unit; add unit = \"...\" to it, or units ="),
    ({"units": ["us", "ns"]}, r"units holds 'us' and 'ns', both a time; keep one of them"),
    ({"units": ["usec"]}, r"units holds 'usec', which is not a known unit; use some of ps"),
    ({"units": "us"}, r"units = 'us' must be a list of units, e.g. units = \[\"us\", \"ns/B\"\]"),
    ({"loggp": {"other_node": {"units": [[1]], "L": 1}}}, r"units = \[\[1\]\] must be a list of units"),
    ({"format": 2}, r"toy.toml: format = 2 must be 1"),
    ({"format": None}, r"the file lacks the key format; see `logpost machines template`"),
    (
        {"name": "My Machine"},
        r"toy.toml: name = 'My Machine' must begin with a small letter or digit; then small letters",
    ),
    ({"date": "Feb 1996"}, r"date = 'Feb 1996': must be written \"1996\", \"1996-02\" or \"1996-02-28\""),
    ({"date": "1996-13"}, r"date = '1996-13': must be written"),
    ({"kind": "guess"}, r"kind = 'guess' must be 'publication', 'measurement', 'documentation' or 'template'"),
    ({"sources": {}}, r"sources must have at least one entry"),
    ({"sources": {"BENCH": {"kind": "measurement", "text": "x"}}}, r"kind 'measurement' needs date = \"...\""),
    ({"sources": {"BENCH": {"kind": "repository", "text": "x", "url": "u"}}}, r"kind 'repository' needs path ="),
    ({"source": "PAPER"}, r"L cites source 'PAPER', which \[sources\] does not have; it has BENCH"),
    ({"colour": "red"}, r"toy.toml: colour = 'red' is not a key of machine files; see `logpost machines template`"),
    ({"loggp": {"same_rack": {"L": 1}}}, r"loggp.same_rack is not a key of machine files; do you mean same_"),
    (
        {"loggp": {"elsewhere": {"L": 1}}},
        r"loggp.elsewhere is not a key of machine files; it has self, same_socket, same_node, other_node$",
    ),
    # The key that is meant is one of the same table.
    ({"LogGP": {}}, r"LogGP is not a key of machine files; do you mean loggp\?"),
    (
        {"loggp": {"other_node": {"L": {"value": 1, "units": "us"}}}},
        r"loggp.other_node.L.units = 'us' is not a key of machine files in this table; do you mean unit\?",
    ),
    (
        {"loggp": {"other_node": {"bandwidth": 1}}},
        r"other_node.bandwidth = 1 is not a key of machine files; it has eager_limit, range, up_to_bytes, L, .* g, G$",
    ),
    (
        {"topology": {"kind": "mesh", "dims": [2], "n": 3}},
        r"topology.n = 3 is not a key of machine files in this table; it has kind, .*dims$",
    ),
    (
        {"sources": {"mesh": {"kind": "paper", "text": "x", "ulr": "y"}}, "source": "mesh"},
        r"sources.mesh.ulr = 'y' is not a key of machine files; do you mean url\?",
    ),
    ({"loggp": {"other_node": {"L": -1}}}, r"loggp.other_node.L = -1: must not be negative"),
    ({"loggp": {"other_node": {"L": float("nan")}}}, r"loggp.other_node.L = nan: must be a finite number"),
    (
        {"loggp": {"other_node": {"L": "fast"}}},
        r"loggp.other_node.L = 'fast' is not a number, nor a table of value, unit and source such as \{ value",
    ),
    ({"loggp": {"other_node": {"L": True}}}, r"loggp.other_node.L = true is not a number, nor a table of value"),
    (
        {"loggp": {"other_node": {"L": {"value": 1, "unit": "MB/s"}}}},
        r"L = 1: unit 'MB/s' is a bandwidth, but this is a time; use one of ps, ns, us, ms, s, cycle",
    ),
    (
        {"loggp": {"other_node": {"L": {"value": 1, "unit": "usec"}}}},
        r"L = 1: unit 'usec' is not known; use one of ps, ns, us, ms, s, cycle",
    ),
    ({"loggp": {"other_node": {"L": {"value": 1, "range": [1, 2]}}}}, r"exactly one of value and range"),
    ({"loggp": {"other_node": {"L": {"unit": "us"}}}}, r"exactly one of value and range, e.g. value = 6.3"),
    (
        {"loggp": {"other_node": {"L": {"range": [2, 1]}}}},
        r"range = \[2, 1\] runs backwards; write the lower end first",
    ),
    (
        {"loggp": {"other_node": {"L": {"value": 5, "interval": [6, 7]}}}},
        r"L = 5: interval = \[6, 7\] does not contain value = 5",
    ),
    (
        {"loggp": {"other_node": {"L": {"value": 5, "interval": [4, 7], "uncertainty": 1}}}},
        r"has both uncertainty and interval; keep the one",
    ),
    (
        {"loggp": {"other_node": {"L": {"value": 5, "basis": "inferred"}}}},
        r"basis = 'inferred' needs a note that says from what",
    ),
    ({"overlap": {"HD": 3.5}}, r"overlap.HD = 3.5: is a count: a whole number with unit \"1\", not 3.5$"),
    ({"overlap": {"HD": {"value": 50, "unit": "%"}}}, r"is a count: a whole number with unit \"1\", not 50 %$"),
    (
        {"loggp": {"other_node": {"L": datetime.date(2020, 1, 2)}}},
        r"loggp.other_node.L = 2020-01-02 is not a number, nor a table",
    ),
    (
        {"loggp": {"other_node": {"L": 1, "range": [{"L": 2}]}}},
        r"loggp.other_node: has L in addition to range; move them into one of the \[\[...range\]\] tables",
    ),
    (
        {"loggp": {"other_node": {"range": [{"L": 1}, {"L": 2, "up_to_bytes": 5}]}}},
        r"has a range without up_to_bytes before the last one; only the last may be open",
    ),
    (
        {"loggp": {"other_node": {"range": [{"L": 1, "up_to_bytes": 5}, {"L": 2, "up_to_bytes": 5}]}}},
        r"has up_to_bytes = 5 after 5; list the ranges by increasing up_to_bytes",
    ),
    ({"loggp": {"other_node": {"L": 1, "round_trip_L": 2}}}, r"has both L and round_trip_L; keep the one"),
    (
        {"log3p": {"point": [{"size_bytes": 8, "o_mw": 1}, {"size_bytes": 8, "o_mw": 2}]}},
        r"gives size_bytes = 8, no stride_bytes, no block_bytes twice; keep one",
    ),
    (
        {"source": None, "loggp": {}, "topology": {"kind": "ring", "nodes": 4}},
        r"toy.toml: topology has no source; add source = \"KEY\" \(an entry of \[sources\]\)",
    ),
    (
        {"topology": {"kind": "ring", "nodes": 4, "source": "ATLAS"}},
        r"toy.toml: topology cites source 'ATLAS', which \[sources\] does not have; it has BENCH",
    ),
    ({"topology": {"kind": "moebius"}}, r"topology.kind = 'moebius' must be one of 'mesh', 'torus', 'k-ary n-cube'"),
    ({"topology": {"kind": "mesh"}}, r"topology lacks the key dims"),
    (
        {"topology": {"kind": "mesh", "dims": [0, 4]}},
        r"topology.dims\[0\] = 0 must be at least 1",
    ),
    ({"topology": {"kind": "torus", "dims": [4, 4], "wrap": [True]}}, r"wrap has 1 entries for 2 dimensions"),
    (
        {"topology": {"kind": "torus", "dims": [4], "wrap": [False], "bidirectional": False}},
        r"one-way channels need end-around links in every dimension; set bidirectional = true",
    ),
    (
        {"topology": {"kind": "fat tree", "children": [4, 4], "parents": [1]}},
        r"parents has 1 levels but children has 2; give one number each",
    ),
    (
        {"topology": {"kind": "dragonfly", "groups": 9, "routers": 2, "nodes_per_router": 1, "global_links": 3}},
        r"2 routers with 3 global links reach 6 groups, but there are 8 others; raise global_links or routers",
    ),
    ({"topology": {"dims": [8, 4]}}, r"topology lacks the key kind; see `logpost machines template`"),
    ({"topology": 5}, r"topology = 5 must be a table"),
    ({"topology": {"kind": "mesh", "dims": 8}}, r"topology.dims = 8 must be a list in \[ \]"),
    ({"topology": {"kind": "mesh", "dims": [1.5]}}, r"topology.dims\[0\] = 1.5 must be a whole number"),
    ({"loggp": {"clock": {}}}, r"loggp.clock is not a key of machine files in this table; it has self, same_socket"),
    ({"clock": 5}, r"clock = 5 must be a table$"),
    ({"title": ""}, r"title = '' must not be empty"),
    ({"title": 5}, r"title = 5 must be text in quotes"),
    ({"source": 5}, r"toy.toml: source = 5 must be text in quotes$"),
    ({"sources": {"BENCH": "a paper"}}, r"sources.BENCH = 'a paper' must be a table$"),
    ({"loggp": {"other_node": {"os": 1}}}, r"other_node.os = 1 is not a key of machine files; do you mean o_s\?"),
    ({"log3p": {"point": [{"size_bytes": "16 KiB"}]}}, r"size_bytes = '16 KiB' must be a whole number without quotes"),
    (
        {"loggp": {"other_node": {"L": {"value": "1 us"}}}},
        r"L.value = '1 us' must be a number without quotes; write the unit",
    ),
    ({"loggp": {"other_node": {"L": {"value": 1, "confidence": 95}}}}, r"L.confidence = 95 must be less than 1"),
    ({"loggp": {"other_node": {"L": {"range": [1]}}}}, r"L.range = \[1\] must be two numbers, e.g. \[4.1, 5.3\]"),
    ({"loggp": {"other_node": {"L": {"range": [1, 2, 3]}}}}, r"L.range = \[1, 2, 3\] must be two numbers"),
    ({"mapping": {"kind": "cyclic"}}, r"kind = \"cyclic\" needs nodes = number of nodes"),
    ({"mapping": {"kind": "random", "nodes": 4}}, r"kind = \"random\" needs nodes = number of nodes and seed"),
    (
        {"topology": {"kind": "mesh", "dims": [8, 4]}, "mapping": {"kind": "cyclic", "nodes": 33}},
        r"toy.toml: mapping uses 33 nodes, but the topology \(mesh 8 x 4\) has 32; give the topology more nodes",
    ),
    (
        {"topology": {"kind": "ring", "nodes": 4}, "mapping": {"kind": "list", "nodes_of_ranks": [0, 4]}},
        r"mapping uses 5 nodes, but the topology \(ring 4\) has 4",
    ),
    ({"mapping": {"kind": "list"}}, r"kind = \"list\" needs nodes_of_ranks ="),
    ({"mapping": {"kind": "random", "nodes": 4, "seed": -1}}, r"mapping.seed = -1 must be at least 0"),
    # What the int64 tables of the replay cannot hold: 2^63 - 1 = 9223372036854775807.
    (
        {"loggp": {"other_node": {"range": [{"L": 1, "up_to_bytes": 10**23}, {"L": 2}]}}},
        r"loggp.other_node.range\[0\].up_to_bytes = 10{23} must be at most 9223372036854775807$",
    ),
    (
        {"loggp": {"other_node": {"range": [{"L": 1, "up_to_bytes": 2**63 - 1}, {"L": 2}]}}},
        r"has a range after up_to_bytes = 9223372036854775807, which no message exceeds; leave it out",
    ),
    ({"log3p": {"point": [{"size_bytes": 2**63, "o_mw": 1}]}}, r"size_bytes = 9223372036854775808 must be at most 9"),
    (
        {"loggp": {"other_node": {"eager_limit": {"value": 1e20, "unit": "B"}}}},
        r"loggp.other_node.eager_limit = 1e\+20 must be at most 9223372036854775807 B$",
    ),
    ({"overlap": {"HD": 1e30}}, r"overlap.HD = 1e\+30 must be at most 9223372036854775807$"),
    (
        {"loggp": {"other_node": {"L": {"value": 1e10, "unit": "s"}}}},
        r"loggp.other_node.L = 10000000000.0 must be at most 9.22e\+06 s, 9223372036854775807 ps, not 1e\+10 s",
    ),
    # 10^10 cycles of 1 Hz are 10^10 s.
    (
        {"clock": {"processor": {"value": 1, "unit": "Hz"}}, "loggp": {"self": {"units": ["cycle"], "L": 1e10}}},
        r"loggp.self.L = 10000000000.0 must be at most 9.22e\+06 s, .* not 1e\+10 s",
    ),
    (
        {"loggp": {"other_node": {"G": {"value": 1e300, "unit": "s/B"}}}},
        r"loggp.other_node.G = 1e\+300 is too large to compute with in s/B",
    ),
    ({"loggp": {"other_node": {"L": 10**400}}}, r"loggp.other_node.L = 10{76}\.\.\. is too large$"),
    ({"topology": {"kind": "mesh", "dims": [2, 2**63]}}, r"topology.dims\[1\] = 9223372036854775808 must be at most 9"),
    (
        {"topology": {"kind": "mesh", "dims": [2**40, 2**40]}},
        # 2^80 = 1.2e24
        r"topology has about 10\^24 nodes and switches; at most 9223372036854775807 can be counted",
    ),
    ({"topology": {"kind": "k-ary n-cube", "k": 2, "n": 10**9}}, r"topology.n = 1000000000 must be less than 63"),
    # What would make every prediction fail later, or lose a value.
    (
        {"clock": {"processor": {"value": 0, "unit": "GHz"}}},
        r"clock.processor = 0: must be more than 0; leave it out where the source does not give it",
    ),
    ({"memory": {"copy_rate": {"value": 0, "unit": "GB/s"}}}, r"memory.copy_rate = 0: must be more than 0"),
    ({"nic": {"per_node": 0}}, r"nic.per_node = 0: must be at least 1; leave it out"),
    ({"node": {"processors": 0}}, r"node.processors = 0: must be at least 1"),
    ({"overlap": {"HD": 0}}, r"overlap.HD = 0: must be at least 1"),
    ({"overlap": {"outstanding": {"value": 0, "unit": "B"}}}, r"overlap.outstanding = 0: must be more than 0"),
    (
        {"overlap": {"o": [{"size_bytes": 8, "burst": 2, "o": 1}, {"size_bytes": 8, "burst": 2, "o": 3}]}},
        r"overlap.o: gives size_bytes = 8, burst = 2 twice; keep one",
    ),
    (
        {"overlap": {"G": [{**GAP, "G": 1}, {**GAP, "level": "highest", "G": 1}, {**GAP, "G": 1}]}},
        r"overlap.G: gives processors = 2, size_bytes = 8, pattern = \"cross-section\", level = \"lowest\" twice; keep",
    ),
    *(
        (
            {"log3p": {"point": [{"size_bytes": 8, "stride_bytes": d, name: d} for d in (16, 32)]}},
            rf"log3p.point\[1\].{name} is 32 us, but log3p.point\[0\] has 16 us at the same size_bytes = 8; it depends",
        )
        for name in ("o_mw", "o_net", "T_mem")
    ),
    (
        {"log3p": {"point": [{"size_bytes": 8, "l_mw": 1}]}},
        r"log3p.point\[0\]: has l_mw without stride_bytes: contiguous data have none; give the stride or leave it out",
    ),
    # Each unknown source once, at its first place as the file has it.
    (
        {"loggp": {"other_node": {"L": {"value": 1, "source": "B"}, "o_s": {"value": 1, "source": "B"}}}},
        r"^toy.toml: loggp.other_node.L cites source 'B', which \[sources\] does not have; it has BENCH \(1 more cite",
    ),
    (
        {"loggp": {"other_node": {"range": [{"L": 1}], "source": "B"}}},
        r"^toy.toml: loggp.other_node.range\[0\].L cites source 'B', which",
    ),
    ({"date": "2026-02-30"}, r"date = '2026-02-30': is not a calendar date"),
    (
        {"observed": [{"name": "a b", "what": "x", "result": 1}]},
        r"observed\[0\].name = 'a b' must be made of letters, digits, - _ and ., without spaces",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSED)
def test_refused_with_file_key_value_and_way_out(change: dict[str, Any], sentence: str) -> None:
    found = problems(**change)
    assert found
    assert any(re.search(sentence, line) for line in found), found
    assert all(line.startswith("toy.toml: ") and "\n" not in line for line in found)


def test_what_agrees_or_says_something_else_is_no_contradiction() -> None:
    def points(*values: object) -> dict[str, Any]:
        return {"point": [{"size_bytes": 8, "stride_bytes": 16 * (i + 1), "o_mw": v} for i, v in enumerate(values)]}

    assert len(machine(log3p=points(3, 3)).log3p.point) == 2
    # 3 us are 60 cycles of 20 MHz (50 ns); without a clock their number is unknown.
    sixty = {"value": 60, "unit": "cycle"}
    clock = {"processor": {"value": 20, "unit": "MHz"}}
    assert len(machine(clock=clock, log3p=points(3, sixty)).log3p.point) == 2
    assert len(machine(log3p=points(sixty, sixty)).log3p.point) == 2
    assert "o_mw is 60 cycle, but log3p.point[0] has 3 us" in problems(log3p=points(3, sixty))[0]
    gaps = [{**GAP, "level": level, "size_bytes": size, "G": 1} for level in ("lowest", "highest") for size in (8, 9)]
    assert len(machine(overlap={"G": gaps}).overlap.G) == 4
    # A class whose last range ends at the largest size there is.
    whole = {"range": [{"L": 1, "up_to_bytes": 5}, {"L": 2, "up_to_bytes": 2**63 - 1}]}
    assert machine(loggp={"other_node": whole}).loggp.of("other_node") is not None


def test_unknown_sources_are_all_named() -> None:
    found = problems(
        loggp={"other_node": {"source": "B", "L": 1}}, topology={"kind": "ring", "nodes": 4, "source": "C"}
    )
    assert [re.sub(" which.*", "", line) for line in found] == [
        "toy.toml: loggp.other_node.L cites source 'B',",
        "toy.toml: topology cites source 'C',",
    ]


def test_every_problem_is_found_at_once_and_load_says_how_many(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('format = 1\nname = "bad"\ntitle = "x"\ndate = "then"\nkind = "guess"\n[sources.A]\nkind = "web"\n')
    _, found = check_machine_file(path)
    assert len(found) == 3  # date, kind, sources.A.text
    with pytest.raises(InputError, match=r"date = 'then'.*\(and 2 more; see `logpost machines "):
        load_machine_file(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"format = ", r"is not TOML: "),
        (b"\xff\xfe", r"is not UTF-8 text, as a TOML file must be"),
        (b"format = 1\nL = 1,5\n", r"is not TOML: Expected newline .*at line 2, column 6\): L = 1,5$"),
        (b"format = 1" + 5000 * b"0", "cannot be read as TOML: .* digits$"),
        (b"x = " + 5000 * b"[" + 5000 * b"]", r"(is not|cannot be read as) TOML: "),
        # Hexadecimal digits have no such limit: the number itself is refused, and not written out.
        (b"format = 0x" + 5000 * b"f", r"format = a very large number is too large$"),
    ],
)
def test_files_that_are_no_toml(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    assert re.search(sentence, check_machine_file(path)[1][0])


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "marked.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TEMPLATE.read_bytes())
    assert load_machine_file(path) == load_machine_file(TEMPLATE)


def test_a_file_without_ending_is_not_looked_up_in_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text("")
    with pytest.raises(InputError, match=r"unknown machine 'mine'; .* file .* write \./mine"):
        load_machine("mine")


def test_unreadable_and_unknown_files(tmp_path: Path) -> None:
    assert "cannot be read" in check_machine_file(tmp_path)[1][0]
    with pytest.raises(InputError, match=r"unknown machine 'cray-1'; use one of .*alewife.*\./my-cluster.toml"):
        load_machine("cray-1")
    with pytest.raises(InputError, match=r"nothing\.toml is not a file; .* path .*name"):
        load_machine(tmp_path / "nothing.toml")


def test_checking_does_not_change_the_document() -> None:
    given = document(where="here")
    before = copy.deepcopy(given)
    check_machine(given, "toy.toml")
    assert given == before


def test_spans_of_the_ranges() -> None:
    # Ranges up to 0, up to 64 and open: from 1 byte on the first has no size, and the last ends where one says.
    made = machine(loggp={"other_node": {"range": [{"up_to_bytes": 0, "L": 1}, {"up_to_bytes": 64, "L": 2}, {"L": 3}]}})
    table = made.loggp.of("other_node")
    assert table is not None
    assert [(low, high, r.L.value) for low, high, r in table.spans(1, 1024) if r.L] == [(1, 64, 2), (65, 1024, 3)]
    assert [(low, high) for low, high, _ in table.spans(0, 8)] == [(0, 0), (1, 64), (65, 65)]
