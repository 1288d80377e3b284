"""Single messages, transfers and collective operations under every model."""
