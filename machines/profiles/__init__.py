"""What an MPI library does that a trace does not show: named properties, each with a sentence and a source."""
