"""A roofline as text and JSON."""
