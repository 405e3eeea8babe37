"""What is simulated: jobs, clusters and policies of `maxutil`."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from agents.model import GridModel
from agents.registry import global_scheduler, local_scheduler
from agents.selection import JobSelection
from experiments.maxutil.formulas import as_drawn, on_clusters
from experiments.maxutil.left_out import LeftOut
from grid.capacity.density import sum_of, with_zero
from grid.distributions import (
    Deterministic,
    Empirical,
    Exponential,
    Hyperexponential,
    RuntimeDistribution,
    SizeDistribution,
)
from grid.errors import GridError
from grid.jobs import MAX_COMPONENTS
from grid.platform.multicluster import Platform
from grid.workloads.component_sizes import TabulatedSizes, parse_sizes
from grid.workloads.sample import JobSample
from grid.workloads.source import Workload

SERVICES = ("exponential", "deterministic", "hyperexponential")
LOG = "swf:"


@dataclass(frozen=True)
class System:
    """A multicluster, its jobs, and how they are served.

    Attributes
    ----------
    sizes : tuple of int
        Processors of each cluster.
    law : str
        Of the size of a component, as `parse_sizes` reads it; or of a log of which both sizes and
        run times are drawn, if `together`.
    request : {"unordered", "ordered", "total"}
    placement : {"wf", "ff"}
        Of unordered requests.
    policy : {"fcfs", "fpfs"}
    max_jumps : int or None
        MaxJumps of FPFS; None: any job may be overtaken, however often that was.
    service : str
        ``exponential``, ``deterministic``, ``hyperexponential``, all of mean 1, or ``swf:FILE``.
    cv : float
        Of hyperexponential service.
    zero : float
        Probability that a component is not there.
    dependent : bool
        A job's size is split into as few equal components as fit.
    draws : int or None
        Of `law`, that a job's size is the sum of if it is split or total; by default one for each
        cluster.
    together : bool
        Size and run time of a job are those of one job of the log that `law` names.
    largest : int or None
        Jobs of a log that are larger are left out; by default those that the clusters cannot hold.

    Raises
    ------
    GridError
        For what does not go together, a law that says nothing, or a log that cannot be read.
    """

    sizes: tuple[int, ...]
    law: str
    request: str = "unordered"
    placement: str = "wf"
    policy: str = "fcfs"
    max_jumps: int | None = 50
    service: str = "exponential"
    cv: float = 10.0
    zero: float = 0.0
    dependent: bool = False
    draws: int | None = None
    together: bool = False
    largest: int | None = None

    def __post_init__(self) -> None:
        if self.request != "total" and len(self.sizes) > MAX_COMPONENTS:
            raise GridError(
                f"--clusters: found {len(self.sizes)}; accepted: up to {MAX_COMPONENTS}, as many "
                "as a job may have components"
            )
        if not 0 <= self.zero < 1:
            raise GridError(f"--zero: found {self.zero:g}; accepted: a number from 0, below 1")
        if self.draws is not None and not self._summed:
            raise GridError(
                f"--draws: found {self.draws}; accepted: with --dependent, or of total requests"
            )
        if self.dependent and self.request == "total":
            raise GridError(
                "--dependent: found with total requests; accepted: of ordered or unordered ones, "
                "which are split"
            )
        if self.dependent and len(set(self.sizes)) > 1:
            raise GridError("--size: found several; accepted: one, if jobs are split evenly")
        if self.together and not (self._summed and self.law.startswith(LOG)):
            raise GridError(
                f"--together: found with --dist {self.law}; accepted: with --dist swf:FILE, and "
                "--dependent or total requests"
            )

    @property
    def _summed(self) -> bool:
        """Whether what is drawn is added up to a job's size."""
        return self.dependent or self.request == "total"

    @property
    def processors(self) -> int:
        """Of all clusters."""
        return sum(self.sizes)

    @cached_property
    def sample(self) -> JobSample | None:
        """The jobs of a log of which both size and run time are drawn."""
        if not self.together:
            return None
        return JobSample.of_log(self.law.removeprefix(LOG), self._limit(self.processors))

    @cached_property
    def service_log(self) -> JobSample | None:
        """The jobs of a log of which the run time alone is drawn."""
        if self.together or not self.service.startswith(LOG):
            return None
        return JobSample.of_log(self.service.removeprefix(LOG), self._limit(self.processors))

    @cached_property
    def runtimes(self) -> RuntimeDistribution:
        """The law of run times, s."""
        if self.sample is not None:
            return Empirical(tuple(self.sample.runtimes.tolist()))
        if self.service_log is not None:
            return Empirical(tuple(self.service_log.runtimes.tolist()))
        if self.service not in SERVICES:
            accepted = f"{', '.join(SERVICES)} or {LOG}FILE"
            raise GridError(f"--service: found {self.service!r}; accepted: {accepted}")
        if self.service == "hyperexponential":
            return Hyperexponential(1.0, self.cv)
        return Exponential(1.0) if self.service == "exponential" else Deterministic(1.0)

    @cached_property
    def component(self) -> SizeDistribution:
        """The law of the size of a component."""
        most = self._largest_draw
        return parse_sizes(self.law, self._limit(most) if self.law.startswith(LOG) else most)

    @property
    def _largest_draw(self) -> int:
        """What the law may draw at most: a component, or a part of a job or all of it."""
        if self.together:
            return self.processors
        return min(self.sizes) if self.draws is None else self.processors // self.draws

    def _limit(self, most: int) -> int:
        return most if self.largest is None else min(most, self.largest)

    @cached_property
    def whole(self) -> SizeDistribution | None:
        """The law of a job's size, if that is drawn before the job is split, or not split."""
        if self.together:
            return self.component
        if not self._summed:
            return None
        count = len(self.sizes) if self.draws is None else self.draws
        law = sum_of([with_zero(self.component.density(), self.zero)] * count)
        found = np.flatnonzero(law[1:] > 0) + 1  # 0 is no job
        low, high = int(found[0]), int(found[-1])
        return TabulatedSizes(low, high, tuple(law[low : high + 1].tolist()))

    @cached_property
    def composition(self) -> list[float]:
        """Percent of jobs with 1, 2, ... components, if these are drawn one by one."""
        if self.whole is not None:
            return []
        clusters, there = len(self.sizes), 1.0 - self.zero
        shares = [
            math.comb(clusters, count) * there**count * self.zero ** (clusters - count)
            for count in range(1, clusters + 1)
        ]
        return [100.0 * share / math.fsum(shares) for share in shares]

    @property
    def job_size(self) -> float:
        """Mean number of processors that a job holds, each job counted for as long as it runs."""
        if self.sample is not None:
            runtimes = self.sample.runtimes
            return float(self.sample.sizes @ runtimes / runtimes.sum())
        if self.whole is not None:
            return self.whole.mean
        counts = enumerate(self.composition, start=1)
        return self.component.mean * math.fsum(n * percent for n, percent in counts) / 100.0

    @property
    def left_out(self) -> dict[str, LeftOut]:
        """Of each log: how many of its jobs were too large to count."""
        found = {}
        if self.service_log is not None:
            most = self._limit(self.processors)
            found[self.service.removeprefix(LOG)] = LeftOut(self.service_log.left_out, most)
        if self.law.startswith(LOG) and isinstance(self.component, TabulatedSizes):
            most = self._limit(self._largest_draw)
            parts = self._summed and self.draws is None and self._limit(self.processors) > most
            found[self.law.removeprefix(LOG)] = LeftOut(self.component.left_out, most, parts)
        return found

    def mix(self) -> dict[str, Any]:
        """Return what the jobs are like, as parameters of a `JobMix`."""
        ordered = self.request == "ordered"
        return {
            "sizes": self.component if self.whole is None else self.whole,
            "runtimes": self.runtimes,
            "composition": self.composition,
            "request": self.request,
            "largest_component": self.sizes[0] if self.dependent else 0,
            "scattered_over": len(self.sizes) if ordered and (self.dependent or self.zero) else 0,
            "sample": self.sample,
        }

    def model(self, workload: Workload, interval: float, seed: int) -> GridModel:
        """Return a model that serves these jobs, a step of which is `interval` (s)."""
        ordered, total = self.request == "ordered", self.request == "total"
        jumps = "any" if self.max_jumps is None else self.max_jumps
        return GridModel(
            Platform.star([self.processors] if total else list(self.sizes)),
            workload,
            global_scheduler("ordered" if ordered else self.placement),
            local_scheduler("fcfs"),
            interval=interval,
            seed=seed,
            settings=[JobSelection(selection=self.policy, max_jumps=jumps)],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what tells it from others, ready for JSON."""
        return asdict(self)

    @property
    def title(self) -> str:
        """What is simulated, in a line."""
        clusters = on_clusters(self.sizes, self.request)
        placed = {"wf": "Worst Fit", "ff": "First Fit"}[self.placement]
        jumps = "" if self.max_jumps is None else f"({self.max_jumps})"
        policy = "FCFS" if self.policy == "fcfs" else f"FPFS{jumps}"
        service = "service of the same jobs" if self.together else f"{self.service} service"
        if self.service == "hyperexponential" and not self.together:
            service += f" (cv {self.cv:g})"
        zero, draws = (0.0, None) if self.together else (self.zero, self.draws)
        laws = as_drawn(self.law, zero, draws, self.dependent)
        where = f", {placed}" if self.request == "unordered" else ""
        return f"{self.request} requests of {laws} on {clusters}{where}, {policy}, {service}"
