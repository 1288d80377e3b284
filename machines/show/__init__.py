"""A machine for people and for programs: rows, figures and texts for the terminal, one JSON object."""
