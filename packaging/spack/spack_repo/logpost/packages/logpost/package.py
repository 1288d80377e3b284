"""Builds the checkout that contains this file; docs/install.md says how."""

from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage

CHECKOUT = Path(__file__).resolve().parents[6]


class Logpost(PythonPackage):
    """Where every microsecond of an MPI or PGAS program's communication went, and what another machine would change."""

    git = CHECKOUT.as_uri()

    license("Apache-2.0")

    version("0.1.0", branch="main")

    variant("dashboard", default=True, description="The interactive pages")
    variant("mpi", default=True, description="Recording of MPI programs, with this MPI")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("ninja@1.10:", type="build")
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-nanobind@2.4:", type="build")

    depends_on("otf2@2:", type=("build", "link", "run"))
    depends_on("mpi", type="run", when="+mpi")
    # The interposer is compiled for the program's MPI when a recording starts.
    depends_on("gcc", type="run", when="+mpi")

    depends_on("python@3.10:", type=("build", "link", "run"))
    depends_on("py-jinja2@3.1:", type="run")
    depends_on("py-numpy@1.24:", type="run")
    depends_on("py-perfetto@0.16:", type="run")
    depends_on("py-plotly@6.0:6", type="run")
    depends_on("py-polars@1.20:", type="run")
    depends_on("py-pyarrow@15:", type="run")
    depends_on("py-pydantic@2.6:", type="run")
    depends_on("py-rich@13.7:", type="run")
    depends_on("py-tomli@2.0:", type="run", when="^python@:3.10")
    depends_on("py-typer@0.15:", type="run")

    depends_on("py-dash@4.0:4", type="run", when="+dashboard")
    depends_on("py-dash-ag-grid@33:", type="run", when="+dashboard")
