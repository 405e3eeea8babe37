"""Answers: what the options of a formula ask, and how what comes of it is told."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import click
import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Console
from rich.table import Table

from experiments.maxutil.left_out import LeftOut
from experiments.show.numbers import counted
from experiments.sweeps.statistics import Interval
from grid.capacity import (
    Capacity,
    Requests,
    joint_capacity,
    ordered_capacity,
    total_capacity,
    unordered_capacity,
)
from grid.capacity.density import sum_of, with_zero
from grid.errors import GridError
from grid.workloads.component_sizes import TabulatedSizes, parse_sizes

MOST_CLUSTERS = 10_000

METHODS = {
    "ordered": ("exact", "eq. 2"),
    "total": ("exact", "eq. 2"),
    "unordered": ("approximate, Worst Fit", "eq. 5"),
}
"""Of each kind of request: what the answer is, and by which equation of `maxutil`."""


@dataclass(frozen=True)
class Answer:
    """What a formula or a simulation says.

    Attributes
    ----------
    title : str
        Of what.
    capacity : Capacity
        The numbers.
    left_out : dict of str to LeftOut
        Of each log: how many of its jobs were too large to count.
    utilization : Interval or None
        With its 95 % confidence interval, if it was simulated.
    how : dict
        What the simulation depends on, by name.
    meanings : dict of str to str
        Of rows, and of what all are of, that are something else than usual: what they are.
    """

    title: str
    capacity: Capacity
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    utilization: Interval | None = None
    how: dict[str, int | float | bool] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return the numbers, ready for JSON.

        `left_out` is there if logs were read; half-widths (``_ci95``) and `how` if it was
        simulated.
        """
        found: dict[str, object] = {
            "capacity_loss": self.capacity.capacity_loss,
            "utilization": self.capacity.utilization,
            "mpl": self.capacity.mpl,
        }
        if self.utilization is not None:
            half = self.utilization.half_width
            more = None if half is None else half * self.capacity.mpl / self.capacity.utilization
            found |= {"capacity_loss_ci95": half, "utilization_ci95": half, "mpl_ci95": more}
        left_out = {log: each.jobs for log, each in self.left_out.items()}
        return found | self.how | ({"left_out": left_out} if left_out else {})

    def show(self, as_json: bool) -> None:
        """Print it for people, or as JSON; and on stderr what was left out."""
        for log, left_out in self.left_out.items():
            if left_out.jobs:
                click.echo(f"metasched: {log}: {left_out}", err=True)
        if as_json:
            click.echo(json.dumps(self.to_dict(), allow_nan=False))
            return
        capacity = self.capacity
        idle = capacity.capacity_loss * capacity.processors
        rows = (
            ("utilization", capacity.utilization, "the load at which queues grow without end"),
            (
                "capacity loss",
                capacity.capacity_loss,
                f"idle though jobs wait: {idle:.1f} of {counted(capacity.processors, 'processor')}",
            ),
            ("mpl", capacity.mpl, "jobs served at a time"),
            ("job size", capacity.job_size, "processors of a job"),
        )
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        usual = "while jobs wait"
        table.add_column(self.meanings.get(usual, usual), no_wrap=True)
        table.add_column("", justify="right", no_wrap=True)
        table.add_column("what it is")
        half = None if self.utilization is None else self.utilization.half_width
        for name, value, meaning in rows:
            shown = f"{value:.4f}"
            if half is not None and name != "job size":
                scale = capacity.mpl / capacity.utilization if name == "mpl" else 1.0
                shown += f" ± {half * scale:.4f}"
            table.add_row(name, shown, self.meanings.get(name, meaning))
        console = Console()
        console.print(self.title, markup=False, highlight=False)
        console.print(table)


