"""Computes a report's data from the small tables of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from logpost.analyzer.findings.evidence.places import NOWHERE, Places, places_of
from logpost.analyzer.findings.evidence.scheduled import scheduled
from logpost.analyzer.findings.finding import MIN_SHARE, MUCH, Number
from logpost.analyzer.findings.prose import alternatives, cure
from logpost.analyzer.report.call_places import call_places
from logpost.analyzer.report.clock import clock_note, clock_warning
from logpost.analyzer.report.collectives import collectives
from logpost.analyzer.report.conclusion import conclude
from logpost.analyzer.report.coverage import coverage
from logpost.analyzer.report.data import (
    Alternative,
    HostFacts,
    Largest,
    Messages,
    ModelFit,
    PlacedFinding,
    RankTime,
    Report,
    Share,
    WaitState,
)
from logpost.analyzer.report.efficiencies import efficiencies
from logpost.analyzer.report.efficiency_windows import Stretch, by_stretch, ideal_runtime
from logpost.analyzer.report.files import files
from logpost.analyzer.report.network import HostTraffic, host_traffic
from logpost.analyzer.report.packing import packing
from logpost.analyzer.report.path_and_delays import PLACES, critical_path, delays
from logpost.analyzer.report.predicted import predicted_text
from logpost.analyzer.report.sens_view import sens_view, with_packing
from logpost.analyzer.report.threads import accelerators, threads
from logpost.analyzer.report.uneven import uneven
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.manifest import MUCH_DEFICIT, MachineUsed
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.roi import RegionOfInterest
from logpost.analyzer.run.schema import PARTS, PHASES, WAIT_STATES
from logpost.analyzer.run.undivided import TITLE, categories, merged
from logpost.analyzer.run.wide import WIDE, wide_sum, wide_sum_of
from logpost.analyzer.words.categories import WAITING
from logpost.analyzer.words.fault_text import fault_texts
from logpost.analyzer.words.labels import folded
from logpost.analyzer.words.location_names import Location, LocationNames
from logpost.analyzer.words.units import count_text, percent_text, sentence_text


def build(run: Run, models: tuple[ModelFit, ...] = ()) -> Report:
    """The report of a run; reads every small table once and none of the large ones.

    Args:
        run: a finished run.
        models: the fits of the models (`model_fits.model_fits`), where they are to be compared.
    """
    manifest = run.manifest
    # Of one location 64 bits hold a sum; grouping by them, and by categories that are not text yet, is faster.
    by_rank = (
        program(run.shown("accounting"))
        .group_by("location", "category")
        .agg(pl.col("exposed_ps").sum().cast(WIDE))
        .with_columns(pl.col("category").cast(pl.String))
        .collect()
    )
    ranks = _rank_times(run, by_rank)
    slowest = max((rank.program_ps for rank in ranks), default=0)
    total = sum(rank.program_ps for rank in ranks)
    breakdown = _breakdown(by_rank, total, manifest.machine.undivided)
    places = places_of({name: run.table(name) for name in ("callpaths", "regions")})
    found = _findings(run, places)
    recording = _recording_share(run)
    outside = _outside_program(run)
    faults = Faults(run.manifest.faults, reads=run.path)  # those of findings that are looked for now are in it
    packed = faults.guard("packing by hand", lambda: packing(run, sum(rank.compute_ps for rank in ranks)), None)
    in_files = faults.guard("files", lambda: files(run, total), None)
    of_threads = faults.guard("threads", lambda: threads(run), None)
    of_accelerators = faults.guard("accelerators", lambda: accelerators(run), None)
    traffic: tuple[HostTraffic, ...] = faults.guard("traffic of hosts", lambda: host_traffic(run), ())
    balance = faults.guard("uneven compute", lambda: uneven(run, ranks), None)
    stretches: tuple[Stretch, ...] = faults.guard(
        "efficiencies over time",
        lambda: by_stretch(run.table("accounting"), run.table("ideal_network"), manifest.windows, len(ranks)),
        (),
    )
    path = faults.guard("critical path", lambda: critical_path(run, places), None)
    delayed = faults.guard("delay costs", lambda: delays(run, places, breakdown), None)
    collected = faults.guard("collective operations", lambda: collectives(run), None)
    return Report(
        run=str(run.path),
        source=manifest.source.anchor,
        tool_version=manifest.tool_version,
        wall_ps=manifest.clock.length_ps,
        program_ps=slowest,
        start_up_ps=outside["start_up"],
        shut_down_ps=outside["shut_down"],
        outside_ps=outside["outside"],
        ranks=manifest.ranks,
        events=manifest.events,
        communication_events=manifest.communication_events,
        paradigms=tuple(manifest.paradigms),
        hosts=HostFacts(
            nodes=manifest.hosts.nodes,
            ranks_per_node=tuple(manifest.hosts.ranks_per_node),
            cores_per_node=tuple(manifest.hosts.cores_per_node),
            oversubscribed=manifest.hosts.oversubscribed,
            without_core=manifest.hosts.without_core,
        ),
        predicted=manifest.predicted,
        warnings=(
            *fault_texts((fault.part, fault.error) for fault in faults.found),
            *_warnings(run, breakdown, recording),
        ),
        faults=tuple(faults.found),
        conclusion=conclude(
            breakdown,
            _largest(run, breakdown),
            found,
            scheduled=bool(scheduled(manifest.hosts)),
            lacks_members=any(one.name == "collective_lacks_members" and one.count for one in manifest.quality),
            uneven=balance,
            threads=of_threads,
            outside_calls=sum(one.count for one in manifest.quality if one.name == "record_outside_call"),
        ),
        uneven=balance,
        coverage=coverage(breakdown, found),
        findings=found,
        breakdown=breakdown,
        rank_times=ranks,
        efficiencies=efficiencies(
            [rank.compute_ps for rank in ranks], slowest, ideal_runtime(run.table("ideal_network"))
        ),
        threads=of_threads,
        accelerators=of_accelerators,
        network=traffic,
        packing=packed,
        files=in_files,
        sens=sens_view(
            with_packing({share.category: share.exposed_ps for share in breakdown}, packed.exposed_ps if packed else 0),
            manifest.machine.undivided,
        ),
        stretches=stretches,
        wait_states=_wait_states(run),
        places=call_places(run, total, places, PLACES),
        messages=_messages(run),
        machine=manifest.machine,
        clock=manifest.clock,
        quality=tuple(manifest.quality),
        limits=_limits(run, recording),
        models=models,
        critical_path=path,
        delays=delayed,
        collectives=collected,
    )


def _rank_times(run: Run, by_rank: pl.DataFrame) -> tuple[RankTime, ...]:
    wide = by_rank.group_by("location").agg(
        program=wide_sum("exposed_ps"),
        compute=pl.col("exposed_ps").filter(pl.col("category") == "compute").sum(),
        waiting=pl.col("exposed_ps").filter(pl.col("category").is_in(WAITING)).sum(),
        communication=pl.col("exposed_ps").filter(pl.col("category") != "compute").sum(),
    )
    rows = (
        run.table("locations")
        .filter("accounted")
        .join(wide.lazy(), on="location", how="left")
        .select("location", "host", "wall_ps", pl.col("program", "compute", "waiting", "communication").fill_null(0))
        .collect()
    )
    names = LocationNames(run.table("locations").collect())
    found = (RankTime(Location(location), names.one(location), *row) for location, *row in rows.iter_rows())
    return tuple(sorted(found, key=lambda one: one.named.order))


def _breakdown(by_rank: pl.DataFrame, total: int, undivided: Sequence[str]) -> tuple[Share, ...]:
    sums = dict(by_rank.group_by("category").agg(wide_sum("exposed_ps")).iter_rows())
    return tuple(
        Share(category, int(sums.get(category, 0)), int(sums.get(category, 0)) / total if total else 0.0)
        for category in categories(undivided)
    )


def _outside_program(run: Run) -> dict[str, int]:
    """Phase to its time on the rank where it is longest, of those outside of the program; ps.

    A location of threads that follow each other is outside of the program between them: of a rank, its first thread's.
    """
    ranks = run.table("locations").filter(pl.col("rank") >= 0)
    rows = (
        run.table("accounting")
        .join(ranks, on="location", how="semi")
        .group_by("location", "phase")
        .agg(pl.col("exposed_ps").sum())
        .group_by(pl.col("phase").cast(pl.String))
        .agg(pl.col("exposed_ps").max())
        .collect()
    )
    return dict.fromkeys(PHASES, 0) | {phase: int(time) for phase, time in rows.iter_rows()}


def _largest(run: Run, breakdown: tuple[Share, ...]) -> Largest:
    worst = max(breakdown[1:], key=lambda share: share.exposed_ps)
    names = run.table("callpaths").join(run.table("regions").select("region", "name"), on="region", how="left")
    rows = (
        program(run.shown("exposure"))
        .filter(pl.col("category").cast(pl.String) == worst.category)
        .join(names.select("callpath", "name"), on="callpath")
        .group_by("name")
        .agg(wide_sum("exposed_ps"))
        .sort("exposed_ps", descending=True)
        .collect()
    )
    return Largest(worst.category, worst.share, "" if rows.is_empty() else folded(rows["name"][0] or ""))


def _findings(run: Run, places: Places) -> tuple[PlacedFinding, ...]:
    width, length = run.manifest.windows.width_ps, run.manifest.clock.length_ps
    rows = run.table("findings").with_columns(pl.col("kind").cast(pl.String)).collect()
    found = []
    for row in rows.iter_rows(named=True):
        place = places.get(row.pop("callpath"), NOWHERE)
        structured = {
            "ranks": tuple(row["ranks"]),
            "threads": tuple(row["threads"] or ()),
            "evidence": tuple(Number(**one) for one in row["evidence"]),
        }
        found.append(
            PlacedFinding(
                path=place.path,
                file=place.file,
                line=place.line,
                source=place.source,
                begin_ps=max(0, row["first_window"] * width),
                end_ps=min(length, (row["last_window"] + 1) * width),
                cure=cure(row),
                alternatives=tuple(Alternative(*one) for one in alternatives(row)),
                **(row | structured),
            )
        )
    return tuple(found)


def _wait_states(run: Run) -> tuple[WaitState, ...]:
    rows = (
        run.table("wait_states")
        .group_by(pl.col("pattern").cast(pl.String))
        .agg(wide_sum("wait_ticks"), pl.col("count").sum())
        .collect()
    )
    known = {name: (int(wait), int(count)) for name, wait, count in rows.iter_rows()}
    rate = run.manifest.clock.ticks_per_second
    found = []
    for name in WAIT_STATES:
        ticks, count = known.get(name, (0, 0))
        found.append(WaitState(name, ticks / rate, count))
    return tuple(found)


def _messages(run: Run) -> Messages:
    sums = run.table("pairs").select(wide_sum_of(pl.exclude("send_location", "recv_location"))).collect()
    row = {name: int(value or 0) for name, value in sums.row(0, named=True).items()} if sums.height else {}
    return Messages(
        count=row.get("messages", 0),
        bytes=row.get("bytes", 0),
        envelope_ps=row.get("envelope_ps", 0),
        parts_ps=merged({part: row.get(f"{part}_ps", 0) for part in PARTS}, run.manifest.machine.undivided),
        deficit_ps=row.get("deficit_ps", 0),
    )


def _recording_share(run: Run) -> float:
    """The duration of recording itself over the threads' time, at least; 0: not known."""
    manifest = run.manifest
    if not manifest.recording_ps or manifest.region_of_interest is not None:
        return 0.0
    lasted = run.table("locations").filter("accounted").select(wide_sum_of(pl.col("end_ps") - pl.col("begin_ps")))
    return min(1.0, manifest.recording_ps / max(1, int(lasted.collect().item())))


