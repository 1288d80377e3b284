"""Samples -> machine file: every value with unit, interval, samples and the measurement it comes from.

The o(S, b), G(P, S) and log3P tables exist once in a machine file; they are those of the farthest locality class that
was measured, and the file's notes say which. What is refused or could not be read stays absent, with the reason in
the notes: a model that needs it names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from logpost.errors import InputError
from logpost.machines.calibration.bursts import BurstPoint, blocking_depth, overheads
from logpost.machines.calibration.contention import contention
from logpost.machines.calibration.disturbance import warning
from logpost.machines.calibration.estimate import Estimate, ratio
from logpost.machines.calibration.layouts import Layout, LayoutTimes, Log3PTables, Strided, tables
from logpost.machines.calibration.locality import LocalityValues, estimate, read_locality, steady_gap
from logpost.machines.calibration.patterns import Gap, PairTimes, Pattern, gaps
from logpost.machines.calibration.reduction import per_byte
from logpost.machines.calibration.refusal import NANOSECONDS, Refusal, refuse
from logpost.machines.calibration.samples import Sample, Samples
from logpost.machines.calibration.signature import Signature
from logpost.machines.calibration.sizes import SizeRange
from logpost.machines.calibration.values import Values, rounded
from logpost.machines.localities import LOCALITIES
from logpost.machines.schema import FORMAT, Machine
from logpost.machines.schema.load import check_machine
from logpost.machines.site.topology import with_topology
from logpost.machines.site.wiring import SiteTopology
from logpost.machines.topologies import Topology
from logpost.machines.values.quantity import Bandwidth, Quantity, Time

SourceKey = Literal[
    "SIGNATURE", "SIZES", "PROTOCOL", "BURSTS", "PATTERNS", "LAYOUTS", "ONE_SIDED", "REDUCTION", "CONTENTION"
]

METHODS: Mapping[SourceKey, str] = {
    "SIGNATURE": "LOGP 3.1 and 3.2: slopes of the burst's time over M at several Delta, round trip",
    "SIZES": "LOGP 4.1 and 4.2: piecewise lines through o_s(n), o_r(n) and the half round trip T(n)",
    "PROTOCOL": "bisection for the size whose send waits for a late receive",
    "BURSTS": "OVL 2.1: time per initiation over burst lengths",
    "PATTERNS": "OVL 2.1: time per message of pairs that stream at once",
    "ONE_SIDED": "time from MPI_Put or MPI_Get to the end of MPI_Win_flush, within a node",
    "REDUCTION": "MPI_Reduce_local on several sizes",
    "CONTENTION": "half round trips over hops; one pair and all pairs of hosts across the middle, which share links",
    "LAYOUTS": "LOG3P 4.1: half round trips to oneself and to another, memory copies, over size and stride",
}


@dataclass(frozen=True)
class Calibration:
    """A machine file's content and everything else that the page shows."""

    machine: Machine
    samples: Samples
    localities: Mapping[str, LocalityValues]
    bursts: tuple[BurstPoint, ...]
    gaps: tuple[Gap, ...]
    log3p: Log3PTables
    tables_of: str | None
    """The locality class of o(S, b), G(P, S) and log3P."""
    refused: tuple[Refusal, ...]
    lacking: tuple[str, ...]
    not_reached: tuple[str, ...]
    """Names of the values whose interval is wider than ±5 %."""
    values: int
    """How many values the file holds."""
    warning: str
    """What makes the whole calibration doubtful; empty when nothing does."""


