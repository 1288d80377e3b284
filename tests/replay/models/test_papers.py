"""Every printed number does what docs/papers.md says of it, and the page is the one that the command writes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from logpost.replay.models.papers import PAPERS, Claim, Paper, all_claims
from logpost.replay.models.papers.items import ITEMS
from logpost.replay.models.papers.page import page

PAGE = Path(__file__).resolve().parents[3] / "docs" / "papers.md"


@pytest.mark.parametrize(
    ("paper", "claim"),
    list(all_claims()),
    ids=[f"{paper.key} {claim.where}: {claim.what}" for paper, claim in all_claims()],
)
def test_a_printed_number_reproduces_or_does_not_as_said(paper: Paper, claim: Claim) -> None:
    """``reproduces`` is the expectation; ``holds`` evaluates the model under the claim's assumption."""
    assert claim.assumption
    assert claim.holds() == claim.reproduces


def test_all_25_contradictions_are_noted_once() -> None:
    numbers = [number for paper in PAPERS for number, _ in paper.contradictions]
    assert sorted(numbers) == list(range(1, 26))


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again: logpost models --papers docs/papers.md"


def test_the_page_compares_and_does_not_copy() -> None:
    text = page()
    rows = [line for line in text.splitlines() if line.startswith("|") and "---" not in line]
    numbers = sum(1 + len(paper.claims) for paper in PAPERS if paper.claims)
    assert len(rows) == numbers + sum(1 + len(items) for items in ITEMS.values())
    assert "| 316 cycles | 316 cycles | 0 | yes |" in text
    assert "| 31 cycles | 7.646 cycles | -75 % | no |" in text
    assert "| ≤ 0.12 | 0.095933 |  | yes |" in text
    assert "| — | 3,397,731 cycles |  | not printed |" in text
    assert "| 31 cycles | 31.226 cycles | +0.73 % | fit |" in text


def test_a_claim_near_its_printed_number_holds_within_the_last_digit_only() -> None:
    def claim(value: float, **kind: bool) -> Claim:
        return Claim("1", "x", "2.2", "", lambda: value, "none", **kind)

    verdicts = [claim(value).holds() for value in (2.14, 2.15, 2.2247, 2.25, 2.26)]
    assert verdicts == [False, True, True, True, False]
    assert claim(2.25, at_most=True).holds()
    assert not claim(2.3, at_most=True).holds()
    assert Claim("1", "x", "137", "cycles", lambda: 137.6, "none").tolerance == 0.5
    assert Claim("1", "x", "0.28", "", lambda: 0.28, "none").tolerance == pytest.approx(0.005)


def test_what_no_text_prints_is_not_compared_with_it() -> None:
    """LOGP prints o = 143 and T = 298 us of 4 KB, and neither a share nor a bandwidth; round trips as ranges."""
    [logp] = [paper for paper in PAPERS if paper.key == "LOGP"]
    unprinted = {claim.what for claim in logp.claims if claim.printed is None}
    assert unprinted == {"overlappable share of 4 KB, Myrinet", "bandwidth of 4 KB, Myrinet"}
    printed = {claim.what: claim for claim in logp.claims if claim.what.startswith("round trip")}
    assert {claim.printed for claim in printed.values()} == {"19.9", "20.1", "21.6", "31.5"}
    # 2 (1.4 + 6.3 + 2.2) = 19.8 is not 19.9
    assert not printed["round trip, Paragon, the shortest"].holds()


def test_a_parameter_chosen_for_a_number_makes_it_a_fit() -> None:
    [logpc] = [paper for paper in PAPERS if paper.key == "LOGPC"]
    fits = {claim.what for claim in logpc.claims if claim.fitted}
    assert {"C_r when there is much work between requests", "size from which (1) holds"} <= fits


def test_printed_numbers_stand_in_the_papers(papers: Path) -> None:
    """The transcription: printed figures are found in the paper's own text."""
    texts = {
        paper.key: (papers / name).read_text(encoding="utf-8")
        for paper, name in zip(
            (PAPERS[0], PAPERS[2], PAPERS[4], PAPERS[1], PAPERS[3]),
            sorted(path.name for path in papers.glob("*.txt")),
            strict=True,
        )
    }
    sought = {
        "LOGPC": ["316", "453", "499", "137", "3.875", "1.875", "2.22", "0.625", "2.03", "486", "151"],
        "LOG3P": ["580", "452us", "lmw ¼ 420us", "128 Mbytes", "512 Kbytes"],
        "LOGP": ["19.9 - 20.1", "20.3 - 21.6", "30.6 - 31.5", "19.6", "143", "298"],
        "SENS": ["102 cycles", "4 × 8 Mesh 360 18.0 15"],
        "OVL": ["7.4", "2.4", "minimum occurs for  $b = 1$"],
    }
    for key, figures in sought.items():
        flat = " ".join(texts[key].split())
        missing = [figure for figure in figures if " ".join(figure.split()) not in flat]
        assert not missing, (key, missing)


def test_claims_are_distinct() -> None:
    for paper in PAPERS:
        for a, b in itertools.combinations(paper.claims, 2):
            assert (a.where, a.what, a.assumption) != (b.where, b.what, b.assumption)
