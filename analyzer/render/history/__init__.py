"""A history as text and JSON."""
