"""Wrappers of OpenSHMEM's functions in C, made from the one table of them.

A row of ``functions.txt`` stands for the forms that a function has for many types, sizes and with a context. Only names
that the library has are wrapped. What a wrapper notes, by the row's hook (``native/hooks.h``):

* ``put``, ``p``, ``iput``, ``put_nbi`` and the same of get: an access, its bytes those of its elements;
* ``atomic KIND SENT RECEIVED``: an access of so many operands and results;
* ``coll OPERATION SIZE``: a collective operation; with ``quiet`` one that completes the accesses before it;
* ``quiet``, ``wait``, ``lock``, ``unlock``, ``test_lock``, ``ctx_create``, ``ctx_destroy``: as they are called;
* ``call``: the call alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

TABLE = Path(__file__).with_name("functions.txt")

_BITS = ("8", "16", "32", "64", "128")
_WHOLE = {
    "int": "int",
    "long": "long",
    "longlong": "long long",
    "uint": "unsigned int",
    "ulong": "unsigned long",
    "ulonglong": "unsigned long long",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "size": "size_t",
    "ptrdiff": "ptrdiff_t",
}
_SMALL = {"short": "short", "ushort": "unsigned short"}
_REAL = {"float": "float", "double": "double"}
_FAMILIES = {
    "atomic": _WHOLE,
    "extended": {**_WHOLE, **_REAL},
    "sync": {**_WHOLE, **_SMALL},
    "number": {
        **_WHOLE,
        **_SMALL,
        **_REAL,
        "longdouble": "long double",
        "complexf": "float _Complex",
        "complexd": "double _Complex",
    },
    "rma": {
        **_WHOLE,
        **_SMALL,
        **_REAL,
        "longdouble": "long double",
        "char": "char",
        "schar": "signed char",
        "uchar": "unsigned char",
        "int8": "int8_t",
        "int16": "int16_t",
        "uint8": "uint8_t",
        "uint16": "uint16_t",
    },
}


@dataclass(frozen=True)
class Function:
    """One function: its prototype and what its wrapper notes."""

    name: str
    returns: str
    parameters: tuple[tuple[str, str], ...]
    """Type and name of each."""
    role: str
    hook: str
    arguments: tuple[str, ...]
    element: str
    """Bytes of an element, as C says it."""

    @property
    def operation(self) -> str:
        """The collective operation, as OTF2 spells it; "-" for what is none."""
        return self.arguments[0] if self.hook == "coll" else "-"

    def takes(self, name: str) -> bool:
        """Whether it has a parameter of that name."""
        return any(name == own for _, own in self.parameters)


def _forms(prototype: str) -> Iterator[tuple[str, str]]:
    """Yield each function that a row stands for: its prototype, and the bytes of its elements."""
    for with_context in (False, True) if "[ctx_]" in prototype else (False,):
        text = prototype.replace("[ctx_]", "ctx_" if with_context else "")
        text = text.replace("[ctx] ", "void* ctx, " if with_context else "")
        if family := re.search(r"<(\w+)>", text):
            for name, ctype in _FAMILIES[family[1]].items():
                yield re.sub(r"\bT\b", ctype, text.replace(family[0], name)), f"sizeof({ctype})"
        elif "BITS" in text:
            for bits in _BITS:
                yield text.replace("BITS", bits), f"({bits} / 8)"
        else:
            yield text, "1"


@lru_cache(maxsize=1)
def functions() -> tuple[Function, ...]:
    """Every function of the table, in its order."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        note, _, prototype = line.partition(" | ")
        role, hook, *arguments = note.split()
        for text, element in _forms(prototype):
            match = re.fullmatch(r"(.+?) (\w+)\((.*)\)", text)
            if match is None:
                raise ValueError(f"{TABLE.name}: cannot read {line!r}")
            texts = [] if match[3] == "void" else match[3].split(", ")
            parameters = tuple((ctype, name) for ctype, _, name in (part.rpartition(" ") for part in texts))
            found.append(Function(match[2], match[1], parameters, role, hook, tuple(arguments), element))
    return tuple(found)


