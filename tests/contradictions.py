"""What no report may say, whatever the run: a table of contradictions between sentences, numbers and tables.

Each row has a name, a sentence and a check, which gives a line for every contradiction that it finds. `check(run)`
applies all of them; `in_process.analyze` does so to each run of the suite. The checks compare data, and in texts only
numbers with their units, so that sentences may be worded anew.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl
from rich.console import Console

from logpost.analyzer.findings.wording.numbers import evidence_text
from logpost.analyzer.render.report.json import as_json
from logpost.analyzer.render.report.screen import print_screen
from logpost.analyzer.render.report.sections import print_sections
from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import PlacedFinding, Report
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.program_profile import program_profile
from logpost.analyzer.run.undivided import title
from logpost.analyzer.run.wide import exact_sum
from logpost.analyzer.words.location_names import owners
from logpost.analyzer.words.units import bytes_text, percent_text, time_text

ROUNDED = 1e-9
"""Sums of fractions as floating point numbers."""
LOSES = 0.02
"""A rank that loses more than this part of its time has a line that says to what."""
PS_PER_S = 10**12
OF_THREADS = ("thread_imbalance", "serial_part")
"""Findings about threads of OpenMP, whose time is not in the accounts of ranks."""
BEYOND_ALL = ("deficit", "misfit", "over_time")
"""Shares of what a model predicts beyond the measured time, which may be more than all of it."""


@dataclass(frozen=True)
class Said:
    """A run, and what its report says."""

    run: Run
    report: Report

    @cached_property
    def json(self) -> dict[str, Any]:
        """The report for scripts."""
        return as_json(self.report)

    @cached_property
    def text(self) -> str:
        """The report for a terminal, its screen and its sections, no line broken."""
        out = io.StringIO()
        console = Console(file=out, width=10_000, color_system=None)
        print_screen(self.report, console)
        print_sections(self.report, console)
        return "\n".join(line.rstrip() for line in out.getvalue().splitlines())

    @cached_property
    def own_words(self) -> str:
        """The text without names from the archive, which may be anything."""
        text = self.text
        for name in sorted(self._names, key=len, reverse=True):
            text = text.replace(name, "…")
        return text

    @cached_property
    def _names(self) -> set[str]:
        found = {self.report.source, self.report.run, self.report.machine.name, self.report.machine.file or ""}
        for place in self.report.places:
            found |= {place.path, place.region, place.source, place.file}
        for one in self.report.findings:
            found |= {one.path, one.region, one.cause_region, one.source, one.file}
        for column, table in (("host", "locations"), ("name", "locations"), ("name", "regions"), ("path", "callpaths")):
            found |= set(self.run.table(table).select(pl.col(column).unique()).collect()[column])
        # One of digits alone would be taken from the report's own numbers.
        return {name for name in found if name and re.search(r"\d", name) and re.search(r"[^\W\d]", name)}

    @cached_property
    def locations(self) -> pl.DataFrame:
        """The table, with the rank of each process."""
        table = self.run.table("locations").collect()
        return table.with_columns(owner=owners(table))

    @cached_property
    def threads(self) -> dict[int, int]:
        """Rank to how many of its locations may be named: numbers below."""
        found = self.locations.drop_nulls("owner").group_by("owner").len()
        return {int(rank): int(many) for rank, many in found.iter_rows()}

    @property
    def program_ps(self) -> int:
        """Program time of all accounted locations."""
        return sum(one.program_ps for one in self.report.rank_times)


POLLS = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "shmem_test")
"""Calls by which a loop waits."""
PAIRS = (("slowest_rank", "fastest_rank"), ("waiting_rank", "late_rank"), ("worst_rank", "last_rank"))
"""Evidence about two ranks that are not the same one."""

Check = Callable[[Said], Iterable[str]]


@dataclass(frozen=True)
class Row:
    """What a report contradicts itself in."""

    name: str
    sentence: str
    check: Check


def numbers_named(evidence: Iterable[Any], *units: str) -> Iterator[Any]:
    return (one for one in evidence if one.unit.removesuffix("_in_order") in units)


def _no_such_rank(said: Said) -> Iterator[str]:
    def known(rank: int | None, thread: int | None, where: str) -> Iterator[str]:
        if rank is None:
            return
        if rank not in said.threads:
            yield f"{where}: there is no rank {rank}"
        elif thread is not None and not 0 <= thread < said.threads[rank]:
            yield f"{where}: rank {rank} has no thread {thread}"

    report = said.report
    for found in report.findings:
        for rank in found.ranks:
            yield from known(rank, None, found.title)
        for one in found.threads:
            yield from known(one["rank"], one["thread"], found.title)
        for number in numbers_named(found.evidence, "rank"):
            yield from known(int(number.value), number.thread, f"{found.title}: {number.name}")
    for path in report.critical_path.ranks if report.critical_path else ():
        yield from known(path.rank, path.thread, "critical path")
    for delay in report.delays.places if report.delays else ():
        for rank in delay.ranks:
            yield from known(rank, None, "delay costs")
    for rank in said.json["rank_numbers"]:
        yield from known(rank, None, "JSON")
    for spans in re.findall(r"\branks? (\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*)(?! \w*x)", said.own_words):
        for number in re.findall(r"\d+", spans):
            yield from known(int(number), None, "text")


def _all_of_those_compared(said: Said) -> Iterator[str]:
    accounted = said.locations.filter("accounted").height
    for found in said.report.findings:
        names = {one.name for one in found.evidence}
        if found.kind in ("load_imbalance", "hot_receiver", "hot_sender") and names & {"longest", "load_over_others"}:
            whole = set(found.ranks) - {one["rank"] for one in found.threads}
            of_whole = said.locations.filter("accounted", pl.col("owner").is_in(sorted(whole))).height
            if not names & {"regions", "steps"} and of_whole + len(found.threads) >= accounted:
                yield f"{found.title}: these are all there are, and no others to compare them with"
        for one, other in (
            ("slowest_rank", "fastest_rank"),
            ("waiting_rank", "late_rank"),
            ("worst_rank", "last_rank"),
        ):
            both = [[(n.value, n.thread) for n in found.evidence if n.name == name] for name in (one, other)]
            if len(both[0]) == 1 and both[0] == both[1]:
                yield f"{found.title}: the {one} is the {other}"


def _imbalance_without_balance(said: Said) -> Iterator[str]:
    if not any(found.kind == "load_imbalance" for found in said.report.findings):
        return
    slowest = max(1, said.report.program_ps)
    computed: Mapping[int, int] = {int(one.location): one.compute_ps for one in said.report.rank_times}
    rows = program_profile(said.run.table).filter(pl.col("visits") > 0)
    table = said.run.table("findings").filter(pl.col("kind").cast(pl.String) == "load_imbalance").collect()
    whole = said.run.table("threads").select("callpath").unique().collect()["callpath"].to_list()
    for row in table.iter_rows(named=True):
        numbers = {one["name"]: one["value"] for one in row["evidence"]}
        if numbers.keys() & {"regions", "steps", "long_visits"}:
            continue  # each of them has its own times, and the row names the first one's, or those of visits
        times = computed
        # Of code that is in files, the call path is that of the longest calls, and the times are the code's.
        known = row["callpath"] >= 0 and not whole and "in_file" not in numbers
        if known:
            mine = rows.filter(pl.col("callpath") == row["callpath"]).group_by("location")
            times = dict(mine.agg(pl.col("exclusive_ps").sum()).iter_rows())
        spread = max(times.values(), default=0) - min(times.values(), default=0)
        if spread < row["gain"] * slowest * (1 - ROUNDED) - len(times):
            yield (
                f"{row['title']}: gains {percent_text(row['gain'])}, and in the tables the slowest computes "
                f"{time_text(spread)} longer than the fastest"
            )
        if known and "longest" in numbers and numbers["longest"] not in map(float, times.values()):
            yield f"{row['title']}: no rank computes {time_text(numbers['longest'])} there"


def _fractions(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of the JSON that is a fraction of something, by its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _fractions(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _fractions(inner, f"{path}[{number}]")
    elif isinstance(value, float | int) and not isinstance(value, bool):
        last = path.rpartition(".")[2]
        if last.endswith(("share", "gain", "confidence")) or (".efficiencies" in path and not last.endswith("_s")):
            yield path, float(value)


def _more_than_all(said: Said) -> Iterator[str]:
    for path, value in _fractions({key: one for key, one in said.json.items() if key not in ("machine", "models")}):
        if not 0 <= value <= 1 + ROUNDED and not any(word in path for word in BEYOND_ALL):
            yield f"{path} is {percent_text(value)}"
    for found in said.report.findings:
        for number in found.evidence:
            beyond = number.name.startswith(("load_over", "cost_over", "crowding")) or "deficit" in number.name
            if number.unit == "1" and not beyond and not -ROUNDED <= number.value <= 1 + ROUNDED:
                yield f"{found.title}: {number.name} is {percent_text(number.value)}"


def _nothing_each(said: Said) -> Iterator[str]:
    for line in said.own_words.splitlines():
        if re.search(r"(?<![\d.,])0 (?:s|ms|µs|ns|ps|B) each\b", line):
            yield f"something costs nothing each: {line.strip()}"
    for found in said.report.findings:
        if found.exposed_ps <= 0:
            yield f"{found.title}: it costs no time"
        if found.gain <= 0:
            yield f"{found.title}: it gains nothing"


def _sizes(said: Said) -> Iterator[str]:
    run, report = said.run, said.report
    messages = run.table("messages").select("bytes", "envelope_ps").collect()
    count = messages.height
    size, envelope = (exact_sum(messages[name]) for name in ("bytes", "envelope_ps"))
    if (report.messages.count, report.messages.bytes) != (count, size):
        yield f"{report.messages.count} messages of {report.messages.bytes} B, and the table has {count} of {size} B"
    if sum(report.messages.parts_ps.values()) != report.messages.envelope_ps or report.messages.envelope_ps != envelope:
        yield "the parts of messages do not add up to their time"
    sizes = _sizes_at(run)
    for row in run.table("findings").collect().iter_rows(named=True):
        numbers = {one["name"]: one["value"] for one in row["evidence"]}
        for name, most in (("messages", count), ("messages_judged", count)):
            if numbers.get(name, 0) > most:
                yield f"{row['title']}: {numbers[name]:.0f} {name}, and the run has {most}"
        kind = str(row["kind"])
        mean = numbers.get("mean_size", numbers.get("mean_part"))
        if mean is not None and (kind, row["callpath"]) in sizes:
            least, largest = sizes[kind, row["callpath"]]
            if not least - 1 <= mean <= largest + 1:
                yield f"{row['title']}: {bytes_text(mean)} on average, and the table has {least} to {largest} B"
    for one in report.collectives.kinds if report.collectives else ():
        if one.least_bytes > one.most_bytes or one.members < 1 or one.operations < 1:
            yield f"collective operations: {one}"


def _sizes_at(run: Run) -> dict[tuple[str, int], tuple[int, int]]:
    """The smallest and the largest size by kind of finding and call path, of what these are about."""
    found: dict[tuple[str, int], tuple[int, int]] = {}
    sent = run.table("messages").group_by("send_callpath").agg(least=pl.col("bytes").min(), most=pl.col("bytes").max())
    found |= {("many_small_messages", path): (least, most) for path, least, most in sent.collect().iter_rows()}
    # Of a member of an operation: what it sends or gets, in all or for one other.
    every = pl.concat_list("bytes_sent", "bytes_received").list
    moved = run.table("collectives").group_by("callpath").agg(most=every.max().max()).collect()
    return found | {("collective_cost", path): (0, most) for path, most in moved.iter_rows()}


def _path_sums(said: Said) -> Iterator[str]:
    path = said.report.critical_path
    if path is None:
        return
    stretches = said.run.table("critical_path").select(pl.col("end_ps") - pl.col("begin_ps")).collect().to_series()
    if exact_sum(stretches) != path.whole_ps:
        yield "critical path: its stretches do not add up to its length"
    ranks = said.locations.filter("accounted")
    whole = (ranks["last_ps"].max() or 0) - (ranks["first_ps"].min() or 0)  # type: ignore[operator]
    if path.whole_ps != whole:
        yield f"critical path: {time_text(path.whole_ps)} long, and the ranks run for {time_text(whole)}"  # type: ignore[arg-type]
    if sum(one.on_path_ps for one in path.ranks) != path.program_ps:
        yield "critical path: its time on the ranks does not add up to it"
    if sum(path.categories_ps.values()) != path.program_ps:
        yield "critical path: its categories do not add up to it"
    if sum(one.on_path_ps for one in path.places) > path.program_ps or path.program_ps > path.whole_ps:
        yield "critical path: its places are longer than it"


def _headline(said: Said) -> Iterator[str]:
    percents, times = _numbers_of(said)
    for number in re.findall(r"<?\d+\.\d %", said.report.conclusion):
        if number not in percents:
            yield f"the conclusion says {number}, which is in no table: {said.report.conclusion}"
    for number in re.findall(r"\b\d[\d.]* (?:s|ms|µs|ns|ps)\b", _without_names(said, said.report.conclusion)):
        if number not in times:
            yield f"the conclusion says {number}, which is in no table: {said.report.conclusion}"


def _without_names(said: Said, text: str) -> str:
    for name in sorted(said._names, key=len, reverse=True):
        text = text.replace(name, "…")
    return text


def _numbers_of(said: Said) -> tuple[set[str], set[str]]:
    """Every percentage and every time that tables and findings have, as they are printed."""
    report = said.report
    shares = {share.category: share.share for share in report.breakdown}
    lost = sum(share for category, share in shares.items() if category != "compute")
    fractions = {
        *shares.values(),
        lost,
        1 - lost,
        sum(one.waiting_ps for one in report.rank_times) / max(1, said.program_ps),
    }
    # What is too little to be listed is summed up.
    ordered = sorted(share for category, share in shares.items() if category != "compute")
    fractions |= {sum(ordered[:many]) for many in range(len(ordered))}
    times: set[float] = set()
    for path, value in _every_number(said.json):
        last = path.rpartition(".")[2]
        if last.endswith("_s"):
            times.add(value * PS_PER_S)
        elif abs(value) <= 1:
            fractions.add(value)
    if report.threads is not None:
        fractions |= {time / max(1, report.threads.total_ps) for time in report.threads.spent_ps.values()}
    for found in report.findings:
        fractions |= {number.value for number in found.evidence if number.unit == "1"}
        times |= {number.value for number in found.evidence if number.unit == "ps"}
    printed = {percent_text(value) for value in fractions} | {percent_text(1 - value) for value in fractions}
    return printed, {time_text(value) for value in times}


def _every_number(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _every_number(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _every_number(inner, path)
    elif isinstance(value, float | int) and not isinstance(value, bool):
        yield path, float(value)


def _loss_without_line(said: Said) -> Iterator[str]:
    """By the accounts: the category that a rank loses most to."""
    rows = (
        program(said.run.shown("accounting"))
        .with_columns(pl.col("category").cast(pl.String))
        .group_by("location", "category")
        .agg(pl.col("exposed_ps").sum())
        .sort("exposed_ps", "category", descending=[True, False])
        .collect()
    )
    named = {rank for found in said.report.findings for rank in found.ranks}
    for one in said.report.rank_times:
        lost = rows.filter(pl.col("location") == one.location, pl.col("category") != "compute")
        if exact_sum(lost["exposed_ps"]) <= LOSES * one.program_ps or one.named.rank in named:
            continue
        share = next((each for each in said.report.breakdown if each.category == lost["category"][0]), None)
        line = share is not None and re.search(
            rf"\b{re.escape(title(share.category))}\b.*{re.escape(percent_text(share.share))}", said.text
        )
        if share is None or share.exposed_ps < lost["exposed_ps"][0] or not line:
            yield f"{one.named.text} loses most to {title(lost['category'][0])}, of which no line says how much"


def _none(said: Said) -> Iterator[str]:
    for line in said.own_words.splitlines():
        if re.search(r"(?<![\w.,^–-])-1(?![\w.,]| ×)", line):
            yield f"the number of nothing is printed: {line.strip()}"

    for path, value in _every_number({key: one for key, one in said.json.items() if key not in ("machine", "clock")}):
        if value == -1:
            yield f"JSON: {path} is -1"


UNITS = ("ps", "B", "1", "x", "count", "rank", "process", "thread")


def _without_unit(said: Said) -> Iterator[str]:
    for found in said.report.findings:
        for number in found.evidence:
            if number.unit.removesuffix("_in_order") not in UNITS:
                yield f"{found.title}: {number.name} has the unit {number.unit!r}"
            if not math.isfinite(number.value):
                yield f"{found.title}: {number.name} is {number.value}"
            elif number.value < 0 or (number.unit in ("rank", "process", "thread") and number.value % 1):
                yield f"{found.title}: {number.name} is {number.value}, which no {number.unit} is"
        for piece in evidence_text([number.row() for number in found.evidence]).split("; "):
            if not re.search(r": .*\d", piece):
                yield f"{found.title}: its evidence says {piece}, without a number"
    for word in re.findall(r"\b(?:nan|inf)\b", said.own_words):
        yield f"the text says {word}"


def _counts(said: Said) -> Iterator[str]:
    hosts, report = said.report.hosts, said.report
    if len(hosts.ranks_per_node) != hosts.nodes:
        yield f"{hosts.nodes} nodes, and ranks on {len(hosts.ranks_per_node)} of them"
    if hosts.nodes and sum(hosts.ranks_per_node) > report.ranks:
        yield f"{sum(hosts.ranks_per_node)} ranks on nodes, of {report.ranks}"
    for phrase in re.findall(r"(?<![\d.,])0 (?:ranks|nodes|processes)\b", said.own_words):
        yield f"the text says {phrase}"
    ranks = [rank for rank in said.json["rank_numbers"] if rank is not None]
    if len(ranks) != len(set(ranks)) or len(ranks) > report.ranks:
        yield f"JSON has the times of {len(ranks)} ranks, of {report.ranks}"
    for name in ("rank_wall_s", "rank_program_s", "rank_compute_s"):
        if len(said.json[name]) != len(said.json["rank_numbers"]):
            yield f"JSON: {name} has {len(said.json[name])} values for {len(said.json['rank_numbers'])} ranks"
    if report.communication_events > report.events:
        yield "more events of communication than events"


def _accounts(said: Said) -> Iterator[str]:
    for one in said.report.rank_times:
        if one.compute_ps + one.communication_ps != one.program_ps:
            yield f"{one.named.text}: compute and communication are not its program"
        if not 0 <= one.waiting_ps <= one.communication_ps or one.program_ps > one.wall_ps:
            yield f"{one.named.text}: a part of its time is longer than the whole"
    if sum(share.exposed_ps for share in said.report.breakdown) != said.program_ps:
        yield "the categories do not add up to the ranks' program time"
    for found in said.report.findings:
        if found.kind in OF_THREADS:
            continue
        # The time between the polls of a loop is computation in the accounts.
        polls = found.region.startswith(POLLS)
        times = [one.program_ps if polls else one.communication_ps for one in said.report.rank_times]
        if found.share * said.report.program_ps > max(times, default=0) * (1 + ROUNDED) + 1:
            yield (
                f"{found.title}: the rank that loses most loses {percent_text(found.share)}, and none communicates for "
                f"longer than {time_text(max(times, default=0))}"
            )
        if found.exposed_ps > sum(times):
            yield f"{found.title}: it costs more time than the ranks communicate"


def _delays(said: Said) -> Iterator[str]:
    delays = said.report.delays
    if delays is None:
        return
    explained = sum(one.short_term_ps + one.long_term_ps for one in delays.places)
    if explained > delays.waits_ps - delays.unexplained_ps:
        yield "delay costs: they explain more than the waits"
    if delays.unexplained_ps > delays.waits_ps:
        yield "delay costs: more is not explained than there is"
    for one in delays.places:
        if not one.named:
            yield "delay costs: no rank is named"


def _bound_without_numbers(said: Said) -> Iterator[str]:
    for found in said.report.findings:
        numbers = {one.name: one.value for one in found.evidence}
        both = [("share_of_rounds", "share_of_bytes"), ("latency_estimate", "bandwidth_estimate")]
        known = any(numbers.get(one, 0) + numbers.get(other, 0) > 0 for one, other in both)
        size = numbers.get("mean_size", numbers.get("mean_part", 0))
        if re.search(r"\b(?:latency|bandwidth)-bound\b", found.title) and not known and size > 0:
            yield f"{found.title}: neither latency nor bandwidth is known"


def _windows(said: Said) -> Iterator[str]:
    length = said.run.manifest.clock.length_ps
    for found in said.report.findings:
        if not 0 <= found.begin_ps <= found.end_ps <= length:
            span = f"from {time_text(found.begin_ps)} to {time_text(found.end_ps)}"
            yield f"{found.title}: {span}, of {time_text(length)}"


ROWS = (
    Row("rank_that_does_not_exist", "Ranks and threads that are named exist.", _no_such_rank),
    Row("compared_with_none", "Ranks that are compared with others are not all of them.", _all_of_those_compared),
    Row("balanced_imbalance", "An imbalance shows in the tables.", _imbalance_without_balance),
    Row("more_than_all", "No share is more than 100 %, or less than none.", _more_than_all),
    Row("nothing_each", "What is said to cost time costs some.", _nothing_each),
    Row("other_sizes", "Numbers and sizes of messages are the tables'.", _sizes),
    Row("critical_path_sum", "The critical path adds up to the length of the program.", _path_sums),
    Row("other_headline", "Numbers of the conclusion are the tables'.", _headline),
    Row("loss_without_line", "What a rank loses most to has a line.", _loss_without_line),
    Row("minus_one", "The number of nothing is not printed.", _none),
    Row("without_unit", "Every number of the evidence is a number of a known unit.", _without_unit),
    Row("other_counts", "Numbers of ranks and nodes fit, and none is 0.", _counts),
    Row(
        "accounts_that_do_not_add_up", "Parts of a rank's time are within it, and what a finding costs too.", _accounts
    ),
    Row("delays_beyond_waits", "Delay costs are within the waits, and of a rank.", _delays),
    Row(
        "bound_without_numbers",
        "What binds an operation is known where it is said.",
        _bound_without_numbers,
    ),
    Row("outside_of_the_run", "A finding is within the run.", _windows),
)


def contradictions(said: Said, rows: Iterable[Row] = ROWS) -> list[str]:
    """A line for every contradiction."""
    return [f"{row.name}: {line}" for row in rows for line in row.check(said)]


def check(run: Run) -> None:
    """Fails where the report of a run contradicts itself or its tables."""
    found = contradictions(Said(run, build(run)))
    assert not found, "\n".join([f"{run.path}:", *found])


def with_finding(said: Said, **changed: Any) -> Said:
    """The same with another first finding: what a test of a row has."""
    first: PlacedFinding = said.report.findings[0]
    findings = (replace(first, **changed), *said.report.findings[1:])
    return Said(said.run, replace(said.report, findings=findings))