def calibration(
    samples: Samples, *, name: str, notes: Sequence[str] = (), site: SiteTopology | None = None
) -> Calibration:
    """Extract all that the samples say; ``notes`` are first among the file's, ``site`` is their network.

    Raises InputError when the name is not a valid machine name, or the samples give no value at all.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name):
        raise InputError(
            f"{name!r} is not a valid machine name: it starts with a small letter or digit, followed by these and - _ ."
        )
    values = Values()
    found = {locality: read_locality(samples, locality) for locality in samples.localities()}
    refused = [refusal for one in found.values() for refusal in one.refused]
    lacking = [sentence for one in found.values() for sentence in one.lacking]
    classes = {locality: _class(one, values) for locality, one in found.items()}
    used: set[SourceKey] = set()
    raw: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        "title": _title(samples),
        "date": samples.host.date[:10],
        "kind": "measurement",
        "node": {"description": f"{samples.host.mpi_library}; ranks on CPUs {', '.join(samples.host.cpus)}"},
        "loggp": {locality: table for locality, table in classes.items() if table},
    }
    where = _farthest(samples, ("burst_overhead", "pattern_gap", "layout", "blocking_depth"))
    overlap, bursts, pairs, more = _overlap(samples, where, values)
    refused += more
    log3p, more = tables(_layout_times(samples, where), place="log3p")
    refused += more
    of_program, more = _used_layouts(samples)
    refused += more
    points = _log3p_points(log3p, of_program, values)
    rate = {**_copy_rate(log3p, values), **_reduction(samples, values, refused)}
    transfers = {"point": _transfers(samples, values)}
    found_tables = {"overlap": overlap, "log3p": points, "memory": rate, "one_sided": transfers}
    raw |= {key: table for key, table in found_tables.items() if any(table.values())}
    shared, ends = _shared_ends(samples, values)
    raw["observed"] = [*_observed(samples, found, log3p, values), *shared]
    network: dict[str, Any] = {}
    if site is not None:
        network, more_lacking = _network(samples, site.topology, values)
        lacking += more_lacking
    used = _sources_in([raw, network])
    if not used:
        raise InputError(
            "the samples give no value for a machine file: "
            + ("; ".join([r.sentence() for r in refused] + lacking) or "they hold no family that is known")
        )
    raw["sources"] = {key: _source(samples, key) for key in METHODS if key in used}
    disturbed = warning(samples)
    raw["notes"] = [*notes, *([disturbed] if disturbed else []), *ends, *_notes(where, refused, lacking, values)]
    machine, problems = check_machine(raw, name)
    if machine is None:
        raise InputError(f"the extracted values make no machine file: {problems[0]}")
    if site is not None:
        known = site.topology.model_copy(
            update={key: kind.model_validate(network[key]) for key, kind in _OF_LINKS.items() if key in network}
        )
        machine, stated = with_topology(machine, replace(site, topology=known))
        machine = machine.model_copy(update={"notes": [*machine.notes, *(f"{note}." for note in stated)]})
    return Calibration(
        machine, samples, found, tuple(bursts), tuple(pairs), log3p, where, tuple(refused), tuple(lacking),
        tuple(values.not_reached), values.count, disturbed,
    )  # fmt: skip


_OF_LINKS: Mapping[str, type[Quantity]] = {"per_hop": Time, "link_bandwidth": Bandwidth}


def _network(samples: Samples, topology: Topology, values: Values) -> tuple[dict[str, Any], list[str]]:
    """per_hop and link_bandwidth, where they were measured, and why one is not known."""
    if not samples.of("distance") and not samples.of("across"):
        return {}, []
    found = contention(samples, topology)
    table: dict[str, Any] = {}
    if found.per_hop is not None:
        note = "slope of the half round trip over hops"
        table["per_hop"] = values.time(found.per_hop, "topology.per_hop", "CONTENTION", note, derived=True)
    if found.link_bandwidth is not None:
        note = f"{found.sharing:.3g} pairs share a cable of the busiest link"
        table["link_bandwidth"] = values.value(
            found.link_bandwidth, "topology.link_bandwidth", "GB/s", 1e-9, "CONTENTION", note, derived=True
        )
    return table, found.lacking


def machine_name(text: str) -> str:
    """A name for the machine file from any text, e.g. the stem of its path."""
    name = re.sub(r"[^a-z0-9_.-]+", "-", text.lower()).strip("-_.")
    return name or "calibrated"


def _title(samples: Samples) -> str:
    hosts = list(dict.fromkeys(samples.host.hosts))
    shown = ", ".join(hosts[:4]) + (f" and {len(hosts) - 4} more" if len(hosts) > 4 else "")
    return f"{shown}, {samples.host.ranks} ranks, measured {samples.host.date[:10]}"


def _source(samples: Samples, key: SourceKey) -> dict[str, str]:
    host = samples.host
    places = [f"{name} (CPU {cpu})" for name, cpu in zip(host.hosts, host.cpus, strict=True)]
    shown = ", ".join(dict.fromkeys(places[:8])) + (f", {len(places) - 8} more" if len(places) > 8 else "")
    launcher = f", {host.launcher}" if host.launcher else ""
    return {
        "kind": "measurement",
        "text": f"{host.measured} with {host.mpi_library}{launcher}",
        "date": host.date[:10],
        "host": shown,
        "method": f"{METHODS[key]}; medians, 95 % intervals over rounds; clock {host.clock}",
    }


def _farthest(samples: Samples, families: tuple[str, ...]) -> str | None:
    present = {s.locality for family in families for s in samples.of(family)} - {"self"}
    return next((name for name in reversed(LOCALITIES) if name in present), None)


def _class(found: LocalityValues, values: Values) -> dict[str, Any]:
    """One [loggp.CLASS] table: from the size ranges, or from the signature alone where there are none."""
    place = f"loggp.{found.locality}"
    table: dict[str, Any] = {}
    if found.switch is not None:
        low, high = found.switch.low, found.switch.high
        note = f"a send of {high} B waits for its receive, one of {low} B does not"
        if found.switch.misplaced:
            note += f"; sends of {', '.join(map(str, found.switch.misplaced))} B behaved differently"
        table["eager_limit"] = values.exact(low, low, high - 1, "B", "PROTOCOL", note)
    several = len(found.ranges) > 1
    rows = [_range(r, _gap_of(r, found.signatures), place, values, numbered=several) for r in found.ranges]
    if not rows and found.signatures:
        first = found.signatures[min(found.signatures)]
        row = {
            name: values.time(item, f"{place}.{name}", "SIGNATURE")
            for name in ("L", "o_s", "o_r", "g")
            if (item := getattr(first, name)) is not None
        }
        rows = [row] if row else []
    return {**table, "range": rows} if rows else table


def _gap_of(r: SizeRange, signatures: Mapping[int, Signature]) -> tuple[Estimate, str] | None:
    """The gap that bounds a range's messages, and its note: of the smallest request in it, else of the next smaller."""
    known = {size: s.g for size, s in signatures.items() if s.g is not None}
    inside = [n for n in known if n >= r.first_bytes and (r.up_to_bytes is None or n <= r.up_to_bytes)]
    below = [n for n in known if n < r.first_bytes]
    if not inside and not below:
        return None
    size = min(inside) if inside else max(below)
    found = signatures[size]
    assert found.g is not None
    if found.bounded:
        return found.g, f"not seen: a stream of {size} B messages is as fast as its processors"
    return found.g, f"{'a stream' if found.streamed else 'requests'} of {size} B"


