"""Figures (pure functions of tables) and the pages that show them."""
