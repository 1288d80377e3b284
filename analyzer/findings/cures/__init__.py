"""Cures: transformations of the recorded program's graph, a file each, and what their replay saves.

A cure proposes itself where facts of the trace allow it. What it gains is never estimated: the program is replayed
without its cause (`cures.program`).
"""
