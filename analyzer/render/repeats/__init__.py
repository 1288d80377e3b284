"""A comparison of repeats as text and JSON, and the gate on it."""
