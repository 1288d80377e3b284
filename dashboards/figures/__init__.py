"""Figures: pure functions from tables to plotly figures, one idea per file."""
