"""One page of each kind that logpost makes."""

from __future__ import annotations

from pathlib import Path

from tests.browser.test_experiments_page import page as experiments_page
from tests.dashboards.report.test_calibration import calibrated
from tests.dashboards.synthetic import make_run

from logpost.dashboards.report.calibration import write_calibration
from logpost.dashboards.report.html import write_comparison, write_report

PAGES = ("report", "comparison", "calibration", "experiments")


def make_pages(folder: Path) -> dict[str, Path]:
    """Name to file, for each of `PAGES`."""
    a, b = make_run(folder / "a.run", oversubscribed=True), make_run(folder / "b.run", iterations=5)
    made = {name: folder / f"{name}.html" for name in PAGES}
    write_report(a, made["report"])
    write_comparison(a, b, made["comparison"])
    write_calibration(calibrated(), made["calibration"])
    assert experiments_page(folder) == made["experiments"]
    return made
