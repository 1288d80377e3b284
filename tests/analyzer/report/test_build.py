"""The report's data of a run whose every number is derived in `two_phases`, and its two renderings."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.analyzer.story import MS, Story
from tests.analyzer.two_phases import two_phases
from tests.said import says

from logpost.analyzer.render.report.collectives import summary
from logpost.analyzer.render.report.json import as_json
from logpost.analyzer.render.report.layout import bar
from logpost.analyzer.render.report.sections import print_sections
from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import Collectives
from logpost.analyzer.report.sens_view import NOT_ASSIGNED
from logpost.analyzer.report.sens_view import PARTS as PARTS_OF_SENS
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import Hosts, QualityCount
from logpost.analyzer.run.schema import CATEGORIES, PARTS


def text_of(story: Story, path: Path) -> str:
    console = Console(file=io.StringIO(), width=200, color_system=None, highlight=False)
    print_sections(build(story.write(path)), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_breakdown_has_every_category_and_sums_to_wall_time(tmp_path: Path) -> None:
    report = build(two_phases().write(tmp_path / "run"))
    times = {share.category: share.exposed_ps for share in report.breakdown}
    assert list(times) == list(CATEGORIES)
    # Rank 0: 10 sends of 1 ms, barrier 3 ms. Rank 1: 10 receives of 2 + 1 ms, barrier 2 + 3 ms. Compute: 87 + 65 ms.
    assert times["compute"] == (87 + 65) * MS
    assert times["send_overhead"] == 10 * MS
    assert times["late_sender"] == 20 * MS
    assert times["serialization"] == 6 * MS
    assert times["collective_wait"] == 2 * MS
    assert times["collective"] == 6 * MS
    assert times["network_contention"] == 0
    assert sum(times.values()) == 200 * MS
    assert sum(share.share for share in report.breakdown) == pytest.approx(1)


def test_ranks_wait_states_places_and_messages(tmp_path: Path) -> None:
    report = build(two_phases().write(tmp_path / "run"))
    slow, waiting = report.rank_times
    assert (slow.compute_ps, slow.waiting_ps, slow.communication_ps) == (87 * MS, 0, 13 * MS)
    # 20 ms late sender + 2 ms at the barrier
    assert (waiting.compute_ps, waiting.waiting_ps, waiting.communication_ps) == (65 * MS, 22 * MS, 35 * MS)
    states = {state.name: (state.wait_ps, state.count) for state in report.wait_states}
    expected = {"late_sender": (20 * MS, 10), "wait_at_barrier": (2 * MS, 1), "early_reduce": (0, 0)}
    assert {name: states[name] for name in expected} == expected
    recv, send, barrier = report.places
    assert (recv.path, recv.exposed_ps, recv.calls) == ("main / solve / MPI_Recv", 30 * MS, 10)
    assert (recv.largest, recv.largest_ps, recv.waiting_ps) == ("late_sender", 20 * MS, 20 * MS)
    assert (send.region, send.exposed_ps) == ("MPI_Send", 10 * MS)
    assert (barrier.exposed_ps, barrier.calls) == (8 * MS, 2)
    assert barrier.share == pytest.approx(0.04)
    assert (report.messages.count, report.messages.bytes) == (10, 20480)
    assert report.messages.envelope_ps == 30 * MS
    assert sum(report.messages.parts_ps.values()) == 30 * MS


def test_efficiencies_in_the_report(tmp_path: Path) -> None:
    values = {e.name: e.value for e in build(two_phases().write(tmp_path / "run")).efficiencies}
    # mean 76 ms, max 87 ms, runtime 100 ms
    assert values["parallel_efficiency"] == pytest.approx(0.76)
    assert values["load_balance"] == pytest.approx(76 / 87)
    assert values["communication_efficiency"] == pytest.approx(0.87)
    assert values["transfer"] is None


def test_json_has_the_promised_keys_in_seconds(tmp_path: Path) -> None:
    story = two_phases()
    story.quality.append(QualityCount(name="unmatched_sends", severity="info", blame="trace", count=2, sentence="x"))
    shown = json.loads(json.dumps(as_json(build(story.write(tmp_path / "run"))), allow_nan=False))
    assert shown["wall_s"] == 0.1
    assert shown["ranks"] == 2
    assert shown["rank_wall_s"] == [0.1, 0.1]
    assert shown["quality"][0]["name"] == "unmatched_sends"
    assert shown["machine"]["values"][0]["source"] == "lower envelope of 20 messages"
    assert list(shown["breakdown_s"]) == list(CATEGORIES)
    assert shown["breakdown_s"]["late_sender"] == pytest.approx(0.02)
    assert shown["breakdown_s"]["residual"] == 0
    assert shown["efficiencies"]["serialization"] is None
    assert "ideal network" in shown["efficiency_reasons"]["serialization"]
    parallel = shown["efficiencies"]["parallel_efficiency"]
    assert min(one["parallel_efficiency"] for one in shown["efficiencies_over_time"]) <= parallel
    assert list(shown["sens_s"]) == [*PARTS_OF_SENS, NOT_ASSIGNED]
    assert shown["wait_states"]["late_sender_s"] == pytest.approx(0.02)
    assert shown["wait_states"]["late_sender_count"] == 10
    assert shown["wait_states"]["late_broadcast_s"] == 0
    assert list(shown["messages"]["parts_s"]) == list(PARTS)
    assert shown["messages"]["residual_share"] == 0
    assert shown["findings"][0]["exposed_s"] > 0
    first = shown["findings"][0]
    assert {"advice", "certainty", "begin_s", "end_s", "path", "file", "line"} <= set(first)
    assert (first["kind"], first["ranks"], first["confidence"]) == ("late_sender_chain", [0, 1], 0.6)
    # Rank 0 computes 82 ms, rank 1 60: each could have 71.
    assert first["gain"] == pytest.approx(0.11)
    assert first["evidence"][0] == {"name": "they_compute_there", "value": 74 * MS, "unit": "ps", "thread": None}
    assert first["evidence_text"].startswith("they compute there: 74.0 ms; waiting rank: 1;")
    assert (shown["program_s"], shown["start_up_s"], shown["shut_down_s"]) == (0.1, 0, 0)
    assert any("ideal network" in reason for reason in shown["efficiency_reasons"].values())
    assert any("their times do not add up" in note for note in shown["notes"])


def with_collectives() -> Story:
    """Eight barriers of two ranks, 2 µs a member: 1.5 µs as replayed, half of a µs not explained."""
    story = two_phases()
    at = {"location": 0, "callpath": 0, "phase": "program"}
    for part, time in (("late_members", 4), ("send_overhead", 4), ("latency", 8)):
        story.rows["collective_parts"].append({**at, "part": part, "exposed_ps": time * 1_000_000})
    story.rows["collective_kinds"].append(
        {
            "operation": "Barrier",
            "comm": 0,
            "members": 2,
            "least_bytes": 0,
            "most_bytes": 0,
            "operations": 8,
            "algorithm": "dissemination",
            "error_ps": 0.0,
            "second": "linear",
            "second_error_ps": 1000.0,
            "measured_ps": 32_000_000,
            "predicted_ps": 24_000_000,
            "residual_ps": 8_000_000,
            "deficit_ps": 0,
        }
    )
    return story


def test_collectives_are_divided_with_their_algorithm(tmp_path: Path) -> None:
    text = text_of(with_collectives(), tmp_path / "run")
    section = " ".join(text.split("Collective operations")[1].split())
    assert section.startswith("16.0 µs beyond the waits ")
    assert "latency 8.00 µs 50.0 %" in section
    # The errors are 1 ns apart in a mean of 2 µs: not distinguished.
    assert "8 Barrier of 2 dissemination (or linear) 2.00 µs 1.50 µs 500 ns" in section
    found = as_json(build(with_collectives().write(tmp_path / "again")))["collectives"]
    assert found["parts_s"]["send_overhead"] == pytest.approx(4e-6)
    assert found["kinds"][0]["predicted_s"] == pytest.approx(1.5e-6)
    assert as_json(build(two_phases().write(tmp_path / "none")))["collectives"] is None


def test_the_library_that_the_archive_names_carried_the_collectives_out(tmp_path: Path) -> None:
    with_collectives().write(tmp_path / "run")
    manifest = tmp_path / "run" / "manifest.json"
    data = json.loads(manifest.read_text())
    data["source"]["properties"] = {"LOGPOST::MPI": "Open MPI v4.1.4, package: Debian"}
    manifest.write_text(json.dumps(data))
    found = as_json(build(Run.open(tmp_path / "run")))["collectives"]
    assert found["library"] == "Open MPI v4.1.4, package: Debian"
    assert summary(Collectives({}, 0, (), found["library"])).endswith("; carried out by Open MPI v4.1.4")
    assert as_json(build(with_collectives().write(tmp_path / "unknown")))["collectives"]["library"] is None


def test_the_sections_point_at_the_cause_first(tmp_path: Path) -> None:
    text = text_of(two_phases(), tmp_path / "run")
    head = text.split("Where the time went")[0]
    assert says(head, "1", "MPI_Recv", "0", "MPI_Send", "MPI_Send")
    assert "late because of solve" in head
    assert "time saved: 11.0 %" in head
    assert text.index("Findings, by the time ") < text.index("Efficiencies") < text.index("Quality of the trace")


def test_text_shows_machine_and_error_with_the_model(tmp_path: Path) -> None:
    text = text_of(two_phases(), tmp_path / "run")
    assert "1.25 µs ± 250 ns" in text
    assert "lower envelope of 20 messages" in text
    messages = text.split("\nMessages\n")[1].split("\nMachine\n")[0]
    assert "12.5 % of message time is residual" in messages
    assert "6.2 % deficit" in messages
    assert "estimated from this trace" in messages
    assert "not computed: this run has no replay" in text


def test_oversubscription_is_said_first(tmp_path: Path) -> None:
    story = two_phases()
    story.hosts = Hosts(nodes=1, ranks_per_node=[2], cores_per_node=[1], oversubscribed=True)
    text = text_of(story, tmp_path / "run")
    assert text.startswith("! Ranks outnumber cores (2 ranks on 1 core)")


def test_time_without_a_core_is_said_first(tmp_path: Path) -> None:
    story = two_phases()
    story.hosts.without_core = 0.123
    text = text_of(story, tmp_path / "run")
    assert text.startswith("! Ranks were ready to run")
    assert "12.3 %" in text.splitlines()[0]


@pytest.mark.parametrize(("part", "said"), [(2 * MS, True), (MS // 2, False)])
def test_values_that_are_too_large_are_said_first_where_messages_have_a_part_of_the_time(
    part: int, said: bool, tmp_path: Path
) -> None:
    story = Story(2, 100 * MS)
    story.deficit_share = 0.5
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    for rank, path in enumerate((send, recv)):
        story.call(rank, 0, part, path, latency=part)
        story.user(rank, story.path("main"), 100 * MS - part)
    story.message(0, 1, 8, (0, part), (0, part), (send, recv), latency=part)
    text = text_of(story, tmp_path / "run")
    assert text.startswith("! The machine's parameters predict 50.0 %") is said
    assert "50.0 % deficit" in text


def test_data_loss_is_said_before_the_figures(tmp_path: Path) -> None:
    story = two_phases()
    story.quality.append(
        QualityCount(name="missing_event_file", severity="data_loss", blame="trace", count=3, sentence="no .evt")
    )
    text = text_of(story, tmp_path / "run")
    assert text.startswith("! The trace is incomplete: missing_event_file (3)")
    assert "missing_event_file: no .evt" in text.split("Quality of the trace")[1]


def with_start_up() -> Story:
    """Two ranks: 60 ms of start-up, 100 ms with a call in two places of the source, 40 ms of shut-down."""
    story = Story(2, 200 * MS)
    functions = ("solve(std::vector<double>&)", "check(std::vector<double>&)")
    sites = [
        story.site(story.path("main", function, "MPI_Barrier"), "/src/cg.c", line)
        for function, line in zip(functions, (120, 140), strict=True)
    ]
    for rank in range(2):
        story.start_up(rank, 60 * MS)
        story.shut_down(rank, 160 * MS)
    for begin, site in zip((60, 110), sites, strict=True):
        enters = {0: begin + 10, 1: begin + 39}
        story.collective(site, "Barrier", {rank: (at * MS, (begin + 40) * MS) for rank, at in enters.items()})
    return story


def test_start_up_is_shown_next_to_the_program(tmp_path: Path) -> None:
    report = build(with_start_up().write(tmp_path / "run"))
    assert (report.program_ps, report.start_up_ps, report.shut_down_ps) == (100 * MS, 60 * MS, 40 * MS)
    assert sum(share.share for share in report.breakdown) == pytest.approx(1)
    assert {share.category: share.exposed_ps for share in report.breakdown}["mpi_other"] == 0
    # Rank 0 computes 100 - 60 ms, rank 1 100 - 2 ms.
    values = {e.name: e.value for e in report.efficiencies}
    assert values["communication_efficiency"] == pytest.approx(0.98)
    text = text_of(with_start_up(), tmp_path / "again")
    assert says(text, "100 ms", "60.0 ms", "40.0 ms")


def test_two_calls_of_one_function_are_two_places_with_their_lines(tmp_path: Path) -> None:
    report = build(with_start_up().write(tmp_path / "run"))
    assert {place.source for place in report.places} == {"cg.c:120", "cg.c:140"}
    text = text_of(with_start_up(), tmp_path / "again")
    assert "cg.c:120" in text.split("Communication by place")[1]
    assert "main / solve / MPI_Barrier" in text
    assert "std::vector" not in text


def test_top_shows_only_the_first(tmp_path: Path) -> None:
    report = build(two_phases().write(tmp_path / "run"))
    report = replace(report, findings=(*report.findings, *report.findings))
    assert len(report.findings) > 1
    console = Console(file=io.StringIO(), width=200, color_system=None, highlight=False)
    print_sections(report, console, top=1)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "1. rank 1 waits in MPI_Recv for rank 0" in text
    assert "2. " not in text.split("Where the time went")[0]
    assert f"{len(report.findings) - 1} further finding" in text
    assert len(as_json(report, top=1)["findings"]) == 1


def test_a_name_from_the_trace_cannot_command_the_terminal(tmp_path: Path) -> None:
    story = Story(2, 100 * MS)
    evil = story.path("main", "\x1b[2J[red]MPI_Evil[/red]\u202e", "MPI_Barrier")
    for i in range(8):
        story.collective(
            evil, "Barrier", {0: (10 * i * MS, (10 * i + 6) * MS), 1: ((10 * i + 5) * MS, (10 * i + 6) * MS)}
        )
    text = text_of(story, tmp_path / "run")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]MPI_Evil[/red]" in text


def test_a_run_without_ranks_is_reported_without_figures(tmp_path: Path) -> None:
    report = build(Story(0, 100 * MS).write(tmp_path / "run"))
    assert report.conclusion.startswith("No rank has a measured runtime")
    assert all(efficiency.value is None for efficiency in report.efficiencies)
    assert json.loads(json.dumps(as_json(report), allow_nan=False))["findings"] == []


@pytest.mark.parametrize(("fraction", "shown"), [(0, ""), (1e-9, "▏"), (0.5, "██"), (1, "████"), (0.28125, "█▏")])
def test_bar(fraction: float, shown: str) -> None:
    # 4 cells are 32 eighths; 0.28125 * 32 = 9 = one cell and an eighth.
    assert bar(fraction, 4) == shown


@pytest.mark.parametrize(("own_ms", "warned", "limited"), [(40, True, False), (4, False, True), (1, False, False)])
def test_the_recorders_own_time_is_stated_where_it_matters(
    own_ms: int, *, warned: bool, limited: bool, tmp_path: Path
) -> None:
    """Two ranks of 100 ms: a fifth, a fiftieth, and too little."""
    run = two_phases().write(tmp_path / "run")
    manifest = run.manifest.model_copy(update={"recording_ps": own_ms * MS})
    (run.path / "manifest.json").write_text(manifest.model_dump_json())
    report = build(Run.open(run.path))
    stated = f"at least {own_ms / 2:.1f} % of the program's time"
    assert [any(stated in one for one in texts) for texts in (report.warnings, report.limits)] == [warned, limited]
