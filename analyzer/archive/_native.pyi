"""Native core of logpost.analyzer."""

import enum
import os
import pathlib

import numpy

import logpost.analyzer.archive.columns
import logpost.replay._native
import logpost.replay.columns


class ArchiveError(ValueError):
    pass

class Progress:
    """Counters of a read in progress."""

    def __init__(self) -> None: ...

    @property
    def events(self) -> int: ...

    @property
    def declared(self) -> int: ...

class ClockMode(enum.Enum):
    """How far the times of events are corrected."""

    none = 0
    """as recorded"""

    offsets = 1
    """by the archive's own clock offsets"""

    clc = 2
    """then by the controlled logical clock"""

def read(archive: str | os.PathLike[str], threads: int, progress: Progress, clock: ClockMode, spill: logpost.replay._native.Spill | None = None, shards: Shards | None = None) -> Trace:
    """
    Reads an archive, given as its anchor file or directory; `spill`: the file for what exceeds the memory. Raises ArchiveError, and OSError where that file cannot be written.
    """

def thread_categories() -> list[str]:
    """Names of the categories of a thread's time, by code."""

def release_memory() -> None:
    """Gives memory that the core has freed back to the system."""

def find_anchor(path: str | os.PathLike[str]) -> pathlib.Path:
    """The anchor file of an archive. Raises ArchiveError."""

class Trace:
    """What the reader leaves of an archive."""

    @property
    def ticks_per_second(self) -> int: ...

    @property
    def length_ps(self) -> int: ...

    def clocks(self) -> dict[str, int]:
        """
        What messages and collectives say of the clocks, and what was corrected; times in ps.
        """

    def locations(self) -> logpost.analyzer.archive.columns.Locations: ...

    def regions(self) -> logpost.analyzer.archive.columns.Regions: ...

    def nodes(self) -> logpost.analyzer.archive.columns.Nodes: ...

    def communicators(self) -> logpost.analyzer.archive.columns.Communicators: ...

    def detail_levels(self) -> logpost.analyzer.archive.columns.DetailLevels:
        """
        Calls that set the level of detail (MPI_Pcontrol): location, index of the call on it, level.
        """

    def samples(self) -> logpost.analyzer.archive.columns.Samples:
        """
        The code that locations were in between calls, at instants: location, time, callpath, line.
        """

    def file_calls(self) -> logpost.analyzer.archive.columns.FileCalls:
        """
        Calls that reach files, outside of communication calls: location, callpath, begin, end.
        """

    def any_source(self) -> logpost.analyzer.archive.columns.AnySource:
        """
        Receives that named no sender: location, their place among its requests to receive.
        """

    def open_calls(self) -> list[tuple[int, int, str]]:
        """
        Calls that never ended, as their process did: location, callpath, what it waited for.
        """

    def callpaths(self) -> logpost.analyzer.archive.columns.Callpaths: ...

    def layouts(self) -> logpost.analyzer.archive.columns.Layouts: ...

    def profile(self) -> logpost.analyzer.archive.columns.Profile: ...

    def thread_spans(self) -> logpost.analyzer.archive.columns.ThreadSpans:
        """What threads do in parallel regions of OpenMP."""

    def streams(self) -> logpost.analyzer.archive.columns.Streams:
        """What the streams of accelerators did."""

    def one_sided(self) -> dict[str, int]: ...

    def quality(self) -> list[logpost.analyzer.archive.columns.Quality]: ...

    def properties(self) -> list[tuple[str, str]]: ...

    @property
    def sample_ps(self) -> int:
        """Processor time of a thread from sample to sample; 0: not known."""

    @property
    def program(self) -> logpost.replay._native.Program:
        """What the replay needs of it."""

class Shards:
    """An archive that is read by several processes."""

    def __init__(self, folder: str | os.PathLike[str], blocks: int, plan: int, split: int) -> None: ...

