#!/usr/bin/env python3
"""Moves a checkout of logpost from the old layout into the rooms of design.md.

    python3 move.py CHECKOUT

Needs a clean work tree (build/ and .venv/ are left alone). Nothing is committed: look, build, test, commit.
"""

from __future__ import annotations

import ast
import bisect
import collections
import posixpath
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NATIVE = ("analyzer/native", "replay/native")
TEXT = {
    ".py", ".pyi", ".md", ".toml", ".txt", ".cpp", ".hpp", ".c", ".h", ".ipynb", ".yaml", ".yml", ".json", ".j2", ".js",
    ".cfg", ".sh", "",
}
NOT_REWRITTEN = re.compile(r"CHANGELOG\.md|LICENSE|docs/experiments\.md|tests/data/.*(?<!README\.md)|machines/library/.*|packaging/includes.*")

notes: list[str] = []


def note(text: str) -> None:
    notes.append(text)


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


# ------------------------------------------------------------------------------------------------ the tables


def table(name: str) -> list[list[str]]:
    lines = (HERE / name).read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def by_subject(path: str, moved: dict[str, str]) -> str | None:
    """A test that is named after a module goes where that module goes."""
    match = re.fullmatch(r"tests/(analyzer|dashboards)/test_(\w+)\.py", path)
    if match is None:
        return None
    part, name = match[1], match[2].removeprefix("findings_")
    names = [name] if part == "dashboards" else [name, f"reporting/{name}"]
    if name != match[2]:  # test_findings_X
        for room in ("finders", "evidence"):
            if f"analyzer/findings/{room}/{name}.py" in files:
                return f"tests/analyzer/findings/{room}/test_{name}.py"
        return f"tests/analyzer/findings/test_{name}.py"
    for one in names:
        if (new := moved.get(f"analyzer/{one}.py")) and part == "analyzer":
            return f"tests/{posixpath.dirname(new)}/test_{posixpath.basename(new)}"
    if part == "dashboards":
        for room in ("app/pages", "app", "report", "selection", "figures"):
            if f"dashboards/{room}/{name}.py" in files:
                return f"tests/dashboards/{room}/test_{name}.py"
    return None


ROOMS = ("words", "archive", "run", "machine", "findings", "pipeline", "report", "compare", "explain", "predict", "export", "render")
"""Of analyzer, each above those before it."""


def by_room(path: str, moved: dict[str, str]) -> str | None:
    """A new file at the top of analyzer goes to the highest room that it imports from; without any, to `words`; where
    only one room imports it, there, if that is as high."""
    if not re.fullmatch(r"analyzer/(?!__init__)\w+\.py", path):
        return None
    rooms = {module_of(old): new.split("/")[1] for old, new in moved.items() if old.startswith("analyzer/") and new.endswith(".py")}
    text = (root / path).read_text()
    below = {rooms[name] for name in re.findall(r"from (logpost\.analyzer\.[\w.]+) import", text) if name in rooms}
    if "logpost.analyzer.findings" in text:
        below.add("findings")
    lowest = max((ROOMS.index(room) for room in below), default=0)
    above = set()
    for other in files:
        if other.startswith("analyzer/") and other.endswith(".py") and module_of(path) in (root / other).read_text():
            above.add(moved.get(other, other).split("/")[1])
    room = ROOMS[lowest]
    if len(above) == 1 and (only := above.pop()) in ROOMS and ROOMS.index(only) >= lowest:
        room = only
    return f"analyzer/{room}/{posixpath.basename(path)}"


def mapping() -> dict[str, str]:
    """Old path -> new path of every file that moves."""
    moved: dict[str, str] = {}
    for old, new in table("moves.tsv"):
        if old in files:
            moved[old] = new
        else:
            note(f"gone       {old} (is in moves.tsv, not in the tree)")
    moved |= {old: new for old, new in table("moves-new.tsv") if old in files}
    defaults = [(re.compile(pattern), target) for pattern, target in table("defaults.tsv")]
    listed = {old for old, _ in table("moves.tsv")}
    known = set(git("ls-tree", "-r", "--name-only", base).splitlines()) if base else set()
    for path in sorted(files):
        if path in moved or path in listed:
            continue
        new = by_subject(path, moved) or by_room(path, moved)
        if new is None:
            for pattern, target in defaults:
                if pattern.fullmatch(path):
                    new = pattern.sub(target, path)
                    break
        if new is not None and new != path:
            moved[path] = new
            note(f"by default {path} -> {new}")
        elif path not in known and path.startswith(("analyzer/", "replay/", "dashboards/", "tests/", "packaging/")):
            note(f"new, stays {path}")
    taken = collections.Counter(moved.values())
    for old, new in moved.items():
        if taken[new] > 1 or (new in files and new not in moved):
            sys.exit(f"move.py: {old} -> {new}: the place is taken; give it another one in moves.tsv")
    return moved


