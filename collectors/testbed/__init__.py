"""The virtual testbed: a real MPI program in C, run in simulated time on a simulated machine (SimGrid SMPI)."""