def _range(
    r: SizeRange, gap: tuple[Estimate, str] | None, place: str, values: Values, *, numbered: bool
) -> dict[str, Any]:
    above = f" from {r.first_bytes} B" if numbered else ""
    upto = above if r.up_to_bytes is None else f" up to {r.up_to_bytes} B"
    row: dict[str, Any] = {} if r.up_to_bytes is None else {"up_to_bytes": r.up_to_bytes}
    for name in ("L", "o_s", "o_r", "o_s_per_byte", "o_r_per_byte", "G"):
        item: Estimate | None = getattr(r, name)
        if item is None:
            continue
        build = values.per_byte if name.endswith("_per_byte") or name == "G" else values.time
        note = r.notes.get(name, "")
        if not note and name == "L":
            note = "T(n) at no bytes, less o_s and o_r"
        if not note and name == "G":
            note = "slope of T(n), less o_s_per_byte and o_r_per_byte"
        row[name] = build(item, f"{place}.{name}{upto}", "SIZES", note, derived=bool(note))
    if gap is not None:
        row["g"] = values.time(gap[0], f"{place}.g{upto}", "SIGNATURE", gap[1])
    return row


def _overlap(
    samples: Samples, where: str | None, values: Values
) -> tuple[dict[str, Any], list[BurstPoint], list[Gap], list[Refusal]]:
    if where is None:
        return {}, [], [], []
    table: dict[str, Any] = {}
    initiated = [
        BurstPoint(s.bytes, int(s["burst"]), estimate(s))
        for s in samples.of("burst_overhead", locality=where, side="send")
    ]
    points, refused = overheads(initiated, place="overlap")
    depth = _depth(samples.of("blocking_depth", locality=where), points, values)
    if depth:
        table["HD"] = depth
    if points:
        table["o"] = [
            {
                "size_bytes": p.size,
                "burst": p.burst,
                "o": values.time(p.o, f"overlap.o (S = {p.size} B, b = {p.burst})", "BURSTS"),
            }
            for p in points
        ]
    streams = [_pair_times(s) for s in samples.of("pattern_gap", locality=where)]
    found, more = gaps([s for s in streams if s is not None], place="overlap")
    if found:
        table["G"] = [
            {
                "processors": gap.processors,
                "size_bytes": gap.size,
                "pattern": gap.pattern,
                "level": gap.level,
                "G": values.per_byte(
                    gap.G,
                    f"overlap.G ({gap.pattern}, P = {gap.processors}, S = {gap.size} B, {gap.level})",
                    "PATTERNS",
                ),
            }
            for gap in found
        ]
    return table, points, found, refused + more


