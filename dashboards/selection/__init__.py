"""One selection of a run (time × ranks × call path), and the run's tables as far as they lie in it."""
