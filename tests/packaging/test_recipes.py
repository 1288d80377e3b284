"""The recipes for Spack and conda, and CITATION.cff, state what pyproject.toml states."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SPACK = ROOT / "packaging" / "spack" / "spack_repo" / "logpost"
RECIPE: dict[str, Any] = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))

Bounds = dict[str, tuple[str, str]]


def bounds(requirements: list[str]) -> Bounds:
    """Name to the lower and the excluded upper version of requirements such as `plotly>=6.0,<7`, without markers."""
    found = {}
    for one in requirements:
        match = re.fullmatch(r"([\w-]+)\s*(?:>=([\w.]+))?(?:,<([\w.]+))?", one.partition(";")[0].strip())
        assert match is not None, one
        found[match[1]] = (match[2] or "", match[3] or "")
    return found


RUN = bounds(PROJECT["project"]["dependencies"])
BUILD = bounds(PROJECT["build-system"]["requires"]) | {
    name: versions
    for name, versions in bounds(PROJECT["dependency-groups"]["build"]).items()
    if name in ("cmake", "ninja")
}
DASHBOARD = bounds(PROJECT["project"]["optional-dependencies"]["dashboard"])


def calls(package: str) -> list[ast.Call]:
    """The directives of a Spack package."""
    tree = ast.parse((SPACK / "packages" / package / "package.py").read_text(encoding="utf-8"))
    (kind,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert kind.name.lower() == package.replace("_", "")
    return [node.value for node in kind.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]


def said(call: ast.Call) -> tuple[str, list[Any], dict[str, Any]]:
    """A directive's name, arguments and keywords."""
    assert isinstance(call.func, ast.Name)
    keywords = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    return call.func.id, [ast.literal_eval(one) for one in call.args], keywords


def spack(when: str | None, prefix: str) -> Bounds:
    """Python packages that logpost depends on under this condition."""
    found = {}
    for name, arguments, keywords in map(said, calls("logpost")):
        match = re.fullmatch(r"([\w-]+)(?:@([\d.]+):([\d.]*))?", arguments[0]) if name == "depends_on" else None
        if match is not None and match[1].startswith(prefix) and keywords.get("when") == when:
            upper = str(int(match[3]) + 1) if match[3] else ""
            found[match[1].removeprefix("py-")] = (match[2] or "", upper)
    return found


def test_spack_depends_on_what_the_package_does() -> None:
    without = {name: versions for name, versions in RUN.items() if name != "tomli"}
    assert spack(None, "py-") == without | {
        name: versions for name, versions in BUILD.items() if name not in ("cmake", "ninja")
    }
    assert spack("^python@:3.10", "py-") == {"tomli": RUN["tomli"]}
    assert spack("+dashboard", "py-") == DASHBOARD
    every = spack(None, "")
    assert {name: every[name] for name in ("cmake", "ninja")} == {name: BUILD[name] for name in ("cmake", "ninja")}
    assert f">={every['python'][0]}" == PROJECT["project"]["requires-python"]


def test_spack_knows_version_and_licence() -> None:
    directives = [said(call) for call in calls("logpost")]
    assert ("version", [PROJECT["project"]["version"]], {"branch": "main"}) in directives
    assert ("license", [PROJECT["project"]["license"]], {}) in directives


def test_spack_builds_the_checkout() -> None:
    text = (SPACK / "packages" / "logpost" / "package.py").read_text(encoding="utf-8")
    depth = re.search(r"parents\[(\d)\]", text)
    assert depth is not None
    assert (SPACK / "packages" / "logpost" / "package.py").parents[int(depth[1])] == ROOT


@pytest.mark.parametrize("package", ["py_perfetto", "py_dash_ag_grid"])
def test_packages_that_spack_lacks_satisfy_the_bound(package: str) -> None:
    names = {"py_perfetto": RUN["perfetto"], "py_dash_ag_grid": DASHBOARD["dash-ag-grid"]}
    ((version,),) = [arguments for name, arguments, _ in map(said, calls(package)) if name == "version"]
    least = [int(part) for part in names[package][0].split(".")]
    assert [int(part) for part in version.split(".")] >= least


def test_conda_depends_on_what_the_package_does() -> None:
    needs = RECIPE["requirements"]
    run = [one for one in needs["run"] if isinstance(one, str)]
    conditional = [one["then"] for one in needs["run"] if isinstance(one, dict)]
    found = bounds([one.replace(" ", "") for one in run + conditional])
    assert found.pop("otf2") == ("2", "")
    assert f">={found.pop('python')[0]}" == PROJECT["project"]["requires-python"]
    assert found == RUN
    assert bounds([one.replace(" ", "") for one in needs["run_constraints"]]) == DASHBOARD
    tools = [one.replace(" ", "") for one in needs["build"] + needs["host"] if not one.startswith("${{")]
    assert bounds(tools).items() >= BUILD.items()


def test_conda_knows_version_licence_and_entry_point() -> None:
    project = PROJECT["project"]
    assert RECIPE["context"]["version"] == project["version"]
    assert (RECIPE["about"]["license"], RECIPE["about"]["summary"]) == (project["license"], project["description"])
    ((name, target),) = project["scripts"].items()
    assert RECIPE["build"]["python"]["entry_points"] == [f"{name} = {target}"]


def test_the_citation_knows_version_and_licence() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (PROJECT["project"]["version"], PROJECT["project"]["license"])
