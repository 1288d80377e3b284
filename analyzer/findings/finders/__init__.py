"""One pattern a file, each a function `find(evidence) -> Iterable[Finding]`."""
