"""LOGPC Fig. 9 and (15): the Diamond DAG's makespan by message size for three mappings, and by the number of blocks.

| file | what |
|---|---|
| experiment.py | the experiment: its parts and differences put together |
| mappings.py | Fig. 9: three mappings over the size of a block's message |
| blocks.py | (15) in three readings over the number of blocks |
| program.py | one run of the program on the testbed |
"""

from logpost.experiments.diamond_dag.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