# ------------------------------------------------------------------------------------------------ Python names


def module_of(path: str) -> str | None:
    """The dotted name of a Python file, a stub or a package."""
    if not path.endswith((".py", ".pyi")):
        return None
    name = re.sub(r"(/__init__)?\.pyi?$", "", path).replace("/", ".")
    return name if name.startswith("tests") else f"logpost.{name}"


class Names:
    """Dotted names before and after."""

    def __init__(self, moved: dict[str, str]) -> None:
        self.modules: dict[str, str] = {}
        for path in files:
            if old := module_of(path):
                new = module_of(moved.get(path, path))
                assert new is not None
                self.modules[old] = new
        # A package without a file of its own at its new place (reporting/__init__ -> render/__init__ is one).
        self.modules["logpost.analyzer.reporting"] = "logpost.analyzer.render"
        self.dotted = re.compile(r"(?<![\w./\0])((?:logpost\.(?:analyzer|replay|dashboards|machines)|tests)(?:\.[A-Za-z_]\w*)+)")

    def name(self, old: str) -> str:
        parts = old.split(".")
        for end in range(len(parts), 1, -1):
            head = ".".join(parts[:end])
            if head in self.modules:
                return ".".join([self.modules[head], *parts[end:]])
        return old

    def rewritten(self, text: str) -> str:
        return self.dotted.sub(lambda match: self.name(match[1]), text)

    def imports(self, text: str, path: str) -> str:
        """`from PACKAGE import MODULE`, whose two parts are one name; and relative imports of files that move."""
        if "import" not in text:
            return text
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return text
        lines = text.splitlines(keepends=True)
        edits: list[tuple[int, int, str]] = []
        here = (module_of(path) or "").split(".")
        is_package = path.endswith("/__init__.py")
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom):
                continue
            module = node.module or ""
            if node.level:
                base_parts = here if is_package else here[:-1]
                base_parts = base_parts[: len(base_parts) - (node.level - 1)]
                module = ".".join([*base_parts, *([module] if module else [])])
                if not self._affected(module, node, path):
                    continue
            if not module.startswith(("logpost.", "tests")):
                continue
            groups: dict[str, list[str]] = {}
            split = node.level > 0
            for alias in node.names:
                full = f"{module}.{alias.name}"
                if full in self.modules and full != module:
                    new_package, _, new_name = self.modules[full].rpartition(".")
                    shown = alias.asname or (alias.name if new_name != alias.name else None)
                    groups.setdefault(new_package, []).append(new_name + (f" as {shown}" if shown else ""))
                    split = split or self.modules[full] != full
                else:
                    groups.setdefault(self.name(module), []).append(
                        alias.name + (f" as {alias.asname}" if alias.asname else "")
                    )
            if not split:
                continue
            indent = " " * node.col_offset
            made = [f"from {package} import {', '.join(names)}\n" for package, names in groups.items()]
            made = [line.replace("from ", "from \0", 1) for line in made]  # already new: not rewritten again
            tail = lines[node.end_lineno - 1][node.end_col_offset :].rstrip("\n")  # type: ignore[index, operator]
            made[-1] = made[-1].rstrip("\n") + tail + "\n"
            edits.append((node.lineno - 1, node.end_lineno, indent + indent.join(made)))  # type: ignore[arg-type]
        for start, end, new in sorted(edits, reverse=True):
            lines[start:end] = [new]
        return "".join(lines)

    def _affected(self, module: str, node: ast.ImportFrom, path: str) -> bool:
        """Whether a relative import would find something else, or nothing, after the move."""
        if path in moved:
            return True
        return any(self.modules.get(f"{module}.{alias.name}", "") not in ("", f"{module}.{alias.name}") for alias in node.names) or (
            module in self.modules and self.modules[module] != module
        )


# ------------------------------------------------------------------------------------------------ paths in text


class Paths:
    """Paths of files and folders, wherever a text names them."""

    def __init__(self, moved: dict[str, str]) -> None:
        self.files = moved
        self.folders = {old: new for old, new in table("folders.tsv")}
        self.path = re.compile(r"(?<![\w.-])(?<![\w-]/)((?:tests/)?(?:analyzer|replay|dashboards)/[\w./*<>-]*[\w/>*])")

    def one(self, old: str) -> str:
        if old in self.files:
            return self.files[old]
        folder, tail = old.rstrip("/"), "/" if old.endswith("/") else ""
        rest = ""
        while folder:
            if folder in self.folders and (not rest or folder not in ("analyzer/native",) ):
                return self.folders[folder] + rest + tail
            folder, _, last = folder.rpartition("/")
            rest = f"/{last}{rest}"
        return old

    def rewritten(self, text: str) -> str:
        text = self.path.sub(lambda match: self.one(match[1]), text)
        return re.sub(r"(?<![\w/])((?:whatif|causes)/\w+\.[ch]pp)", self._native, text)

    def _native(self, match: re.Match[str]) -> str:
        """Documentation names files of the engine from its folder on."""
        return self.files.get(f"replay/native/{match[1]}", f"replay/native/{match[1]}").removeprefix("replay/native/")


