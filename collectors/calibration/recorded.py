"""From what the interposer measured within MPI_Init to the machine next to the archive.

The interposer leaves `calibration.<process>.jsonl` among the raw logs: one line about the measurement, then for each
pair of ranks the lines of a calibration program, its host line first. Their rounds are the passes of one measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from logpost.collectors.calibration.gathered import Gathered
from logpost.collectors.calibration.within_init import BUDGET_S, USED, left_in, used_of
from logpost.errors import InputError
from logpost.machines import replay_parameters
from logpost.machines.calibration import samples
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.samples import Host, Samples
from logpost.machines.calibration.statistics import SPELLS
from logpost.machines.calibration.while_recording import NAME, SAMPLES, SOURCE, Outcome, outcome
from logpost.machines.schema.load import RECORDED
from logpost.machines.schema.save import save_machine

LEAST_SHARE = 0.7
"""Of the time in which each rank has its processor. With less there was other load: then a median of passes needs as
many as show how far it is off, and the machine's notes state the share."""


@dataclass(frozen=True)
class _Measurement:
    """A file of the interposer."""

    began_ns: int
    outcome: Outcome
    lines: tuple[str, ...]
    path: Path
    processor_share: float


def keep(raw: Path, archive: Path) -> Outcome | None:
    """Put the machine, its samples and the measurement's outcome next to the archive; None where none was requested.

    Of several worlds (further `mpirun`s of a script) the first that measured counts. Never raises for what the
    measurement left: what cannot be used is the outcome's reason.
    """
    try:
        found = [_read(path) for path in left_in(raw)]
        if not found:
            return None
    except InputError as error:
        result = Outcome(str(error), BUDGET_S, 0.0, 0)
    else:
        left = min(found, key=lambda one: (bool(one.outcome.reason), one.began_ns))
        result = left.outcome if left.outcome.reason else _kept(left, archive)
    result.write(archive)
    return result


def _kept(left: _Measurement, archive: Path) -> Outcome:
    try:
        return _machine(left, archive)
    except InputError as error:
        return replace(left.outcome, reason=str(error), pairs={})


def _machine(left: _Measurement, archive: Path) -> Outcome:
    """Write machine and samples. Raises InputError when they are damaged, or too few for a machine."""
    measured = _samples(left)
    pairs = left.outcome.pairs
    localities = measured.localities()  # and "self": messages of log3P to oneself
    result = replace(left.outcome, pairs={name: ranks for name, ranks in pairs.items() if name in localities})
    shortfall = []
    for kind in USED:
        measured, more = _with_used(left, kind, measured)
        shortfall += more
    samples.write(archive / SAMPLES, measured)
    shortfall = [*_other_load(left, measured), *shortfall]
    try:
        machine = calibration(measured, name=NAME, notes=[f"{result.sentence()}.", *shortfall]).machine
        replay_parameters(machine)  # what analyze needs of it
    except InputError as error:
        raise InputError(f"the samples of {result.took_s:.2g} s make no machine ({error})") from error
    save_machine(machine, archive / RECORDED)
    return result


def _read(path: Path) -> _Measurement:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    first = samples.parse_line(lines[0] if lines else "", f"{path.name}, line 1")
    try:
        return _Measurement(
            int(first["began_ns"]), outcome(first), tuple(lines[1:]), path, float(first["processor_share"])
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path.name}, line 1 does not describe a measurement ({error})") from error


def _other_load(left: _Measurement, measured: Samples) -> list[str]:
    """A note where ranks lacked their processors. Raises InputError where their passes are too few to show by how much
    that disturbed the times."""
    if left.processor_share >= LEAST_SHARE:
        return []
    had = (
        f"ranks had their processors for {100 * left.processor_share:.0f} % of the measurement: there was other load, "
        "or this MPI sleeps while it waits"
    )
    passes = max((len(point.time.rounds_s) for point in measured.of("one_way")), default=0)
    if passes < SPELLS:
        raise InputError(f"{had}, and {passes} of the {SPELLS} passes that an interval needs were made")
    return [f"Other load: {had}; values are the lower quartiles of {passes} passes, and intervals reach over them."]


def _with_used(left: _Measurement, kind: str, measured: Samples) -> tuple[Samples, list[str]]:
    """The samples and those of a kind that MPI_Finalize added, or the reason why there are none of these."""
    path = used_of(left.path, kind)
    if not path.is_file():
        return measured, []
    try:
        later = _read(path)
        if later.outcome.reason:
            raise InputError(later.outcome.reason)
        points = _samples(later).points
        passes = max((len(point.time.rounds_s) for point in points), default=0)
        if later.processor_share < LEAST_SHARE and passes < SPELLS:
            raise InputError(f"ranks had their processors for {100 * later.processor_share:.0f} % of {passes} passes")
    except InputError as error:
        return measured, [f"{USED[kind]} were not measured in MPI_Finalize: {error}."]
    note = f"{USED[kind]} were measured in {1e3 * later.outcome.took_s:.0f} ms of MPI_Finalize."
    return replace(measured, points=(*measured.points, *points)), [note]


def _samples(left: _Measurement) -> Samples:
    gathered = Gathered()
    hosts: list[Host] = []
    for number, line in enumerate(left.lines, start=2):
        where = f"{left.path.name}, line {number}"
        record: Mapping[str, Any] = samples.parse_line(line, where)
        if record.get("family") == "host":
            hosts.append(samples.parse_host(record, where))
        else:
            gathered.take_visit(record, where, None)
    pairs = tuple(left.outcome.pairs.values())
    if len(hosts) != len(pairs) or not gathered.points:
        raise InputError(
            f"within {left.outcome.budget_s:g} s there was no time for any message" if hosts else "there are no samples"
        )
    gathered.host = _together(hosts, pairs)
    found = gathered.result("", "")
    return replace(found, points=tuple(replace(point, time=point.time.quiet()) for point in found.points))


def _together(hosts: list[Host], pairs: tuple[tuple[int, int], ...]) -> Host:
    """One host line of all ranks that took part, in the order of ranks."""
    at: dict[int, tuple[str, str, int]] = {}
    for host, ranks in zip(hosts, pairs, strict=True):
        at.update(zip(ranks, zip(host.hosts, host.cpus, host.sockets, strict=True), strict=True))
    places = [at[rank] for rank in sorted(at)]
    return replace(
        hosts[0],
        hosts=tuple(name for name, _, _ in places),
        cpus=tuple(cpus for _, cpus, _ in places),
        sockets=tuple(socket for _, _, socket in places),
        ranks=len(places),
        measured=SOURCE,
    )
