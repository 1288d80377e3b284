"""What logpost's dashboard needs and Spack's own packages lack."""

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyDashAgGrid(PythonPackage):
    """AG Grid as a component of Dash."""

    homepage = "https://dash.plotly.com/dash-ag-grid"
    pypi = "dash-ag-grid/dash_ag_grid-35.3.0.tar.gz"

    license("MIT")

    version("35.3.0", sha256="012f7e7d5bff4862d1377ccb545ae2c80577e7909e118a88f1c408ff03a2403e")

    depends_on("py-setuptools", type="build")
    depends_on("py-dash@2:", type=("build", "run"))
