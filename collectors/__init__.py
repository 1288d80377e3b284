"""How a trace is made: interposers, drivers and workloads. Shares only the OTF2 archive with the rest."""
