"""The MPI collector: preload, raw log per thread, assembler that writes OTF2.

``prototypes.txt`` is the one table of MPI functions, ``generate.py`` makes the wrappers of it, ``native`` is compiled
for the user's MPI when a recording starts, together with the recorder.
"""
