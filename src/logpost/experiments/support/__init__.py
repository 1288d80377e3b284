"""What several experiments of one paper share."""
