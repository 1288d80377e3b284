"""Wrappers of MPI functions in C, made from the one table of prototypes.

Each wrapper is exported under ``MPI_X`` and under ``PMPI_X``: Fortran bindings call either (Open MPI's ``use mpi`` and
``mpi_f08`` call ``PMPI_X``, MPICH's ``mpif.h`` calls ``MPI_X``). Handles are passed as machine words and pointers as
``void *``, which is right for every MPI on 64-bit Linux, so a wrapper that only passes on cannot harm a program of
another MPI. Only names that the MPI library has are defined, so that a program that looks a function up finds what the
library has.
"""

from __future__ import annotations

from collections.abc import Collection

from logpost.collectors.pmpi import one_sided
from logpost.collectors.pmpi.prototypes import TABLE, Function, functions, table_hash

_RETURNS = {"int": "int", "double": "double", "MPI_Aint": "int64_t"}

_PROBES = ("probe", "mprobe")
"""They wait for a message, and note no other."""

_REQUEST_KINDS = {"isend": "LP_ISEND", "irecv": "LP_IRECV", "send_init": "LP_SEND_INIT", "recv_init": "LP_RECV_INIT"}

_OWN_STATUS = "MPI_Status own_status;\n  void* ask = (void*)status == (void*)MPI_STATUS_IGNORE ? &own_status : status;"

