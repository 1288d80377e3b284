"""What is said of a predicted run, wherever one is shown."""

from __future__ import annotations

from logpost.analyzer.run.manifest import Predicted
from logpost.analyzer.words.units import percent_text, time_text


def predicted_text(predicted: Predicted) -> str:
    """Its recorded run, what was changed, and how sure the prediction is; without a full stop."""
    changes = ", ".join(predicted.settings) or "nothing changed"
    whole = time_text(predicted.predicted_ps)
    if predicted.low_ps == predicted.high_ps:
        error = ""
    else:
        ends = f"{time_text(predicted.low_ps)} to {time_text(predicted.high_ps)}"
        error = f" ({ends}; expected error {percent_text(predicted.error)})"
    return (
        f"what {predicted.run} (machine {predicted.machine}) would take with {changes} is {whole}{error}, and "
        f"{time_text(predicted.measured_ps)} was measured"
    )
