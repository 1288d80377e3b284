"""Compare repeats of a run with repeats of another: what is noise, what is a change, and what is not known yet."""