# Bytes that one rank puts in and gets out, per operation, as Score-P counts them.
_VOLUME = {
    "BARRIER": "",
    "BCAST": """
    if (root >= 0 || root == MPI_ROOT) {
      uint64_t b = lp_bytes(t, count, (MPI_Datatype)datatype);
      if (root >= 0) v.received = b;
      if (lp_is_root(p, root)) v.sent = b * (uint64_t)p.other;
      v.layout = v.received_layout = lp_laid_out(t, count, datatype);
    }""",
    "GATHER": """
    uint64_t r = lp_is_root(p, root) ? lp_bytes(t, recvcount, (MPI_Datatype)recvtype) : 0;
    if (root >= 0) v.sent = LP_IN_PLACE(sendbuf) ? r : lp_bytes(t, sendcount, (MPI_Datatype)sendtype);
    v.received = r * (uint64_t)p.other;
    if (root >= 0 && !LP_IN_PLACE(sendbuf)) v.layout = lp_laid_out(t, sendcount, sendtype);
    if (lp_is_root(p, root)) v.received_layout = lp_laid_out(t, recvcount, recvtype);""",
    "GATHERV": """
    if (lp_is_root(p, root)) v.received = lp_bytes(t, SUM(recvcounts, p.other), (MPI_Datatype)recvtype);
    if (root >= 0) v.sent = LP_IN_PLACE(sendbuf)
                                ? lp_bytes(t, ((const COUNT*)recvcounts)[p.rank], (MPI_Datatype)recvtype)
                                : lp_bytes(t, sendcount, (MPI_Datatype)sendtype);
    if (root >= 0 && !LP_IN_PLACE(sendbuf)) v.layout = lp_laid_out(t, sendcount, sendtype);
    if (lp_is_root(p, root)) v.received_layout = lp_type(t, (MPI_Datatype)recvtype)->layout;""",
    "SCATTER": """
    uint64_t b = lp_is_root(p, root) ? lp_bytes(t, sendcount, (MPI_Datatype)sendtype) : 0;
    if (root >= 0) v.received = LP_IN_PLACE(recvbuf) ? b : lp_bytes(t, recvcount, (MPI_Datatype)recvtype);
    v.sent = b * (uint64_t)p.other;
    if (lp_is_root(p, root)) v.layout = lp_laid_out(t, sendcount, sendtype);
    if (root >= 0 && !LP_IN_PLACE(recvbuf)) v.received_layout = lp_laid_out(t, recvcount, recvtype);""",
    "SCATTERV": """
    if (lp_is_root(p, root)) v.sent = lp_bytes(t, SUM(sendcounts, p.other), (MPI_Datatype)sendtype);
    if (root >= 0) v.received = LP_IN_PLACE(recvbuf)
                                    ? lp_bytes(t, ((const COUNT*)sendcounts)[p.rank], (MPI_Datatype)sendtype)
                                    : lp_bytes(t, recvcount, (MPI_Datatype)recvtype);
    if (lp_is_root(p, root)) v.layout = lp_type(t, (MPI_Datatype)sendtype)->layout;
    if (root >= 0 && !LP_IN_PLACE(recvbuf)) v.received_layout = lp_laid_out(t, recvcount, recvtype);""",
    "ALLGATHER": """
    uint64_t r = lp_bytes(t, recvcount, (MPI_Datatype)recvtype);
    v.sent = (LP_IN_PLACE(sendbuf) ? r : lp_bytes(t, sendcount, (MPI_Datatype)sendtype)) * (uint64_t)p.other;
    v.received = r * (uint64_t)p.other;
    v.received_layout = lp_laid_out(t, recvcount, recvtype);
    v.layout = LP_IN_PLACE(sendbuf) ? v.received_layout : lp_laid_out(t, sendcount, sendtype);""",
    "ALLGATHERV": """
    v.received = lp_bytes(t, SUM(recvcounts, p.other), (MPI_Datatype)recvtype);
    v.sent = (LP_IN_PLACE(sendbuf) ? lp_bytes(t, ((const COUNT*)recvcounts)[p.rank], (MPI_Datatype)recvtype)
                                   : lp_bytes(t, sendcount, (MPI_Datatype)sendtype)) * (uint64_t)p.other;
    v.received_layout = lp_type(t, (MPI_Datatype)recvtype)->layout;
    v.layout = LP_IN_PLACE(sendbuf) ? v.received_layout : lp_type(t, (MPI_Datatype)sendtype)->layout;""",
    "ALLTOALL": """
    v.received = lp_bytes(t, recvcount, (MPI_Datatype)recvtype) * (uint64_t)p.other;
    v.sent = LP_IN_PLACE(sendbuf) ? v.received : lp_bytes(t, sendcount, (MPI_Datatype)sendtype) * (uint64_t)p.other;
    v.received_layout = lp_laid_out(t, recvcount, recvtype);
    v.layout = LP_IN_PLACE(sendbuf) ? v.received_layout : lp_laid_out(t, sendcount, sendtype);""",
    "ALLTOALLV": """
    v.received = lp_bytes(t, SUM(recvcounts, p.other), (MPI_Datatype)recvtype);
    v.sent = LP_IN_PLACE(sendbuf) ? v.received : lp_bytes(t, SUM(sendcounts, p.other), (MPI_Datatype)sendtype);
    v.received_layout = lp_type(t, (MPI_Datatype)recvtype)->layout;
    v.layout = LP_IN_PLACE(sendbuf) ? v.received_layout : lp_type(t, (MPI_Datatype)sendtype)->layout;""",
    "ALLTOALLW": """
    v.received = SUM_TYPES(t, recvcounts, recvtypes, p.other);
    v.sent = LP_IN_PLACE(sendbuf) ? v.received : SUM_TYPES(t, sendcounts, sendtypes, p.other);""",
    "REDUCE": """
    if (root >= 0 || root == MPI_ROOT) {
      uint64_t b = lp_bytes(t, count, (MPI_Datatype)datatype);
      if (root >= 0) v.sent = b;
      if (lp_is_root(p, root)) v.received = b * (uint64_t)p.other;
    }""",
    "ALLREDUCE": "\n    v.sent = v.received = lp_bytes(t, count, (MPI_Datatype)datatype) * (uint64_t)p.other;",
    "REDUCE_SCATTER": """
    v.sent = lp_bytes(t, SUM(recvcounts, p.size), (MPI_Datatype)datatype);
    v.received = lp_bytes(t, ((const COUNT*)recvcounts)[p.rank], (MPI_Datatype)datatype) * (uint64_t)p.size;""",
    "REDUCE_SCATTER_BLOCK": """
    v.sent = v.received = lp_bytes(t, recvcount, (MPI_Datatype)datatype) * (uint64_t)p.size;""",
    "SCAN": """
    uint64_t b = lp_bytes(t, count, (MPI_Datatype)datatype);
    v.sent = b * (uint64_t)(p.size - p.rank);
    v.received = b * (uint64_t)(p.rank + 1);""",
    "EXSCAN": """
    uint64_t b = lp_bytes(t, count, (MPI_Datatype)datatype);
    v.sent = b * (uint64_t)(p.size - p.rank - 1);
    v.received = b * (uint64_t)p.rank;""",
}