def _depth(measured: list[Sample], points: list[BurstPoint], values: Values) -> dict[str, Any] | None:
    """HD as the program found it by blocking calls, else as the jump of the marginal cost in o(S, b)."""
    blocking = [s for s in measured if int(s["depth"]) > 0]
    if blocking:
        least = min(blocking, key=lambda s: int(s["depth"]))
        depth, size = int(least["depth"]), least.bytes
        return values.exact(depth, depth, depth, "1", "BURSTS", f"messages of {size} B; the smallest over the sizes")
    if measured:
        return None
    found = blocking_depth(points)
    if found is None:
        return None
    note = f"the cost of one more initiation jumps between bursts of {found.low} and {found.high}"
    return values.exact(found.low, found.low, found.high - 1, "1", "BURSTS", note)


def _pair_times(sample: Sample) -> PairTimes | None:
    """lowest_s is the fastest pair's time, highest_s the slowest's; both have the median pair's relative errors."""
    patterns: dict[str, Pattern] = {"neighbour": "nearest-neighbour", "cross_section": "cross-section"}
    middle = estimate(sample)
    if middle.value <= 0.0:
        return None

    def pair(key: str) -> Estimate:
        return middle.scaled(float(sample[key]) / middle.value)

    return PairTimes(
        patterns[str(sample["pattern"])], int(sample["pairs"]), sample.bytes, pair("highest_s"), pair("lowest_s")
    )


def _layout_times(samples: Samples, where: str | None) -> LayoutTimes:
    """The layout points by what they time. T01 is that of the class `where`; self and memory belong to no other."""

    def column(transfer: str, *forms: str) -> dict[Layout, Estimate]:
        rows = [s for s in samples.of("layout", transfer=transfer) if s["form"] in forms]
        if transfer == "remote":
            rows = [s for s in rows if s.locality == where]
        found: dict[Layout, Estimate] = {}
        for s in rows:
            strided = s["form"] != "contiguous"
            block = int(s["block_bytes"]) if strided else 0
            found[Layout(s.bytes, int(s["stride_bytes"]) if strided else 0, block)] = estimate(s)
        return found

    return LayoutTimes(
        to_self=column("self", "contiguous", "datatype"),
        remote=column("remote", "contiguous", "datatype"),
        memory=column("memory_copy", "contiguous"),
        packed_to_self=column("self", "packed"),
        packed_remote=column("remote", "packed"),
    )


def _used_layouts(samples: Samples) -> tuple[tuple[Strided, ...], list[Refusal]]:
    """l_mw of layouts that a recorded program used; each less the contiguous message of the same passes."""
    rows: list[Strided] = []
    refused: list[Refusal] = []
    for one in samples.of("used_layout", form="datatype", transfer="remote"):
        keys = {name: one[name] for name in ("stride_bytes", "block_bytes")}
        layout = Layout(one.bytes, int(keys["stride_bytes"]), int(keys["block_bytes"]))
        measured: dict[str, dict[Layout, Estimate]] = {"self": {}, "remote": {}}
        for sample in samples.of("used_layout", bytes=one.bytes, **keys):
            at = layout if sample["form"] == "datatype" else Layout(one.bytes)
            measured[str(sample["transfer"])][at] = estimate(sample)
        times = LayoutTimes(measured["self"], measured["remote"], memory={}, packed_to_self={}, packed_remote={})
        found, more = tables(times, place="log3p")
        rows += found.strided
        refused += more
    return tuple(rows), refused


