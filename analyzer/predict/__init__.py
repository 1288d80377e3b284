"""A run under other conditions: another machine, another size, and the limits of the machine it had."""
