"""Native core of logpost.replay."""

from collections.abc import Sequence
import os
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray

import logpost.replay.columns


class Curve:
    """y(x) through measured points."""

    def __init__(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], continued: bool) -> None: ...

    def at(self, x: logpost.replay.columns.Float64) -> tuple[logpost.replay.columns.Float64, logpost.replay.columns.UInt8]:
        """Values, and 1 where x lies beyond the last point."""

class Surface:
    """y(x, z): a curve for each measured z."""

    def __init__(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], curves: Sequence[Curve]) -> None: ...

    def at(self, x: logpost.replay.columns.Float64, z: logpost.replay.columns.Float64) -> tuple[logpost.replay.columns.Float64, logpost.replay.columns.UInt8]:
        """Values, and 1 where x or z lies beyond the last point."""

class Parameters:
    """What a machine says of messages to a model, in picoseconds."""

    def __init__(self, class_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bytes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], L: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], o_s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], o_s_per_byte: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], o_r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], o_r_per_byte: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], G: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], eager_limit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], across_network: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], nics_per_node: int, l_mw: Sequence[Surface], block_bytes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l_mw_alone: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l_mw_self: Sequence[Surface], block_bytes_self: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l_mw_alone_self: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], o_mw: Curve, o_net: Curve, T_mem: Curve, o_burst: Surface, G_m: float | None, header_bytes: float, per_hop: float, mean_hops: float | None, asynchronous_progress: bool, model: str, reduction_per_byte: float = 0.0, put: Curve = ..., get: Curve = ...) -> None: ...

    @property
    def library(self) -> list[int | None]:
        """
        The alternative of each property of the library that a profile states; None: it does not.
        """

    @library.setter
    def library(self, stated: list[int | None], /) -> None: ...

    @property
    def block_bytes(self) -> float:
        """
        Bytes of the smallest blocks that l_mw was measured with; 0: not stated.
        """

def library_properties() -> list[tuple[str, list[str]]]:
    """
    Names of the properties of a library, and of their alternatives, by code.
    """

def message_models() -> list[str]:
    """Names of the models that messages can be split under."""

def costs(machine: Parameters, locality: logpost.replay.columns.UInt8, bytes: logpost.replay.columns.Float64, block: logpost.replay.columns.Float64, stride: logpost.replay.columns.Float64, burst: logpost.replay.columns.Float64, hops: logpost.replay.columns.Float64) -> tuple[logpost.replay.columns.Float64, logpost.replay.columns.UInt8]:
    """
    Terms (n, 7) in picoseconds, and flags (n, 3): rendezvous, beyond sizes, beyond strides.
    """

def ranges(machine: Parameters, locality: int, bytes: logpost.replay.columns.Float64) -> logpost.replay.columns.Int64:
    """The LogGP range of each message, counted from the class's first."""

class Spill:
    """A file for what exceeds a limit of memory."""

    def __init__(self, directory: str | os.PathLike[str], limit_bytes: int, in_memory: bool) -> None:
        """
        In this directory, made when it is needed and without a name there; `in_memory`: the directory may lie in memory itself.
        """

    @property
    def limit_bytes(self) -> int:
        """Of the process's resident memory."""

    @property
    def spilled_bytes(self) -> int:
        """Bytes that were ever taken in it."""

def is_in_memory(directory: str | os.PathLike[str]) -> bool:
    """Whether a directory, or where it will be made, is in memory (tmpfs)."""

def call_kinds() -> list[str]:
    """Names of the kinds of calls, by code."""

def operations() -> list[str]:
    """Names of the collective operations, by code."""

def parts() -> list[str]:
    """Names of the parts of a message, by code."""

def categories() -> list[str]:
    """Names of the categories of a rank's time, by code."""

def wait_kinds() -> list[str]:
    """Names of the kinds of waits between locations, by code."""

def transfer_kinds() -> list[str]:
    """Names of the kinds of transfers, by code."""

