"""From a request to a finished run: the process that analyzes, its stages, and shards of large archives."""
