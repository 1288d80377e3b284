"""Text and JSON, a folder per subject; nothing is computed here."""
