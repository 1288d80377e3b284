"""Files that people and other programs hand over, changed by chance: `python -m tests.fuzz`, or `make fuzz`.

The native fuzzers (`tests/native/*_fuzz.cpp`) make archives; this one takes sound files of every other kind, changes
them, and gives them to the command line.
"""
