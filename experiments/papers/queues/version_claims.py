"""What section 3.1 of `queues` claims: the versions of LS, LP and EQ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from experiments.papers.claims_report import Claim, claim
from experiments.papers.queues import judges
from experiments.papers.queues.judges import (
    LITTLE,
    Pairs,
    above,
    against,
    mostly,
    much_above,
    nearer,
    other_kind,
    same,
    within,
)
from experiments.papers.queues.points import (
    ALIKE,
    BALANCED_LS,
    EQ,
    EQ_GF,
    EQ_LF,
    EQ_RD,
    HALF_FOUR,
    LOCAL_80,
    LOCAL_90,
    LP,
    LP_GF,
    LP_LF,
    LS,
    LS_DO,
    LS_OR,
    LS_RD,
    LS_RO,
    MIXED,
    UNBALANCED,
    UP_TO_THREE,
    UP_TO_TWO,
    chart,
    ls,
    versions,
)

# 3.1.1 ------------------------------------------------------------------------------------------

_A_TO_G = [ls(case) for case in BALANCED_LS[:-1]]
_A_TO_F = [ls(case) for case in BALANCED_LS[:-2]]
_A_TO_H = [ls(case) for case in BALANCED_LS]
_G, _H = ls(LOCAL_80), ls(LOCAL_90)
_ODD = ls(UNBALANCED)

OF_LS = (
    above((3,), "LS-DO is best of LS, queues balanced", against(_A_TO_H, LS, [LS_DO])),
    above((3,), "LS-OR is worst in charts a to g", against(_A_TO_G, [LS_OR], LS)),
    claim(
        (3,),
        "LS-OR keeps the first queue short and lets the last one grow, charts a to g (response "
        "time of queue 4 against queue 1)",
        judges.is_above_other_kind,
        points=[at(LS_OR) for at in _A_TO_G],
        one="queue 4",
        other="queue 1",
    ),
    nearer(
        (3,),
        "LS-RD is very good, charts a to h (nearer to LS-DO than to the worst version)",
        [(at(LS_RD), [at(LS_DO)], [at(each) for each in LS]) for at in _A_TO_H],
    ),
    within((3,), "LS-RO is close to LS-RD, charts a to f", against(_A_TO_F, [LS_RO], [LS_RD])),
    above(
        (3,),
        "LS-RO is a bad choice in charts g and h (against LS-DO and LS-RD)",
        against([_G, _H], [LS_RO], [LS_DO, LS_RD]),
    ),
    above((3,), "LS-RO is worst in chart h", against([_H], [LS_RO], LS)),
    claim(
        (3,),
        "LS-OR improves from chart g to chart h (against LS-DO)",
        judges.is_rising,
        courses=[[(_H(LS_OR), _H(LS_DO)), (_G(LS_OR), _G(LS_DO))]],
        column="total",
    ),
    same(
        (15,),
        "With single-component jobs only the four versions of LS are the same",
        against([chart(15)], LS, [LS_DO]),
    ),
    above((4,), "LS-OR is best, queues unbalanced", against([_ODD], LS, [LS_OR])),
    above((4,), "LS-RO is worst, queues unbalanced", against([_ODD], [LS_RO], LS)),
    claim(
        (4,),
        "LS-DO, LS-RD and LS-RO let the queue that gets 40 % grow (queue 1 against queue 2)",
        judges.is_above_other_kind,
        points=[_ODD(each) for each in (LS_DO, LS_RD, LS_RO)],
        one="queue 1",
        other="queue 2",
    ),
    above(
        (4,),
        "LS-DO, LS-RD and LS-RO serve the queue that gets 40 % worse than LS-OR",
        against([_ODD], LS, [LS_OR]),
        "queue 1",
    ),
)

# 3.1.2 and 3.1.3 --------------------------------------------------------------------------------

_VERSIONS = [versions(case) for case in MIXED]
_ODD_VERSIONS = versions(UNBALANCED)


def _rd_for_local_jobs(name: str, figure: tuple[int, ...], pairs: Pairs) -> list[Claim]:
    """Return what the paper claims of RD against LF for local queues: of EQ *slightly* worse."""
    words = f"worse than {name}-LF for the local queues"
    if name == "EQ":
        return [within(figure, f"EQ-RD is little {words}", pairs, "local")]
    return [
        above(figure, f"{name}-RD is {words}", pairs, "local"),
        within(figure, f"{name}-RD is not much {words}", pairs, "local"),
    ]


def _of_versions(name: str, balanced: int, of: Sequence[str]) -> list[Claim]:
    """Return what the paper claims of LP and, in almost the same words, of EQ."""
    lf, gf, rd = of
    five, six = (balanced,), (balanced + 1,)
    odd = [_ODD_VERSIONS]
    worse, least = ("much worse", LITTLE) if name == "EQ" else ("worst", 0.0)
    local_loss = [
        (versions(case)(gf), versions(case)(lf)) for case in (HALF_FOUR, UP_TO_THREE, UP_TO_TWO)
    ]
    return [
        above(five, f"{name}-GF is best in total, queues balanced", against(_VERSIONS, of, [gf])),
        above(
            five, f"{name}-GF is best for the global queue", against(_VERSIONS, of, [gf]), "global"
        ),
        mostly(
            five,
            f"mostly {name}-GF is at most a little worse than {name}-LF for the local queues",
            [
                partial(
                    judges.is_within,
                    pairs=against([at], [gf], [lf]),
                    column="local",
                    at_most=True,
                )
                for at in _VERSIONS
            ],
        ),
        much_above(
            five,
            f"{name}-LF is much worse than {name}-GF for the global queue",
            against(_VERSIONS, [lf], [gf]),
            "global",
        ),
        claim(
            five,
            f"{name}-GF is the worse for the local queues, against {name}-LF, the fewer components "
            "global jobs have: (50,0,0,50), (50,25,25,0), (50,50,0,0)",
            judges.is_rising,
            courses=[local_loss],
            column="local",
        ),
        within(
            five,
            "with many global jobs of many components, (25,25,25,25), "
            f"{name}-GF bothers local jobs little",
            against([versions(ALIKE)], [gf], [lf]),
            "local",
        ),
        above(five, f"{name}-LF is worst in total", against(_VERSIONS, [lf], of)),
        above(
            five, f"{name}-LF is worst for the global queue", against(_VERSIONS, [lf], of), "global"
        ),
        claim(
            five,
            f"{name}-RD lies between {name}-GF and {name}-LF: in total, for local and global jobs",
            judges.are_all,
            verdicts=[
                partial(judges.is_above, pairs=against(_VERSIONS, [one], [other]), column=column)
                for column, one, other in (
                    ("total", rd, gf),
                    ("total", lf, rd),
                    ("global", rd, gf),
                    ("global", lf, rd),
                    ("local", rd, lf),
                    ("local", gf, rd),
                )
            ],
        ),
        above(six, f"{name}-LF is best in total, queues unbalanced", against(odd, of, [lf])),
        above(
            six, f"{name}-LF is bad for the global queue (worst)", against(odd, [lf], of), "global"
        ),
        above(
            six,
            f"{name}-GF is {worse} in total, queues unbalanced",
            against(odd, [gf], of),
            least=least,
        ),
        much_above(
            six,
            f"{name}-GF is very bad for the local queues",
            against(odd, [gf], [lf, rd]),
            "local",
        ),
        within(six, f"{name}-RD is little worse in total than {name}-LF", against(odd, [rd], [lf])),
        *_rd_for_local_jobs(name, six, against(odd, [rd], [lf])),
        much_above(
            six,
            f"{name}-RD is much better than {name}-LF for the global queue",
            against(odd, [lf], [rd]),
            "global",
        ),
    ]


_FEW = versions(UP_TO_TWO)
OF_LP_AND_EQ = (
    *_of_versions("LP", 5, LP),
    *_of_versions("EQ", 7, EQ),
    claim(
        (5, 7),
        "With (50,50,0,0) local jobs lose more by EQ-GF (against EQ-LF) than by LP-GF (against "
        "LP-LF)",
        judges.is_rising,
        courses=[[(_FEW(LP_GF), _FEW(LP_LF)), (_FEW(EQ_GF), _FEW(EQ_LF))]],
        column="local",
    ),
    other_kind(
        (7,),
        "With (50,50,0,0) EQ-GF serves global jobs faster than local ones",
        [_FEW(EQ_GF)],
        "local",
        "global",
    ),
    within(
        (7,),
        "With (50,50,0,0) EQ-RD is little worse in total than EQ-GF",
        against([_FEW], [EQ_RD], [EQ_GF]),
    ),
    within(
        (7,),
        "With (50,50,0,0) EQ-RD is almost as good as EQ-LF for the local queues",
        against([_FEW], [EQ_RD], [EQ_LF]),
        "local",
    ),
    much_above(
        (7,),
        "With (50,50,0,0) EQ-RD is much better than EQ-LF for the global queue",
        against([_FEW], [EQ_LF], [EQ_RD]),
        "global",
    ),
    claim(
        (3, 5, 7),
        "The order of the queues matters: mostly LS-OR is above LS-DO, mostly LP-LF above LP-GF, "
        "mostly EQ-LF above EQ-GF",
        judges.are_all,
        verdicts=[
            partial(
                judges.is_mostly,
                verdicts=[
                    partial(judges.is_above, pairs=against([at], [one], [other]), column="total")
                    for at in ats
                ],
            )
            for ats, one, other in (
                (_A_TO_H, LS_OR, LS_DO),
                (_VERSIONS, LP_LF, LP_GF),
                (_VERSIONS, EQ_LF, EQ_GF),
            )
        ],
    ),
)
