"""Small real MPI programs with and without a loss, each with what a first finding about it must say."""
