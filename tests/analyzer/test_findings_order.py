"""The order of the findings: what they explain, weighed by how sure they are."""

from __future__ import annotations

from logpost.analyzer.findings.finding import Finding, frame


def finding(title: str, share: float, confidence: str, indirect: float = 0.0) -> Finding:
    """Only what the order depends on."""
    return Finding(
        kind="hot_receiver",
        title=title,
        ranks="0",
        region="",
        cause_region="",
        evidence="",
        advice="",
        confidence=confidence,
        callpath=-1,
        first_window=0,
        last_window=0,
        exposed_ps=1,
        share=share,
        indirect=indirect,
    )


def test_of_two_about_as_large_the_surer_comes_first() -> None:
    found = frame([finding("modelled", 0.22, "medium: a model says so"), finding("measured", 0.19, "high: measured")])
    assert found["title"].to_list() == ["measured", "modelled"]


def test_one_that_is_much_larger_comes_first_all_the_same() -> None:
    found = frame([finding("measured", 0.19, "high: measured"), finding("modelled", 0.26, "medium: a model says so")])
    assert found["title"].to_list() == ["modelled", "measured"]


def test_what_another_finding_explains_ranks_lower_by_that() -> None:
    found = frame([finding("passed on", 0.5, "high: measured", indirect=0.8), finding("root", 0.2, "high: measured")])
    # 0.5 * (1 - 0.8) = 0.1 < 0.2
    assert found["title"].to_list() == ["root", "passed on"]