def rows(first: int) -> list[str]:
    """The rows for ``functions.txt`` of a recording, numbered from ``first``."""
    return [f"{number} {f.name} {f.role} {f.operation}" for number, f in enumerate(functions(), first)]


def _access(f: Function, kind: str, amount: str, flags: str) -> str:
    window = "lp_shmem_window(s.t, ctx)" if f.takes("ctx") else "lp_shmem"
    sent, received = (amount, "0") if kind == "PUT" else ("0", amount)
    return f"lp_shmem_access(s, LP_{kind}, {sent}, {received}, pe, {window}, {flags}, 0, 0);"


def _note(f: Function) -> str:
    """What to note of a call, in C, once it has ended."""
    window = "lp_shmem_window(s.t, ctx)" if f.takes("ctx") else "lp_shmem"
    amount = f"nelems * {f.element}"
    simple = {
        "call": "lp_shmem_call(s);",
        "put": _access(f, "PUT", amount, "LP_TRANSFER_LOCAL"),
        "p": _access(f, "PUT", f.element, "LP_TRANSFER_LOCAL"),
        "put_nbi": _access(f, "PUT", amount, "0"),
        "get": _access(f, "GET", amount, "LP_TRANSFER_BLOCKING"),
        "g": _access(f, "GET", f.element, "LP_TRANSFER_BLOCKING"),
        "get_nbi": _access(f, "GET", amount, "0"),
        "iput": f"lp_shmem_strided(s, LP_PUT, sst, tst, nelems, {f.element}, pe, {window}, LP_TRANSFER_LOCAL);",
        "iget": f"lp_shmem_strided(s, LP_GET, tst, sst, nelems, {f.element}, pe, {window}, LP_TRANSFER_BLOCKING);",
        "quiet": f"lp_shmem_sync(s, LP_FLUSH, {window});",
        "wait": "lp_shmem_sync(s, LP_WAIT_CHANGE, lp_shmem);",
        "lock": "lp_shmem_lock(s, LP_ACQUIRE, lock);",
        "unlock": "lp_shmem_lock(s, LP_UNLOCK, lock);",
        "test_lock": "if (rc == 0) lp_shmem_lock(s, LP_ACQUIRE, lock);\n    else lp_shmem_call(s);",
        "ctx_create": "if (rc == 0 && *ctx) lp_shmem_context(s.t, *ctx);\n    lp_shmem_call(s);",
        "ctx_destroy": f"lp_shmem_sync(s, LP_FLUSH, {window});\n    lp_rma_forget((MPI_Win)ctx);",
    }
    if f.hook == "atomic":
        kind, sent, received = f.arguments
        flags = "LP_TRANSFER_BLOCKING" if received != "0" else "LP_TRANSFER_LOCAL"
        amounts = f"{sent} * {f.element}, {received} * {f.element}"
        return f"lp_shmem_access(s, LP_{kind}, {amounts}, pe, {window}, {flags}, 0, 0);"
    if f.hook == "coll":
        some = "PE_start, logPE_stride, PE_size" if f.takes("PE_start") else "0, 0, -1"
        root = "PE_root" if f.takes("PE_root") else "LP_ROOT_NONE"
        bytes_ = f"(uint64_t)nelems * {f.element}" if f.takes("nelems") else "0"
        quiet = "lp_shmem" if "quiet" in f.arguments else "0"
        return f"lp_shmem_collective(s, LP_VOLUME_{f.operation}, {bytes_}, {root}, {some}, {quiet});"
    if f.hook not in simple:
        raise ValueError(f"{TABLE.name}: {f.name} has the unknown hook {f.hook!r}")
    return simple[f.hook]


