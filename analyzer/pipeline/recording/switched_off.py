"""What was not recorded because recording was switched off: MPI_Pcontrol, logpost.h, or `record --switch`.

The recorder follows a process while it is off, so both ends of a channel know their messages' numbers: the assembler
leaves out those of which one end has no record, and states in the archive's properties how much that was. The archives
of other tools state nothing; there, the reader's counters alone show what has no other half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from logpost.analyzer.pipeline.recording.overwritten import kinds_text, number_of, seconds_text, stated_counts
from logpost.analyzer.run.manifest import QualityCount
from logpost.analyzer.words.units import count_text

_COUNTERS = (
    ("OFF_CALLS", "skipped_calls", "calls that were made while recording was switched off"),
    (
        "OFF_HALVES_LEFT_OUT",
        "halves_while_off",
        "sends and receives whose other half was made while recording was switched off; they are left out",
    ),
    (
        "OFF_PARTS_LEFT_OUT",
        "operations_while_off",
        "parts of collective operations that a member made while its recording was switched off; they are calls "
        "without a record",
    ),
    (
        "REGION_ENDS_LEFT_OUT",
        "region_ends_left_out",
        "ends of regions whose begin has no record, overwritten or made while recording was off; they are left out",
    ),
    (
        "OFF_INEXACT",
        "skipped_inexactly",
        "messages and requests of times without records that could not be followed; later ones may be paired wrongly",
    ),
)


def switched_off_counts(properties: Mapping[str, str]) -> list[QualityCount]:
    """A counter of each kind of loss that there is."""
    return stated_counts(properties, _COUNTERS)


def switched_off(properties: Mapping[str, str], quality: Sequence[Mapping[str, object]]) -> list[str]:
    """A sentence that says what is missing, and that its time is left out of all shares; nothing where all is there.

    `quality`: the reader's counters.
    """
    counted = {str(row["name"]): int(str(row["count"])) for row in quality}
    off = {name: counted.get(name, 0) for name in ("measurement_off", "message_while_off", "collective_while_off")}
    if not number_of(properties, "OFF_TIMES"):
        if not off["message_while_off"] and not off["collective_while_off"]:
            return []
        return [
            f"The measurement was switched off {count_text(off['measurement_off'], 'time')}: "
            f"{off['message_while_off']:,} sends and receives and {off['collective_while_off']:,} collective "
            "operations lack what happened then. Messages behind such a time may be paired wrongly."
        ]
    text = (
        f"Recording was switched off {count_text(number_of(properties, 'OFF_TIMES'), 'time')} (all ranks together), "
        f"for up to {seconds_text(number_of(properties, 'OFF_NS'))}: {number_of(properties, 'OFF_CALLS'):,} calls"
        f"{kinds_text(properties, 'OFF')} have no records. That time is in no share below."
    )
    if halves := number_of(properties, "OFF_HALVES_LEFT_OUT"):
        text += f" {halves:,} sends and receives whose other half is in that time are left out."
    if number_of(properties, "OFF_INEXACT"):
        text += " Not all of it could be followed: messages behind it may be paired wrongly."
    return [text]
