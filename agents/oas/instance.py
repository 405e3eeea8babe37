"""What is to be scheduled, and on what: jobs and clusters of the ordering and allocation problem.

Numbers are kept as the exact rationals that their shortest decimals spell, so that 0.7 is 7/10 and
a schedule can be checked without tolerances.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeVar

from agents.numbers import is_real, is_whole
from grid.errors import GridError
from grid.names import meant

LARGEST = 10**12
"""Of all numbers; beyond it, seconds are no longer told apart by what is printed."""

SMALLEST = 1e-6
"""Of those that must be above 0."""

MOST_NODES = 10**6
"""Of a cluster, and tasks of a job: what is known of each number of tasks is kept in tables."""

Part = TypeVar("Part")


def exact(number: Any) -> Fraction:
    """Return a number as the rational that its shortest decimal spells.

    Examples
    --------
    >>> exact(0.7), exact(12)
    (Fraction(7, 10), Fraction(12, 1))
    """
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    return Fraction(repr(float(number)))


def told(value: Any) -> str:
    """Return what was found, short and in one line."""
    return " ".join(reprlib.repr(value).split())


@dataclass(frozen=True)
class Cluster:
    """Identical nodes behind one link to the central switch.

    Attributes
    ----------
    nodes : int
        How many there are.
    effective_power : Fraction
        Of each node, above 0 and at most 1 (`oas`: Gamma).
    link_mbps : Fraction
        Bandwidth of the link, Mbit/s, above 0 (`oas`: MBW).

    Raises
    ------
    GridError
        For a number out of its range; the message names it.
    """

    nodes: int
    effective_power: Fraction
    link_mbps: Fraction

    def __post_init__(self) -> None:
        _check_whole(self, "nodes")
        _check_real(self, "effective_power", SMALLEST, 1)
        _check_real(self, "link_mbps", SMALLEST, LARGEST)


@dataclass(frozen=True)
class Job:
    """A rigid bulk-synchronous job whose tasks all talk to each other.

    Attributes
    ----------
    tasks : int
        Each holds one node from the start of the job to its end (`oas`: tau).
    base_time : Fraction
        Seconds on dedicated nodes of effective power 1, above 0 (`oas`: Tb).
    bandwidth : Fraction
        That each task needs, Mbit/s, at least 0 (`oas`: PTBW).
    sigma : Fraction
        Share of the base time that is processing, the rest is communication, from 0 to 1.

    Raises
    ------
    GridError
        For a number out of its range; the message names it.
    """

    tasks: int
    base_time: Fraction
    bandwidth: Fraction
    sigma: Fraction

    def __post_init__(self) -> None:
        _check_whole(self, "tasks")
        _check_real(self, "base_time", SMALLEST, LARGEST)
        _check_real(self, "bandwidth", 0, LARGEST)
        _check_real(self, "sigma", 0, 1)


@dataclass(frozen=True)
class Instance:
    """Jobs that wait, all at once, for idle clusters.

    Attributes
    ----------
    clusters : tuple of Cluster
    jobs : tuple of Job
        In order of arrival.

    Raises
    ------
    GridError
        If there are none, or a job has more tasks than there are nodes.

    Examples
    --------
    >>> Instance((Cluster(4, 0.75, 1000),), (Job(2, 600, 40, 0.7),)).jobs[0].sigma
    Fraction(7, 10)
    """

    clusters: tuple[Cluster, ...]
    jobs: tuple[Job, ...]

    def __post_init__(self) -> None:
        for name in ("clusters", "jobs"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
            if not getattr(self, name):
                raise GridError(f"{name}: found none; accepted: at least one")
        for index, job in enumerate(self.jobs):
            if job.tasks > self.nodes:
                raise GridError(
                    f"jobs[{index}].tasks: found {job.tasks}; accepted: at most {self.nodes}, the "
                    "nodes of all clusters"
                )

    @property
    def nodes(self) -> int:
        """Nodes of all clusters."""
        return sum(cluster.nodes for cluster in self.clusters)

    @classmethod
    def from_dict(cls, given: Any) -> Instance:
        """Return the instance that a JSON object spells: `clusters` and `jobs`, lists of objects.

        Raises
        ------
        GridError
            For what is missing, unknown or out of its range; the message names the key.
        """
        found = _mapping("", given, ("clusters", "jobs"))
        return cls(
            _parts("clusters", found["clusters"], Cluster), _parts("jobs", found["jobs"], Job)
        )


def _parts(name: str, given: Any, kind: Callable[..., Part]) -> tuple[Part, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise GridError(f"{name}: found {told(given)}; accepted: a list of objects")
    keys = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    parts = []
    for index, each in enumerate(given):
        where = f"{name}[{index}]"
        values = _mapping(where, each, keys)
        try:
            parts.append(kind(**values))
        except GridError as error:
            raise GridError(f"{where}.{error}") from None
    return tuple(parts)


def _mapping(where: str, given: Any, keys: Sequence[str]) -> Mapping[str, Any]:
    """Return an object of just these keys; may raise `GridError`."""
    if not isinstance(given, Mapping):
        accepted = f"an object of {', '.join(keys)}"
        raise GridError(f"{where or 'instance'}: found {told(given)}; accepted: {accepted}")
    inside = f"{where}." if where else ""
    for key in keys:
        if key not in given:
            raise GridError(f"{inside}{key}: not found; accepted: all of {', '.join(keys)}")
    for key in given:
        if key not in keys:
            raise GridError(f"{inside}{key}: unknown key; {meant(key, keys)}")
    return given


def _check_whole(owner: object, name: str) -> None:
    value = getattr(owner, name)
    if not (is_whole(value, least=1) and value <= MOST_NODES):
        raise GridError(
            f"{name}: found {told(value)}; accepted: a whole number from 1 to {MOST_NODES}"
        )
    object.__setattr__(owner, name, int(value))


def _check_real(owner: object, name: str, least: Any, most: Any) -> None:
    value = getattr(owner, name)
    whole = isinstance(value, Rational)  # an int may be too large for math.isfinite
    if (
        not is_real(value)
        or not (whole or math.isfinite(value))
        or not least <= exact(value) <= most
    ):
        raise GridError(
            f"{name}: found {told(value)}; accepted: a number from {least:g} to {most:g}"
        )
    object.__setattr__(owner, name, exact(value))