def epoch_kinds() -> list[str]:
    """Names of the kinds of epochs, by code."""

def collective_parts() -> list[str]:
    """
    Names of the parts of a rank's time in a collective operation, by code.
    """

def algorithms() -> list[str]:
    """Names of collective algorithms, by code."""

def transfer_categories() -> list[str]:
    """
    Names of the categories that a one-sided transfer is divided into, in the order of its columns.
    """

def phases() -> list[str]:
    """Names of the phases of a location's time, by code."""

FINALIZE: int = 18

class Program:
    """Calls, messages and collectives of a program, as the replay sees them."""

    def __init__(self, ticks_per_second: int, length_ps: int, callers: logpost.replay.columns.Int32, kinds: list[int], layouts: list[tuple[int, int, int]], members: list[list[int]], locations: logpost.replay.columns.Piece, calls: logpost.replay.columns.Pieces, messages: logpost.replay.columns.Pieces, unmatched: logpost.replay.columns.Pieces, collectives: logpost.replay.columns.Pieces, transfers: logpost.replay.columns.Pieces, epochs: logpost.replay.columns.Pieces, first_groups: list[int] = ..., most_ends: int = ..., spill: Spill | None = None) -> None:
        """
        Tables are dictionaries of columns, or give such dictionaries piece by piece. `first_groups`: by communicator, how many of its members the first group of an inter-communicator has; 0: it is none. `most_ends`: no location has more messages. `spill`: where what exceeds memory is written.
        """

    @property
    def length_ps(self) -> int: ...

    def place(self, sockets: numpy.ndarray, place_of_node: numpy.ndarray, hops: numpy.ndarray) -> None:
        """
        Says where it ran: the socket of every location, the place of every node on the network (-1: not known), and the hops between every two places, row by row.
        """

    def node_pairs(self) -> tuple[logpost.replay.columns.Int32, logpost.replay.columns.Int32]:
        """
        The pairs of nodes that exchange messages: the senders' nodes and the receivers', ascending.
        """

    def set_network(self, sender: logpost.replay.columns.Int32, receiver: logpost.replay.columns.Int32, hops: logpost.replay.columns.Int32, dimensions: int, route_begin: logpost.replay.columns.Int64, route: logpost.replay.columns.Int32, links: int, byte_ps: float, narrow_byte_ps: logpost.replay.columns.Float64, dimension_byte_ps: logpost.replay.columns.Float64, channels: float) -> None:
        """
        Says which links messages between nodes take: for every pair of `node_pairs` its hops in each dimension of a grid and its links (from route_begin on in route), how long a byte occupies a link, and one that other traffic leaves less of (by link; empty: none), and the links of each dimension.
        """

    def carry_out(self, operation: int, comm: int, bytes: int, algorithm: int, instead: int) -> None:
        """
        Says by which algorithm a communicator's operations of the size class of so many bytes were carried out, and which other one explains them as well (0: none).
        """

    def excerpt(self, messages: int) -> Program:
        """The middle of it, of about so many messages, as a separate program."""

    def samples(self, limit: int) -> list[logpost.replay.columns.Samples]:
        """Observations of LogGP parameters, a dict per locality class."""

class Causes:
    """
    The causes of waits in a program, from its recorded times: no machine is needed for it.
    """

    def __init__(self, program: Program, threads: int) -> None: ...

    def find(self) -> None:
        """
        Finds the critical path and the delay costs; an analysis finds at once what is not yet known.
        """

class ReplayedBlocks:
    """
    What replays found of a program's messages and operations, block by block.
    """

