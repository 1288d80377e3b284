"""How a trace is made: interposers, drivers and workloads. Meets the rest only in the OTF2 archive."""