def _collective(f: Function) -> str:
    operation = f.arguments[0]
    width = "count" if f.large else "int"
    code = _VOLUME[operation].replace("SUM_TYPES(", f"lp_sum_types_{width}(").replace("SUM(", f"lp_sum_{width}(")
    code = code.replace("COUNT*", "int64_t*" if f.large else "int*")
    place = "" if operation == "BARRIER" else "\n    struct lp_place p = lp_place(comm);"
    note = {
        "coll": f"lp_coll(s, LP_COLL, comm, {_root(f)}, v, NULL);",
        "icoll": f"lp_coll(s, LP_ICOLL, comm, {_root(f)}, v, request);",
        "coll_init": f"lp_coll_init(s, comm, {_root(f)}, v, request);",
    }[f.hook]
    return f"struct lp_volume v = {{0, 0, 0, 0}};{place}{code}\n    {note}"


def _found(note: str) -> str:
    """Return what a probe that does not wait notes where there is a message, and where there is none."""
    return f"if (*(int*)flag) {note}\n    else lp_plain(s);"


def _hook(f: Function) -> tuple[str, dict[str, str], str, str]:
    """Return what to note before the call, which arguments to replace, what to note on success and otherwise."""
    h = f.hook
    failed = "lp_plain(s);"
    status = {"status": "ask"}
    if h in ("call", "value"):
        return "", {}, failed, failed
    if h == "pcontrol":
        return "if (level == 1) lp_switch_in_call(t, 1);", {}, "lp_level(s, level);", failed
    if h in ("coll", "icoll", "coll_init"):
        return "", {}, _collective(f), f"lp_failed_coll(s, comm, {_root(f)});" if h == "coll" else failed
    if h == "send":
        return "", {}, "lp_send(s, count, datatype, dest, tag, comm);", failed
    if h == "recv":
        return _OWN_STATUS, status, "lp_recv(s, datatype, source, tag, comm, ask);", failed
    if h in _REQUEST_KINDS:
        peer = "dest" if "send" in h else "source"
        return "", {}, f"lp_request(s, {_REQUEST_KINDS[h]}, count, datatype, {peer}, tag, comm, request);", failed
    if h in ("psend_init", "precv_init"):
        kind = "LP_SEND_INIT" if h == "psend_init" else "LP_RECV_INIT"
        return "", {}, f"lp_request(s, {kind}, count * partitions, datatype, dest, tag, comm, request);", failed
    if h == "sendrecv":
        note = "lp_sendrecv(s, sendcount, sendtype, dest, sendtag, recvtype, source, recvtag, comm, ask);"
        return _OWN_STATUS, status, note, failed
    if h == "sendrecv_replace":
        note = "lp_sendrecv(s, count, datatype, dest, sendtag, datatype, source, recvtag, comm, ask);"
        return _OWN_STATUS, status, note, failed
    if h == "isendrecv":
        note = (
            "lp_isendrecv(s, sendcount, sendtype, dest, sendtag, recvcount, recvtype, source, recvtag, comm, request);"
        )
        return "", {}, note, failed
    if h == "isendrecv_replace":
        note = "lp_isendrecv(s, count, datatype, dest, sendtag, count, datatype, source, recvtag, comm, request);"
        return "", {}, note, failed
    if h == "probe":
        return _OWN_STATUS, status, "lp_probed(s, source, comm, ask);", failed
    if h == "iprobe":
        return _OWN_STATUS, status, _found("lp_probed(s, source, comm, ask);"), failed
    if h == "mprobe":
        return _OWN_STATUS, status, "lp_mprobe(s, source, comm, message, ask);", failed
    if h == "improbe":
        return _OWN_STATUS, status, _found("lp_mprobe(s, source, comm, message, ask);"), failed
    if h == "mrecv":
        before = _OWN_STATUS + "\n  uintptr_t held = (uintptr_t) * (MPI_Message*)message;"
        return before, status, "lp_mrecv(s, datatype, held, ask);", failed
    if h == "imrecv":
        before = "uintptr_t held = (uintptr_t) * (MPI_Message*)message;"
        return before, {}, "lp_imrecv(s, datatype, held, request);", failed
    if h == "start":
        before = "uint64_t held = (uintptr_t) * (MPI_Request*)request;"
        return before, {}, "lp_startall(s, &held, request, 1);", failed
    if h == "startall":
        before = "uint64_t* held = lp_save(t, count, array_of_requests);"
        return before, {}, "lp_startall(s, held, array_of_requests, count);", failed
    if h == "request_free":
        before = "uint64_t held = (uintptr_t) * (MPI_Request*)request;"
        return before, {}, "lp_one_handle(s, LP_REQUEST_FREE, held);", failed
    return _completion(f) if h.startswith(("wait", "test")) else _environment(f)