class Analysis:
    """Rows of a run's tables, in batches."""

    def __init__(self, program: Program, parameters: Parameters, threads: int, begin_ps: logpost.replay.columns.Int64 | None = None, end_ps: logpost.replay.columns.Int64 | None = None, causes: Causes | None = None, replayed: ReplayedBlocks | None = None) -> None: ...

    def next_messages(self, limit: int) -> logpost.replay.columns.Messages | None: ...

    @property
    def threads(self) -> int:
        """As many as it was given."""

    @property
    def call_blocks(self) -> int:
        """How many blocks the calls are accounted in."""

    def next_calls(self, block: int, limit: int) -> logpost.replay.columns.Calls | None:
        """
        At most `limit` rows of one block of calls; several threads may ask, each for another block.
        """

    def segments(self, location: int, receive: int) -> tuple[logpost.replay.columns.Segments, int, bool]:
        """
        One message's partition by its receiving end, its deficit in picoseconds, whether it is a rendezvous.
        """

    def forget_messages(self) -> None:
        """
        Frees what rows of messages and calls are made from; the sums over them stay available.
        """

    def split_only(self) -> int: ...

    def unmatched(self) -> logpost.replay.columns.Unmatched: ...

    def pairs(self) -> logpost.replay.columns.Pairs: ...

    def load(self) -> logpost.replay.columns.Load: ...

    def network(self) -> logpost.replay.columns.Network:
        """
        Traffic between nodes by phase, and by phase and link; empty where the machine's network is not known.
        """

    def accounted(self) -> list[int]: ...

    @property
    def messages(self) -> int: ...

    @property
    def clock_violations(self) -> int: ...

    @property
    def asynchronous_progress(self) -> bool:
        """
        Whether NICs answer rendezvous without a processor: stated by the parameters, or proven by the trace.
        """

    @property
    def beyond_sizes(self) -> int:
        """
        Messages of which some term was read beyond the machine's largest measured size or number of blocks.
        """

    @property
    def beyond_strides(self) -> int:
        """
        Messages whose stride is larger than the machine's largest measured one.
        """

    @property
    def window_count(self) -> int: ...

    @property
    def window_width_ps(self) -> int: ...

    @property
    def window_cells(self) -> int:
        """
        Cells of a window, in the finest level of `time_cells`; 1: it is empty.
        """

    def accounting(self) -> logpost.replay.columns.Accounting: ...

    def time_cells(self) -> logpost.replay.columns.TimeCells:
        """
        The program's accounting in cells finer than windows, at several levels of detail.
        """

    def exposure(self) -> logpost.replay.columns.Exposure: ...

    def critical_path(self) -> logpost.replay.columns.CriticalPath:
        """The critical path of the recorded execution, in the order of time."""

    def path_profile(self) -> logpost.replay.columns.PathProfile:
        """
        All time by location, callpath, phase and category, and the part of it on the critical path.
        """

    def delay_costs(self) -> logpost.replay.columns.DelayCosts:
        """
        Which code of which location makes others wait in the region of interest, and how much.
        """

    def interest(self) -> logpost.replay.columns.Interest: ...

    def wait_states(self) -> logpost.replay.columns.WaitStates: ...

    def collectives(self, begin: int = 0, end: int | None = None) -> logpost.replay.columns.Collectives:
        """Rows of the table `collectives`, to `end` or the last one."""

    def collective_parts(self) -> logpost.replay.columns.CollectiveParts:
        """
        What the category `collective` is divided into, by location, callpath and phase.
        """

    def collective_kinds(self) -> logpost.replay.columns.CollectiveKinds:
        """
        Divided operations by kind, size class and communicator, with their algorithm.
        """

    def collective_way(self, location: int, number: int) -> tuple[logpost.replay.columns.CollectiveWay, int]:
        """
        One member's labelled way through an operation in the order of time, and its kind; -1: not divided.
        """

    def next_transfers(self, limit: int) -> logpost.replay.columns.Transfers | None: ...

    def epochs(self) -> logpost.replay.columns.Epochs: ...

    @property
    def asynchronous_transfers(self) -> bool:
        """
        Whether targets serve one-sided transfers without a processor: stated, or proven by the trace.
        """

def collective_messages(operation: int, size: int, bytes: int) -> tuple[logpost.replay.columns.Int32, logpost.replay.columns.Int32, logpost.replay.columns.UInt64, logpost.replay.columns.Int32]:
    """
    Sender, receiver, bytes and step of each message of the usual algorithm; members count from the root.
    """

