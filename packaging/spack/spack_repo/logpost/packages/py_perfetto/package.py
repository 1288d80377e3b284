"""What logpost needs and Spack's own packages lack."""

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyPerfetto(PythonPackage):
    """Python interface of Perfetto's traces."""

    homepage = "https://perfetto.dev"
    pypi = "perfetto/perfetto-0.59.1.tar.gz"

    license("Apache-2.0")

    version("0.59.1", sha256="afc0258041b6f06a9e6532c68791ef44abbe1e31651d1ca50122adf8ef70eb67")

    depends_on("py-setuptools", type="build")
    depends_on("py-protobuf", type=("build", "run"))
