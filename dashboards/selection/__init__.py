"""One selection of a run (time × ranks × call path), and the part of the run's tables within it."""
