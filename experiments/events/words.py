"""The words in which a job's story is told, whoever tells it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from agents.messages import name_jobs
from experiments.events.happenings import placement, processors, unrun
from experiments.show.numbers import counted, duration, instant, listed

ROUNDING = 1e-6
"""Difference of times (s, or a share of them) that may come from rounding."""
NOBODY_KNOWS = 1e11
"""When jobs end or later, s, of whose ends nobody knows: real ones."""
LEVEL = "jobs x times x sizes over slacks x processors"
"""What the workload level of a cluster is worked out from (`agents.muscle.allocation`)."""

TAKEN_IN = "taken in"
"""How words begin of when a job was heard of that had been submitted before."""
TOO_SMALL = "has become too small for it"
"""What is said of a cluster that gives a job back."""


class Line(NamedTuple):
    """A line of a story: when (s; None: not known), and its parts, the one that matters first."""

    time: float | None
    parts: list[str]


def tie(tied: int, drawn: int) -> list[Line]:
    """Return how a cluster was chosen of so many that had the same workload level.

    >>> tie(1, 1), [line.parts for line in (*tie(2, 1), *tie(4, 2))]
    ([], [['1 other cluster has that level, and the largest is chosen'], \
['3 other clusters have that level, and chance chooses from the 2 largest']])
    """
    if tied == 1:
        return []
    others = f"{counted(tied - 1, 'other cluster')} {'has' if tied == 2 else 'have'} that level"
    how = "the largest is chosen" if drawn == 1 else f"chance chooses from the {drawn} largest"
    return [Line(None, [f"{others}, and {how}"])]


class Story(NamedTuple):
    """What became of a job so far, in order of time.

    Attributes
    ----------
    heading : str
    lines : list of Line
    start : datetime, optional
        What the clock of the log showed at time 0, if that is known.
    """

    heading: str
    lines: list[Line]
    start: datetime | None = None


class Place(NamedTuple):
    """When (s) a job had which place, from 1, among how many that waited."""

    time: float
    place: int
    waiting: int

    def __str__(self) -> str:
        return f"{ordinal(self.place)} of {self.waiting:,}"


def ordinal(number: int) -> str:
    """Return a number as a place in an order.

    Examples
    --------
    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return f"{number:,}{('th', 'st', 'nd', 'rd')[last] if last < 4 else 'th'}"


def needs(size: int, deadline: float, deadlines: str | None) -> str:
    """Return what a job asks for, given where the deadlines of the run's jobs are from.

    >>> needs(1, 60.0, "given"), needs(4, 60.0, "drawn")
    ('1 processor, deadline at 60 s', '4 processors, drawn deadline at 60 s')
    """
    if deadline == math.inf:
        return f"{processors(size)}, no deadline"
    some = {"drawn": "drawn deadline", "mixed": "deadline (drawn if it brought none)"}
    return f"{processors(size)}, {some.get(deadlines or '', 'deadline')} at {instant(deadline)}"


def can_run_on(clusters: Sequence[str]) -> list[str]:
    """Tell on which clusters alone a job can run; of none, that it can on all, nothing.

    >>> can_run_on([]), can_run_on(["C1", "C3"])
    ([], ['it can run on C1 and C3 only'])
    """
    return [f"it can run on {listed(clusters)} only"] if clusters else []


def may_have(sizes: Sequence[int]) -> list[str]:
    """Tell which sizes a job may be moulded to, if it may.

    >>> may_have([]), may_have([1, 2, 8])
    ([], ['it may have 1, 2 or 8 processors'])
    """
    return [f"it may have {listed([*map(str, sizes)], 'or')} processors"] if sizes else []


def submission(world: str, through: str | None, arrival: float, told: float) -> Line:
    """Tell to whom a job is submitted, and when the global scheduler is told of it (s)."""
    if through is None:  # while no service was there, perhaps
        late = [f"{TAKEN_IN} {duration(told - arrival)} later"] if told > arrival else []
        return Line(arrival, [f"submitted to {world}", *late])
    heard = f"whose broker tells {world} {at(told, arrival)}"
    return Line(arrival, [f"submitted through {through}", heard])


def act(number: int, batch: bool, round: int | None = None) -> str:
    """Return what an allocation of jobs is called, which in mode `batch` need not be a round.

    Parameters
    ----------
    number : int
        The global scheduler's own, from 1.
    batch : bool
        Mode `batch`, where jobs of a round may become known one after the other.
    round : int, optional
        That of the run, if it is known.

    Examples
    --------
    >>> act(3, batch=False), act(3, batch=True), act(3, batch=True, round=2)
    ('round 3', 'allocation 3', 'round 2, allocation 3')
    """
    if not batch:
        return f"round {number:,}"
    return f"{'' if round is None else f'round {round:,}, '}allocation {number:,}"


