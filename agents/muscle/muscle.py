"""What MUSCLE does at a broker: it knows how far its members are booked, and starts rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress, groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.messages import JobsReturned, Message, ScheduleReport, SeedSchedule, Space
from agents.muscle.allocation import Allocation, allocate
from agents.muscle.booking import Booked
from agents.muscle.moulding import allot
from agents.muscle.packing import Floats
from agents.rounds import Round, note_performance
from agents.schedule import Placement
from agents.schedulers import Scheduler
from grid.kernel.state import NONE
from grid.streams import Stream

Ints = npt.NDArray[np.int64]


class Member(NamedTuple):
    """What MUSCLE allocates jobs to: a cluster, or a domain with a MUSCLE of its own.

    Attributes
    ----------
    clusters : array of int
        Indices of the clusters that it has.
    broker : int
        Index of the domain's broker among those of the platform; -1: a cluster.
    """

    clusters: Ints
    broker: int = NONE


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


def _weighted_means(times: Floats, weights: Ints) -> Floats:
    """Return the mean of each row by weights, which are 0 where times do not count; infinity: none.

    Shape (rows, clusters).
    """
    sums = np.where(weights > 0, times, 0.0) * weights
    totals = weights.sum(axis=1)
    return np.array(
        [
            math.fsum(each) / total if total else math.inf
            for each, total in zip(sums.tolist(), totals.tolist(), strict=True)
        ]
    )


class Muscle(Scheduler):
    """MUSCLE at a broker: it allocates jobs to its members in rounds.

    Attributes
    ----------
    members : list of Member
        The clusters and domains that it allocates jobs to.
    broker : A4Broker
        Where it is.
    round : int
        Its last round in which clusters got jobs, counted over all MUSCLEs of the run.
    booked : list of Booked
        How far each member is booked, as told or assumed since.
    left : list of float
        Makespan of what each member had left when last heard of, s.
    up : array of int, shape (clusters,)
        Processors that each cluster is known to have; those of others mean nothing.
    stream : array of uint64, shape (4,)
        Its own random numbers.
    mouldable : bool
        It chooses the sizes of jobs that may be moulded.
    """

    broker: Any
    stream: Stream
    mouldable = False

    def take_members(self, members: Sequence[Member], up: Ints) -> None:
        """Begin with these members, whose clusters have so many processors (by index)."""
        self.members = [*members]
        self.round = self._own_round = 0
        self.booked = [Booked.nothing(int(up[each.clusters].sum())) for each in self.members]
        self.left = [0.0] * len(self.members)
        self.up = up.copy()
        self._clusters = np.array([each.clusters[0] for each in self.members])
        self._is_domain = np.array([each.broker != NONE for each in self.members])
        self._domain_members: list[int] = np.flatnonzero(self._is_domain).tolist()
        # The clusters of all members, one member's after the other's, and whose each is.
        self._covered = np.concatenate([each.clusters for each in self.members])
        counts = [len(each.clusters) for each in self.members]
        self._begins = np.cumsum([0, *counts[:-1]])
        self._owner = np.repeat(np.arange(len(counts)), counts)
        self._told: dict[int, tuple[int, float]] = {}  # of clusters, by who gave back jobs
        # As of when members were heard of, s, and when they last reported.
        self._heard, self._reported = np.zeros((2, len(self.members)))
        self._member_of = dict(zip(self._covered.tolist(), self._owner.tolist(), strict=True))

    def receive(self, message: Message) -> None:
        """Note what a member reports, unless that is older than the last, or of an older round."""
        if isinstance(message, ScheduleReport):
            note_performance(self.model.rounds, message)
            member = self._member_of[message.cluster]
            before = self.booked[member]
            late = message.sent < self._reported[member]  # it was lost, and sent again
            if late or message.round < before.round:
                self._resize(member, len(message.release), message.sent)
            else:
                self._reported[member] = message.sent
                self._heard[member] = message.sent
                self.left[member] = message.makespan
                self.booked[member] = replace(
                    before, release=message.release, unfinished=message.unfinished
                )
        elif isinstance(message, JobsReturned):
            for cluster, told in message.known.items():
                if told[1] >= self._told.get(cluster, told)[1]:
                    self._told[cluster] = told

    def _resize(self, member: int, up: int, at: float) -> None:
        """Take a member to have as many processors as is told of the time `at` (s)."""
        if at > self._heard[member]:
            self._heard[member] = at
            self._fit(member, up)

    def _fit(self, member: int, up: int) -> None:
        """Take a member to have so many processors: of those it had, the last to be free."""
        booked = self.booked[member]
        if up != len(booked.release):
            latest = np.sort(booked.release)[::-1][:up][::-1]
            release = np.concatenate([np.zeros(up - len(latest)), latest])
            self.booked[member] = replace(booked, release=release)

    def _take_news(self, up: Ints, at: Floats) -> Floats:
        """Take the members to have what is told of each cluster (by index), as of when (s).

        Return as of when each cluster is known after all.
        """
        world = self.model.world
        up, at = up.copy(), at.copy()
        for cluster, (told_up, told_at) in self._told.items():
            if told_at >= at[cluster]:
                up[cluster], at[cluster] = min(up[cluster], told_up), told_at
        below, begins = self._covered, self._begins
        ups, ats = np.add.reduceat(up[below], begins), np.maximum.reduceat(at[below], begins)
        for member in np.flatnonzero(ats > self._heard).tolist():
            self._resize(member, int(ups[member]), float(ats[member]))
        returned = self._heard < world.state.returned_at[self._clusters]  # a job has come back
        for member in np.flatnonzero(returned & ~self._is_domain).tolist():
            self._fit(member, min(int(ups[member]), len(self.booked[member].release)))
        # What a member has reported may be newer; a domain tells only how many there are in all.
        booked = np.array([len(booked.release) for booked in self.booked])[self._owner]
        in_domain = self._is_domain[self._owner]
        up[below] = np.where(in_domain, np.minimum(up[below], booked), booked)
        at[below] = np.where(in_domain, at[below], self._heard[self._owner])
        self.up = up
        return at

    def _largest(self, jobs: Ints, up: Ints) -> Any:
        """Return the most processors that one cluster has for jobs: one number, or one for each."""
        world = self.model.world
        if not world.state.partial:
            return up.max()
        return np.where(world.jobs.can_run(jobs), up, 0).max(axis=1)

    def _times(self, slots: Ints) -> Floats:
        """Return the execution times of jobs on each member, s; infinity where they cannot run.

        On a domain that is the mean over its clusters that can hold the job, weighted by
        processors (ours).
        """
        times = self.model.pace.predict(slots)
        found = times[:, self._clusters]
        sizes = self.model.world.jobs["size"][slots, None]
        for domain in self._domain_members:
            clusters = self.members[domain].clusters
            able = (self.up[clusters] >= sizes) & np.isfinite(times[:, clusters])
            found[:, domain] = _weighted_means(
                times[:, clusters], np.where(able, self.up[clusters], 0)
            )
        return found

    def mould(self, slots: Ints) -> None:
        """Choose with how many processors jobs shall run, if it may (`agents.muscle.moulding`).

        Of the clusters that can hold it, a job is taken to run on one as they are on the average,
        weighted by processors.
        """
        model, jobs = self.model, self.model.world.jobs
        if not (self.mouldable and jobs.mouldable and len(slots)):
            return
        own, up = self._covered, self.up[self._covered]
        rows, sizes, times = [], [], []
        for slot in slots.tolist():
            of_job, processors = jobs.mouldings(slot)
            on_each = model.pace.predict_moulded(slot, of_job)[:, own]
            able = (up >= processors[:, None]) & np.isfinite(on_each)
            rows.append(of_job)
            sizes.append(processors)
            times.append(_weighted_means(on_each, np.where(able, up, 0)))
        release = np.concatenate([booked.release for booked in self.booked]) - model.now
        left = jobs["deadline"][slots] - model.now
        chosen = allot(sizes, times, left, np.maximum(release, 0.0))
        for slot, of_job, index in zip(slots.tolist(), rows, chosen, strict=True):
            if len(of_job) > 1:
                jobs.mould(slot, int(of_job[index]))

    def _is_due(self, slots: Ints) -> bool:
        """Tell whether a round with these jobs may start (`muscle`, Algorithm 4, step 1).

        It may if a member that can hold one of them is about to run dry.
        """
        world = self.model.world
        sizes = world.jobs["size"][slots]
        can_hold = self.up >= sizes.min()
        if world.state.partial:
            can_hold = ((self.up >= sizes[:, None]) & world.jobs.can_run(slots)).any(axis=0)
        holding = np.logical_or.reduceat(can_hold[self._covered], self._begins)
        left = min(compress(self.left, holding.tolist()))
        return bool(left <= self.model.round_threshold)

    def dispatch(self, slots: Ints) -> None:
        """Allocate jobs to the members and send them there, with a seed schedule each."""
        now, jobs = self.model.now, self.model.world.jobs
        sizes = jobs["size"][slots]
        times = self._times(slots)
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
        self._begin(result)
        self.hand_over(slots, result)
        numbers = jobs["number"][slots]
        spaces = _spaces(result, numbers, slots)
        in_order = result.order[np.argsort(result.start[result.order], kind="stable")]
        for member in np.unique(result.cluster).tolist():
            chosen = in_order[result.cluster[in_order] == member]
            durations = times[chosen, member]
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
            number = self._own_round if self._is_domain[member] else self.round
            self._book(member, number, seed, durations, leeway[chosen] - durations)
            self.broker.send(
                SeedSchedule,
                self._broker_of(member),
                round=number,
                jobs=tuple(numbers[chosen].tolist()),
                schedule=tuple(seed),
                finishes=tuple((result.start[chosen] + durations).tolist()),
                spaces=tuple(spaces[member]),
            )

    def hand_over(self, slots: Ints, result: Allocation) -> None:
        """Have the jobs go to the members that they were allocated to."""
        order = result.order[~self._is_domain[result.cluster[result.order]]]
        if len(order):
            members = result.cluster[order]
            self.send(slots[order], self._clusters[members], self._heard[members])

    def send(self, slots: Ints, clusters: Ints, as_of: Floats) -> None:
        """Have jobs go to clusters, of which is known what was true then (s)."""
        self.model.transfer(slots, clusters, as_of)

    def _begin(self, result: Allocation) -> None:
        """Note a round: of the run, if clusters get jobs in it, and of its own."""
        self._own_round += 1
        at_cluster = ~self._is_domain[result.cluster]
        if at_cluster.any():
            clusters = self._clusters[result.cluster[at_cluster]]
            jobs_of = np.bincount(clusters, minlength=self.model.world.clusters)
            rounds = self.model.rounds
            rounds.append(Round.begun(len(rounds) + 1, self.model.now, jobs_of))
            self.round = len(rounds)

    def _broker_of(self, member: int) -> Any:
        """Return the broker of a member."""
        model, found = self.model, self.members[member]
        if found.broker == NONE:
            return model.clusters[found.clusters[0]].broker
        return model.brokers[found.broker]

    def _book(
        self,
        member: int,
        number: int,
        seed: Sequence[Placement],
        durations: Floats,
        slacks: Floats,
    ) -> None:
        """Take a member to be booked as its new seed schedule, of a round, says."""
        booked, now = self.booked[member], self.model.now
        release = booked.release.copy()
        rows = []
        for placement, time, slack in zip(seed, durations, slacks, strict=True):
            finish = now + placement.start + time
            release[list(placement.resources)] = finish
            rows.append((finish, time, len(placement.resources), slack))
        self.booked[member] = Booked(
            booked.serial, number, release, np.concatenate([booked.unfinished, rows])
        )
        self.left[member] = self.booked[member].makespan(now)
