"""A run in other programs' formats, one file per format."""
