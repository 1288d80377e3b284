"""The self-contained HTML pages: of a run, of two runs, of a calibration and of the experiments."""
