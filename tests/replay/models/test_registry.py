"""Every model of the list describes itself, evaluates scalars and columns alike, and says what it lacks."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

from logpost.replay import models
from logpost.replay.models import MODELS, Model, ModelError, OverlapProfile, model
from logpost.replay.models.interface import Parameter
from logpost.replay.models.units import MICROSECOND

# One admissible value per parameter name, whatever the model.
EXAMPLES: dict[str, float] = {
    "L": 5, "o_s": 1, "o_r": 2, "o": 1.5, "g": 3, "G": 0.01, "O": 0.001, "S": 512, "B": 4096, "n": 2, "k": 3, "M": 40,
    "delta": 16, "RTT": 40, "cost": 30, "W": 10, "C2": 0.5, "clients": 3, "servers": 2, "C_n": 1, "o_sl": 2, "o_rl": 9,
    "G_m": 0.005, "a": 8, "kx": 8, "ky": 4, "kz": 2, "m": 1e-5, "T": 100, "w": 1, "cycle": 0.05, "n_tasks": 256, "P": 8,
    "b": 4, "task": 1, "interrupt": 6, "alpha": 0.1, "bytes_per_value": 8, "o_mw": 29, "l_mw": 420, "o_net": 131,
    "T_mem": 3, "stride": 1024, "T00": 32, "T01": 160, "T00_strided": 452, "V": 2**20, "t_V": 4000, "G_V": 0.01,
    "HD": 32, "outstanding": 4 * 2**20, "N": 3, "D": 2, "C": 1, "span": 2, "k_d": 2.0,
}  # fmt: skip


def needed(one: Model) -> dict[str, float]:
    given = {p.name: EXAMPLES[p.name] for p in one.parameters if p.default is None and not p.optional}
    if one.name == "complexity":
        given |= {"S": 2.0}
    if one.name == "logpc-network":
        given |= {"k_d": 2.0}
    if one.name.startswith("logpc-all-to-all"):
        given |= {"k_d": 2.0, "B": 8.0}
    if one.name == "kary-ncube":
        given |= {"ky": 4.0}
    if one.name == "overlap-search":
        given |= {"o": 1.5, "L": 5.0, "G": 0.01}
    return given or {"o0": 3.0, "l0": 1.0, "o1": 4.0, "g1": 6.0}


@pytest.mark.parametrize("one", MODELS.values(), ids=lambda one: one.name)
def test_a_model_describes_itself(one: Model) -> None:
    assert one.equations
    assert one.source
    assert one.validity
    assert one.title
    names = [p.name for p in one.parameters]
    assert len(names) == len(set(names))
    for p in one.parameters:
        assert p.meaning
        assert not (p.choices and p.kind != "choice")
    assert set(one.predict(**needed(one))) <= {output.name for output in one.outputs}


def files_of_models() -> list[ModuleType]:
    modules = (
        importlib.import_module(f"{models.__name__}.{found.name}") for found in pkgutil.iter_modules(models.__path__)
    )
    return [module for module in modules if any(isinstance(value, Model) for value in vars(module).values())]


@pytest.mark.parametrize("module", files_of_models(), ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_model_s_file_says_equation_symbols_source_validity_and_errors(module: ModuleType) -> None:
    paragraphs = (module.__doc__ or "").split("\n\n")
    assert any(paragraph.startswith("    ") for paragraph in paragraphs), "equations"
    for start in ("Symbols", "Source", "Validity", "Errors"):
        assert any(paragraph.startswith(start) for paragraph in paragraphs), start


@pytest.mark.parametrize("one", MODELS.values(), ids=lambda one: one.name)
def test_no_result_is_negative_or_undefined(one: Model) -> None:
    for name, value in one.predict(**needed(one)).items():
        assert np.all(np.asarray(value) >= 0.0), name


def sweepable() -> list[tuple[str, str]]:
    return [
        (one.name, p.name)
        for one in MODELS.values()
        for p in one.parameters
        if p.kind not in ("choice", "table") and not (p.name == "n" and "k_d" in {q.name for q in one.parameters})
    ]


@pytest.mark.parametrize(("name", "parameter"), sweepable())
def test_a_column_is_its_scalars(name: str, parameter: str) -> None:
    """Sweeping any one parameter gives what one call per value gives."""
    one, base = model(name), needed(model(name))
    example = base.get(parameter, EXAMPLES.get(parameter, 2.0))
    kinds = {p.name: p.kind for p in one.parameters}
    column = np.array([example, example + 1 if kinds[parameter] == "count" else example * 1.01])
    base.pop(parameter, None)
    if parameter in ("kx", "ky", "kz"):
        base.pop("k_d", None)
        base = {name: nodes for name, nodes in {"kx": 8.0, "ky": 4.0, **base}.items() if name != parameter}
    swept = one.predict(**{**base, parameter: column})
    for i, value in enumerate(column):
        for output, expected in one.predict(**{**base, parameter: float(value)}).items():
            cell = np.broadcast_to(np.asarray(swept[output]), (2,))[i]
            assert cell == pytest.approx(expected, rel=1e-12, nan_ok=True), output


@pytest.mark.parametrize("one", MODELS.values(), ids=lambda one: one.name)
def test_a_polars_column_is_an_array(one: Model) -> None:
    base = needed(one)
    name = next(p.name for p in one.parameters if p.name in base)
    swept = [float(base[name]), 2.0 * base[name]]
    columns, arrays = (one.predict(**{**base, name: column}) for column in (pl.Series(swept), np.array(swept)))
    for output, expected in arrays.items():
        np.testing.assert_array_equal(columns[output], expected, err_msg=output)


def test_one_overhead_sets_both() -> None:
    loggp = model("loggp")
    assert loggp.predict(L=5, o=1, G=0.5, B=11)["T"] == loggp.predict(L=5, o_s=1, o_r=1, G=0.5, B=11)["T"] == 12
    assert loggp.predict(L=5, o=1, o_r=4, G=0.5, B=11)["T"] == 15  # a separate o_r has priority


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("loggp", {"L": 5, "x": 1}, r"model loggp has no parameter 'x'; it takes L, o_s, o_r, g, G, B, n"),
        ("loggp", {"L": 5, "o": 1}, "model loggp needs G, B: .* machine"),
        ("loggp", {"L": 5, "o": 1, "G": -1, "B": 1}, r"G = -1 must be at least 0"),
        ("loggp", {"L": "five", "o": 1, "G": 1, "B": 1}, r"L = 'five' is not a number"),
        ("lopc", {"L": 5, "o": 1, "lopc": "mva"}, r"lopc = 'mva': choose rule or amva"),
        ("lognp", {}, r"at least one implicit transfer"),
        ("logpc-network", {"B": 8, "T": 9, "G": 1}, r"k_d is missing: .*k_d \(and n\), .* nodes per dimension"),
        (
            "logpc-network",
            {"B": 8, "T": 9, "G": 1, "k_d": 2, "n": 1.5},
            r"n = 1.5: the number of dimensions is one whole",
        ),
        (
            "lopc-servers",
            {"L": 5, "o": 1, "clients": 0, "servers": 1},
            r"clients = 0 must be at least 1",
        ),
        ("logpc-network", {"B": 8, "T": 9, "G": 1, "k_d": 2, "n": 65}, r"one whole number up to 64"),
        ("logp", {"L": 1e31, "o": 1}, r"L = 1e\+31 must be at most 1e\+30"),
        ("lopc-servers", {"L": 5, "o": 1, "clients": 2.5, "servers": 1}, r"clients = 2.5 must be a whole number"),
        ("logpc-network", {"B": 8, "T": 0, "G": 1, "k_d": 2}, r"T = 0 must be greater than 0"),
        ("logpc-all-to-all", {"B": 8, "L": 1, "o": 0, "G": 1, "k_d": 2}, r"o_s \+ o_r = 0 must be greater than 0"),
        ("locality", {"kx": 8.5}, r"kx = 8.5 must be a whole number"),
        ("locality", {"kx": 8, "span": 1.5}, r"span = 1.5 must be a whole number"),
        ("kary-ncube", {"kx": 8, "ky": 4.5, "B": 8}, r"k = 4.5 must be a whole number"),
        ("complexity", {"S": 1.5}, r"S = 1.5 must be a whole number"),
        ("logp-benchmark", {"L": 5, "o": 1, "g": 3, "M": 2.9}, r"M = 2.9 must be a whole number"),
    ],
)
def test_bad_calls(name: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        model(name).predict(**given)


def test_an_unknown_model_names_the_known_ones() -> None:
    with pytest.raises(ModelError, match=r"no model .* 'loggq'; .* logp, .*loggp.*overlap-search"):
        model("loggq")


def test_network_of_a_closed_form() -> None:
    network = model("logpc-network")
    by_nodes = network.predict(B=16, T=137, G=0.5, units="printed", kx=8, ky=4, self_messages="no")
    assert by_nodes["C_n_open"] == pytest.approx(3.17, abs=0.005)
    assert network.predict(B=16, T=137, G=0.5, units="printed", k_d=2)["C_n_open"] == pytest.approx(3.17, abs=0.005)
    # One k_d per dimension: x 2.71, y 1.29 hops (2.625 and 1.25 times 32/31) is not twice their mean.
    apart = network.predict(B=16, T=137, G=0.5, units="printed", kx=8, ky=4, self_messages="no", average="no")
    assert apart["C_n_open"] > by_nodes["C_n_open"]
    one_way = network.predict(B=16, T=137, G=0.5, kx=8, ky=4, topology="unidirectional_torus")
    assert one_way["rho_open"] == pytest.approx(16 * 0.5 * 2.5 / 137)  # (3.5 + 1.5)/2 hops, one channel


def test_distance_of_a_closed_form() -> None:
    cube = model("kary-ncube")
    assert cube.predict(kx=8, ky=4, B=16)["hops"] == 3.875  # self-messages included
    assert cube.predict(kx=8, ky=4, B=16, self_messages="no")["hops"] == pytest.approx(4.0)
    assert cube.predict(kx=8, ky=4, B=16, topology="unidirectional_torus")["hops"] == 5.0  # 3.5 + 1.5


def test_table_4_of_logpc_by_name() -> None:
    alewife = {"L": 21, "o_s": 15, "o_r": 122}
    assert model("lopc").predict(**alewife, lopc="rule") == {"R": 453, "C_r": 137, "R_free": 316, "U_q": 137 / 453}
    assert model("lopc").predict(**alewife)["C_r"] == pytest.approx(180.9, abs=0.05)
    assert model("lopc").predict(**alewife, C2=1, W=0)["C_r"] == pytest.approx(246.0, abs=0.05)


def test_makespans_of_logpc_by_name() -> None:
    printed = {"n_tasks": 1024, "P": 32, "task": 100, "L": 8, "o_s": 25, "G": 0.5, "a": 8, "as_printed": "yes"}
    found = model("diamond-dag").predict(**printed, b=64)
    assert found["M"] == pytest.approx(4_866_748, abs=1)
    assert (found["B"], found["W"], found["b_best"]) == (16, 51_200, 1024)
    assert "M_contended" not in found
    apart = model("diamond-dag").predict(**printed, b=64, B=320_000, k_d=2, units="printed")
    assert apart["M_contended"] / apart["M"] == pytest.approx(2.39, abs=0.005)
    assert model("diamond-dag").predict(**printed, b=64, interrupt=129)["b_best"] == 826
    assert model("diamond-dag").predict(**{**printed, "as_printed": "no"}, b=1024)["M"] > 3_397_731


def test_search_takes_measured_tables() -> None:
    profile = OverlapProfile.constant(o=1.0, G=0.001, L_roundtrip=10, unit=MICROSECOND, HD=64)
    plain = model("overlap-search").predict(V=2**20, t_V=430, o=1, G=0.001, L=10, HD=64)
    tables = model("overlap-search").predict(V=2**20, t_V=430, profile=profile)
    assert plain == tables


def test_search_without_an_answer_is_empty() -> None:
    found = model("overlap-search").predict(V=1024, t_V=1, o=1, G=0.001, L=10)
    assert np.isnan(found["S"])
    assert found["admissible"] == 0


def test_every_parameter_kind_has_a_unit_for_people() -> None:
    from logpost.cli.models import UNITS_OF_KINDS

    assert {p.kind for one in MODELS.values() for p in one.parameters} <= UNITS_OF_KINDS.keys()
    assert isinstance(MODELS["loggp"].parameters[0], Parameter)


def test_an_overflow_is_infinite_and_no_warning() -> None:
    # 1e30 V/S initiations of 1e30, V/S = 1e280: beyond any machine, and not a traceback.
    assert model("overlap").predict(V=1e30, S=1e-250, t_V=1, o=1e30, L=1, G=1)["T"] == float("inf")


def test_the_equations_shown_are_the_ones_evaluated_when_the_cpu_is_slower_than_the_gap() -> None:
    """g = 1 below o_s = 5: "(n-1) g" or "k g" as an equation would not give these."""
    given = {"L": 1, "o_s": 5, "o_r": 2, "g": 1}
    assert model("logp").predict(**given, n=100, k=3)["T_n"] == 5 + 99 * 5 + 1 + 2
    assert model("logp").predict(**given, k=3)["interval_k"] == 15
    assert model("loggp").predict(**given, G=0.5, B=3, n=10)["T_n"] == 5 + 10 * 1 + 9 * 5 + 1 + 2
    for name, terms in (("logp", 2), ("loggp", 1)):
        assert sum("max(g, o_s, o_r)" in line for line in model(name).equations) == terms


def test_no_time_for_bursts_that_overflow_the_queue() -> None:
    """(8) b < HD, and Elan's outstanding bytes: beyond them the processor blocks, which no equation describes."""
    given = {"V": 2**20, "S": 2**12, "t_V": 450.0, "o": 1.0, "L": 10.0, "G": 1e-3}
    found = model("overlap").predict(**given, b=np.array([16.0, 31.0, 32.0, 64.0]), HD=32)
    assert np.isnan(found["T"]).tolist() == [False, False, True, True]
    assert found["below_queue_depth"].tolist() == [1, 1, 0, 0]
    # b S = 64 KiB and 128 KiB against a limit of 64 KiB
    limited = model("overlap").predict(**given, b=np.array([16.0, 32.0]), outstanding=2**16)
    assert np.isnan(limited["T"]).tolist() == [False, True]
    assert np.isnan(model("overlap").predict(**given, b=64, HD=64)["T"])
    # (5) at b = 16: 11 * 16 * 450/1048.576 + 1048.576 + 450/256
    assert found["T"][0] == pytest.approx(11 * 16 * 450 / 1048.576 + 1048.576 + 450 / 256)


def test_the_special_cases_of_lognp_by_name() -> None:
    """The chains that its notes give are the models themselves: 13 for LogGP, 580 for Titan's point."""
    lognp = model("lognp")
    assert lognp.predict(o0=1 + 10 * 0.5, o1=5, o2=2)["T"] == 13
    assert lognp.predict(o0=14.5, l0=210, o1=131, o2=14.5, l2=210)["T"] == 580
    assert lognp.predict(o0=15, o1=21, o2=137 + 122)["T"] == 158 + 137
    assert all(any(name in note for note in lognp.notes) for name in (
        "LogP", "LogGP", "LoPC", "PRAM", "log_3P", "Memory logP", "Copy-transfer",
    ))  # fmt: skip
