"""Predictions as text and JSON."""
