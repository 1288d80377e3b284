"""The interactive dashboard: pages over one or more runs, served on this machine. Needs `logpost[dashboard]`."""
