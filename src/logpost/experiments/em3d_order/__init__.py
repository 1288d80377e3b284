"""LOGPC Fig. 11: EM3D's original order of communication against the improved one, over the span.

| file | what |
|---|---|
| experiment.py | the experiment: its parts and differences put together |
| runs.py | both orders over the span on the testbed |
| savings.py | Fig. 11: run time and stall time over the span, and what the improved order saves |
| hot_spot.py | what the analyzer says of both orders, and the messages in flight to each receiver |
"""

from logpost.experiments.em3d_order.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