def _log3p_points(log3p: Log3PTables, used: Sequence[Strided], values: Values) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for size in log3p.sizes:
        row: dict[str, Any] = {"size_bytes": size.size}
        for name, note in (("o_mw", "T00(s) - T_mem(s)"), ("o_net", "T01(s) - o_mw(s)"), ("T_mem", "")):
            item: Estimate | None = getattr(size, name)
            if item is not None:
                place = f"log3p.{name} (s = {size.size} B)"
                row[name] = values.time(item, place, "LAYOUTS", note, derived=bool(note))
        if len(row) > 1:
            rows.append(row)
    tabulated = {strided.layout for strided in log3p.strided}
    alone = [strided for strided in used if strided.layout not in tabulated]
    for strided in (*log3p.strided, *alone):
        layout = strided.layout
        if strided.l_mw is None:
            continue
        blocks = f"blocks of {layout.block} B, " if layout.block else ""
        place = f"log3p.l_mw (s = {layout.size} B, {blocks}d = {layout.stride} B)"
        rows.append(
            {
                "size_bytes": layout.size,
                "stride_bytes": layout.stride,
                **({"block_bytes": layout.block} if layout.block else {}),
                **({} if layout in tabulated else {"alone": True}),
                "l_mw": values.time(strided.l_mw, place, "LAYOUTS", _way(strided), derived=True),
                **_to_self(strided, place.replace("l_mw", "l_mw_self"), values),
            }
        )
    return {"point": rows} if rows else {}


def _to_self(strided: Strided, place: str, values: Values) -> dict[str, Any]:
    """l_mw of a message to oneself, where that of messages to others is another one."""
    if not strided.remote or strided.to_self is None:
        return {}
    return {"l_mw_self": values.time(strided.to_self, place, "LAYOUTS", "T00(s, d) - T00(s)", derived=True)}


def _way(strided: Strided) -> str:
    return "T01(s, d) - T01(s)" if strided.remote else "T00(s, d) - T00(s)"


def _transfers(samples: Samples, values: Values) -> list[dict[str, Any]]:
    """T of puts and gets; one that a program's clock does not show is left out."""
    rows = sorted(samples.of("one_sided"), key=lambda one: (str(one["operation"]), one.bytes))
    return [
        {
            "operation": one["operation"],
            "size_bytes": one.bytes,
            "T": values.time(found, f"one_sided.T ({one['operation']}, {one.bytes} B)", "ONE_SIDED"),
        }
        for one in rows
        if (found := estimate(one)).value > 0.0
    ]


def _reduction(samples: Samples, values: Values, refused: list[Refusal]) -> dict[str, Any]:
    """gamma, where it was measured."""
    found = per_byte(samples)
    if found is None:
        return {}
    if found.value <= 0.0:
        refused.append(refuse("memory.reduction", found, "ns/B", "no byte is combined in no time", factor=NANOSECONDS))
        return {}
    note = "slope of MPI_Reduce_local over the size; doubles, MPI_SUM"
    return {"reduction": values.per_byte(found, "memory.reduction", "REDUCTION", note, derived=True)}


def _copy_rate(log3p: Log3PTables, values: Values) -> dict[str, Any]:
    copies = [(row.size, row.T_mem) for row in log3p.sizes if row.T_mem is not None and row.T_mem.value > 0.0]
    if not copies:
        return {}
    size, time = copies[-1]
    found = ratio(Estimate(float(size), 0.0), time)
    return {
        "copy_rate": values.value(
            found, "memory.copy_rate", "GB/s", 1e-9, "LAYOUTS", f"{size} B / T_mem({size} B)", derived=True
        )
    }


def _observed(
    samples: Samples, found: Mapping[str, LocalityValues], log3p: Log3PTables, values: Values
) -> list[dict[str, Any]]:
    """Second opinions and LOGP's further experiments: no parameters, but truths to compare with."""
    rows: list[dict[str, Any]] = []

    def add(name: str, what: str, table: dict[str, Any]) -> None:
        rows.append({"name": name, "what": what, "result": table})

    for locality, one in found.items():
        for size, time in one.round_trips.items():
            name = f"{locality}.round_trip_{size}B"
            add(name, f"{locality}: request of {size} B and reply of 8 B", values.time(time, name, "SIGNATURE"))
        for size, signature in one.signatures.items():
            for key in ("o_s", "o_r", "g", "L"):
                item: Estimate | None = getattr(signature, key)
                if item is not None and (one.ranges or size != min(one.signatures)):
                    name = f"{locality}.signature_{key}_{size}B"
                    add(name, f"{locality}: {key} of LOGP's signature, {size} B", values.time(item, name, "SIGNATURE"))
        if one.direct_o_r is not None:
            name = f"{locality}.o_r_of_waiting_replies"
            what = f"{locality}: o_r of replies that have arrived, timed directly"
            add(name, what, values.time(one.direct_o_r, name, "SIGNATURE"))
        rows += _crowds(samples, locality, one, values)
    for strided in log3p.strided:
        if strided.packed is not None:
            layout = strided.layout
            name = f"l_mw_packed_{layout.size}B_{layout.stride}B_{layout.block}B"
            what = f"l_mw packed by hand: {layout.size} B in blocks of {layout.block} B every {layout.stride} B"
            add(name, what, values.time(strided.packed, name, "LAYOUTS", _way(strided), derived=True))
    return rows


