"""The MPI collector: preload, raw log per thread, assembler that writes OTF2.

``prototypes.txt`` is the one table of MPI functions, ``generate.py`` makes the wrappers of it,
``native/interposer`` is compiled for the user's MPI when a recording starts, ``native/assembler`` turns raw logs
into an archive and knows no MPI.
"""
