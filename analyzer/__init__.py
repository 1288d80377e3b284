"""Archive -> program -> run -> findings, reports, comparisons and predictions -> text, JSON and other formats."""
