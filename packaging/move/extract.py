"""Cuts declarations that a lower room needs out of the files of upper rooms. Runs after the move."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Callable

N = "replay/native"


class Cut:
    def __init__(self, root: Path, note: Callable[[str], None]) -> None:
        self.root, self.note = root, note

    def text(self, path: str) -> str:
        return (self.root / N / path).read_text()

    def write(self, path: str, text: str) -> None:
        (self.root / N / path).write_text(text)

    def out(self, path: str, pattern: str) -> str | None:
        """Removes the text that `pattern` matches, with the empty line behind it, and returns it."""
        text = self.text(path)
        match = re.search(pattern, text, flags=re.MULTILINE | re.DOTALL)
        if match is None:
            self.note(f"extract    {N}/{path}: not found: {pattern[:60]!r}")
            return None
        self.write(path, text[: match.start()] + text[match.end() :].removeprefix("\n"))
        return match[0]

    def header(self, path: str, about: str, includes: list[str], *parts: str) -> None:
        """A new header."""
        system = "".join(f"#include <{name}>\n" for name in includes if "/" not in name)
        own = "".join(f'#include "{N}/{name}"\n' for name in includes if "/" in name)
        blocks = [f"#pragma once\n\n/// {about}\n", *([system] if system else []), *([own] if own else [])]
        body = "\n\n".join(part.strip("\n") for part in parts)
        self.write(path, "\n".join(blocks) + f"\nnamespace logpost::replay {{\n\n{body}\n\n}}  // namespace logpost::replay\n")

    def include(self, path: str, *, drop: str = "", add: str = "") -> None:
        """Another header instead of one, or in addition to them (`clang-format` sorts)."""
        text = self.text(path)
        line = f'#include "{N}/{drop}"\n'
        if drop and line not in text:
            self.note(f"extract    {N}/{path} does not include {drop}")
        text = text.replace(line, "") if drop else text
        new = f'#include "{N}/{add}"\n'
        if add and new not in text:
            own = list(re.finditer(r'^#include "[^"]+"\n', text, flags=re.MULTILINE))
            # Behind a source's own header is an empty line: the others are a block of their own.
            if own and not (len(own) == 1 and path.endswith(".cpp")):
                at = own[-1].end()
            else:
                system = list(re.finditer(r"^#include <[^>]+>\n", text, flags=re.MULTILINE))
                at = system[-1].end()
                new = "\n" + new
            text = text[:at] + new + text[at:]
        self.write(path, re.sub(r"\n{3,}", "\n\n", text))


SYMBOLS = {
    "cost/parameters.hpp": r"\b(?:Parameters|LocalityParameters|Middleware)\b",
    "cost/table.hpp": r"\b(?:Curve|Surface)\b",
    "split/partition.hpp": r"\b(?:MessageWaits|Partition|Segment|Handshake)\b",
}
"""What files had by way of headers that do not include these any more."""


def complete(root: Path, note: Callable[[str], None]) -> None:
    """Includes of what a file uses and no longer has by way of another header."""
    cut = Cut(root, note)
    known: dict[str, set[str]] = {}

    def reached(path: str) -> set[str]:
        if path not in known:
            known[path] = set()
            for name in re.findall(r'^#include "([^"]+)"', (root / path).read_text(), flags=re.MULTILINE):
                for found in (f"{Path(path).parent.as_posix()}/{name}", name):
                    if (root / found).is_file():
                        known[path] |= {found} | reached(found)
                        break
        return known[path]

    for folder in (N, "analyzer/archive/native", "tests/native", "tests/benchmarks"):
        for file in sorted((root / folder).rglob("*.[ch]pp"), key=lambda file: file.suffix != ".hpp"):
            path = file.relative_to(root).as_posix()
            code = re.sub(r"//[^\n]*|\"[^\"\n]*\"", "", file.read_text())
            if not any(one.startswith(N) for one in reached(path)):
                continue
            for header, used in SYMBOLS.items():
                if f"{N}/{header}" not in reached(path) | {path} and re.search(used, code):
                    cut.include(posix(path), add=header)
                    note(f"include    {path} + {header}")
                    known.clear()


def posix(path: str) -> str:
    """A path as `Cut` has it: from the engine's folder on."""
    return "../../" + path


def run(root: Path, note: Callable[[str], None]) -> None:
    cut = Cut(root, note)

    # How far apart ends are is a fact of the program; what that costs is not.
    locality = cut.out("cost/parameters.hpp", r"^/// How far apart two ends.*?^inline constexpr std::size_t kLocalities = \d+;\n")
    if locality is not None:
        cut.header("program/locality.hpp", "Localities of two ends of a message.", ["cstddef", "cstdint"], locality)
        cut.include("cost/parameters.hpp", add="program/locality.hpp")
        cut.include("program/placement.hpp", drop="cost/parameters.hpp", add="program/locality.hpp")
        cut.include("program/program.hpp", drop="cost/parameters.hpp", add="program/locality.hpp")

    # The parts of a message's time, and the categories of a rank's that are made of them.
    part = cut.out("split/partition.hpp", r"^enum class Part : .*?^inline constexpr std::string_view kPartNames.*?\};\n")
    if part is not None:
        cut.header("cost/part.hpp", "The parts of a message's measured time.", ["cstddef", "cstdint", "string_view"], part)
        cut.include("split/partition.hpp", add="cost/part.hpp")
        cut.include("cost/categories.hpp", drop="split/partition.hpp", add="cost/part.hpp")

    times = cut.out("split/partition.hpp", r"^/// What was measured of one message; picoseconds\.\nstruct MessageTimes \{.*?^\};\n")
    if times is not None:
        cut.header("program/message_times.hpp", "The measured times of one message.", ["cstdint"], times)
        cut.include("split/partition.hpp", add="program/message_times.hpp")
        cut.include("program/message_facts.hpp", drop="split/partition.hpp", add="program/message_times.hpp")
        cut.include("program/message_facts.hpp", drop="cost/parameters.hpp")

    # Which locations have an account.
    declared = cut.out("split/analysis.hpp", r"^/// The locations that get an account\.\n.*?;\n")
    defined = cut.out("split/analysis.cpp", r"^\}  // namespace\n\nstd::vector<std::size_t> accounted_locations\(.*?^\}\n\nnamespace \{\n\n")
    if declared is not None and defined is not None:
        function = re.search(r"^std::vector.*?^\}\n", defined, flags=re.MULTILINE | re.DOTALL)
        assert function is not None
        cut.header(
            "program/accounted.hpp",
            "Which locations of a program have an account.",
            ["cstddef", "vector", "program/program.hpp"],
            "/// The locations that get an account.\ninline " + function[0],
        )
        cut.include("split/analysis.hpp", add="program/accounted.hpp")
        for path in ("waits/waits.cpp", "waits/recorded_path.cpp"):
            cut.include(path, drop="split/analysis.hpp", add="program/accounted.hpp")
    complete(root, note)
