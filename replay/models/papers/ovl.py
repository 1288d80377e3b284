"""OVL: nothing that its text prints is a value of its formulas; where it contradicts itself."""

from __future__ import annotations

from logpost.replay.models.papers.claim import Paper

OVL = Paper(
    key="OVL",
    title="Iancu & Strohmaier, Optimizing Communication Overlap for High-Speed Networks",
    claims=(),
    not_computed=(
        "o(S,b), G(P,S) and every time are curves only, and Table 2's losses are measured against an exhaustive "
        "search: no "
        "printed number is a value of the formulas. (1) to (11), the constraints and the search are tested as stated "
        "(limits, monotony in b, agreement with a search by hand).",
        "L is printed as round trip: 7.4 us (Elan3), 2.4 us (Elan4), 10 us (Infiniband); HD 32, 32, 64.",
    ),
    contradictions=(
        (17, "The text's Table 4 is captioned Table 2; it refers to sections 4-8."),
        (
            18,
            "(10), (11) 'minimum at b = 1 regardless of S': (11) falls with b (n_b b = N), and (10) has its minimum at "
            "b* = sqrt((o+L) N t_V/(G_V V)/(2(P-1) G S)), which can exceed 1.",
        ),
        (19, "(7) has a negative term for one burst: clamped at 0."),
        (20, "L is called round-trip in the definition of LogGP; put uses one way."),
    ),
    redo=(
        (
            "logpost predict overlap-search --machine elan4 --set t_V=600us --set o=1us --set G=1GB/s "
            "--sweep V=64KiB:8MiB:8 --set rank=equation",
            "message size and burst length for an assumed o and G",
        ),
        (
            "logpost predict overlap --machine infiniband_opteron --set o=1us --set G=1GB/s --set V=1MiB --set S=4KiB "
            "--set t_V=450us --sweep b=1,2,4,8,16,32,64 --set topology=all-to-all-contiguous --set P=4",
            "(10): not smallest at b = 1; no time for b = 64, which is not below HD",
        ),
    ),
)
