"""What `oas` claims of Figs. 3 and 4, and how our schedules judge it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from experiments.papers.claims_report import claim
from experiments.papers.judging import FAILS, HOLDS, OPEN, Measured, Verdict, extremes
from experiments.papers.oas.schedules import (
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
from experiments.papers.oas.solved import Outcome
from experiments.sweeps.statistics import Interval

SIMILAR = 5.0
"""Percent above another makespan up to which a makespan is similar to it, and good."""

GROWTH = 10.0
"""How many times as long the smallest slots take to solve as the largest, if that is far longer."""


def above(outcome: Outcome, one: Point, other: Point) -> Measured:
    """Return by how much one makespan is above another, percent."""
    where = one.where if one.where == other.where else f"{one.where}; {other.where}"
    share = 100 * (outcome.makespan(one) / outcome.makespan(other) - 1)
    return Measured(f"{one.name} above {other.name}, {where}", Interval(share, 0.0))


def _at(share: int | None, method: str = OAS) -> Point:
    return Point(OF_SLOTS, method, share)


def _larger_slots_are_worse(outcome: Outcome) -> Verdict:
    steps = [above(outcome, _at(large), _at(small)) for small, large in pairwise(SHARES)]
    found = extremes(steps)
    return Verdict(HOLDS if found[0].value.mean >= 0 else FAILS, found)


def _the_shortest_is_best(outcome: Outcome) -> Verdict:
    others = [above(outcome, _at(share), _at(SHARES[0])) for share in SHARES[1:]]
    least = min(others, key=lambda each: each.value.mean)
    return Verdict(HOLDS if least.value.mean >= 0 else FAILS, (least,))


def _small_slots_are_alike(outcome: Outcome) -> Verdict:
    least = min((_at(share) for share in SHARES), key=outcome.makespan)
    small = [above(outcome, _at(share), least) for share in SHARES if share < 50]
    worst = max(small, key=lambda each: each.value.mean)
    return Verdict(HOLDS if worst.value.mean <= SIMILAR else FAILS, (worst,))


def _small_slots_take_long(outcome: Outcome) -> Verdict:
    """Judge the printed model; where it was not solved in time, it takes longer than is known.

    Where that is so of the largest slots, nothing is known of how many times as long it takes.
    """
    small, large = _at(OF_MILP[0], MILP), _at(OF_MILP[-1], MILP)
    if outcome[large]["status"] != "optimal":
        return Verdict(OPEN)
    solved = outcome[small]["status"] == "optimal"
    ratio = outcome[small]["wall_s"] / max(outcome[large]["wall_s"], 1e-3)
    least = "" if solved else ", at least"
    where = f"{small.name}: solve time at {small.share} % over that at {large.share} %{least}"
    word = HOLDS if ratio >= GROWTH else FAILS if solved else OPEN
    return Verdict(word, (Measured(f"times, {where}", Interval(ratio, 0.0)),))


def _small_slots_are_compact(outcome: Outcome) -> Verdict:
    shares = {share: 100 * outcome[_at(share)]["compaction"] for share in (SHARES[0], SHARES[-1])}
    found = tuple(
        Measured(f"compaction, slots of {share} %", Interval(value, 0.0))
        for share, value in shares.items()
    )
    return Verdict(HOLDS if shares[SHARES[0]] > shares[SHARES[-1]] else FAILS, found)


def _beats_queues(outcome: Outcome, share: int | None, of_queues: int | None) -> Verdict:
    """Judge that OAS is at least as good as all queues, in slots or not."""
    gaps = [
        above(outcome, Point(workload, OAS, share), best)
        for workload in WORKLOADS
        for best in [_best_queue(outcome, workload, of_queues)]
    ]
    ordered = sorted(gaps, key=lambda each: each.value.mean)
    worst = ordered[-1].value.mean
    return Verdict(HOLDS if worst <= 0 else FAILS, (ordered[0], ordered[-1]))


def _best_queue(outcome: Outcome, workload: str, share: int | None) -> Point:
    return min((Point(workload, queue, share) for queue in QUEUES), key=outcome.makespan)


def _no_queue_is_always_good(outcome: Outcome) -> Verdict:
    """Judge the queues that do well somewhere, by the workloads of their best and their worst."""
    found: list[Measured] = []
    bad = []
    for queue in QUEUES:
        best, worst = extremes(
            [
                above(outcome, Point(each, queue, OF_FIGURE_4), Point(each, OAS, OF_FIGURE_4))
                for each in WORKLOADS
            ]
        )
        if best.value.mean <= SIMILAR:
            found += best, worst
            bad.append(worst.value.mean > SIMILAR)
    return Verdict((HOLDS if all(bad) else FAILS) if bad else OPEN, tuple(found))


def _suits(outcome: Outcome, workload: str, queues: Sequence[str]) -> Verdict:
    """Judge that all of some queues are good."""
    optimum = Point(workload, OAS)
    gaps = tuple(above(outcome, Point(workload, queue), optimum) for queue in queues)
    good = all(each.value.mean <= SIMILAR for each in gaps)
    return Verdict(HOLDS if good else FAILS, gaps)


def _insertion_is_close(outcome: Outcome) -> Verdict:
    gaps = [above(outcome, Point(each, "insertion"), Point(each, OAS)) for each in WORKLOADS]
    worst = max(gaps, key=lambda each: each.value.mean)
    return Verdict(HOLDS if worst.value.mean <= SIMILAR else FAILS, (worst,))


def _replays(outcome: Outcome) -> Verdict:
    found = sorted(_savings(outcome), key=lambda each: each.value.mean)
    return Verdict(HOLDS if found[0].value.mean >= 0 else FAILS, (found[0], found[-1]))


def _savings(outcome: Outcome) -> Iterator[Measured]:
    for workload in WORKLOADS:
        saving = 100 * outcome[Point(workload, OAS)]["replay"]["saving"]
        yield Measured(f"saved by avoiding saturation, {workload.upper()}", Interval(saving, 0.0))


_OURS = "ours"

CLAIMS = (
    claim((3,), "the makespan increases with the slot size", _larger_slots_are_worse),
    claim((3,), "the shortest slots give the best makespan", _the_shortest_is_best),
    claim((3,), "below 50 % makespans are similar to the minimum", _small_slots_are_alike),
    claim((3,), "solving takes far longer as slots get small", _small_slots_take_long),
    claim((3,), "small slots are more compact than large ones", _small_slots_are_compact),
    claim(
        (4,),
        "OAS is good in all cases: no queue in the same slots is better",
        _beats_queues,
        share=OF_FIGURE_4,
        of_queues=OF_FIGURE_4,
    ),
    claim(
        (4,),
        "... nor is a queue without slots (OAS in slots)",
        _beats_queues,
        share=OF_FIGURE_4,
        of_queues=None,
    ),
    claim(
        (4,),
        "... nor is a queue without slots (OAS without slots)",
        _beats_queues,
        _OURS,
        share=None,
        of_queues=None,
    ),
    claim(
        (4,),
        "each queue that does well in one workload does badly in another",
        _no_queue_is_always_good,
    ),
    claim(
        (4,),
        "WL-1 suits queues that match free nodes: FPFS",
        _suits,
        workload="wl-1",
        queues=("fpfs",),
    ),
    claim(
        (4,),
        "WL-2 suits queues that prefer small jobs: SJF, SPT",
        _suits,
        workload="wl-2",
        queues=("sjf", "spt"),
    ),
    claim((4,), "the insertion is close to the optimum", _insertion_is_close, _OURS),
    claim((4,), "avoiding saturation never costs makespan", _replays, _OURS),
)
"""Verdicts are of one schedule each: there is no chance in them."""
