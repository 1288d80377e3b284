"""Measuring a machine: programs that are timed, and what is read off their samples."""

from __future__ import annotations
