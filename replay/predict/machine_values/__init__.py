"""A machine's numbers under the parameter names of the models, in picoseconds and bytes.

What a machine file gives is offered; what it does not give stays missing, and the model then says so by name.
Values that depend on the message size are taken at the given size, so that a sweep over B follows
the machine's piecewise lines.

| file | what |
|---|---|
| offered.py | all that one model may take |
| locality.py | the LogGP values of a locality class, and a quantity in picoseconds |
| loggp.py | LogGP's, by message size |
| network.py | the network's dimensions, and LoPC's and LoGPC's values |
| log3p.py | log_3P's, by size and stride |
| overlap.py | o(S,b), G(P,S) and the limits |
"""

from logpost.replay.predict.machine_values.offered import machine_values
from logpost.replay.predict.machine_values.overlap import overlap_profile

__all__ = ["machine_values", "overlap_profile"]
