"""How much longer runs will take, told by those that have ended and those under way."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

TRUST = 0.001
"""Share of all the work that estimates made beforehand count for, beside what has been seen."""

ALIKE = 0.1
"""Part of a run of a kind that what is seen of all kinds counts for, beside what is seen of it."""

LATEST = 3.0
"""A piece of which nothing is told, and which takes more than so many times as long as expected, is
another than thought (something is compiled, or a solver is at it): then nobody knows."""
LATE = 1.5
"""A piece of which nothing is told, and which is late, is expected to take so many times as long as
it has until now."""

MOMENT = 1.0
"""Time in which anything may come between, s."""

Piece = Sequence[tuple[Hashable, float]]
"""What a worker takes at a time: of each run its kind, and the time it is estimated to take, s."""


class UnderWay(NamedTuple):
    """A piece that a worker is at: its index, which share of it is done, and what that took, s."""

    piece: int
    share: float
    took: float


Told = Callable[[], Iterable[UnderWay]]
"""Tells of the pieces that workers are at."""


class _Seen:
    """What has been done: of each kind of run how much, as estimated, and what that took, s."""

    def __init__(self, trust: float) -> None:
        self.trust = trust
        self.done: dict[Hashable, float] = {}
        self.took: dict[Hashable, float] = {}

    def copy(self) -> _Seen:
        """Return another one, to which more can be added."""
        other = _Seen(self.trust)
        other.done, other.took = self.done.copy(), self.took.copy()
        return other

    def add(self, kind: Hashable, done: float, took: float) -> None:
        """Add a run, or a part of one."""
        self.done[kind] = self.done.get(kind, 0.0) + done
        self.took[kind] = self.took.get(kind, 0.0) + took

    def add_share(self, piece: Piece, share: float, took: float) -> None:
        """Add a share of a piece, as if of each of its runs."""
        total = sum(seconds for _, seconds in piece)
        for kind, seconds in piece:
            self.add(kind, share * seconds, took * (seconds / total if total else 1 / len(piece)))

    def overall(self) -> float | None:
        """Return how many times as long as estimated runs take; None if nothing tells."""
        done = sum(self.done.values()) + self.trust
        return (sum(self.took.values()) + self.trust) / done if done else None


class Forecast:
    """The time that pieces of work will take, which workers take in order.

    Runs of one kind are expected to be off their estimates by one factor, learnt from what has been
    done of them; before, by the factor of all others. So what was wrong with estimates, or keeps
    the machine busy, counts as soon as it has been seen.

    Parameters
    ----------
    pieces : sequence of Piece
    workers : int
        How many pieces are done at a time.
    known : bool
        Estimates are in seconds; else they only compare, and nothing can be told before something
        has been done.
    open_ended : bool
        More pieces may come.

    Attributes
    ----------
    runs : int
        In all pieces.

    Examples
    --------
    >>> forecast = Forecast([[("quick", 1.0)], [("quick", 1.0)], [("slow", 4.0)]])
    >>> forecast.left(0.0)
    6.0
    >>> forecast.end(0, [3.0], at=3.0)
    >>> forecast.left(3.0) > 14.0
    True
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        workers: int = 1,
        known: bool = True,
        open_ended: bool = False,
    ) -> None:
        self.open_ended = open_ended
        self._pieces: dict[int, Piece] = {}
        self._workers = max(1, workers)
        self._left: dict[Hashable, float] = {}  # by kind, as estimated, s
        self._longest: dict[Hashable, float] = {}
        self._spent = self._at = 0.0  # time of workers, and on the clock, s
        self.runs = 0
        for index, piece in enumerate(pieces):
            self.expect(index, piece)
        self._seen = _Seen(TRUST * sum(self._left.values()) if known else 0.0)

    def expect(self, index: int, piece: Piece) -> None:
        """Note a piece of work that comes beside the others, by an index of its own."""
        self._pieces[index] = piece
        self.runs += len(piece)
        for kind, seconds in piece:
            self._left[kind] = self._left.get(kind, 0.0) + seconds
            self._longest[kind] = max(self._longest.get(kind, 0.0), seconds)

    def end(self, piece: int, took: Sequence[float], at: float) -> None:
        """Note that the runs of a piece took so long, s, and ended at a time after the beginning.

        Parameters
        ----------
        piece : int
            Its index.
        took : sequence of float
            Of each of its runs, on a clock on the wall.
        at : float
            Since the beginning, s.
        """
        self._spent += self._busy * (at - self._at)
        self._at = at
        for (kind, seconds), found in zip(self._pieces.pop(piece), took, strict=True):
            self._left[kind] -= seconds
            self._seen.add(kind, seconds, found)

    def left(self, at: float, under_way: Iterable[UnderWay] = ()) -> float | None:
        """Return how much longer it will take at a time after the beginning, s; None: unknown.

        Parameters
        ----------
        at : float
            Since the beginning, s.
        under_way : iterable of UnderWay
            What is told of pieces that workers are at; the others are the first that are left.
        """
        if not self._pieces:
            return 0.0
        seen = self._seen.copy()
        told = {each.piece: each for each in under_way if each.piece in self._pieces}
        for each in told.values():
            seen.add_share(self._pieces[each.piece], each.share, each.took)
        first = islice(self._pieces, self._busy)
        untold = [index for index in first if index not in told][: self._busy - len(told)]
        if (of_piece := self._times(seen)) is None:
            return None
        begun = self._spent + self._busy * (at - self._at) - sum(seen.took.values())
        expected = sum(of_piece(self._pieces[index]) for index in untold)
        if untold and begun > LATEST * expected + MOMENT:
            return None
        if untold and begun > expected:
            for index in untold:
                seen.add_share(self._pieces[index], 1.0, LATE * begun / len(untold))
            of_piece = self._times(seen) or of_piece
        rest = of_piece([*self._left.items()])
        longest = 0.0
        for each in told.values():
            whole = of_piece(self._pieces[each.piece])
            rest -= each.share * whole
            longest = max(longest, (1.0 - each.share) * whole)
        for index in untold:
            whole = of_piece(self._pieces[index])
            gone = min(whole, max(0.0, begun) / len(untold))
            rest -= gone
            longest = max(longest, whole - gone)
        return max(rest / self._busy, longest)

    @property
    def _busy(self) -> int:
        """Workers that are at something."""
        return min(self._workers, len(self._pieces))

    def _times(self, seen: _Seen) -> Callable[[Piece], float] | None:
        """Return what tells the time that runs are expected to take, s; None if nothing can."""
        overall = seen.overall()
        if overall is None:
            return None

        def time_of(piece: Piece) -> float:
            time = 0.0
            for kind, seconds in piece:
                part = ALIKE * self._longest[kind] or 1.0
                took, done = seen.took.get(kind, 0.0), seen.done.get(kind, 0.0)
                time += seconds * (took + overall * part) / (done + part)
            return time

        return time_of
