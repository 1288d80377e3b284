"""ExplainedMessage messages as text and JSON."""
