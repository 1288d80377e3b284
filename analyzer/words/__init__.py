"""Units, names and titles: the words that every other room writes with."""