def _crowds(samples: Samples, locality: str, one: LocalityValues, values: Values) -> list[dict[str, Any]]:
    """Time per request of one sender to many, and of many to one, over that of a pair (LOGP 3.5, Table 4)."""
    rows = []
    sentences = {
        "one_to_many": "time per request of one sender to {n} receivers over that of a pair",
        "many_to_one": "time per request of {n} senders to one receiver over that of a pair",
    }
    pair = next((s.curves[0].steady.slope for _, s in sorted(one.signatures.items())), None)
    for family, sentence in sentences.items():
        here = samples.of(family, locality=locality)
        for peers in sorted({int(s["peers"]) for s in here}):
            crowd = steady_gap([s for s in here if s["peers"] == peers])
            if crowd is None or pair is None or crowd.value <= 0.0 or pair.value <= 0.0:
                continue
            name = f"{locality}.{family}_{peers}"
            found = ratio(crowd, pair)
            what = f"{locality}: {sentence.format(n=peers)}"
            note = f"{rounded(crowd.value * 1e6, 4):g} us / {rounded(pair.value * 1e6, 4):g} us"
            result = values.value(found, name, "1", 1.0, "SIGNATURE", note, derived=True)
            rows.append({"name": name, "what": what, "result": result})
    return rows


def _shared_ends(samples: Samples, values: Values) -> tuple[list[dict[str, Any]], list[str]]:
    """What pairs of ranks lose by ends that they share (memory, adapters): time per message of all over that of one.

    Also a sentence for each class: of the pattern and size that lose most.
    """
    rows: list[dict[str, Any]] = []
    sentences: list[str] = []
    for locality in samples.localities():
        streams = samples.of("pattern_gap", locality=locality)
        alone = {s.bytes: time for s in streams if s["pairs"] == 1 and (time := estimate(s)).value > 0.0}
        lost: dict[str, Estimate] = {}
        for s in streams:
            if s["pairs"] == 1 or s.bytes not in alone:
                continue
            together = estimate(s)
            found = ratio(together, alone[s.bytes])
            name = f"{locality}.{s['pattern']}_{s['pairs']}_pairs_{s.bytes}B"
            what = f"time per message of {s.bytes} B, {s['pairs']} pairs of ranks at once, over that of one pair"
            note = f"{rounded(together.value * 1e6, 4):g} us / {rounded(alone[s.bytes].value * 1e6, 4):g} us"
            result = values.value(found, name, "1", 1.0, "PATTERNS", note, derived=True)
            rows.append({"name": name, "what": f"{locality}: {what}", "result": result})
            lost[what] = found
        if lost:
            what, most = max(lost.items(), key=lambda one: one[1].value)
            sentences.append(
                f"{locality}: {what}: {most.value:.2f} ({most.low:.2f} to {most.high:.2f}). Queues have one pair's G."
            )
    return rows, sentences


def _sources_in(raw: object) -> set[SourceKey]:
    if isinstance(raw, dict):
        here = {cast(SourceKey, raw["source"])} if "source" in raw else set()
        return here.union(*(_sources_in(item) for item in raw.values()))
    if isinstance(raw, list):
        return set().union(*(_sources_in(item) for item in raw))
    return set()


def _notes(where: str | None, refused: list[Refusal], lacking: list[str], values: Values) -> list[str]:
    notes = []
    if where is not None:
        notes.append(f"o(S, b), G(P, S) and log3P are of the class {where}, the farthest that was measured.")
    notes += [f"Refused: {refusal.sentence()}." for refusal in refused]
    notes += [f"Not extracted: {sentence}." for sentence in lacking]
    if values.not_reached:
        notes.append(
            f"±5 % at 95 % confidence was not reached by {len(values.not_reached)} of {values.count} values; each of "
            "them says so."
        )
    return notes
