"""LOG3P's numbers: the Titan point, the terms of the models, the FFT's sizes and strides."""

from __future__ import annotations

from logpost.replay.models import log3p, lognp
from logpost.replay.models.papers.claim import Claim, Paper


def _nas_ft(points: tuple[int, int, int], processes: int) -> float:
    return points[0] * points[1] * points[2] * 16 / processes / 2**20


LOG3P = Paper(
    key="LOG3P",
    title="Cameron, Ge & Sun, log_nP and log_3P",
    claims=(
        Claim(
            "4.1, Fig. 4",
            "remote send, 16 KB, stride 1 KB",
            "580",
            "us",
            lambda: log3p.point_to_point(29, 420, 131),
            "(6) with the printed o_mw, l_mw, o_net",
        ),
        Claim(
            "4.1, Fig. 4",
            "send to oneself, 16 KB, stride 1 KB",
            "452",
            "us",
            lambda: log3p.send_to_self(29, 420, 3),
            "o_mw + l_mw + T_mem",
        ),
        Claim(
            "4.1, Fig. 4",
            "l_mw from the measured 452 us",
            "420",
            "us",
            lambda: log3p.extract(T00=32, T01=160, T00_strided=452, T_mem=3).l_mw,
            "T00 = 29 + 3 and T01 = 29 + 131, contiguous",
        ),
        Claim("5, Fig. 13", "terms of LogP", "3", "", lambda: float(lognp.complexity("logp")), "N = 3, S = 1, D = 0"),
        Claim("5, Fig. 13", "terms of LogGP", "4", "", lambda: float(lognp.complexity("loggp")), "S_0 = 2"),
        Claim("5, Fig. 13", "terms of PRAM", "1", "", lambda: float(lognp.complexity("pram")), "N = S = 1, D = 0"),
        Claim(
            "5, footnote 15",
            "terms of log_3P for FT.B.4",
            "6",
            "",
            lambda: float(lognp.complexity("log3p", S=1, D=1)),
            "3 S (1+D), S = D = 1",
        ),
        Claim(
            "5, footnote 15",
            "s of FT.B.4",
            "128",
            "MB",
            lambda: _nas_ft((512, 256, 256), 4),
            "NAS grid 512 x 256 x 256, 16 bytes per complex, 4 processes (MB = 2^20)",
        ),
        Claim("5, footnote 15", "s of FT.B.8", "64", "MB", lambda: _nas_ft((512, 256, 256), 8), "8 processes"),
        Claim(
            "5, footnote 15",
            "s of FT.C.16",
            "128",
            "MB",
            lambda: _nas_ft((512, 512, 512), 16),
            "NAS grid 512 x 512 x 512, 16 processes",
        ),
        Claim(
            "5, footnote 15",
            "d of FT.B.4",
            "512",
            "KB",
            lambda: _nas_ft((512, 256, 1), 4) * 1024,
            "one z plane's share: 512 x 256 x 16 B / 4",
        ),
        Claim("5, footnote 15", "d of FT.B.8", "256", "KB", lambda: _nas_ft((512, 256, 1), 8) * 1024, "8 processes"),
        Claim("5, footnote 15", "d of FT.C.16", "256", "KB", lambda: _nas_ft((512, 512, 1), 16) * 1024, "16 processes"),
    ),
    not_computed=(
        "Table 1 (LogGP parameters of Titan) has no values in the text: LogGP's sides of Figs. 7, 10, 11 cannot be "
        "computed.",
        "o, l and T_mem over size and stride are curves (Figs. 1, 5, 6): crossovers 512 KB, 32 KB, 8 KB and the "
        "prediction "
        "errors (5 %, 28 %, 3 %, 20.3 %, 6 %, 46 %) are the paper's.",
        "The shares of the 3D FFT's time (51.6 %, 48.5 %, 43.5 %, 59.3 %, 11.3 %) are measured.",
    ),
    contradictions=(
        (
            21,
            "Collectives 'within 3 percent' against 6 % on average and 18 % at most for the tree; Table 1's values "
            "are lost; "
            "'Fig. 14' does not exist; C_n is written for LoPC's contention, which LOGPC calls C_r.",
        ),
    ),
    redo=(
        ("logpost predict log3p --machine titan_ia64 --set B=16KiB --set stride=1024", "Fig. 4: 580, 452"),
        (
            "logpost predict log3p-extract --set T00=32us --set T01=160us --set T00_strided=452us --set T_mem=3us",
            "29, 420, 131",
        ),
        ("logpost predict complexity --set S=1 --set D=1", "terms"),
    ),
)
