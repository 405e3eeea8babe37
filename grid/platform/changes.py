"""Resources that change: processors and clusters that join, are drained or fail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grid.errors import PlatformError
from grid.foreign import quoted
from grid.jobs import LONGEST
from grid.platform.topology import number

FAIL, DRAIN, JOIN = "fail", "drain", "join"
KINDS = (FAIL, DRAIN, JOIN)


@dataclass(frozen=True)
class Change:
    """A change of the processors of a cluster at a given time.

    Attributes
    ----------
    cluster : str
        Name.
    what : {"fail", "drain", "join"}
        Processors that fail throw their jobs back, which start again; drained ones go when their
        jobs have ended; those that join were not there before.
    at : float
        When, s.
    until : float
        When failed or drained processors are back, s; infinity: never.
    processors : int or None
        How many, those of highest index; None: the whole cluster.

    Raises
    ------
    PlatformError
        If a value is outside its range.
    """

    cluster: str
    what: str
    at: float
    until: float = math.inf
    processors: int | None = None

    def __post_init__(self) -> None:
        place = f"change of cluster {self.cluster}"
        if self.what not in KINDS:
            raise PlatformError(
                f"{place}: what is {quoted(self.what)}; accepted: {', '.join(KINDS)}"
            )
        if not 0 <= number(self.at) <= LONGEST:
            raise PlatformError(
                f"{place}: at is {quoted(self.at)}; accepted: seconds, from 0 to {LONGEST:g}"
            )
        until = number(self.until)
        if not (until > number(self.at) and (until <= LONGEST or self.until == math.inf)):
            raise PlatformError(
                f"{place}: until is {quoted(self.until)}; accepted: seconds, above {self.at} and "
                f"at most {LONGEST:g}, or inf"
            )
        if self.what == JOIN and self.until != math.inf:
            raise PlatformError(
                f"{place}: until is {quoted(self.until)}; accepted: no until of those that join"
            )


@dataclass(frozen=True)
class Failures:
    """A failure model: each processor fails and is repaired again and again, apart from all others.

    Parameters
    ----------
    mean_up_time, mean_down_time : float
        Means of the exponential times until it fails and until it is repaired, s; above 0.

    Raises
    ------
    PlatformError
        If a time is outside its range.
    """

    mean_up_time: float
    mean_down_time: float

    def __post_init__(self) -> None:
        for name in ("mean_up_time", "mean_down_time"):
            if not 0 < number(getattr(self, name)) < math.inf:
                raise PlatformError(
                    f"{name}: found {quoted(getattr(self, name))}; accepted: seconds, above 0"
                )


def check_changes(changes: Sequence[Change], sizes: dict[str, int]) -> None:
    """Raise `PlatformError` unless each change is one of a cluster, given with its size.

    Processors join once, and neither fail nor drain before.
    """
    joining: dict[str, tuple[int, Change]] = {}
    for entry, change in enumerate(changes, 1):
        place = f"change {entry}, of cluster {change.cluster}"
        if change.cluster not in list(sizes):  # whatever it is
            raise PlatformError(f"{place}: no such cluster; accepted: {', '.join(sizes)}")
        count, size = change.processors, sizes[change.cluster]
        whole = isinstance(count, int) and not isinstance(count, bool)
        if count is not None and not (whole and 1 <= count <= size):
            raise PlatformError(
                f"{place}: processors is {quoted(count)}; accepted: an integer from 1 to {size}"
            )
        if change.what == JOIN:
            if change.cluster in joining:
                raise PlatformError(
                    f"{place}: what is 'join', as in change {joining[change.cluster][0]}; "
                    "accepted: one join of a cluster"
                )
            joining[change.cluster] = entry, change
    for entry, change in enumerate(changes, 1):
        if change.what == JOIN or change.cluster not in joining:
            continue
        size, (other, join) = sizes[change.cluster], joining[change.cluster]
        if (change.processors or size) <= (join.processors or size) and change.at < join.at:
            raise PlatformError(
                f"change {entry}, of cluster {change.cluster}: at is {change.at!r}, when its "
                f"processors are not there; accepted: from {join.at!r} on, when they join (change "
                f"{other})"
            )