@dataclass(frozen=True)
class Question:
    """What the options of a command ask.

    Attributes
    ----------
    request : str
        ``ordered``, ``total`` or ``unordered``.
    distributions : tuple of str
        The law of each component, or one for all.
    clusters : int or None
        How many; as many as there are sizes by default, 4 for one size.
    sizes : tuple of int
        Processors of each cluster, or of all.
    zero : float
        Probability that a component is not there.
    dependent : bool
        The components of a job are those of its split size.
    draws : int or None
        How many components a job's size is the sum of, if it is total or split; as many as there
        are clusters by default.
    slotted : bool
        Eq. 4.
    """

    request: str
    distributions: tuple[str, ...]
    clusters: int | None
    sizes: tuple[int, ...]
    zero: float
    slotted: bool
    dependent: bool = False
    draws: int | None = None

    @property
    def _summed(self) -> bool:
        """Whether what is drawn is added up to a job's size."""
        return self.dependent or self.request == "total"

    def answer(self) -> Answer:
        """Return what the formula says.

        Raises
        ------
        GridError
            For options that are not accepted.
        """
        sizes = each_size(self.clusters, self.sizes)
        self._check(len(sizes), len(set(sizes)) > 1)
        laws, left_out = self._laws(sizes)
        title = self._title(sizes)
        return Answer(title, self._capacity(laws, sizes), left_out)

    def _check(self, clusters: int, unequal: bool) -> None:
        """Refuse options that do not go together."""
        if not self.zero < 1:
            raise GridError(f"--zero: found {self.zero:g}; accepted: a number from 0, below 1")
        if self.draws is not None and not self._summed:
            raise GridError(
                f"--draws: found {self.draws}; accepted: with --dependent, or of total requests"
            )
        if unequal and (self.dependent or self.request == "unordered"):
            raise GridError("--size: found several; accepted: one, if clusters are to be chosen")
        each = self.request != "unordered" and not self.dependent and self.draws is None
        if len(self.distributions) not in ((1, clusters) if each else (1,)):
            accepted = f"one, or {clusters}, one for each cluster" if each else "one"
            raise GridError(f"--dist: found {len(self.distributions)}; accepted: {accepted}")

    def _laws(
        self, sizes: tuple[int, ...]
    ) -> tuple[list[npt.NDArray[np.float64]], dict[str, LeftOut]]:
        """Return the law of each component, and of each log how many jobs are left out."""
        if self.draws is None:
            texts = self.distributions * (len(sizes) // len(self.distributions))
            largest = sizes
        else:
            texts = self.distributions
            largest = (sum(sizes) // self.draws,)
        left_out: dict[str, LeftOut] = {}
        laws = {}
        # A law is one wherever it is drawn from: the narrowest cluster limits it, as if simulated.
        narrowest: dict[str, int] = {}
        for text, most in zip(texts, largest, strict=True):
            narrowest[text] = min(most, narrowest.get(text, most))
        for text, most in narrowest.items():
            law = parse_sizes(text, most)
            laws[text] = with_zero(law.density(), self.zero)
            if isinstance(law, TabulatedSizes) and text.startswith("swf:"):
                parts = self._summed and self.draws is None and sum(sizes) > most
                left_out[text.removeprefix("swf:")] = LeftOut(law.left_out, most, parts)
        found = [laws[text] for text in texts]
        return found * (1 if self.draws is None else self.draws), left_out

    def _capacity(self, laws: list[npt.NDArray[np.float64]], sizes: tuple[int, ...]) -> Capacity:
        if self.request == "total":
            return total_capacity(laws, sum(sizes), self.slotted)
        if not self.dependent:
            if self.request == "ordered":
                return ordered_capacity(laws, sizes, self.slotted)
            requests = Requests.independent(laws[0], len(sizes), sizes[0])
            return unordered_capacity(requests, self.slotted)
        requests = Requests.split(sum_of(laws), len(sizes), sizes[0])
        if self.request == "unordered":
            return unordered_capacity(requests, self.slotted)
        return joint_capacity(requests.in_any_order(), self.slotted)

    def _title(self, sizes: tuple[int, ...]) -> str:
        """Say what is asked in a line."""
        laws = as_drawn(", ".join(self.distributions), self.zero, self.draws, self.dependent)
        method, equation = METHODS[self.request]
        service = "exponential"
        if self.slotted:  # the job that did not fit into a slot is not taken to be the next one's
            service, method, equation = "slotted", "approximation", "eq. 4"
        return (
            f"{self.request} requests of {laws} on {on_clusters(sizes, self.request)}, FCFS, "
            f"{service} service: {method} ({equation})"
        )


def as_drawn(laws: str, zero: float, draws: int | None, dependent: bool) -> str:
    """Return in words what sizes are drawn from.

    >>> as_drawn("U[1,12]", 0.3, 2, True)
    'U[1,12], absent with probability 0.3, 2 added up, split evenly'
    """
    absent = f", absent with probability {zero}" if zero else ""
    added = "" if draws is None else f", {draws} added up"
    return f"{laws}{absent}{added}{', split evenly' if dependent else ''}"


def on_clusters(sizes: tuple[int, ...], request: str) -> str:
    """Return in words what jobs run on.

    >>> on_clusters((32, 32), "ordered"), on_clusters((8, 4), "total")
    ('2 x 32 processors', 'one cluster of 12 processors')
    """
    if request == "total":
        return f"one cluster of {counted(sum(sizes), 'processor')}"
    if len(set(sizes)) == 1:
        return f"{len(sizes)} x {counted(sizes[0], 'processor')}"
    return f"{' + '.join(map(str, sizes))} processors"


def each_size(clusters: int | None, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the size of each cluster, as ``--clusters`` and ``--size`` tell them.

    Raises
    ------
    GridError
        If they do not go together.
    """
    if clusters is not None and clusters > MOST_CLUSTERS:
        raise GridError(f"--clusters: found {clusters}; accepted: up to {MOST_CLUSTERS}")
    if len(sizes) == 1:
        return sizes * (4 if clusters is None else clusters)
    if clusters not in (None, len(sizes)):
        raise GridError(
            f"--size: found {len(sizes)} sizes; accepted: one, or {clusters}, one for each cluster"
        )
    return sizes