class Place:
    pass

class Surroundings(Place):
    """
    Where a program could run: at first where it did, on a network that is not known.
    """

    def __init__(self, program: Program) -> None: ...

    @property
    def known(self) -> bool: ...

    def set_nodes(self, nodes: logpost.replay.columns.Int32) -> None:
        """Puts each location on a node; the ranks of a node share its NICs."""

    def place(self, sockets: logpost.replay.columns.Int32, place_of_node: logpost.replay.columns.Int32, hops: logpost.replay.columns.Int32) -> None:
        """As Program.place."""

    def node_pairs(self) -> tuple[logpost.replay.columns.Int32, logpost.replay.columns.Int32]:
        """
        As Program.node_pairs, and the pairs that may exchange messages in collective operations.
        """

    def set_network(self, sender: logpost.replay.columns.Int32, receiver: logpost.replay.columns.Int32, hops: logpost.replay.columns.Int32, dimensions: int, route_begin: logpost.replay.columns.Int64, route: logpost.replay.columns.Int32, links: int, byte_ps: float, narrow_byte_ps: logpost.replay.columns.Float64, dimension_byte_ps: logpost.replay.columns.Float64, channels: float) -> None:
        """As Program.set_network."""

def path_parts() -> list[str]:
    """Names of what a critical path consists of, by code."""

class CycleError(ValueError):
    pass