def _completion(f: Function) -> tuple[str, dict[str, str], str, str]:
    """Return the hooks of Wait and Test, one, any, some and all."""
    test, which = f.hook.startswith("test"), f.hook[4:]
    failed = "lp_plain(s);"
    if which == "":
        before = _OWN_STATUS + "\n  uint64_t held = (uintptr_t) * (MPI_Request*)request;"
        note = "lp_done_1(s, held, ask);"
        if test:
            note = f"if (*(int*)flag) {note}\n    else lp_tested(s, &held, 1);"
        return before, {"status": "ask"}, note, "lp_failed_1(s, held, request);"
    number = "incount" if which == "some" else "count"
    before = f"uint64_t* held = lp_save(t, {number}, array_of_requests);"
    if which == "any":
        note = "if (*(int*)indx >= 0 && held) lp_done_1(s, held[*(int*)indx], ask);\n    else lp_plain(s);"
        if test:
            note = f"if (!*(int*)flag) lp_tested(s, held, count);\n    else {note}"
        failed = (
            "if (held && *(int*)indx >= 0 && *(int*)indx < count)\n"
            "      lp_failed_1(s, held[*(int*)indx], (MPI_Request*)array_of_requests + *(int*)indx);\n"
            "    else lp_plain(s);"
        )
        return _OWN_STATUS + "\n  " + before, {"status": "ask"}, note, failed
    before += f"\n  MPI_Status* ask = lp_statuses(t, {number}, array_of_statuses);"
    replace = {"array_of_statuses": "(ask ? (void*)ask : array_of_statuses)"}
    if which == "all":
        note = "lp_done_list(s, held, NULL, ask, count, 0);"
        failed = "if (rc_class_in_status(rc)) lp_done_list(s, held, NULL, ask, count, 1);\n    else lp_plain(s);"
        if test:
            note = f"if (*(int*)flag) {note}\n    else lp_tested(s, held, count);"
        return before, replace, note, failed
    note = "lp_done_list(s, held, array_of_indices, ask, *(int*)outcount, 0);"
    failed = (
        "if (rc_class_in_status(rc)) lp_done_list(s, held, array_of_indices, ask, *(int*)outcount, 1);\n"
        "    else lp_plain(s);"
    )
    if test:
        note = f"if (*(int*)outcount == 0) lp_tested(s, held, incount);\n    else {note}"
    return before, replace, note, failed


def _environment(f: Function) -> tuple[str, dict[str, str], str, str]:
    """Return the hooks of communicators, datatypes and the ends of the program."""
    h, failed = f.hook, "lp_plain(s);"
    if (on_window := one_sided.hooks(h, f.arguments, {p.name for p in f.parameters})) is not None:
        before, note = on_window
        return before, {}, note, failed
    if h == "comm_far":
        local = "(lp_word)lp_k.self" if f.arguments[0] == "-" else f.arguments[0]
        return "", {}, f"lp_comm_far(s, {local}, {f.arguments[1]});", failed
    if h == "comm_new":
        parent, made = f.arguments
        if parent == "-":
            return "", {}, f"lp_comm_new(s, 0, 0, {made});", failed
        failed = f"lp_failed_coll(s, {parent}, LP_ROOT_NONE);"
        return "", {}, f"lp_comm_new(s, {parent}, 1, {made});", failed
    if h == "comm_two":
        local, made = f.arguments
        return "", {}, f"lp_comm_two(s, {local}, {made});", failed
    if h == "comm_idup":
        return "", {}, "lp_comm_new_idup(s, comm, newcomm, request);", failed
    if h == "comm_free":
        before = (
            "uint32_t held = lp_comm_id(t, *(MPI_Comm*)comm);\n"
            "  lp_comm_forget((uintptr_t) * (MPI_Comm*)comm); /* the handle may be given anew before we are back */"
        )
        return before, {}, "lp_comm_call(s, LP_COMM_FREE, held, 0, NULL);", failed
    if h == "file_open":
        return "", {}, "lp_file_open(s, comm, filename, fh);", "lp_file_open_failed(s, comm);"
    if h == "file_close":
        before = (
            "uint32_t held = lp_file_id((uintptr_t) * (MPI_File*)fh);\n"
            "  lp_file_forget((uintptr_t) * (MPI_File*)fh); /* as of a communicator */"
        )
        return before, {}, "lp_file_close(s, held);", "lp_failed_over(s, held, LP_ROOT_NONE);"
    if h == "file_coll":
        return "", {}, "lp_file_coll(s, fh);", "lp_file_coll_failed(s, fh);"
    if h == "comm_name":
        return "", {}, "lp_comm_name(t, (MPI_Comm)comm, comm_name);\n    lp_plain(s);", failed
    if h == "type_free":
        before = "__atomic_add_fetch(lp_type_slot((uintptr_t) * (MPI_Datatype*)datatype), 1, __ATOMIC_SEQ_CST);"
        return before, {}, "lp_plain(s);", failed
    if h == "session_end":
        return "", {}, "lp_session_end(s);", failed
    if h in ("comm_parent", "abort"):
        return "", {}, "lp_plain(s);", failed
    raise ValueError(f"{TABLE.name}: {f.name} has the unknown hook {h!r}")


