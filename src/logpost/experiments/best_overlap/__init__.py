"""OVL Fig. 3, 7 to 12 and Table 2: message size and burst by the model, against an exhaustive search.

| file | what |
|---|---|
| experiment.py | the experiment: its parts, claims and differences put together |
| landscapes.py | Fig. 7 to 9: the loss of every decomposition, and of the model's choice |
| forms.py | Fig. 6: blocking, overlap of communication, of computation too, and pipelined |
| wrong_estimates.py | Table 2: what the model's choice costs when the computation is misjudged |
| all_to_all.py | the rows of Table 2 for all-to-all: 32 processes in step |
| congestion.py | Fig. 10: three processes that all get from one |
| translations.py | its knee: a NIC with a TLB |
| two_ways.py | Fig. 3: bandwidth in one direction and in both |
| several_peers.py | Fig. 11 and 12: several peers, interleaved or one after the other |
| same_order.py | 3.4: all processes get from the same ones at the same time, or staggered |
| here.py | the same search on the machine that the experiments run on |
| problems.py | what all of them are given: networks, volumes, ratios of computation to communication |
| decomposition.py | a volume cut into messages and bursts |
| nic_queue.py, simulation.py | the time of a decomposition: played with a queued NIC, simulated on the testbed |
| search.py, loss_map.py | a finished search and the model's choice in it, its cells in a table, its map |
"""

from logpost.experiments.best_overlap.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
