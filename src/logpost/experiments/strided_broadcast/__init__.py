"""Linear and tree broadcast of strided data on this machine, by LogGP, by log3P and measured (LOG3P 4.3.3).

| file | what |
|---|---|
| experiment.py | the experiment: its parts put together |
| cases.py | every broadcast: predicted from this machine's calibration, then measured |
| tables.py | times and errors, and their figures |
| claims.py | which of the paper's statements hold here, and why numbers differ |
"""

from logpost.experiments.strided_broadcast.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
