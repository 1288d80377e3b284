"""The data of a report, computed from the small tables of a run."""
