"""Library profiles: what the shipped ones state and from where, which one an archive's library chooses, refusals."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from tests.machines.builders import machine, problems

from logpost.collectors.testbed.limits import SHORT
from logpost.errors import InputError
from logpost.machines.profiles.choose import profile_of_library
from logpost.machines.profiles.load import LIBRARY, load_profile, profile_names, read_profile
from logpost.machines.profiles.properties import ALTERNATIVES, PROPERTIES
from logpost.machines.schema.load import check_machine
from logpost.machines.schema.write import to_toml
from logpost.machines.values.toml import tomllib


@pytest.mark.parametrize("name", profile_names())
def test_states_every_property_with_a_sentence_and_a_source(name: str) -> None:
    profile = load_profile(name)
    assert profile.name == name
    assert profile.properties
    for stated in profile.properties.values():
        assert stated.sentence.endswith(".")
        assert ": " in stated.source  # where in it


def test_profiles_are_frozen() -> None:
    # After adding a file, never after editing one that was released:
    #   (cd machines/profiles/library && sha256sum *.toml > FROZEN)
    recorded = {
        name: digest for digest, name in (line.split() for line in (LIBRARY / "FROZEN").read_text().splitlines())
    }
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in LIBRARY.glob("*.toml")} == recorded


def test_each_property_has_a_question_and_alternatives() -> None:
    assert list(PROPERTIES) == list(ALTERNATIVES)
    assert all(len(words) > 1 for words in ALTERNATIVES.values())


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022", "openmpi-4.1"),
        ("Open MPI v5.0.9, package: Open MPI root@host Distribution, ident: 5.0.9", "openmpi"),
        ("Open MPI v4.0.3, package: Debian OpenMPI, ident: 4.0.3", "openmpi"),
        ("MPICH Version:\t4.0.2", "mpich"),
        ("SMPI Version 3.32. Copyright The SimGrid Team 2007-2022", "simgrid"),
        ("SimGrid SMPI", "simgrid"),  # as logpost's recorder names it
        ("Intel(R) MPI Library 2021.9 for Linux* OS", None),
        ("", None),
    ],
)
def test_an_archive_chooses_by_what_its_library_calls_itself(version: str, name: str | None) -> None:
    found = profile_of_library(version)
    assert (found and found.name) == name


def test_a_simulation_has_rules_of_its_own() -> None:
    smpi = "SMPI Version 3.32. Copyright The SimGrid Team 2007-2022"
    found = profile_of_library(smpi, f"{SHORT}; machine alewife")
    assert found == load_profile("testbed")
    assert found != profile_of_library(smpi)


def test_a_machine_file_names_a_profile_or_has_one_and_writes_it_whole() -> None:
    named = machine(library="logp")
    assert named.library == load_profile("logp")
    again, refused = check_machine(tomllib.loads(to_toml(named)), "again.toml")
    assert refused == []
    assert again == named


STATED = {"value": "gap", "sentence": "It does.", "source": "measured"}


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("openmp", "'openmp'; use one of logp, mpich, openmpi"),
        ({"root_receive": STATED}, "the property root_receive, which is unknown; use sends_within_nodes"),
        ({"root_receives": {**STATED, "value": "wait"}}, "has root_receives = 'wait'; use overhead, gap"),
        ({"root_receives": {**STATED, "source": ""}}, "library.properties.root_receives.source"),
    ],
)
def test_refuses_what_no_replay_knows(library: Any, words: str) -> None:
    table = (
        library
        if isinstance(library, str)
        else {"name": "own", "title": "Own", "date": "2026-11-28", "properties": library}
    )
    (problem,) = problems(library=table)
    assert words in problem


def test_a_file_that_is_no_profile_is_refused_by_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("format = 1\nname =\n")
    with pytest.raises(InputError, match=r"broken\.toml: is not TOML: .*: name ="):
        read_profile(broken)
    broken.write_text('name = "a"\ntitle = "A"\ndate = "2026"\n')
    with pytest.raises(InputError, match=r"broken\.toml: date: "):
        read_profile(broken)
