"""SENS Fig. 4 and 5: where four applications spend their time with five mechanisms, and what they send.

| file | what |
|---|---|
| experiment.py | the experiment: its parts and differences put together |
| runs.py | every application with every mechanism on the testbed, analyzed |
| bars.py | stacked bars of all of them, relative to polling |
| times.py | Fig. 4: run time in four parts |
| volumes.py | Fig. 5: communication volume by kind |
| whole_matrix.py | ICCG's prefetching on a matrix of the paper's size, over the band of a prefetch's cost |
| bands.py | what the paper bounds or does not print: run times at other places of the bands |
"""

from logpost.experiments.four_applications.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
