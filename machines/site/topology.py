"""`--topology`: a network as a user or a tool of the site states it; and a machine with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from logpost.errors import InputError
from logpost.machines.schema import Machine
from logpost.machines.schema.machine import Source
from logpost.machines.site import ibnetdiscover, slurm
from logpost.machines.site.wiring import SOURCE, SiteTopology
from logpost.machines.topologies import AnyTopology, Switched, Topology
from logpost.machines.topologies.mapping import Mapping
from logpost.machines.topologies.parse import HOW, parse_topology
from logpost.machines.values.toml import read_toml

TOOLS = "the output of `scontrol show topology` or ibnetdiscover"
FORMS = f"{TOOLS}, a TOML file with [topology], or {HOW}"


def read_topology(given: str, hosts: Collection[str] = ()) -> SiteTopology:
    """The network that `--topology` names: a file, or a kind with its numbers.

    Args:
        given: what the user wrote.
        hosts: on which the job runs, where they are known; of several unconnected networks theirs is taken.

    Raises:
        InputError: the file cannot be read, or is none of `FORMS`.
    """
    path = Path(given)
    if not path.is_file():
        if "/" in given or ":" not in given:
            raise InputError(f"--topology {given}: there is no such file; give {FORMS}")
        return SiteTopology(parse_topology(given, SOURCE), given)
    if path.suffix == ".toml":
        return SiteTopology(_table(path), str(path))
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"--topology {given} cannot be read: {error.strerror}") from error
    return parse_text(text, str(path), hosts)


def parse_text(text: str, origin: str, hosts: Collection[str] = ()) -> SiteTopology:
    """The network of a tool's output. Raises InputError where it is none that is known."""
    for tool in (slurm, ibnetdiscover):
        if tool.is_topology(text):
            try:
                found: SiteTopology = tool.topology(text, origin, hosts)
            except ValidationError as error:
                raise InputError(f"{origin}: the network {_reason(error)}") from error
            return found
    raise InputError(f"{origin} states no network that logpost reads; give {TOOLS}")


def _table(path: Path) -> Topology:
    raw = read_toml(path).get("topology")
    if not isinstance(raw, dict):
        raise InputError(f"{path} has no [topology]; see `logpost machines template`")
    adapter: TypeAdapter[Topology] = TypeAdapter(AnyTopology)
    try:
        found = adapter.validate_python({**raw, "source": SOURCE})
    except ValidationError as error:
        raise InputError(f"{path}: [topology] {_reason(error)}; see `logpost machines template`") from error
    return found


def _reason(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    return f"{place} {first['msg'].removeprefix('Value error, ')}".strip()


def with_topology(machine: Machine, site: SiteTopology, hosts: Sequence[str] = ()) -> tuple[Machine, list[str]]:
    """A machine on this network, and what a reader should know.

    Args:
        machine: keeps its values; a topology and a mapping that it has are replaced.
        site: the network.
        hosts: of each rank, as the trace has them; empty: not known.
    """
    source = Source(kind="manual", text=f"the network as the site states it: {site.origin}")
    placed = machine.model_copy(
        update={"topology": site.topology, "mapping": None, "sources": {**machine.sources, SOURCE: source}}
    )
    notes = [f"network: {site.topology.describe()}, from {site.origin}", *(f"network: {note}" for note in site.notes)]
    made, more = placed_by_name(placed, hosts)
    return made, notes + more


def placed_by_name(machine: Machine, hosts: Sequence[str]) -> tuple[Machine, list[str]]:
    """The machine with its ranks on the hosts of their names, where its network has names and no mapping is given."""
    topology = machine.topology
    if not isinstance(topology, Switched) or machine.mapping is not None or not hosts:
        return machine, []
    nodes = topology.nodes_named(hosts)
    lost = next((host for host, node in zip(hosts, nodes, strict=True) if node is None), None)
    if lost is not None:
        # Without a mapping nodes would be in the order of their ranks: not these hosts.
        return machine.model_copy(update={"topology": None}), [
            f"network: the host {lost} is not one of the network's {topology.n_nodes} hosts, and its distances are not "
            "known; --topology FILE states a network with it"
        ]
    mapping = Mapping(kind="list", nodes_of_ranks=[node for node in nodes if node is not None])
    return machine.model_copy(update={"mapping": mapping}), []
