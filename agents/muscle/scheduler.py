"""MUSCLE, the global scheduler that packs jobs and hands out seed schedules (`muscle`, section 4).

The steps are in files of their own: `composition` (Algorithm 1), `packing` (Algorithms 2 and 3) and
`allocation` (Algorithm 4 and eq. 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from agents.coallocation.settings import CoallocationSettings
from agents.messages import Message, ScheduleReport, SeedSchedule, Space
from agents.muscle.allocation import Allocation, allocate
from agents.muscle.booking import Booked
from agents.muscle.composition import checked_sizes
from agents.muscle.packing import Floats
from agents.muscle.wide_jobs import booked_with, enough_at, largest_first, room, within
from agents.rounds import Round, note_performance
from agents.schedule import Placement
from agents.schedulers import GlobalScheduler
from grid.errors import PlatformError, WorkloadError
from grid.settings import setting
from grid.streams import stream

if TYPE_CHECKING:
    from agents.model import GridModel


def _numbers(name: str, values: npt.ArrayLike, shape: tuple[int, ...]) -> Floats:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        found = "rows of unequal length, or no numbers"
    else:
        if array.shape == shape:
            return array
        if array.size == 0 and 0 in shape:
            return array.reshape(shape)
        found = f"shape {array.shape}"
    raise WorkloadError(f"{name}: found {found}, accepted are numbers of shape {shape}")


def seed_schedules(
    sizes: npt.ArrayLike,
    execution_times: npt.ArrayLike,
    deadlines: npt.ArrayLike,
    cluster_sizes: npt.ArrayLike,
    seed: int = 0,
) -> list[list[Placement]]:
    """Return MUSCLE's seed schedule for each of a set of idle clusters (`muscle`, Algorithm 4).

    Where the paper is departed from: see `allocate`.

    Parameters
    ----------
    sizes : sequence of int, shape (jobs,)
        Processors each job needs.
    execution_times : array of shape (jobs, clusters)
        Seconds each job runs on each cluster; infinity where it cannot.
    deadlines : array of shape (jobs,)
        Seconds after dispatch; infinite for a job without one.
    cluster_sizes : sequence of int, shape (clusters,)
        Processors of each cluster, all free at 0.
    seed : int
        Decides between clusters of equal e and equal size.

    Returns
    -------
    list of list of Placement
        One list for each cluster, in order of allocation; a job's resources are adjacent.

    Raises
    ------
    WorkloadError
        If sizes, execution times or deadlines have the wrong shape or an impossible value.
    PlatformError
        If a cluster has no processors, or there is no cluster.
    PlacementError
        If no cluster can hold a job.

    Examples
    --------
    >>> seed_schedules([2, 1], [[5.0], [3.0]], [9.0, 9.0], [3])[0][1]
    Placement(job=0, start=0.0, resources=(1, 2))
    """
    processors = np.asarray(cluster_sizes)
    if processors.ndim != 1 or processors.dtype.kind not in "iu" or (processors < 1).any():
        raise PlatformError(
            f"cluster_sizes: found {processors.tolist()}, "
            "accepted is a list of integers of 1 or more"
        )
    sizes = checked_sizes(sizes)
    jobs, clusters = len(sizes), len(processors)
    times = _numbers("execution_times", execution_times, (jobs, clusters))
    due = _numbers("deadlines", deadlines, (jobs,))
    if not (usable := times > 0).all():
        job, c = np.argwhere(~usable)[0]
        raise WorkloadError(
            f"execution_times[{job}, {c}]: found {times[job, c]}, accepted is above 0, and "
            "infinity where the job cannot run"
        )
    if not (usable := due > -np.inf).all():
        job = np.argmin(usable)
        raise WorkloadError(f"deadlines[{job}]: found {due[job]}, accepted is a number of seconds")
    schedules: list[list[Placement]] = [[] for _ in range(clusters)]
    free = [np.zeros(n) for n in processors]
    allocation = allocate(
        sizes, times, due, processors, free, np.zeros((clusters, 4)), stream(seed, "muscle")
    )
    for job in allocation.order.tolist():
        first = int(allocation.first[job])
        resources = tuple(range(first, first + int(sizes[job])))
        schedules[allocation.cluster[job]].append(
            Placement(job, float(allocation.start[job]), resources)
        )
    return schedules


def _spaces(
    result: Allocation, numbers: npt.NDArray[np.int64], slots: npt.NDArray[np.int64]
) -> dict[int, list[Space]]:
    """Return the spaces of each cluster that an allocation filled, in order."""
    spaces: dict[int, list[Space]] = {}
    for _, filled in groupby(result.order.tolist(), key=result.space.item):
        jobs = [*filled]
        first = jobs[0]
        spaces.setdefault(result.cluster.item(first), []).append(
            Space(
                result.start.item(first),
                result.first.item(first),
                result.processors.item(first),
                result.level.item(first),
                tuple(numbers[jobs].tolist()),
                tuple(slots[jobs].tolist()),
                result.tied.item(first),
                result.drawn.item(first),
            )
        )
    return spaces


@dataclass(frozen=True)
class MuscleSettings(CoallocationSettings):
    """Of MUSCLE."""

    coallocate: bool = setting(
        False,
        "Split jobs larger than any cluster over several, instead of rejecting them.",
    )


class MuscleScheduler(GlobalScheduler):
    """MUSCLE: collects jobs, packs them in rounds, sends each cluster a seed schedule.

    A round starts as soon as jobs are there and the TITAN of at least one cluster has told that
    the makespan of what it has left is down to the model's `round_threshold` (Algorithm 4,
    step 1). Until a TITAN has answered a seed schedule, MUSCLE takes its cluster to be booked as
    that schedule says.

    Where the paper is silent: a job larger than any cluster is rejected or, if `coallocate` is set,
    split over several. Such a wide job waits for its turn: the rounds of those before it come
    first, and no round with those behind it begins until it has started, at once on all its
    processors, of those that no seed schedule has promised to others.

    Attributes
    ----------
    round : int
        Rounds so far.
    booked : list of Booked
        How far each cluster is booked, as told or assumed since.
    left : list of float
        Makespan of what each cluster had left when last heard of, s.
    """

    uses_deadlines = True
    paper = "muscle"
    collects = True
    settings_type = MuscleSettings

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self.round = 0
        self.booked = [Booked.nothing(int(up)) for up in model.world.known["up"]]
        self.left = [0.0] * len(self.clusters)
        self._heard, self._reported = np.zeros((2, len(self.clusters)))  # as of when, s
        self.spans = self.settings.coallocate
        self._bookings = 0  # serial of the last reminder

    def receive(self, message: Message) -> None:
        """Note what a TITAN reports, unless that is older than the last, or of an older round."""
        if isinstance(message, ScheduleReport):
            note_performance(self.model.rounds, message)
            before = self.booked[message.cluster]
            late = message.sent < self._reported[message.cluster]  # it was lost, and sent again
            if late or message.round < before.round:
                self._resize(message.cluster, len(message.release), message.sent)
            else:
                self._reported[message.cluster] = message.sent
                self._heard[message.cluster] = message.sent
                self.left[message.cluster] = message.makespan
                self.booked[message.cluster] = replace(
                    before, release=message.release, unfinished=message.unfinished
                )

    def _resize(self, cluster: int, up: int, at: float) -> None:
        """Take a cluster to have as many processors as is told of the time `at` (s)."""
        if at > self._heard[cluster]:
            self._heard[cluster] = at
            self._fit(cluster, up)

    def _fit(self, cluster: int, up: int) -> None:
        """Take a cluster to have so many processors: of those it had, the last to be free."""
        booked = self.booked[cluster]
        if up != len(booked.release):
            latest = np.sort(booked.release)[::-1][:up][::-1]
            release = np.concatenate([np.zeros(up - len(latest)), latest])
            self.booked[cluster] = replace(booked, release=release)

    def act(self) -> None:
        """Start a round, if jobs wait and a cluster that can hold one is about to run dry."""
        world = self.model.world
        known, returned_at = world.known, world.state.returned_at
        for cluster, (up, at) in enumerate(zip(known["up"], known["at"], strict=True)):
            self._resize(cluster, int(up), float(at))  # as its broker has told
            if self._heard[cluster] < returned_at[cluster]:  # a job has come back since
                self._fit(cluster, min(int(up), len(self.booked[cluster].release)))
        jobs = world.collected()
        sizes = world.jobs["size"][jobs]
        up = [len(booked.release) for booked in self.booked]
        # A job larger than what any TITAN has told to be up waits for repairs, but for a wide one.
        largest, largest_up = world.platform.sizes.max(), max(up)
        if world.state.partial:
            can_run = world.jobs.can_run(jobs)
            largest = np.where(can_run, world.platform.sizes, 0).max(axis=1)
            largest_up = np.where(can_run, up, 0).max(axis=1)
        wide = sizes > largest
        able = wide | (sizes <= largest_up)
        jobs, sizes, wide = jobs[able], sizes[able], wide[able]
        world.policies.await_room(False)
        first = 0
        for at in [*np.flatnonzero(wide).tolist(), len(jobs)]:
            if first < at and not self._dispatch_if_due(jobs[first:at], np.array(up)):
                return
            if at < len(jobs) and not self._start_wide(jobs[at]):
                world.policies.await_room(True)
                return
            first = at + 1

    def _dispatch_if_due(self, jobs: npt.NDArray[np.int64], up: npt.NDArray[np.int64]) -> bool:
        """Start a round with these jobs, if a cluster that can hold one is about to run dry."""
        world = self.model.world
        sizes = world.jobs["size"][jobs]
        can_hold = up >= sizes.min()
        if world.state.partial:
            can_hold = ((up >= sizes[:, None]) & world.jobs.can_run(jobs)).any(axis=0)
        left = min(left for left, can in zip(self.left, can_hold.tolist(), strict=True) if can)
        due = left <= self.model.round_threshold
        if due:
            self.dispatch(jobs)
        return due

    def _start_wide(self, slot: int) -> bool:
        """Start a job larger than any cluster now, if there is room for it; return whether.

        Of clusters whose links to the centre are over the threshold, it takes nothing. It is tried
        again when there shall be room, and whenever brokers or TITANs tell that it is otherwise.
        """
        now, jobs, lslt = self.model.now, self.model.world.jobs, self.settings.lslt / 100.0
        size = jobs["size"].item(slot)
        able = jobs.can_run(np.array([slot]))[0].tolist()
        take = largest_first(
            size,
            [
                room(booked, now) if can and within(cluster.links, lslt) else 0
                for cluster, booked, can in zip(self.clusters, self.booked, able, strict=True)
            ],
        )
        if take is None or not self.model.world.start(slot, take):
            later = enough_at(size, compress(self.booked, able))
            self._bookings += 1
            self.model.remind(self.name, later if later > now else np.inf, self._bookings)
            return False
        time = jobs["predicted_time"].item(slot)
        slack = jobs["deadline"].item(slot) - jobs["arrival"].item(slot) - time
        for cluster in np.flatnonzero(take).tolist():
            self.booked[cluster] = booked = booked_with(
                self.booked[cluster], int(take[cluster]), now + time, time, slack
            )
            self.left[cluster] = booked.makespan(now)
        return True

    def dispatch(self, slots: npt.NDArray[np.int64]) -> None:
        """Allocate jobs to the clusters and send them there, with a seed schedule each."""
        now, jobs = self.model.now, self.model.world.jobs
        sizes = jobs["size"][slots]
        times = self.model.pace.predict(slots)
        # A slack counts from the arrival, so that it does not shrink while its job waits.
        leeway = jobs["deadline"][slots] - jobs["arrival"][slots]
        result = allocate(
            sizes,
            times,
            leeway,
            [len(booked.release) for booked in self.booked],
            [np.maximum(0.0, booked.release - now) for booked in self.booked],
            [booked.attributes(now) for booked in self.booked],
            self.stream,
        )
        self.round += 1
        jobs_of = np.bincount(result.cluster, minlength=len(self.left))
        self.model.rounds.append(Round.begun(self.round, now, jobs_of))
        sent_to = result.cluster[result.order]
        self.model.transfer(slots[result.order], sent_to, self._heard[sent_to])
        numbers = jobs["number"][slots]
        spaces = _spaces(result, numbers, slots)
        in_order = result.order[np.argsort(result.start[result.order], kind="stable")]
        for cluster in np.unique(result.cluster).tolist():
            chosen = in_order[result.cluster[in_order] == cluster]
            durations = times[chosen, cluster]
            seed = [
                Placement(slot, start, tuple(range(first, first + size)))
                for slot, start, first, size in zip(
                    slots[chosen].tolist(),
                    result.start[chosen].tolist(),
                    result.first[chosen].tolist(),
                    sizes[chosen].tolist(),
                    strict=True,
                )
            ]
            self._book(cluster, seed, durations, leeway[chosen] - durations)
            self.model.broker.send(
                SeedSchedule,
                self.model.clusters[cluster].broker,
                round=self.round,
                jobs=tuple(numbers[chosen].tolist()),
                schedule=tuple(seed),
                finishes=tuple((result.start[chosen] + durations).tolist()),
                spaces=tuple(spaces[cluster]),
            )

    def _book(
        self, cluster: int, seed: Sequence[Placement], durations: Floats, slacks: Floats
    ) -> None:
        """Take a cluster to be booked as its new seed schedule says."""
        booked, now = self.booked[cluster], self.model.now
        release = booked.release.copy()
        rows = []
        for placement, time, slack in zip(seed, durations, slacks, strict=True):
            finish = now + placement.start + time
            release[list(placement.resources)] = finish
            rows.append((finish, time, len(placement.resources), slack))
        self.booked[cluster] = Booked(
            booked.serial, self.round, release, np.concatenate([booked.unfinished, rows])
        )
        self.left[cluster] = self.booked[cluster].makespan(now)
