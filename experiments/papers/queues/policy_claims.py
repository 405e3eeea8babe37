"""What sections 3.2 to 4 of `queues` claim: the policies, and global and local jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from experiments.papers.claims_report import claim
from experiments.papers.judging import Verdict
from experiments.papers.queues import judges
from experiments.papers.queues.judges import (
    Judge,
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
    EQ_GF,
    EQ_LF,
    FOUR,
    GP,
    GS,
    HALF_FOUR,
    LOCAL_80,
    LOCAL_90,
    LP_GF,
    LP_LF,
    LQ,
    LS_DO,
    LS_OR,
    SEPARATE,
    SINGLE,
    SIX,
    UP_TO_THREE,
    UP_TO_TWO,
    At,
    Point,
    chart,
    charts,
    common,
)

# 3.2 --------------------------------------------------------------------------------------------

_BEST = (9, 10, 11, 12, 13, 14)


def _all_of(at: At) -> list[Point]:
    return [at(each) for each in SIX]


OF_POLICIES = (
    above((9,), "LS is best", against(charts(9), SIX, [LS_DO])),
    above((9,), "GP is worst", against(charts(9), [GP], SIX)),
    above((9,), "LQ is second worst", against(charts(9), [LQ], [GS, LS_DO, LP_GF, EQ_GF])),
    claim(
        (9,),
        "At the second utilization GS and LQ are saturated",
        judges.is_saturated,
        points=[charts(9)[1](each) for each in (GS, LQ)],
        others=[charts(9)[1](each) for each in (LS_DO, GP, LP_GF, EQ_GF)],
    ),
    above((9,), "GP is best for the global queue", against(charts(9), SEPARATE, [GP]), "global"),
    much_above(
        (9,),
        "GP is much worse than LP, EQ and LQ for the local queues",
        against(charts(9), [GP], SEPARATE),
        "local",
    ),
    above(
        (9,), "LP and EQ are better than GP and LQ", against(charts(9), [GP, LQ], [LP_GF, EQ_GF])
    ),
    above((9,), "LP is better than EQ", against(charts(9), [EQ_GF], [LP_GF])),
    within((9,), "LP and EQ differ by little", against(charts(9), [EQ_GF], [LP_GF])),
    above(
        (9,),
        "LP is better than EQ for the global queue",
        against(charts(9), [EQ_GF], [LP_GF]),
        "global",
    ),
    claim(
        (10, 11, 12),
        "GP gets better with fewer jobs of 3 and 4 components, in total, for local and for global "
        "jobs: (50,0,0,50), (50,25,25,0) against (50,50,0,0), at a common load",
        judges.are_all,
        verdicts=[
            partial(
                judges.is_above,
                pairs=[
                    (common(case)(GP), common(UP_TO_TWO)(GP)) for case in (HALF_FOUR, UP_TO_THREE)
                ],
                column=column,
            )
            for column in ("total", "local", "global")
        ],
    ),
    above(
        (9, 10, 13, 14),
        "LQ is worse with more multi-component jobs: 75, 50, 20 and 10 %, at a common load",
        [
            (common(more)(LQ), common(fewer)(LQ))
            for more, fewer in ((ALIKE, HALF_FOUR), (HALF_FOUR, LOCAL_80), (LOCAL_80, LOCAL_90))
        ],
    ),
    above(
        (10, 11),
        "LP and EQ are best",
        against(charts(10, 11), [GS, LS_DO, GP, LQ], [LP_GF, EQ_GF]),
    ),
    within(
        (9, 10, 11, 12),
        "With at most 50 % local jobs delaying the global ones costs LP little (against EQ)",
        against(charts(9, 10, 11, 12), [LP_GF], [EQ_GF]),
    ),
    claim(
        (10, 11, 12),
        "Policies differ most in Fig. 10 (worst against best at the first utilization)",
        judges.is_wider,
        chart=_all_of(chart(10)),
        others=[_all_of(chart(11)), _all_of(chart(12))],
    ),
    nearer(
        _BEST,
        "EQ is good in all mixes (nearer to the best policy than to the worst)",
        [(at(EQ_GF), _all_of(at), _all_of(at)) for at in charts(*_BEST)],
    ),
    above((12,), "EQ is better than LP", against(charts(12), [LP_GF], [EQ_GF])),
    within((12,), "EQ and LP differ by little", against(charts(12), [LP_GF], [EQ_GF])),
    above((13, 14), "EQ is best", against(charts(13, 14), SIX, [EQ_GF])),
    much_above(
        (13, 14),
        "LP delays the global jobs much (against EQ)",
        against(charts(13, 14), [LP_GF], [EQ_GF]),
        "global",
    ),
    *(
        nearer(
            (13, 14),
            f"{each.upper()} is {good} (nearer to the best policy than to the worst)",
            [(at(each), _all_of(at), _all_of(at)) for at in charts(13, 14)],
        )
        for each, good in ((GS, "good"), (LQ, "rather good"))
    ),
    within(
        (14,),
        "With 90 % local jobs GS approaches EQ",
        against(charts(14), [GS], [EQ_GF]),
    ),
    above(
        (14, 15),
        "From 90 to 100 % single-component jobs GS improves, at a common load",
        [(common(LOCAL_90)(GS), common(SINGLE)(GS))],
    ),
    above(
        (14, 15),
        "From 90 to 100 % single-component jobs all policies but GS deteriorate, at a common load",
        [(common(SINGLE)(each), common(LOCAL_90)(each)) for each in SIX if each != GS],
    ),
    above(
        (10, 16),
        "From 50 to 100 % jobs of 4 components LS improves, at a common load",
        [(common(HALF_FOUR)(LS_DO), common(FOUR)(LS_DO))],
    ),
    above(
        (10, 16),
        "From 50 to 100 % jobs of 4 components all policies but LS deteriorate, at a common load",
        [(common(FOUR)(each), common(HALF_FOUR)(each)) for each in SIX if each != LS_DO],
    ),
    same(
        (15,),
        "With single-component jobs only GP, LP, EQ and LQ are LS",
        against([chart(15)], SEPARATE, [LS_DO]),
    ),
    same(
        (16, 17),
        "With multi-component jobs only GP, LP, EQ and LQ are GS",
        against([chart(16), chart(17)], SEPARATE, [GS]),
    ),
    above((15,), "GS is better than LS", against([chart(15)], [LS_DO], [GS])),
    above((16, 17), "LS is better than GS", against([chart(16), chart(17)], [GS], [LS_DO])),
    above((18,), "LS-OR is worse than EQ and LP", against([chart(18)], [LS_OR], [EQ_LF, LP_LF])),
    above((18,), "LP is worse than EQ", against([chart(18)], [LP_LF], [EQ_LF])),
    within((18,), "LP and EQ differ by little", against([chart(18)], [LP_LF], [EQ_LF])),
    above(
        (18,),
        "LP delays the multi-component jobs more than EQ",
        against([chart(18)], [LP_LF], [EQ_LF]),
        "global",
    ),
)

# 3.3 and 4 --------------------------------------------------------------------------------------

_CHARTS = charts(*_BEST)


def _each(judge: Callable[..., Verdict], ones: Sequence[str], other: str) -> list[Judge]:
    """Return a judge of total response times for each chart of Figs. 9 to 14."""
    return [partial(judge, pairs=against([at], ones, [other]), column="total") for at in _CHARTS]


OF_QUEUES = (
    above(_BEST, "LP is best for local jobs", against(_CHARTS, SEPARATE, [LP_GF]), "local"),
    above(_BEST, "GP is best for global jobs", against(_CHARTS, SEPARATE, [GP]), "global"),
    *(
        nearer(
            _BEST,
            f"Under LP and EQ {column} jobs have a low response time (nearer to the best of GP, "
            "LP, EQ and LQ than to the worst)",
            [
                (at(each), [at(one) for one in SEPARATE], [at(one) for one in SEPARATE])
                for at in _CHARTS
                for each in (LP_GF, EQ_GF)
            ],
            column,
        )
        for column in ("local", "global")
    ),
    above(
        _BEST,
        "EQ is better than LP for the global queue",
        against(_CHARTS, [LP_GF], [EQ_GF]),
        "global",
    ),
    above(
        _BEST,
        "LP is better than EQ for the local queues",
        against(_CHARTS, [EQ_GF], [LP_GF]),
        "local",
    ),
    other_kind(
        (9,),
        "With many multi-component jobs LQ serves the global queue faster than the local ones",
        [at(LQ) for at in charts(9)],
        "local",
        "global",
    ),
    other_kind(
        (13, 14),
        "With many single-component jobs LQ serves the local queues faster than the global one",
        [at(LQ) for at in charts(13, 14)],
        "global",
        "local",
    ),
    within(
        (9, 14),
        "Under LP and EQ many global jobs do not harm local ones: (25,25,25,25) against "
        "(90,0,0,10), at a common load",
        [(common(ALIKE)(each), common(LOCAL_90)(each)) for each in (LP_GF, EQ_GF)],
        "local",
        at_most=True,
    ),
    claim(
        _BEST,
        "Under LP and EQ multi-component jobs can take much longer than all jobs do (in some case)",
        judges.is_any,
        verdicts=[
            partial(
                judges.is_above_other_kind,
                points=[at(each)],
                one="global",
                other="total",
                least=judges.LITTLE,
            )
            for at in _CHARTS
            for each in (LP_GF, EQ_GF)
        ],
    ),
    above(
        (13, 14, 15),
        "With many single-component jobs one global queue is better than local ones (GS against "
        "LS)",
        against([*charts(13, 14), chart(15)], [LS_DO], [GS]),
    ),
    mostly(
        _BEST,
        "In most cases with balanced queues EQ-GF is better than LP-GF",
        _each(judges.is_above, [LP_GF], EQ_GF),
    ),
    mostly(
        _BEST,
        "In most cases with balanced queues EQ-GF and LP-GF differ by little",
        _each(judges.is_within, [LP_GF], EQ_GF),
    ),
    mostly(
        _BEST,
        "Priority of local queues, but a restricted one (LP), is often best of GP, LP, EQ and LQ "
        "(section 1)",
        _each(judges.is_above, SEPARATE, LP_GF),
    ),
)
