"""A comparison of two runs as text and JSON, and the gate on it."""