def _recording_text(share: float) -> str:
    return (
        f"Recording itself took at least {percent_text(share)} of the program's time: short calls, and the code "
        "between them, last longer here than without it."
    )


def _warnings(run: Run, breakdown: Sequence[Share], recording: float) -> tuple[str, ...]:
    manifest = run.manifest
    found = manifest.ended_early + manifest.overwritten
    if manifest.predicted is not None:
        found.append(f"This run is predicted, not measured: {predicted_text(manifest.predicted)}.")
    if manifest.region_of_interest is not None:
        named = RegionOfInterest(**manifest.region_of_interest.model_dump()).text
        found.append(f"All figures are about a region of interest: {named}.")
    hosts = manifest.hosts
    if hosts.oversubscribed is True:
        crowded = [
            f"{count_text(ranks, 'rank')} on {count_text(cores, 'core')}"
            for ranks, cores in zip(hosts.ranks_per_node, hosts.cores_per_node, strict=False)
            if 0 < cores < ranks
        ]
        where = f" ({crowded[0]}{' on one node' if len(hosts.ranks_per_node) > 1 else ''})" if crowded else ""
        found.append(
            f"Ranks outnumber cores{where}{_without_core(hosts.without_core)}: each wait below contains time in which "
            "the awaited rank had no core. Compare shares between runs on this machine; do not expect these times on a "
            "machine with enough cores."
        )
    elif hosts.without_core is not None and scheduled(hosts):
        found.append(
            f"Ranks were ready to run, but had no core for {percent_text(hosts.without_core)} of their time (other "
            "load, other threads, or the binding): each wait below contains such time of the awaited rank."
        )
    if recording >= MUCH:
        found.append(_recording_text(recording))
    unmatched = sum(each.count for each in manifest.quality if each.name in ("send_unmatched", "receive_unmatched"))
    if warning := clock_warning(manifest.clock, unmatched):
        found.append(warning)
    lost = [count for count in manifest.quality if count.severity == "data_loss" and count.count > 0]
    if lost:
        found.append(
            f"The trace is incomplete: {'; '.join(f'{count.name} ({count.count:,})' for count in lost)}. "
            "The sums below lack the missing part."
        )
    machine = manifest.machine
    by_machine = sum(one.share for one in breakdown if one.category not in ("compute", "mpi_other", *WAITING))
    return (*found, *_too_slow(machine, by_machine))


