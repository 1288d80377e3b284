"""Two runs, or repeats of two versions, side by side."""
