"""LOGP Fig. 4 to 13 and Table 4: signatures of simulated machines, read by the calibration; this machine.

| file | what |
|---|---|
| experiment.py | the experiment: its parts, claims and differences put together |
| simulated.py | the paper's machines, played event by event, and the calibration's reading of their signatures |
| parameters.py | Fig. 4 to 7, section 3.3: signatures, and what was given against what comes out of them |
| summary.py | Fig. 8: overheads and latency on the left, the gap on the right |
| crowds.py | Table 4, section 3.5: many senders to one receiver, one sender to many receivers |
| bulk.py | Fig. 9 to 12: completion time and send overhead over the transfer size |
| remote_calls.py | Fig. 13: a layer whose software is the bottleneck |
| here.py | the same method on the machine that the experiments run on |
"""

from logpost.experiments.logp_signatures.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