def _too_slow(machine: MachineUsed, by_machine: float) -> Iterator[str]:
    """What the machine predicts beyond what was measured, where the ranks' time shows it: part of that is modelled."""
    kinds = (
        ("message time", machine.deficit_share, 1 - machine.transfer_share),
        ("time of one-sided transfers", machine.transfer_deficit_share or 0.0, machine.transfer_share),
    )
    much = [
        f"{percent_text(deficit)} more {time}"
        for time, deficit, share in kinds
        if deficit > (0 if machine.refused else MUCH_DEFICIT) and share * by_machine >= MIN_SHARE
    ]
    if much and machine.refused:
        yield (
            f"The machine estimated from this trace predicts {' and '.join(much)} than was measured: it contradicts "
            "the trace, and no transport is divided by it. Analyze with --machine FILE."
        )
    elif much:
        rests = "" if machine.origin == "file" else ", and no finding rests on these values"
        yield (
            f"The machine's parameters predict {' and '.join(much)} than was measured: they are too slow for this "
            f"machine. The modelled parts of that time are upper bounds{rests}."
        )


def _without_core(share: float | None) -> str:
    return "" if share is None else f" and were ready to run without one for {percent_text(share)} of their time"


def _limits(run: Run, recording: float) -> tuple[str, ...]:
    """The manifest's notes, and the limits of the method."""
    own = list(run.manifest.notes)
    if MIN_SHARE <= recording < MUCH:
        own.append(_recording_text(recording))
    if corrected := clock_note(run.manifest.clock):
        own.append(corrected)
    if undivided := run.manifest.machine.undivided:
        own.append(
            f"The trace does not distinguish {', '.join(name.replace('_', ' ') for name in undivided)}: they are shown "
            f'as "{TITLE}"; a calibrated machine (--machine FILE) divides them.'
        )
    if run.manifest.hosts.oversubscribed is None:
        own.append("The trace does not state the number of cores per node: ranks may have shared cores.")
    if run.manifest.pack is not None and run.manifest.region_of_interest is not None:
        own.append("Packing by hand is known for the whole program only, not of a region of interest.")
    own.append("Two findings may contain the same waiting, so their times do not add up.")
    return tuple(dict.fromkeys(map(sentence_text, own)))