_HEAD = """{returns} lpw_{name}({declared}) {{
  static {returns} (*volatile known)({types});
  {returns} (*real)({types}) = known;
  if (LP_UNLIKELY(!real)) real = known = ({returns} (*)({types}))lp_shmem_real("{name}");
"""

_WRAPPER = (
    _HEAD
    + """  struct lp_stamp s = lp_shmem_enter({number}, {kind}, LP_HERE);
  {kept}real({args});
  if (s.t) {{
    s.leave = lp_now();
    {note}
    lp_leave(s.t);
  }}
  {result}}}
"""
)

_INIT = (
    _HEAD
    + """  struct lp_thread* t = lp_shmem_starts();
  if (t) t->stack = LP_STACK_HERE(t);
  uint64_t enter = lp_now();
  {kept}real({args});
  t = lp_shmem_started(t, enter);
  if (t) {{
    t->stack = LP_STACK_HERE(t);
    struct lp_stamp s = {{t, {number}, enter, lp_now()}};
    lp_shmem_begins(s);
    lp_leave(t);
  }}
  {result}}}
"""
)

_FINALIZE = (
    _HEAD
    + """  struct lp_thread* t = lp_enter();
  if (t) {{
    t->stack = LP_STACK_HERE(t);
    lp_switch_in_call(t, 1);
  }}
  uint64_t enter = lp_now();
  if (t) lp_before_finalize(t);
  real({args});
  if (t) lp_after_finalize(t, {number}, enter, lp_now(), 0);
}}
"""
)

# Does not return: the log's open call says so.
_ABORT = (
    _HEAD
    + """  struct lp_thread* t = lp_enter();
  if (t) {{
    t->stack = LP_STACK_HERE(t);
    lp_opens(t, LP_ABORTS, {number}, lp_now(), LP_NO_PEER, status, 0, 0);
  }}
  real({args});
  if (t) lp_leave(t);
}}
"""
)

_FORMS = {"init": _INIT, "finalize": _FINALIZE, "abort": _ABORT}


def _kind(f: Function) -> str:
    """What a process waits for that never leaves the call."""
    if f.hook != "coll":
        return "LP_CALL"
    return "PE_size == lp_shmem_pes ? LP_COLL : LP_CALL" if f.takes("PE_start") else "LP_COLL"


def wrapper(f: Function, number: int) -> str:
    """The C text of one wrapper."""
    value = f.returns != "void"
    call = ", ".join(name for _, name in f.parameters)
    fields = {
        "name": f.name,
        "returns": f.returns,
        "declared": ", ".join(f"{ctype} {name}" for ctype, name in f.parameters) or "void",
        "types": ", ".join(ctype for ctype, _ in f.parameters) or "void",
        "args": call,
        "number": str(number),
        "kept": f"{f.returns} rc = " if value else "",
        "kind": _kind(f),
        "result": "return rc;\n" if value else "",
    }
    form = _FORMS.get(f.hook)
    text = form.format(**fields) if form else _WRAPPER.format(**fields, note=_note(f))
    return text + f"LP_EXPORT({f.name})\n"


_PREAMBLE = """/* Generated by generate.py from functions.txt. */
#include "hooks_shmem.h"

/* The version is hidden, as that of MPI's wrappers: references bind to it, dlsym() does not see it. */
#define LP_EXPORT(name) __asm__(".symver lpw_" #name "," #name "@LOGPOST_1\\n");

const int lp_shmem_finalize_number = {finalize};

"""


def wrapped(exported: Collection[str]) -> frozenset[str]:
    """Those of some names that have a wrapper."""
    return frozenset(f.name for f in functions() if f.name in exported)


def wrappers(exported: Collection[str], first: int) -> str:
    """The C file with the wrappers of those functions that a library has; ``first``: number of the table's first."""
    made = [wrapper(f, number) for number, f in enumerate(functions(), first) if f.name in exported]
    finalize = next(number for number, f in enumerate(functions(), first) if f.hook == "finalize")
    return _PREAMBLE.format(finalize=finalize) + "\n".join(made)