# ------------------------------------------------------------------------------------------------ C++


def included(path: str, name: str) -> str | None:
    """The file that an include of `path` names, as the compiler finds it."""
    for folder in (posixpath.dirname(path), "", "analyzer/native"):
        found = posixpath.normpath(posixpath.join(folder, name))
        if found in files:
            return found
    return None


def includes(text: str, path: str) -> str:
    def new(match: re.Match[str]) -> str:
        found = included(path, match[2])
        if found is None:
            return match[0]
        if found in moved or found.startswith(NATIVE):
            return f'{match[1]}"{moved.get(found, found)}"'
        if path in moved:
            note(f"include    {path}: {match[2]} is left as it is")
        return match[0]

    return re.sub(r'^(#include )"([^"]+)"', new, text, flags=re.MULTILINE)


def sources(text: str, path: str) -> str:
    """Names of sources in a CMakeLists.txt, which are relative to its folder. Their order stays: it decides which files
    are compiled together, and some of those that are not share names."""
    before, after = posixpath.dirname(path), posixpath.dirname(moved.get(path, path))

    def new(match: re.Match[str]) -> str:
        old = posixpath.normpath(posixpath.join(before, match[0]))
        return posixpath.relpath(moved[old], after) if old in moved else match[0]

    return re.sub(r"(?<![\w./$}-])[\w/]+\.(?:cpp|hpp|c|h)\b", new, text)


# ------------------------------------------------------------------------------------------------ small edits


def counted(text: str) -> str:
    """The list of words that files still have, by their new paths, in their order."""
    lines = text.splitlines(keepends=True)
    head = [line for line in lines if line.startswith("#")]
    pairs = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    return "".join(head) + "".join(sorted((f"{n}\t{moved.get(path, path)}\n" for n, path in pairs), key=lambda line: line.split("\t")[1]))


def depth(text: str, path: str) -> str:
    """Paths from a file to the checkout: `Path(__file__).parents[2]` of one that is a folder deeper is parents[3]."""
    if path not in moved or "__file__" not in text:
        return text
    deeper = moved[path].count("/") - path.count("/")
    if not deeper:
        return text
    made, count = re.subn(
        r"(Path\(__file__\)(?:\.resolve\(\))?\.parents)\[(\d+)\]",
        lambda match: f"{match[1]}[{int(match[2]) + deeper}]",
        text,
    )
    if made.count("__file__") != count:
        note(f"__file__   {path} -> {moved[path]}: look at it")
    return made


def edit(path: str, old: str, new: str) -> bool:
    """A change of text that no rule makes. Whether the text is there."""
    file = root / path
    text = file.read_text() if file.exists() else ""
    if old not in text:
        return False
    file.write_text(text.replace(old, new, 1))
    return True


def run_edits() -> None:
    """edits/*.txt: blocks of `@@ path`, old text, `==`, new text. `@@| path`: instead of the block before it, where
    that one's text is not there."""
    for file in sorted((HERE / "edits").glob("*.txt")):
        missing = ""
        for block in re.split(r"^@@", file.read_text(), flags=re.MULTILINE)[1:]:
            path, _, rest = block.partition("\n")
            old, _, new = rest.partition("\n==\n")
            instead = path.startswith("|")
            if instead and not missing:
                continue
            if missing and not instead:
                note(missing)
            path = path.removeprefix("|").strip()
            found = edit(path, old, new.rstrip("\n"))
            missing = "" if found else f"edit       {path}: not found: {old.strip().splitlines()[0][:90]!r}"
        if missing:
            note(missing)


# ------------------------------------------------------------------------------------------------ all of it


def move(moved: dict[str, str]) -> None:
    for folder in {posixpath.dirname(new) for new in moved.values()}:
        (root / folder).mkdir(parents=True, exist_ok=True)
    # A file may go where a folder of its name is needed, or where another one was: by way of a third place.
    (root / ".moving").mkdir()
    by_way = {old: f".moving/{number}" for number, old in enumerate(sorted(moved))}
    for old, way in by_way.items():
        (root / old).rename(root / way)
    for old, way in by_way.items():
        new = root / moved[old]
        if new.exists():
            sys.exit(f"move.py: {moved[old]} is in the way")
        way_file = root / way
        way_file.rename(new)
    (root / ".moving").rmdir()
    for old in moved:
        folder = (root / old).parent
        while folder != root and folder.is_dir():
            for cache in folder.glob("__pycache__"):
                shutil.rmtree(cache)
            if any(folder.iterdir()):
                break
            folder.rmdir()
            folder = folder.parent