_INIT = """{signature} {{
  static {returns} (*volatile real_function)({types});
  if (!real_function) real_function = ({returns} (*)({types}))lp_real("P{name}", LP_CALLER);
  lp_before_init(LP_CALLER);
  uint64_t enter = lp_now();
  int rc = real_function({args});
  struct lp_thread* t = rc == MPI_SUCCESS ? lp_after_init(enter) : NULL;
  if (t) {{
    struct lp_stamp s = {{t, {number}, enter, lp_now()}};
    t->stack = LP_STACK_HERE(t);
    lp_call(s);
    lp_leave(t);
  }}
  return rc;
}}
"""

# Sessions may begin while MPI is there; then theirs is a call as others.
_SESSION_INIT = """{signature} {{
  static {returns} (*volatile real_function)({types});
  if (!real_function) real_function = ({returns} (*)({types}))lp_real("P{name}", LP_CALLER);
  lp_before_init(LP_CALLER);
  struct lp_thread* t = lp_enter();
  uint64_t enter = lp_now();
  int rc = real_function({args});
  if (rc == MPI_SUCCESS) {{
    struct lp_thread* fresh = lp_after_session_init(session);
    if (fresh) t = fresh;
  }}
  if (t) {{
    struct lp_stamp s = {{t, {number}, enter, lp_now()}};
    t->stack = LP_STACK_HERE(t);
    lp_call(s);
    lp_leave(t);
  }}
  return rc;
}}
"""

_FINALIZE = """{signature} {{
  static {returns} (*volatile real_function)({types});
  if (!real_function) real_function = ({returns} (*)({types}))lp_real("P{name}", LP_CALLER);
  struct lp_thread* t = lp_enter();
  if (t) {{
    t->stack = LP_STACK_HERE(t);
    lp_switch_in_call(t, 1); /* the end of a program is always recorded */
  }}
  uint64_t enter = lp_now();
  if (t) lp_before_finalize(t);
  int rc = real_function({args});
  if (t) lp_after_finalize(t, {number}, enter, lp_now(), rc);
  return rc;
}}
"""

_WRAPPER = """{signature} {{
  static {returns} (*volatile real_function)({types});
  {returns} (*real)({types}) = real_function;
  if (LP_UNLIKELY(!real)) real = real_function = ({returns} (*)({types}))lp_real("P{name}", LP_CALLER);
  struct lp_thread* t = lp_enter();
  if (!t) return real({args});
  t->stack = LP_STACK_HERE(t);
{before}  uint64_t enter = lp_now();
  {opens}
  {returns} rc = real({replaced});
  struct lp_stamp s = {{t, {number}, enter, lp_now()}};
{after}  lp_leave(t);
  return rc;
}}
"""

# Of most functions: what they share is out of line, for there are hundreds to compile.
_SHARED = """{signature} {{
  static {returns} (*volatile real_function)({types});
  {returns} (*real)({types}) = real_function;
  if (LP_UNLIKELY(!real)) real = real_function = ({returns} (*)({types}))lp_real("P{name}", LP_CALLER);
  struct lp_stamp s = {begins};
  struct lp_thread* t = s.t;
  if (LP_UNLIKELY(!t)) return real({args});
  {returns} rc = real({args});
  s.leave = lp_now();
{after}  lp_leave(t);
  return rc;
}}
"""

_IN_LINE = ("send", "isend", "irecv", "start", "abort")
"""Hooks of short calls that programs make most often, and that note nothing before the call; and of the last call."""


def _begins(f: Function) -> str:
    """Return what begins a call that shares its begin with others."""
    if f.hook == "coll":
        return f"lp_begins_collective({f.number}, comm, {_root(f)}, LP_HERE)"
    return f"lp_begins({f.number}, LP_CALL, LP_NO_PEER, 0, LP_HERE)"


