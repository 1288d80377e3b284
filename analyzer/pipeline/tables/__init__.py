"""The stages that write a run's tables."""
