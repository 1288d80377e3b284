"""The machinery of the experiments: what one is, what it hands back, and how all are run and written."""
