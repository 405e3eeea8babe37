"""What `oas` claims of Figs. 3 and 4, and how our schedules judge it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from experiments.papers import judging as judge
from experiments.papers.claims_report import claim
from experiments.papers.judging import FAILS, HOLDS, OPEN, Measured, Range, Verdict
from experiments.papers.oas.schedules import (
    AGGREGATED,
    MILP,
    OAS,
    OF_FIGURE_4,
    OF_MILP,
    OF_SLOTS,
    QUEUES,
    SHARES,
    WORKLOADS,
    Point,
)
from experiments.papers.oas.solved import OPTIMAL, Outcome
from experiments.sweeps.statistics import Interval

SIMILAR = 5.0
"""Percent above another makespan up to which a makespan is similar to it, and good."""

GROWTH = 10.0
"""How many times as long the smallest slots take to solve as the largest, if that is far longer."""


class Gap(NamedTuple):
    """A number of schedules, and between what it lies for optimal ones.

    Attributes
    ----------
    measured : Measured
        Of the schedules that were found.
    possible : Range
        That number alone where the optimum is proved.
    """

    measured: Measured
    possible: Range

    @property
    def found(self) -> float:
        """The number of the schedules that were found."""
        return self.measured.value.mean


def _gap(where: str, found: float, low: float, high: float) -> Gap:
    if low == high:
        return Gap(Measured(where, Interval(found, 0.0)), Range(found, found))
    where += f"; no optimum proved, {low:.3g} to {high:.3g} by bounds"
    return Gap(Measured(where, Interval(found, None)), Range(low, high))


def above(outcome: Outcome, one: Point, other: Point) -> Gap:
    """Return by how much one makespan is above another, percent."""
    where = one.where if one.where == other.where else f"{one.where}; {other.where}"
    found = _percent(outcome.makespan(one), outcome.makespan(other))
    low = _percent(outcome.bound(one), outcome.makespan(other))
    high = _percent(outcome.makespan(one), outcome.bound(other))
    if one == other:
        low = high = found
    return _gap(f"{one.name} above {other.name}, {where}", found, low, high)


def _percent(one: float, other: float) -> float:
    return 100 * (one / other - 1) if other > 0 else math.inf


def _all_inside(gaps: Iterable[Gap], low: float = -math.inf, high: float = math.inf) -> str:
    """Return whether all numbers are inside, whatever the optima; open if that depends on them."""
    return judge.together(judge.inside(gap.possible, low, high) for gap in gaps)


def _extremes(gaps: Sequence[Gap]) -> tuple[Measured, ...]:
    """Return the number that may be lowest and the one that may be highest."""
    lowest, *_ = sorted(gaps, key=lambda gap: gap.possible.low)
    *_, highest = sorted(gaps, key=lambda gap: gap.possible.high)
    return tuple(dict.fromkeys((lowest.measured, highest.measured)))


def _at(share: int | None, method: str = OAS) -> Point:
    return Point(OF_SLOTS, method, share)


def _larger_slots_are_worse(outcome: Outcome) -> Verdict:
    steps, every = (
        [above(outcome, _at(large), _at(small)) for small, large in pairs]
        for pairs in (pairwise(SHARES), combinations(SHARES, 2))
    )
    return Verdict(_all_inside(every, low=0), _extremes(steps))


def _the_shortest_is_best(outcome: Outcome) -> Verdict:
    others = [above(outcome, _at(share), _at(SHARES[0])) for share in SHARES[1:]]
    return Verdict(_all_inside(others, low=0), _extremes(others)[:1])


def _small_slots_are_alike(outcome: Outcome) -> Verdict:
    small = [_at(share) for share in SHARES if share < 50]
    gaps = [above(outcome, one, _at(share)) for one in small for share in SHARES]
    worst = max(gaps, key=lambda gap: gap.possible.high)
    return Verdict(_all_inside(gaps, high=SIMILAR), (worst.measured,))


def _small_slots_take_long(outcome: Outcome, method: str, shares: Sequence[int]) -> Verdict:
    """Judge a model in slots; where one is not solved in time, it takes longer than is known.

    Where that is so of the largest slots, nothing is known of how many times as long it takes, and
    the times are told.
    """
    return _growth(outcome, _at(shares[0], method), _at(shares[-1], method))


def _growth(outcome: Outcome, small: Point, large: Point) -> Verdict:
    if not outcome.is_proved(large):
        return Verdict(OPEN, tuple(_solve_time(outcome, point) for point in (small, large)))
    solved = outcome.is_proved(small)
    ratio = outcome[small]["wall_s"] / max(outcome[large]["wall_s"], 1e-3)
    least = "" if solved else ", at least"
    where = f"{small.name}: solve time at {small.share} % over that at {large.share} %{least}"
    word = HOLDS if ratio >= GROWTH else FAILS if solved else OPEN
    return Verdict(word, (Measured(f"times, {where}", Interval(ratio, 0.0)),))


def _solve_time(outcome: Outcome, point: Point) -> Measured:
    least = "" if outcome.is_proved(point) else ", at least (no optimum proved)"
    where = f"s, {point.name}: solve time at {point.share} %{least}"
    return Measured(where, Interval(outcome[point]["wall_s"], None))


def _small_slots_are_compact(outcome: Outcome) -> Verdict:
    """Judge the compaction of optimal schedules; a bound of the makespan says nothing of it."""
    small, large = _at(SHARES[0]), _at(SHARES[-1])
    found = tuple(
        Measured(
            f"compaction, slots of {point.share} %",
            Interval(100 * outcome[point]["compaction"], 0.0 if outcome.is_proved(point) else None),
        )
        for point in (small, large)
    )
    more = outcome[small]["compaction"] > outcome[large]["compaction"]
    proved = outcome.is_proved(small) and outcome.is_proved(large)
    return Verdict((HOLDS if more else FAILS) if proved else OPEN, found)


def _beats_queues(outcome: Outcome, share: int | None, of_queues: int | None) -> Verdict:
    """Judge that OAS is at least as good as all queues, in slots or not."""
    gaps = [
        above(outcome, Point(workload, OAS, share), best)
        for workload in WORKLOADS
        for best in [_best_queue(outcome, workload, of_queues)]
    ]
    return Verdict(_all_inside(gaps, high=0), _extremes(gaps))


def _best_queue(outcome: Outcome, workload: str, share: int | None) -> Point:
    return min((Point(workload, queue, share) for queue in QUEUES), key=outcome.makespan)


def _is_compact(outcome: Outcome, share: int | None) -> Verdict:
    """Judge that OAS is nearly as compact as the most compact queue, of the schedules found.

    Others of the same makespan may be more or less compact.
    """
    below = []
    for workload in WORKLOADS:
        of_queues = (Point(workload, queue, share) for queue in QUEUES)
        other = max(of_queues, key=lambda point: float(outcome[point]["compaction"]))
        one = Point(workload, OAS, share)
        less = _percent(outcome[other]["compaction"], outcome[one]["compaction"])
        where = f"compaction of {other.name} above that of {one.name}, {one.where}"
        below.append(Gap(Measured(where, Interval(less, 0.0)), Range(less, less)))
    return Verdict(_all_inside(below, high=SIMILAR), _extremes(below))


def _no_queue_is_always_good(outcome: Outcome) -> Verdict:
    """Judge the queues that do well somewhere, by the workloads of their best and their worst."""
    found: list[Measured] = []
    always, somewhere = [], []
    for queue in QUEUES:
        gaps = [
            above(outcome, Point(each, queue, OF_FIGURE_4), Point(each, OAS, OF_FIGURE_4))
            for each in WORKLOADS
        ]
        always.append(_all_inside(gaps, high=SIMILAR))
        somewhere.append(any(gap.possible.high <= SIMILAR for gap in gaps))
        if min(gap.found for gap in gaps) <= SIMILAR:
            found += _extremes(gaps)
    if HOLDS in always:
        return Verdict(FAILS, tuple(found))
    return Verdict(HOLDS if OPEN not in always and any(somewhere) else OPEN, tuple(found))


def _suits(outcome: Outcome, workload: str, queues: Sequence[str]) -> Verdict:
    """Judge that all of some queues are good."""
    gaps = [above(outcome, Point(workload, queue), Point(workload, OAS)) for queue in queues]
    return Verdict(_all_inside(gaps, high=SIMILAR), tuple(gap.measured for gap in gaps))


def _insertion_is_close(outcome: Outcome) -> Verdict:
    gaps = [above(outcome, Point(each, "insertion"), Point(each, OAS)) for each in WORKLOADS]
    worst = max(gaps, key=lambda gap: gap.possible.high)
    return Verdict(_all_inside(gaps, high=SIMILAR), (worst.measured,))


def _replays(outcome: Outcome) -> Verdict:
    savings = [_saving(outcome, Point(workload, OAS)) for workload in WORKLOADS]
    return Verdict(_all_inside(savings, low=0), _extremes(savings))


def _saving(outcome: Outcome, point: Point) -> Gap:
    """Return what avoiding saturation saves, percent.

    An optimal schedule that avoids it goes as planned. One that ignores links takes as long as is
    planned at least; how much longer is known of the one that was found alone.
    """
    replay = outcome[point]["replay"]
    ignored = replay["links_ignored"]
    proved = ignored["status"] == OPTIMAL
    went = ignored["makespan"]
    least, most = (went, went) if proved else (ignored["bound"], math.inf)
    shortest = replay["makespan"] if outcome.is_proved(point) else outcome.bound(point)
    return _gap(
        f"saved by avoiding saturation, {point.workload.upper()}",
        100 * replay["saving"],
        100 * (1 - replay["makespan"] / least) if least > 0 else -math.inf,
        100 * (1 - shortest / most),
    )


_OURS = "ours"

CLAIMS = (
    claim((3,), "the makespan increases with the slot size", _larger_slots_are_worse),
    claim((3,), "the shortest slots give the best makespan", _the_shortest_is_best),
    claim((3,), "below 50 % makespans are similar to the minimum", _small_slots_are_alike),
    claim(
        (3,),
        "solving takes far longer as slots get small, exponentially below 50 %: the model as "
        "printed, from 100 % on",
        _small_slots_take_long,
        method=MILP,
        shares=OF_MILP,
    ),
    claim(
        (3,),
        "solving takes far longer as slots get small: nodes counted",
        _small_slots_take_long,
        _OURS,
        method=AGGREGATED,
        shares=SHARES,
    ),
    claim((3,), "small slots are more compact than large ones", _small_slots_are_compact, _OURS),
    claim(
        (4,),
        "OAS is good in all cases: no queue in the same slots is better",
        _beats_queues,
        share=OF_FIGURE_4,
        of_queues=OF_FIGURE_4,
    ),
    claim(
        (4,),
        "OAS in slots is good in all cases: no queue without slots is better",
        _beats_queues,
        _OURS,
        share=OF_FIGURE_4,
        of_queues=None,
    ),
    claim(
        (4,),
        "OAS without slots is good in all cases: no queue without slots is better",
        _beats_queues,
        _OURS,
        share=None,
        of_queues=None,
    ),
    claim(
        (4,),
        "each queue that does well in one workload does badly in another (by its makespan; how "
        "compact it is then is not judged)",
        _no_queue_is_always_good,
    ),
    *(
        claim(
            (4,),
            f"compaction of OAS {words} is good in all cases: no queue {words} is more than 5 % "
            "more compact",
            _is_compact,
            source,
            share=share,
        )
        for words, share, source in (
            ("in slots", OF_FIGURE_4, ""),
            ("without slots", None, _OURS),
        )
    ),
    claim(
        (4,),
        "our WL-1 suits a queue that matches free nodes, as the paper's was designed to: FPFS",
        _suits,
        _OURS,
        workload="wl-1",
        queues=("fpfs",),
    ),
    claim(
        (4,),
        "our WL-2 suits a queue that prefers small jobs, as the paper's was designed to: SJF",
        _suits,
        _OURS,
        workload="wl-2",
        queues=("sjf",),
    ),
    claim((4,), "the insertion is close to the optimum", _insertion_is_close, _OURS),
    claim((4,), "avoiding saturation never costs makespan", _replays, _OURS),
)
"""Verdicts are of schedules, in which there is no chance; what holds of one that may not be optimal
is asked of all makespans down to the proved bound."""
