"""LOG3P Fig. 12: the transpose of a 3-D FFT by datatypes, packing and tiled packing, and the best by each model.

| file | what |
|---|---|
| experiment.py | the experiment: its parts and differences put together |
| problem.py | a grid on some ranks, and what its messages look like |
| times.py | the parts of a transform's time: measured, by LogGP, by log3P |
| ranking.py | Fig. 12: bars and tables, and which model ranks which version best |
"""

from logpost.experiments.fft_packing.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
