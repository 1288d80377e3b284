"""Archive -> tables -> matched messages -> split -> findings -> text and JSON."""
