"""Measuring a machine: MPI programs, what they measure, and how they are built and started.

Their samples become a machine file in `logpost.machines.calibration`.
"""
