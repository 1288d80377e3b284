"""A number of a machine file: its unit, its source, its uncertainty."""