def run_task(archive: str | os.PathLike[str], shards: Shards, stage: str, block: int, clock: ClockMode, progress: Progress) -> bool:
    """
    Writes the files of a stage and block. False: they were whole. Raises ArchiveError.
    """

ROUNDS: int = 3

def is_chosen(shards: Shards, progress: Progress) -> bool:
    """Whether what all blocks' replays need is written down."""

def map_blocks(archive: str | os.PathLike[str], shards: Shards, progress: Progress) -> Trace:
    """
    The trace of all blocks, for choose_split: what is not needed of it is not read. Raises ArchiveError.
    """

def choose_split(trace: Trace, parameters: logpost.replay._native.Parameters, machine: bytes, shards: Shards, progress: Progress) -> None:
    """Writes down what all blocks' replays need. Raises ArchiveError."""

def chosen_machine(shards: Shards) -> bytes:
    """The machine that choose_split was given. Raises ArchiveError."""

def found_causes(trace: Trace, shards: Shards) -> logpost.replay._native.Causes | None:
    """
    What a task found of a trace's waits; None: it has other times. Raises ArchiveError.
    """

def replayed_blocks(trace: Trace, shards: Shards) -> logpost.replay._native.ReplayedBlocks | None:
    """
    What blocks found of a trace's messages; None: they share NICs. Raises ArchiveError.
    """

class TablePart:
    """A part of the tables of messages and calls, in batches."""

    @property
    def has_rows(self) -> bool:
        """Before any was given: whether the part has any."""

    def next_messages(self) -> logpost.replay.columns.Messages | None:
        """One row group."""

    def next_calls(self, limit: int) -> logpost.replay.columns.Calls | None:
        """One row group of at most `limit` rows."""

    def finish(self, said: bytes, messages: numpy.ndarray, calls: numpy.ndarray) -> None:
        """
        Writes the file of the part: what is said of its messages, and the bytes of both tables' files. Raises ArchiveError.
        """

    def finish_empty(self) -> None:
        """
        Likewise of a part without rows, whose tables have no files. Raises ArchiveError.
        """

def begin_tables(shards: Shards, part: int, message_rows: int, progress: Progress) -> TablePart | None:
    """
    A part of the tables, where `tables_are_written`; None: its file is whole. `message_rows`: of a row group. Raises ArchiveError.
    """

def tables_are_written(shards: Shards) -> bool:
    """
    Whether tasks write the tables of messages and calls. Raises ArchiveError.
    """

def written_table(shards: Shards, part: int, table: str) -> tuple[bytes, numpy.ndarray]:
    """
    What was said of a part of a table, and the bytes of its file. Raises ArchiveError.
    """

class GoalRank:
    """A rank of a GOAL schedule, written part by part."""

    def __init__(self, first_ps: int, last_ps: int, unit_ps: int, tables: dict[str, logpost.replay.columns.Piece]) -> None:
        """
        Tables calls, sends, receives, sent, received, collectives and shapes, sorted by call.
        """

    @property
    def ended(self) -> bool:
        """All is written."""

    def next(self, operations: int) -> tuple[bytes, int, logpost.replay.columns.Piece, int, int]:
        """
        The next calls, until there are at least so many operations: their text, the first one's label, columns kind (calc, send, recv), call, message and instance, how many calls, and messages' ends of 0 bytes.
        """

def perfetto_slices(track: int, sequence: int, enter_ns: numpy.ndarray, leave_ns: numpy.ndarray, name: numpy.ndarray, exposed_ps: numpy.ndarray, begun: tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray], ended: tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]) -> bytes:
    """
    Packets of a track's slices, in the order of time: int64 columns; interned ids of names; exposed times in ps, a row per slice (argument and category k have the interned id k + 2); arrows as begins and ends of ranges of ids. Raises ValueError if they do not fit together.
    """

def perfetto_counter(track: int, sequence: int, at_ns: numpy.ndarray, values: numpy.ndarray) -> bytes:
    """
    Packets of a counter's values, each from its time on: int64 columns. Raises ValueError if they differ in length.
    """
