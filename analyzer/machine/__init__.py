"""The machine of a run: its values, its network, the places of ranks, and the estimate where no machine is given."""