class WhatIf:
    """
    A program's dependency graph, calibrated on the machine that it ran on.
    """

    def __init__(self, program: Program, machine: Parameters, planned: Parameters, recorded: Surroundings | None = None, elsewhere: Surroundings | None = None, overlapped: bool = False, nics_share: bool = False, stored: str = '', key: str = '') -> None:
        """
        A program that ran on `machine`, planned as `planned` has protocols. With `recorded`, the network that it ran on, contention is replayed. `elsewhere`: where it would run, if not where it ran. `overlapped`: what is computed behind a Wait is before it. `nics_share`: messages share their sender's NIC, and do not take turns at it. `stored`: a file into which the graph is written, under this key.
        """

    @staticmethod
    def stored(machine: Parameters, file: str, key: str) -> WhatIf | None:
        """
        The graph that a file has under this key, of the program as it ran, without the program; None: it has none.
        """

    @property
    def nodes(self) -> int: ...

    @property
    def edges(self) -> int: ...

    @property
    def calls(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def rebuilt(self) -> int: ...

    @property
    def library(self) -> list[tuple[int, bool, int, int, list[int]]]:
        """
        By property of the library: the alternative that it has, whether a profile states it, in how many places alternatives differ, the trace's observations of it, and how many of them each alternative allows.
        """

    @property
    def network_fit(self) -> tuple[tuple[float, float], tuple[float, float], float, int]:
        """
        Where it contends: waits by the model that the recorded times confirm, waits that they contradict, and time of messages beyond the model; sums in ps, of waits until messages have left and for the receiver's NIC. And how many messages start at another time where NICs are shared, and where they take turns there.
        """

    @property
    def contends(self) -> bool:
        """
        Whether messages wait for links: the makespan is then no convex function of a parameter.
        """

    @property
    def chooses(self) -> bool:
        """
        Whether calls take what arrives first: in which order requests complete depends on the machine.
        """

    def replay(self, machines: list[Parameters], compute: numpy.ndarray, by_location: numpy.ndarray, by_callpath: numpy.ndarray, recorded: int = -1) -> dict[str, Any]:
        """
        Makespans, critical paths and sums, a row per machine. `recorded`: the row in which the program runs as it ran; -1: none.
        """

    def makespans(self, machines: list[Parameters], compute: numpy.ndarray, by_location: numpy.ndarray, by_callpath: numpy.ndarray, threads: int, released: bool) -> numpy.ndarray:
        """
        Makespans, by machine; released: a message does not wait for one that arrives at a NIC after it; no matter where messages contend, and NICs take them as they arrive.
        """

    def reordered(self, program: Program, machine: Parameters, compute: float = 1.0, by_location: list[float] = [], by_callpath: list[float] = []) -> WhatIf | None:
        """
        The program whose NICs take messages in the order in which they arrive under a setting; None: in the order in which they arrived.
        """

    def in_order_of(self, program: Program, elsewhere: WhatIf, machine: Parameters, compute: float = 1.0, by_location: list[float] = [], by_callpath: list[float] = []) -> WhatIf | None:
        """
        The program, in which requests complete in the order in which messages arrive elsewhere under a setting; None: that is the order of their arrival, or contention is not replayed.
        """

    def sends_never_wait(self, machine: Parameters, compute: float, by_location: list[float], by_callpath: list[float], far: bool) -> bool:
        """
        Whether no eager send within nodes (`far`: between them) waits for the message before it, did the library's sends wait: the program's replay is then the same.
        """

    def on_links(self, elsewhere: Surroundings) -> WhatIf | None:
        """
        The program in the same places, on links of other bandwidths; None: these are other places.
        """

    def tangents(self, at_zero: Parameters, step: Parameters, unit: Parameters, compute: float, by_location: numpy.ndarray, by_callpath: numpy.ndarray, x: numpy.ndarray, threads: int) -> numpy.ndarray:
        """
        Makespan, slope and count of a longest path at each x of the machine at_zero + x step. Not where it `contends`.
        """

    def times(self, machine: Parameters, compute: float = 1.0, by_location: list[float] = [], by_callpath: list[float] = [], unexplained: bool = True) -> tuple[numpy.ndarray, numpy.ndarray]:
        """
        Enters and leaves of all calls, by location and call; an empty list of factors: 1 each. Without `unexplained`, calls that move data last neither what the machine says nor what no model explains.
        """

class GoalError(ValueError):
    pass

class UnmatchedError(ValueError):
    pass

class GoalSchedule:
    """A schedule in GOAL's text form."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        """Reads it. Raises GoalError where the file is none."""

    @property
    def ranks(self) -> int: ...

    def loggopsim_times(self, machine: Parameters, unit_ps: int, nodes: list[int] = [], sockets: list[int] = []) -> numpy.ndarray:
        """
        When each rank ends under LogGOPSim's rules, in ps; without nodes, each rank is on another node. Raises UnmatchedError.
        """

class Cures:
    """
    A recorded program's graph, whose replay without a transformation gives back every time.
    """

    def __init__(self, program: Program, machine: Parameters, planned: Parameters) -> None:
        """
        A program that ran on `machine`; `planned`: the same with other protocols.
        """

    def messages(self) -> dict[str, Any]:
        """
        Columns of the messages: their calls, among those of the whole program (-1: none), bytes, and whether a handshake precedes their data.
        """

    def replay(self, transformation: dict[str, Any], with_path: bool = False) -> dict[str, Any] | None:
        """
        The longest program and the enters and leaves of all calls under a transformation (columns of the native struct, by name), and the program's critical path where requested; None: events would have to be before themselves. Times in ps.
        """

def split(machine: Parameters, s0: logpost.replay.columns.Int64, s1: logpost.replay.columns.Int64, sw0: logpost.replay.columns.Int64, r0: logpost.replay.columns.Int64, rw0: logpost.replay.columns.Int64, rw1: logpost.replay.columns.Int64, bytes: logpost.replay.columns.UInt64, locality: logpost.replay.columns.UInt8, stride: logpost.replay.columns.Int64, block: logpost.replay.columns.UInt64, waits: logpost.replay.columns.Int64) -> tuple[logpost.replay.columns.Int64, logpost.replay.columns.Int64]:
    """Parts (n, 11) and deficits (n,) of n messages."""

def fit(duration: int, wanted: list[int], tiers: list[int]) -> tuple[list[int], int, int]:
    """Granted durations, residual, deficit."""
