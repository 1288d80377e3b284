"""Tables of the time of OpenMP's threads and of accelerators' streams."""

from __future__ import annotations

from logpost.analyzer.run.schema.column import Table, count, enum, ids, ps
from logpost.analyzer.run.schema.vocabulary import PHASES, THREAD_CATEGORIES

THREADS = Table(
    "threads",
    "(thread, callpath, place, phase, category) of processes whose threads share parallel regions of OpenMP; a "
    "thread's rows add up to the wall time of its process's first thread exactly",
    (
        *ids(
            location="the thread",
            callpath="of the parallel region, on the first thread; -1: outside of any",
            place="callpath of the barrier, critical section or communication call; else as callpath",
        ),
        enum("phase", PHASES, "of the process's first thread: start-up, program, shut-down, or not of interest"),
        enum("category", THREAD_CATEGORIES, "what the time was"),
        *ps(spent="how long"),
    ),
)

THREAD_SPANS = Table(
    "thread_spans",
    "a stretch of a thread's time in a parallel region of its process; by location, then time",
    (
        *ids(
            location="the thread",
            instance="which execution of a parallel region; -1: its team is not known (nested, or without the first)",
            callpath="of the parallel region, on the first thread",
            place="callpath of the barrier, critical section or communication call; else as callpath",
        ),
        enum("category", THREAD_CATEGORIES, "what the time was"),
        *ps(begin="since when", end="until when"),
    ),
)

STREAMS = Table(
    "streams",
    "a stream of an accelerator; kernel, copy and idle add up to the length of the trace exactly",
    (
        *ids(location="the stream"),
        count("kernels", "kernels", "kernels"),
        count("copies", "copies", "copies between the accelerator and its host"),
        count("bytes_to_device", "B", "copied from the host"),
        count("bytes_to_host", "B", "copied to the host"),
        *ps(
            kernel="kernels ran",
            copy="it copied; where a kernel ran as well, the time is that of what ended first",
            idle="neither",
        ),
    ),
)
