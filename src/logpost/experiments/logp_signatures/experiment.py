"""LOGP Fig. 4 to 13 and Table 4: signatures of simulated machines, read by the calibration, and of this machine."""

from __future__ import annotations

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.result import Part, Result
from logpost.experiments.logp_signatures.bulk import bulk
from logpost.experiments.logp_signatures.crowds import crowds
from logpost.experiments.logp_signatures.here import this_machine
from logpost.experiments.logp_signatures.parameters import parameters
from logpost.experiments.logp_signatures.remote_calls import remote_calls
from logpost.experiments.logp_signatures.simulated import MACHINES, play
from logpost.experiments.logp_signatures.summary import summary_figure


def run(context: Context) -> Result:
    """Simulate the benchmark on the paper's machines, extract, and compare with what was given; then this machine."""
    machines = [play(context, name) for name in MACHINES]
    values, here = parameters(machines), this_machine(context, machines)
    return Result.of(
        f"{values.said}; K senders to one receiver each see the gap grow by K, as the model says and the paper "
        f"measured. {here.said}",
        values,
        Part(figures=(summary_figure(machines),)),
        crowds(context, machines),
        bulk(context, machines),
        remote_calls(context, machines),
        here,
        notes=(
            "The simulated machines play the benchmark event by event: the given values are exact, the extracted ones "
            "follow from the costs alone and the round trip. The figures are those without noise.",
        ),
    )


EXPERIMENT = Experiment(
    name="logp-signatures",
    title="LogP signatures: what is given to simulated machines against what is extracted; this machine",
    paper="LOGP",
    where="Fig. 4–13, Table 4",
    run=run,
)
