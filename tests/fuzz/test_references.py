"""The table of references is that of libotf2's own header."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TABLE = Path(__file__).parent / "references.tsv"

NAMESPACES = {
    "Metric": {"MetricClass", "MetricInstance"},
    "Comm": {"Comm", "InterComm"},
    "IoFile": {"IoRegularFile", "IoDirectory"},
}
"""Kinds that share the ids of a type of reference; every other type is of one kind, which it is named after."""
BY_ANOTHER_FIELD = {("Group", "members"), ("MetricInstance", "scope")}
"""Numbers whose meaning another field states: in the header they are no references."""
LEFT_OPEN = {
    ("Region", "sourceFile"),
    ("Attribute", "description"),
    ("Callpath", "parent"),
    ("CallingContext", "sourceCodeLocation"),
    ("CallingContext", "parent"),
}
"""Undefined by Score-P, TAU or logpost's own recorder, although the header does not allow it."""


def header() -> str:
    folders = [Path("/usr/include")]
    if config := shutil.which("otf2-config"):
        flags = subprocess.run([config, "--cflags"], capture_output=True, text=True, check=True).stdout.split()
        folders = [Path(flag[2:]) for flag in flags if flag.startswith("-I")] + folders
    for folder in folders:
        if (file := folder / "otf2" / "OTF2_GlobalDefWriter.h").exists():
            return file.read_text()
    pytest.skip("libotf2's headers are not where otf2-config, or /usr/include, has them")


def prototypes() -> dict[tuple[str, int, str], tuple[str, bool]]:
    """(definition, number of the field, its name) to its type, and whether its documentation allows it to be undefined;
    of every parameter of every definition."""
    found = {}
    pattern = re.compile(
        r"/\*\*(?P<doc>(?:(?!\*/).)*)\*/\s*OTF2_ErrorCode\s+OTF2_GlobalDefWriter_Write(?P<kind>\w+)"
        r"\((?P<parameters>[^;]*?)\)\s*(?:__otf2_deprecated__)?;",
        re.DOTALL,
    )
    for match in pattern.finditer(header()):
        documented = {}
        for part in re.split(r"@param", match["doc"])[1:]:
            documented[part.split()[0]] = "@eref{OTF2_UNDEFINED_" in part.split("@since")[0]
        for number, parameter in enumerate(match["parameters"].split(",")[1:]):
            *kind, name = parameter.split()
            found[match["kind"], number, name] = (" ".join(kind), documented.get(name, False))
    return found


def table() -> dict[tuple[str, int, str], dict[str, str]]:
    with TABLE.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {(row["definition"], int(row["field"]), row["name"]): row for row in rows}


def test_every_reference_of_the_header_is_in_the_table() -> None:
    parameters, rows = prototypes(), table()
    assert len({kind for kind, _, _ in parameters}) >= 38  # of libotf2 3.0
    wanted = {
        key
        for key, (kind, _) in parameters.items()
        if re.search(r"OTF2_\w+Ref\b", kind) or "OTF2_AttributeValue" in kind or (key[0], key[2]) in BY_ANOTHER_FIELD
    }
    assert rows.keys() == wanted


def test_each_refers_to_what_its_type_says() -> None:
    parameters = prototypes()
    widths = {"Location": "64", "IoParadigm": "8"}
    for key, row in table().items():
        if match := re.search(r"OTF2_(\w+)Ref\b", parameters[key][0]):
            assert set(row["refers to"].split()) == NAMESPACES.get(match[1], {match[1]}), key
            assert row["bits"] == widths.get(match[1], "32"), key
        assert set(row["refers to"].split()) <= {kind for kind, _, _ in parameters}, key


def test_what_may_be_undefined_is_what_the_header_or_the_writers_say() -> None:
    parameters = prototypes()
    for key, row in table().items():
        open_anyway = "written" if (key[0], key[2]) in LEFT_OPEN else "no"
        assert row["undefined"] == ("legal" if parameters[key][1] else open_anyway), key
