"""What the wrappers of calls on windows note: see ``native/one_sided.h``."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def _operands(kind: str, names: Collection[str]) -> tuple[str, str, str, str]:
    """Return bytes to the target, bytes from it, and the datatypes of origin and target."""
    if "origin_datatype" not in names:  # one element each
        element = "lp_bytes(t, 1, (MPI_Datatype)datatype)"
        if kind == "COMPARE_AND_SWAP":
            return f"2 * {element}", element, "datatype", "datatype"
        return "lp_operand(t, 1, datatype, op)", element, "datatype", "datatype"
    origin = "lp_bytes(t, origin_count, (MPI_Datatype)origin_datatype)"
    if kind == "GET":
        return "0", origin, "origin_datatype", "target_datatype"
    if kind == "FETCH_AND_ACCUMULATE":
        operand = "lp_operand(t, origin_count, origin_datatype, op)"
        result = "lp_bytes(t, result_count, (MPI_Datatype)result_datatype)"
        return operand, result, "result_datatype", "target_datatype"
    return origin, "0", "origin_datatype", "target_datatype"


def _synchronization(operation: str, meant: Sequence[str]) -> str:
    if "group" in meant:
        return f"lp_rma_group(s, LP_{operation}, group, win);"
    if "all" in meant:
        return f"lp_rma_sync(s, LP_{operation}, LP_ANY_PEER, 0, win);"
    if "flag" in meant:
        return f"if (*(int*)flag) lp_rma_sync(s, LP_{operation}, LP_ANY_PEER, 0, win);\n    else lp_plain(s);"
    exclusive = "lock_type == MPI_LOCK_EXCLUSIVE" if operation == "LOCK" else "0"
    return f"if (rank >= 0) lp_rma_sync(s, LP_{operation}, rank, {exclusive}, win);\n    else lp_plain(s);"


def hooks(hook: str, arguments: Sequence[str], names: Collection[str]) -> tuple[str, str] | None:
    """Return what to note before a call and what to note on its success; nothing for calls that are not on windows.

    Args:
        hook: of the table of prototypes.
        arguments: of the hook.
        names: of the function's parameters.
    """
    if hook == "win_new":
        return "", f"lp_rma_new(s, LP_RMA_{arguments[0]}, comm, win);"
    if hook == "win_free":
        before = (
            "struct lp_rma_call held = lp_rma_forget(*(MPI_Win*)win); "
            "/* the handle may be given anew before we are back */"
        )
        return before, "lp_rma_note(s, LP_RMA_FREE, held);"
    if hook == "win_name":
        return "", "lp_rma_name(t, (MPI_Win)win, win_name);\n    lp_plain(s);"
    if hook == "access":
        kind = arguments[0]
        sent, received, origin, target = _operands(kind, names)
        request = "request" if "request" in names else "NULL"
        return (
            "",
            f"lp_access(s, LP_{kind}, {sent}, {received}, {origin}, {target}, target_rank, win, {request});",
        )
    return ("", _synchronization(arguments[0], arguments[1:])) if hook == "sync" else None