def _root(f: Function) -> str:
    return "lp_root(root)" if any(p.name == "root" for p in f.parameters) else "LP_ROOT_NONE"


def _opens(f: Function) -> str:
    """Return what notes, before the call, what it waits for."""
    h, n = f.hook, f.number
    if h in ("send", "sendrecv", "sendrecv_replace"):
        kind, tag = ("LP_SEND", "tag") if h == "send" else ("LP_SENDRECV", "sendtag")
        second = "" if h == "send" else "\n  t->open->handle[0] = (uint64_t)(int64_t)lp_peer(source);"
        return f"lp_opens_message(t, {kind}, {n}, enter, dest, {tag}, comm);{second}"
    if h == "recv" or h in _PROBES:
        return f"lp_opens_message(t, LP_RECV, {n}, enter, source, tag, comm);"
    if h.startswith("wait"):
        number = {"": "1", "some": "incount"}.get(h[4:], "count")
        return f"lp_opens_wait(t, {n}, enter, {'&held' if h == 'wait' else 'held'}, {number});"
    if h == "abort":
        return f"lp_opens(t, LP_ABORTS, {n}, enter, LP_NO_PEER, errorcode, 0, 0);"
    return f"lp_opens(t, LP_CALL, {n}, enter, LP_NO_PEER, LP_ANY_TAG, 0, 0);"


def wrapper(f: Function) -> str:
    """Return the C text of one wrapper, with its two exported names."""
    returns = _RETURNS[f.returns]
    variadic = any(p.ctype == "..." for p in f.parameters)
    named = [p for p in f.parameters if p.ctype != "..."]
    declared = ", ".join(f"{p.ctype} {p.name}" for p in named) + (", ..." if variadic else "")
    fields = {
        "signature": f"{returns} lpw_{f.name}({declared or 'void'})",
        "returns": returns,
        "types": (", ".join(p.ctype for p in named) + (", ..." if variadic else "")) or "void",
        "args": ", ".join(p.name for p in named),
        "name": f.name,
        "number": str(f.number),
    }
    if f.hook == "init":
        text = _INIT.format(**fields)
    elif f.hook == "session_init":
        text = _SESSION_INIT.format(**fields)
    elif f.hook == "finalize":
        text = _FINALIZE.format(**fields)
    else:
        before, replace, note, failed = _hook(f)
        if note == failed:
            after = f"  {note}\n"
        else:
            after = f"  if (LP_UNLIKELY(rc != MPI_SUCCESS)) {{\n    {failed}\n  }} else {{\n    {note}\n  }}\n"
        if not before and not replace and f.hook not in _IN_LINE:
            return _SHARED.format(**fields, begins=_begins(f), after=after) + f"LP_EXPORT({f.name})\n"
        text = _WRAPPER.format(
            **fields,
            before=f"  {before}\n" if before else "",
            opens=_opens(f),
            replaced=", ".join(replace.get(p.name, p.name) for p in named),
            after=after,
        )
    return text + f"LP_EXPORT({f.name})\n"


_PREAMBLE = """/* Generated by generate.py from prototypes.txt. */
#include "collective_hooks.h"
#include "one_sided.h"

const uint64_t lp_table_hash = 0x{hash:016x}ull;

/* Both names of a wrapper, given in assembly so that they cannot clash with the prototypes and macros of mpi.h. The
 * version is a hidden one and the first of the library: such a symbol is bound by references in programs and
 * libraries, which name no version, but dlsym() does not see it. So code that looks up whether the process has MPI, as
 * mpi4py does before it loads one, finds what it would find without us. */
#define LP_EXPORT(name)                                                                \\
  __asm__(".globl lpp_" #name "\\n.type lpp_" #name ",@function\\n"                    \\
          ".set lpp_" #name ",lpw_" #name "\\n"                                        \\
          ".symver lpw_" #name "," #name "@LOGPOST_1\\n"                               \\
          ".symver lpp_" #name ",P" #name "@LOGPOST_1\\n");

static inline __attribute__((unused)) int rc_class_in_status(int rc) {{ return rc == MPI_ERR_IN_STATUS; }}

"""


def wrappers(exported: Collection[str]) -> str:
    """Return the C file with the wrappers of those functions of the table that the MPI library exports."""
    chosen = [f for f in functions() if f.name in exported]
    return _PREAMBLE.format(hash=table_hash()) + "\n".join(wrapper(f) for f in chosen)
