"""Statistics of few values."""
