"""MUSCLE, the global scheduler that packs jobs and hands out seed schedules (`muscle`, section 4).

The steps are in files of their own: `composition` (Algorithm 1), `packing` (Algorithms 2 and 3) and
`allocation` (Algorithm 4 and eq. 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agents.coallocation.settings import CoallocationSettings
from agents.messages import JobsReturned, Message
from agents.muscle.allocation import Allocation, allocate
from agents.muscle.composition import checked_sizes
from agents.muscle.domain import Domain, domain_brokers, members_of
from agents.muscle.moulding import MouldingSettings
from agents.muscle.muscle import Ints, Muscle
from agents.muscle.packing import Floats
from agents.muscle.wide_jobs import booked_with, enough_at, largest_first, room, within
from agents.schedule import Placement
from agents.schedulers import GlobalScheduler, Scheduler
from grid.errors import GridError, PlatformError, WorkloadError
from grid.kernel.state import NONE
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


@dataclass(frozen=True)
class MuscleSettings(CoallocationSettings, MouldingSettings):
    """Of MUSCLE."""

    coallocate: bool = setting(
        False,
        "Split jobs larger than any cluster over several, instead of rejecting them.",
    )
    levels: int = setting(
        1,
        "Levels of brokers, from the top, that are MUSCLEs; 1: the global scheduler alone.",
        least=1,
    )
    domains: tuple[str, ...] = setting((), "Names of other brokers that are MUSCLEs.")


class MuscleScheduler(Muscle, GlobalScheduler):
    """MUSCLE: collects jobs, packs them in rounds, sends each cluster a seed schedule.

    With `levels` above 1, or `domains`, brokers below the global one are MUSCLEs too
    (`agents.muscle.domain`), and those above allocate jobs to them as to clusters.

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
    below : dict of int to int
        Numbers of the jobs that MUSCLEs below have yet to send to clusters, by their slots.
    """

    uses_deadlines = True
    paper = "muscle"
    collects = True
    settings_type = MuscleSettings

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        platform = model.world.platform
        self._domains = domain_brokers(platform, self.settings.levels, self.settings.domains)
        if self._domains and self.settings.coallocate:
            raise GridError("coallocate: found true; accepted: false where brokers below schedule")
        members = members_of(platform, self._domains)
        self.take_members(members, model.world.known["up"])
        self._sizes = platform.sizes
        self.spans, self.mouldable = self.settings.coallocate, self.settings.mouldable
        self._bookings = 0  # serial of the last reminder
        self.below: dict[int, int] = {}

    @property
    def broker(self) -> Any:
        """The global scheduler's."""
        return self.model.broker

    def delegates(self) -> dict[str, Scheduler]:
        """Return the MUSCLEs of domains, by the names of their brokers."""
        model = self.model
        found: dict[str, Scheduler] = {}
        for index, parent in self._domains.items():
            above = model.broker if parent == NONE else model.brokers[parent]
            members = members_of(model.world.platform, self._domains, index)
            domain = Domain(model, self.below, model.brokers[index], above, members)
            domain.mouldable = self.mouldable
            found[domain.broker.name] = domain
            for member in domain.members:
                if member.broker == NONE:
                    model.clusters[member.clusters[0]].reports_to = domain.broker
        return found

    def receive(self, message: Message) -> None:
        """Note what a member reports, and which jobs it gives back."""
        super().receive(message)
        if isinstance(message, JobsReturned):
            for slot in message.slots:
                self.below.pop(slot, None)

    def act(self) -> None:
        """Start a round, if jobs wait and a member that can hold one is about to run dry."""
        world = self.model.world
        self._take_news(world.known["up"], world.known["at"])
        jobs = world.collected()
        if self.below:
            numbers = world.jobs["number"][jobs].tolist()  # others may have the slots by now
            below = map(self.below.get, jobs.tolist())
            jobs = jobs[[at != own for at, own in zip(below, numbers, strict=True)]]
        self.mould(jobs)
        sizes = world.jobs["size"][jobs]
        # A job larger than what any TITAN has told to be up waits for repairs, but for a wide one.
        wide = sizes > self._largest(jobs, self._sizes)
        able = wide | (sizes <= self._largest(jobs, self.up))
        jobs, sizes, wide = jobs[able], sizes[able], wide[able]
        world.policies.await_room(False)
        first = 0
        for at_wide in [*np.flatnonzero(wide).tolist(), len(jobs)]:
            if first < at_wide:
                if not self._is_due(jobs[first:at_wide]):
                    return
                self.dispatch(jobs[first:at_wide])
            if at_wide < len(jobs) and not self._start_wide(jobs[at_wide]):
                world.policies.await_room(True)
                return
            first = at_wide + 1

    def hand_over(self, slots: Ints, result: Allocation) -> None:
        """Have the jobs go to the members that they were allocated to."""
        super().hand_over(slots, result)
        if self._domains:
            in_domain = np.array([each.broker != NONE for each in self.members])
            held = slots[in_domain[result.cluster]]
            numbers = self.model.world.jobs["number"][held]
            self.below |= zip(held.tolist(), numbers.tolist(), strict=True)

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
