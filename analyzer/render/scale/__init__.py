"""Growth with the number of ranks as text and JSON."""