def allocation(world: str, cluster: str, act: str, place: Place) -> Line:
    """Tell in which round or allocation, if any, a job goes where, and its place in the seed."""
    among = "alone in a" if place.waiting == 1 else f"{place} in"
    words = f"{act}: " * bool(act) + f"{world} allocates it to {cluster}"
    return Line(place.time, [words, f"{among} seed schedule"])


def sending(sender: str | None, cluster: str, sent: float, due: float) -> Line:
    """Tell whose broker sends a job, if that is to be told, and when it lands (s)."""
    words = f"{sender}'s broker sends it to {cluster}" if sender else f"is on its way to {cluster}"
    return Line(sent, [words, f"where it lands {at(due, sent)}"])


def staying(cluster: str, time: float) -> Line:
    """Tell that a job need not be sent."""
    return Line(time, [f"stays at {cluster}, through which it was submitted"])


def plan(scheduler: str, place: Place) -> Line:
    """Tell a job's place in a plan."""
    return Line(place.time, [f"{scheduler} plans it {place} waiting"])


def plans(scheduler: str, places: Sequence[Place]) -> Line:
    """Tell of several plans, one after the other, in which a job had its places."""
    first, last = places[0].time, places[-1].time
    best, worst = (choose(each.place for each in places) for choose in (min, max))
    when = f"until {instant(last)} {scheduler} plans anew"
    times = "once" if len(places) == 1 else f"{len(places):,} times"
    where = ordinal(best) if best == worst else f"{ordinal(best)} to {ordinal(worst)}"
    return Line(first, [f"{when} {times}", f"and the job is {where} of those waiting"])


def start(
    size: int,
    parts: Sequence[tuple[str, int]],
    again: bool,
    time: float,
    arrival: float,
    staging: float,
) -> Line:
    """Tell the start of a job on its processors of one cluster or of several."""
    names = [name for name, _ in parts]
    where = placement({index: held for index, (_, held) in enumerate(parts)}, names)
    words = f"{'starts again' if again else 'starts'} on "
    words += f"{processors(size)} of {where}" if len(parts) == 1 else where
    waited = time - arrival
    told = [words, f"{duration(waited)} after its submission" if waited else "at once"]
    if staging > 0:
        told.append(f"its data are there at {instant(time + staging)}")
    return Line(time, told)


def slowed(finished: Mapping[str, Any], ran: float) -> list[str]:
    """Return that a job ran for longer for being split, s, once its data were there, if it did.

    >>> slowed({"dedicated": 10.0}, 14.0), slowed({"dedicated": 10.0}, 10 + 1e-9), slowed({}, 14.0)
    (['being split made it run for 14 s instead of 10 s'], [], [])
    """
    dedicated = finished.get("dedicated")
    if dedicated is None or math.isclose(ran, dedicated, rel_tol=ROUNDING, abs_tol=ROUNDING):
        return []
    return [f"being split made it run for {duration(ran)} instead of {duration(dedicated)}"]


def were_away(most: int, where: str = "") -> str:
    """Tell how many processors were away, at most.

    >>> were_away(1), were_away(12, "of C1 ")
    ('1 processor was away', 'up to 12 processors of C1 were away')
    """
    how = f"{processors(most)} {where}".strip()
    return f"{how} was away" if most == 1 else f"up to {how} were away"


def too_small(cluster: str) -> str:
    """Tell that a job goes back that a cluster can no longer hold."""
    return f"goes back, for {cluster} {TOO_SMALL}"


def rejection(time: float | None, reason: str) -> Line:
    """Tell that a job leaves that has not run, when (s; None: not known) and why."""
    return Line(time, [unrun(reason), reason])


def later(waited: float) -> list[str]:
    """Return how long the global scheduler let a job wait, s, if it did."""
    return [f"{duration(waited)} after it was told of it"] if waited > 0 else []


def at(time: float, since: float) -> str:
    """Return when something happens that follows from something else (s)."""
    return f"at {instant(time)}" if time > since else "at once"


def together(jobs: Sequence[Any], did: str) -> list[str]:
    """Return who else did what a job did at that instant, in which the log has no order."""
    return [f"{name_jobs(tuple(sorted(jobs)))} {did} there at the same time"] if jobs else []


def more_setbacks(time: float | None, times: int) -> Line:
    """Tell of setbacks that are not told one by one."""
    again = "once more" if times == 1 else f"{times} times more"
    return Line(
        time, [f"{again} it loses its processors or goes back", "and is sent or started anew"]
    )
