"""Random losses put into programs that have none; the truth is the program's time without them on the same machine."""
