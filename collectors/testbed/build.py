"""Compiling for the testbed by smpicc: the program with the collector linked in, and the layer that all ranks share.

What is built is kept in the cache, under a hash of everything that it was made of.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from logpost.collectors import build as cache
from logpost.collectors import recorder
from logpost.collectors.pmpi import generate, interposer, one_sided, prototypes
from logpost.errors import InputError

MISSING = (
    "SimGrid, which simulates the testbed, was not found: install libsimgrid-dev (Debian, Ubuntu: apt install "
    "libsimgrid-dev), or put smpicc and smpirun on PATH (https://simgrid.org)"
)
NATIVE = Path(__file__).parent / "native"
_PMPI = interposer.SOURCES
_COLLECTOR = ("comm.c", "layout.c", "runtime.c", "windows.c")
_LAYER = ("layer.c", "requests.c", "receives.c", "sends.c", "completions.c", "one_sided.c")
_COMPUTE = Path(__file__).parents[1] / "workloads" / "logpost_compute.h"
_LIBRARY = "liblogpost_testbed.so"
_C_FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-DLOGPOST_SIMULATED", "-O2", "-fPIC", "-w", "-Wfatal-errors")
_CXX_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-w", "-Wfatal-errors")
_PROGRAM_FLAGS = ("-std=gnu11", "-O2", "-fPIC")

Say = Callable[[str], None]

# The program's references bind to these within its own copy (-Bsymbolic); the collector reaches SMPI by its PMPI names.
_PREAMBLE = """/* Generated from prototypes.txt. */
#include "collective_hooks.h"
#include "one_sided.h"

const uint64_t lp_table_hash = 0x{hash:016x}ull;

#define LP_EXPORT(name) __asm__(".globl " #name "\\n.type " #name ",@function\\n.set " #name ",lpw_" #name "\\n");

static inline __attribute__((unused)) int rc_class_in_status(int rc) {{ return rc == MPI_ERR_IN_STATUS; }}

"""


def find_smpicc() -> str:
    """SimGrid's compiler wrapper. Raises InputError that says what to install."""
    path = shutil.which("smpicc")
    if path is None:
        raise InputError(MISSING)
    return path


def find_smpimain() -> str:
    """SimGrid's launcher, which smpirun starts. Raises InputError that says what to install."""
    script = shutil.which("smpirun")
    if script is None:
        raise InputError(MISSING)
    text = Path(script).read_text(errors="replace")
    match = re.search(r'"(/[^"\n]*/smpimain)"', text)
    if match is None or not Path(match[1]).exists():
        raise InputError(f"{script} does not name smpimain; reinstall SimGrid (apt install libsimgrid-dev)")
    return match[1]


def version() -> str:
    """SimGrid's version, e.g. "3.32"; empty without it."""
    try:
        done = subprocess.run([find_smpicc(), "--version"], capture_output=True, text=True, check=False)
    except (InputError, OSError):
        return ""
    match = re.search(r"\d+\.\d+(\.\d+)?", done.stdout)
    return match[0] if match else ""


def build(sources: Sequence[Path], name: str, say: Say = lambda text: None) -> Path:
    """The program `name` of these C files, ready for `smpimain`.

    Raises InputError when SimGrid or a source is missing, or with the first error when a source does not compile.
    """
    wrapper = find_smpicc()
    files = [Path(source) for source in sources]
    if not files:
        raise InputError("no program; give its C files, or --workload NAME")
    for path in files:
        if not path.is_file():
            raise InputError(f"{path}: no such file; give the C files of the program")
    collector, library = _collector(wrapper, say)
    key = cache.key_of(
        [*files, *_headers(files), _COMPUTE], (wrapper, str(collector), str(library), name, *_PROGRAM_FLAGS)
    )
    target = cache.cache_directory() / "testbed" / key / name
    if target.exists():
        return target
    say(f"compiling {name} for the testbed")

    def make(folder: Path) -> None:
        includes = [f"-I{folder}" for folder in sorted({path.resolve().parent for path in files} | {_COMPUTE.parent})]
        command = [wrapper, *_PROGRAM_FLAGS, *includes, "-o", str(folder / name), *map(str, files), str(collector)]
        command += ["-Wl,-Bsymbolic", f"-L{library.parent}", "-llogpost_testbed", f"-Wl,-rpath,{library.parent}"]
        cache.run_compiler([*command, "-ldl", "-lm"], f"{name} does not compile for the testbed")

    return cache.kept(target.parent, make) / name


def _collector(wrapper: str, say: Say) -> tuple[Path, Path]:
    """The collector as an object to link in, and the library that ranks share."""
    sources = sorted([*NATIVE.glob("*.*"), *_PMPI.glob("*.[ch]"), *recorder.sources(), prototypes.TABLE])
    sources += [Path(generate.__file__), Path(one_sided.__file__), Path(__file__)]
    key = cache.key_of(sources, (wrapper, version()))
    folder = cache.cache_directory() / "testbed" / f"collector-{key}"
    if not folder.exists():
        say("building the testbed's collector (once, for some seconds)")

        def make(scratch: Path) -> None:
            names = interposer.exported_names(None, ("-I/usr/include/smpi", *_includes(wrapper)))
            (scratch / "wrappers.c").write_text(_wrappers(names))
            compiler = cache.c_compiler()
            parts = []
            written = [*(NATIVE / name for name in _LAYER), *(_PMPI / name for name in _COLLECTOR)]
            written += [recorder.NATIVE / name for name in recorder.FILES]
            for source in (scratch / "wrappers.c", *written):
                parts.append(str(scratch / f"{source.stem}.o"))
                options = [
                    *_C_FLAGS,
                    *_includes(wrapper),
                    f"-I{_PMPI}",
                    f"-I{recorder.NATIVE}",
                    "-c",
                    "-o",
                    parts[-1],
                    str(source),
                ]
                cache.run_compiler([*compiler, *options], f"the testbed's {source.name} does not compile")
            joined = ["-r", "-nostdlib", "-o", str(scratch / "collector.o"), *parts]
            cache.run_compiler([*compiler, *joined], "the testbed's collector does not link")
            command = [
                *(cache.cxx_compiler() or ["c++"]),
                *_CXX_FLAGS,
                *_includes(wrapper),
                str(NATIVE / "machine.cpp"),
            ]
            cache.run_compiler(
                [*command, "-o", str(scratch / _LIBRARY), "-lsimgrid"], "the testbed's machine.cpp does not compile"
            )

        cache.kept(folder, make)
    return folder / "collector.o", folder / _LIBRARY


def _wrappers(names: frozenset[str]) -> str:
    chosen = [f for f in prototypes.functions() if f.name in names]
    return _PREAMBLE.format(hash=prototypes.table_hash()) + "\n".join(generate.wrapper(f) for f in chosen)


def _includes(wrapper: str) -> list[str]:
    """The directories of SimGrid's headers, as smpicc states them."""
    prefix = Path(wrapper).resolve().parent.parent
    found = re.findall(r'"-I([^"]+)"', Path(wrapper).read_text(errors="replace"))
    return [f"-I{path}" for path in found] or [f"-I{prefix}/include", f"-I{prefix}/include/smpi"]


def _headers(files: Sequence[Path]) -> list[Path]:
    """Headers that the program may include: those of its folders and the folders above."""
    folders = {path.resolve().parent for path in files}
    folders |= {folder.parent for folder in folders}
    return sorted(header for folder in folders for header in folder.glob("*.h"))
