"""clang-tidy over the C and C++ files of the native build.

Headers cost most of its time when it reads files one by one. Files that are compiled with the same options are read
together, as one translation unit that includes them. No file of such a group defines a name that another one has from
elsewhere, or a function that another one calls: the analyzer does not look separately at a function into which it has
followed a call. What is found in a group, or keeps it from compiling, has its files read one by
one, which decides.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"
GROUPS = BUILD / "groups"
AT_MOST = 12
"""Files of a group: more save little, and keep a core busy when the other one has nothing left."""

NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDES = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")
FUNCTIONS = re.compile(r"^(?=[A-Za-z_])(?!TEST)[^\n(=;]*?(?:\b([A-Z]\w*)::)?\b(\w+)\(", re.MULTILINE)
OTHERS = (
    re.compile(r"^#define (\w+)", re.MULTILINE),
    re.compile(r"^(?:struct|class|union|enum(?: class)?) (\w+)[^\n;]*\{", re.MULTILINE),
    re.compile(r"^using (\w+) =", re.MULTILINE),
    re.compile(
        r"^(?!namespace|using|struct|class|union|enum)[A-Za-z_][^\n(;]*?\b(\w+)(?:\[\w*\])* ?[={;]", re.MULTILINE
    ),
)
"""What begins a line, as the formatter leaves the contents of a namespace: functions, also of a class; macros, types,
constants and variables."""


@dataclass(frozen=True)
class Text:
    """What the text of a file or header says: the functions that it defines or declares, those that it calls, all else
    that it defines, and its own headers."""

    functions: frozenset[tuple[str, str]]
    called: frozenset[str]
    others: frozenset[str]
    headers: tuple[Path, ...]


@cache
def text_of(path: Path, folders: tuple[Path, ...]) -> Text:
    text = path.read_text()
    code = NO_CODE.sub(" ", text)
    found = (file for name in INCLUDES.findall(text) for file in (folder / name for folder in (path.parent, *folders)))
    return Text(
        frozenset(FUNCTIONS.findall(code)),
        frozenset(CALLED.findall(code)),
        frozenset(name for pattern in OTHERS for name in pattern.findall(code)),
        tuple(file.resolve() for file in found if file.is_file()),
    )


@dataclass(frozen=True)
class Source:
    """A file, clang-tidy's settings for it, and its command without its name."""

    path: Path
    settings: Path
    options: tuple[str, ...]

    @cached_property
    def texts(self) -> dict[Path, Text]:
        """Of the file and of its own headers."""
        folders = tuple(Path(option.removeprefix("-I")) for option in self.options if option.startswith("-I"))
        texts: dict[Path, Text] = {}
        more = [self.path]
        while more:
            path = more.pop()
            if path not in texts:
                texts[path] = text_of(path, folders)
                more.extend(texts[path].headers)
        return texts

    @cached_property
    def others(self) -> dict[str, Path]:
        return {name: path for path, text in self.texts.items() for name in text.others}

    def calls(self, source: Source) -> bool:
        """Whether it, or a header that only it has, may call a function that `source` defines."""
        called = {name for path, text in self.texts.items() if path not in source.texts for name in text.called}
        functions = source.texts[source.path].functions
        return any(name in called and (not of or of in self.others) for of, name in functions)

    def goes_with(self, source: Source) -> bool:
        return (
            (self.settings, self.options, self.path.suffix) == (source.settings, source.options, source.path.suffix)
            and all(source.others.get(name, path) == path for name, path in self.others.items())
            and not self.calls(source)
            and not source.calls(self)
        )


@dataclass
class Group:
    """Files that are read as one."""

    sources: list[Source] = field(default_factory=list)

    def takes(self, source: Source) -> bool:
        return len(self.sources) < AT_MOST and all(one.goes_with(source) for one in self.sources)

    @property
    def size(self) -> int:
        return sum(source.path.stat().st_size for source in self.sources)


def settings_for(path: Path) -> Path:
    return next(file for folder in path.parents if (file := folder / ".clang-tidy").exists())


def commands() -> list[dict[str, str]]:
    """One per file: the build itself compiles several files together."""
    configure = ["cmake", "-S", str(ROOT), "-B", str(BUILD), "-DLOGPOST_TESTS=ON", "-DLOGPOST_PYTHON=OFF"]
    subprocess.run([*configure, "-G", "Ninja", "-DLOGPOST_UNITY=OFF"], check=True, stdout=subprocess.DEVNULL)
    entries: list[dict[str, str]] = json.loads((BUILD / "compile_commands.json").read_text())
    return entries


def read(entry: dict[str, str]) -> Source:
    path = Path(entry["file"])
    words = shlex.split(entry["command"])
    output = words.index("-o")
    options = [word for word in [*words[:output], *words[output + 2 :]] if word not in ("-c", entry["file"])]
    return Source(path, settings_for(path), tuple(options))


def grouped(entries: list[dict[str, str]]) -> list[Group]:
    """Each of our own files once, in groups, the largest group first: no core waits for the last one."""
    own = {Path(entry["file"]): entry for entry in entries}
    own = {path: entry for path, entry in own.items() if ROOT in path.parents and ROOT / "build" not in path.parents}
    groups: list[Group] = []
    for path in sorted(own, key=lambda path: (-path.stat().st_size, path)):
        source = read(own[path])
        group = next((group for group in groups if group.takes(source)), None)
        if group is None:
            groups.append(group := Group())
        group.sources.append(source)
    return sorted(groups, key=lambda group: -group.size)


# The analyzer begins at functions of the file itself. Where the file's name has this in it, WebKit's for such files, it
# begins at those of each .cpp file that it includes, too, and as everywhere at none of a header.
TOGETHER = "UnifiedSource"


def tidy(database: Path, file: Path, settings: Path) -> subprocess.CompletedProcess[str]:
    command = ["clang-tidy", "-p", str(database), "--quiet", f"--config-file={settings}", str(file)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def look_at(group: Group, file: Path) -> bool:
    """Whether a group is without findings, which are printed."""
    settings = group.sources[0].settings
    results = [tidy(GROUPS, file, settings)]
    if len(group.sources) > 1 and results[0].returncode != 0:
        reason = next((line for line in results[0].stdout.splitlines() if " error: " in line), "clang-tidy ended")
        print(f"{file.relative_to(ROOT)} is read file by file: {reason}", flush=True)
        results = [tidy(GROUPS, source.path, settings) for source in group.sources]
    for result in results:
        if result.returncode != 0:
            print(result.stdout + result.stderr, end="", flush=True)
    return all(result.returncode == 0 for result in results)


def main() -> int:
    groups = grouped(commands())
    GROUPS.mkdir(parents=True, exist_ok=True)
    database, files = [], []
    for number, group in enumerate(groups):
        file = GROUPS / f"{TOGETHER}{number}{group.sources[0].path.suffix}"
        file.write_text("".join(f'#include "{source.path}"\n' for source in group.sources))
        for one in (file, *(source.path for source in group.sources)):
            options = [*group.sources[0].options, "-c", str(one)]
            database.append({"directory": str(BUILD), "file": str(one), "arguments": options})
        files.append(file)
    (GROUPS / "compile_commands.json").write_text(json.dumps(database))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        clean = list(pool.map(look_at, groups, files))
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
