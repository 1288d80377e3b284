"""One prediction as stated on the command line: assignments, sweeps and a machine in, a table out.

Everything is computed in picoseconds and bytes; the table shows times in one unit. Several sweeps make a grid, the
last one varying fastest. The parts are in this folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from logpost.errors import InputError
from logpost.machines import LOCALITIES, Machine
from logpost.machines.values.units import to_base
from logpost.replay.cost.arrays import ModelError
from logpost.replay.models.interface import MissingParametersError, Model
from logpost.replay.predict import network
from logpost.replay.predict.beyond import Beyond, beyond
from logpost.replay.predict.intervals import Intervals, intervals
from logpost.replay.predict.machine_values import machine_values
from logpost.replay.predict.missing import explained
from logpost.replay.predict.origins import default_values, machine_origin, used_values
from logpost.replay.predict.request import read_request
from logpost.replay.predict.scale import Scale, scale, with_clock
from logpost.replay.predict.table import Column, Prediction, overheads, parameters

__all__ = ["Column", "Prediction", "predict"]


def predict(
    model: Model,
    assignments: Sequence[str] = (),
    sweeps: Sequence[str] = (),
    *,
    machine: Machine | None = None,
    locality: str | None = None,
    unit: str | None = None,
    clock_hz: float | None = None,
) -> Prediction:
    """Evaluate ``model`` over the sweeps.

    ``unit`` is the time unit of numbers without a unit and of the table. Without it: cycles when some value is
    given in cycles, or when none is given in seconds and the machine's own are in cycles; else us. ``locality`` is the
    machine's class (other_node when None), ``clock_hz`` the processor clock where no machine has one.

    With a machine the results carry the interval that follows from the uncertainties of its values, and what was read
    beyond its measurements is listed.

    Raises ModelError for bad assignments, for values that contradict each other, and for parameters without a value.
    """
    where = _locality(locality, machine)
    request = read_request(model, assignments, sweeps)
    shown = scale(unit, request.written, machine, clock_hz)
    given, columns = request.values(shown)
    network.check_given(model, given)
    values, origin = dict(given), dict.fromkeys(given, "given")
    if overheads(model) and "o" in values:
        both = values.pop("o")
        for name in ("o_s", "o_r"):
            if name not in values:
                values[name], origin[name] = both, "given as o"
    stated = dict(values)
    if machine is not None:
        clock_given = machine.lacks_clock and clock_hz is not None
        machine = machine if clock_hz is None else with_clock(machine, clock_hz)
        for name, value in _offered(model, machine, values, where, shown).items():
            values[name], origin[name] = value, machine_origin(machine, name, where, clock_given=clock_given)
    network.check_all(model, values, origin)
    _settle_cycle(model, values, origin, shown, clock_hz)
    try:
        results = model.predict(**values)
    except MissingParametersError as error:
        raise (error if machine is None else explained(error, model, machine, values, where)) from None
    except ModelError as error:
        raise error.in_unit(shown.time_text) from None
    known, outputs = parameters(model), {output.name: output for output in model.outputs}
    count = len(next(iter(columns.values()))) if columns else 1
    found: Intervals | None = None
    extrapolated: tuple[Beyond, ...] = ()
    if machine is not None:
        taken = [name for name in values if name not in stated and origin[name].startswith(machine.name)]
        extrapolated = beyond(model, machine, stated, taken, where, count)
        found = _intervals(model, machine, where, stated, values, taken, results)
    ends = {} if found is None else found.ends
    return Prediction(
        model=model,
        used=used_values(model, values, origin, set(columns), shown),
        defaults=default_values(model, values, origin, shown, machine, where),
        swept=tuple(
            shown.column(name, known[name].kind, known[name].meaning, column, count) for name, column in columns.items()
        ),
        results=tuple(
            shown.column(name, outputs[name].kind, outputs[name].meaning, value, count, ends.get(name))
            for name, value in results.items()
        ),
        beyond=extrapolated,
        uncertain=None if found is None else (found.stated, found.entering),
    )


def _intervals(
    model: Model,
    machine: Machine,
    locality: str,
    stated: Mapping[str, Any],
    values: Mapping[str, Any],
    taken: Sequence[str],
    results: Mapping[str, Any],
) -> Intervals | None:
    def offer(other: Machine) -> dict[str, Any]:
        found = machine_values(model, other, stated, locality=locality)
        return {name: found[name] for name in taken if name in found}

    return intervals(model, machine, locality, offer, lambda offered: model.predict(**{**values, **offered}), results)


def _locality(locality: str | None, machine: Machine | None) -> str:
    if locality is not None and locality not in LOCALITIES:
        raise ModelError(f"{locality!r} is not a locality class; choose {', '.join(LOCALITIES)}")
    if locality is not None and machine is None:
        raise ModelError(f"--locality {locality} chooses among a machine's values: give the machine, -m NAME")
    return locality or "other_node"


def _offered(model: Model, machine: Machine, values: dict[str, Any], locality: str, shown: Scale) -> dict[str, Any]:
    """The machine's values; refused where they are times and no clock relates them to the table's cycles."""
    try:
        offered = machine_values(model, machine, values, locality=locality)
    except ModelError:
        raise
    except InputError as error:
        if not machine.lacks_clock:
            raise
        raise ModelError(
            f"machine {machine.name} counts in cycles and its file gives no clock: give it, e.g. --clock 1GHz, or as "
            "[clock] processor in the file"
        ) from error
    if "channel_load" not in machine.logpc.model_fields_set:
        # The file says nothing: what holds is the model's default, and it is shown as one.
        offered.pop("units", None)
    kinds = {parameter.name: parameter.kind for parameter in model.parameters}
    times = [name for name in offered if kinds[name] in ("time", "time_per_byte", "table")]
    if shown.assumed and times:
        raise ModelError(
            f"a table in cycles needs the processor clock in addition to the times of machine {machine.name} "
            f"({', '.join(times)}), whose file gives none: give it, e.g. --clock 1GHz, or --unit us"
        )
    return offered


def _settle_cycle(
    model: Model, values: dict[str, Any], origin: dict[str, str], shown: Scale, clock_hz: float | None
) -> None:
    """The cycle that a byte occupies a channel for with units=printed: given, or of the clock; else it is not used.

    Raises ModelError where nothing says how long it is.
    """
    if not network.has_distances(model) or origin.get("cycle") == "given":
        return
    machine_cycle = values.pop("cycle", None)
    if values.get("units") != "printed" or not {"k_d", "kx"} & values.keys():
        return
    if machine_cycle is not None and clock_hz is None:
        values["cycle"] = machine_cycle
    elif shown.clock_hz is not None:
        values["cycle"] = to_base(1.0, "cycle", shown.clock_hz)
        origin["cycle"] = "a cycle of the table" if shown.assumed else "of --clock"
    else:
        whose = "" if origin["units"] == "given" else f" (machine {origin['units']})"
        raise ModelError(
            f"units=printed{whose} counts a byte as a cycle: give the clock (--clock 20MHz) or --set cycle=50ns, or "
            "take --set units=consistent"
        )