def main() -> None:
    global files, moved, root, base
    began = time.monotonic()
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    base = "ca89fdc3"
    if subprocess.run(["git", "cat-file", "-e", base], cwd=root, capture_output=True).returncode:
        base = ""
    if git("status", "--porcelain", "--untracked-files=no"):
        sys.exit("move.py: the checkout has changes that are not committed")
    files = set(git("ls-files").splitlines())
    if "analyzer/reporting/data.py" not in files:
        sys.exit("move.py: this checkout does not have the old layout")
    moved = mapping()
    names, paths = Names(moved), Paths(moved)

    changed: dict[str, str] = {}
    for path in sorted(files):
        file = root / path
        if file.is_symlink() or file.suffix not in TEXT or NOT_REWRITTEN.fullmatch(path):
            continue
        try:
            before = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        text = before
        if path.endswith(".py"):
            text = depth(names.imports(text, path), path)
        text = names.rewritten(text)
        if path.endswith("CMakeLists.txt"):
            text = sources(text, path)
        if path.endswith((".cpp", ".hpp", ".c", ".h")):
            text = includes(text, path)
        if path == "packaging/words-left.txt":
            text = counted(text)
        text = paths.rewritten(text).replace("from \0", "from ")
        if text != before:
            changed[path] = text
    for path, text in changed.items():
        (root / path).write_text(text, encoding="utf-8")
    move(moved)
    shutil.copytree(HERE / "new", root, dirs_exist_ok=True)
    run_edits()
    sys.path.insert(0, str(HERE))
    import extract

    extract.run(root, note)
    git("add", "-A")
    form(root)
    left(root)
    git("add", "-A")
    for line in notes:
        print(line)
    print(f"move.py: {len(moved)} files moved, {len(changed)} rewritten, {time.monotonic() - began:.1f} s")


def left(root: Path) -> None:
    """Includes and imports against the order: those of includes are listed, those of imports are said."""
    script = [sys.executable, "packaging/includes.py", "--list"]
    lines = subprocess.run(script, cwd=root, check=True, capture_output=True, text=True).stdout
    with (root / "packaging" / "includes.txt").open("a") as file:
        file.write(lines)
    for line in lines.splitlines():
        note(f"listed     {line} (packaging/includes.txt)")
    if (root / "packaging" / "words.py").exists():
        done = subprocess.run([sys.executable, "packaging/words.py", "--update"], cwd=root, check=False, capture_output=True, text=True)
        if done.returncode:
            note("packaging/words.py --update: " + (done.stdout + done.stderr).strip().splitlines()[-1])
    python = root / ".venv" / "bin" / "python"
    if (root / ".venv" / "bin" / "lint-imports").exists():
        done = subprocess.run([python, "-c", LINT_IMPORTS], cwd=root, check=False, capture_output=True, text=True)
        if done.returncode:
            note("lint-imports:\n" + (done.stdout + done.stderr)[-3000:])


LINT_IMPORTS = """
import sys
# The installed package has the old layout, and another checkout's where the environment is borrowed.
sys.meta_path = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, "src")
from importlinter.cli import lint_imports_command
sys.argv = ["lint-imports", "--no-cache"]
lint_imports_command()
"""


def form(root: Path) -> None:
    """What formatters do, where they are: order of imports and includes, length of lines."""
    tools = root / ".venv" / "bin"

    def tool(name: str) -> str | None:
        return str(tools / name) if (tools / name).exists() else shutil.which(name)

    changed = git("diff", "--cached", "--name-only", "--diff-filter=d").splitlines()
    python = [path for path in changed if path.endswith(".py")]
    native = [path for path in changed if path.endswith((".c", ".h", ".cpp", ".hpp"))]
    if (ruff := tool("ruff")) is not None:
        subprocess.run([ruff, "check", "-q", "--select", "I", "--fix", *python], cwd=root, check=False)
        subprocess.run([ruff, "format", "-q", *python], cwd=root, check=False)
    else:
        note("ruff is not here: run `ruff check --select I --fix . && ruff format .`")
    if (clang_format := tool("clang-format")) is not None:
        subprocess.run([clang_format, "-i", *native], cwd=root, check=False)
    else:
        note("clang-format is not here: run it on the changed files")


if __name__ == "__main__":
    main()
