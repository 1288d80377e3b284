"""A run on disk: its tables and manifest, how they are read and written, and sums that follow from one table."""
