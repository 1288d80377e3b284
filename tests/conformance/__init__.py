"""A public conformance suite with and without the collector: `make conformance`. Not part of `make test`."""
