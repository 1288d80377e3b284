"""Explained messages as text and JSON."""
