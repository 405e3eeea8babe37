"""Slurm as a local scheduler: when its loops run, and on what."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agents.messages import Message
from agents.protocols import Cluster, Grid
from agents.schedulers import PlanningScheduler
from agents.slurm.backfill import Chosen, Space, backfill, serve_in_order
from agents.slurm.conf import Conf, Priority
from agents.slurm.conf_reader import read_conf
from agents.slurm.maintenance import Closed, closed
from agents.slurm.nodes import Mask, Occupied, processors_of
from agents.slurm.partitions import Filing, Machine
from agents.slurm.preemption import Candidate, Room, in_order
from agents.slurm.priority import age_factor, partition_factor, priority, qos_factor, size_factor
from agents.slurm.qos import InUse, Qos, read_qos
from agents.slurm.records import with_included
from agents.slurm.ticks import next_tick, ticked
from agents.slurm.usage import Association, Usage, classic, fair_tree
from agents.slurm.waiting import MINUTE, Entry, Waiting, hindrance, lack_of_nodes, time_limit
from grid.errors import GridError, blaming
from grid.kernel.state import FREE
from grid.named_files import alone
from grid.settings import Checked, setting
from grid.workloads.table import Table


@dataclass(frozen=True)
class SlurmSettings(Checked):
    """Of Slurm."""

    group = "Slurm"

    slurm_conf: str = setting(
        "",
        "A slurm.conf, which may have what scontrol show prints behind it; none: the defaults of "
        "Slurm, with one partition, and each processor a node.",
        files=with_included,
    )
    slurm_partitions: dict[str, str] = setting(
        {},
        'Partition of slurm_conf for those that a log names otherwise, such as {"1" = "main"}.',
    )
    slurm_qos: str = setting(
        "",
        "What sacctmgr -P show qos prints: limits and priorities of each QOS; none: no job has "
        "one.",
        files=alone,
    )

    @property
    def qualities(self) -> dict[str, Qos]:
        """What its file of qualities of service says, by name.

        Raises
        ------
        GridError
            If it cannot be used.
        """
        with blaming("slurm_qos"):
            return read_qos(self.slurm_qos, self.preempts_by_qos) if self.slurm_qos else {}

    @property
    def preempts_by_qos(self) -> bool:
        """Whether qualities of service tell whose jobs preempt whose."""
        preemption = self.conf.preemption
        return preemption is not None and preemption.by_qos

    @property
    def conf(self) -> Conf:
        """What its file says.

        Raises
        ------
        GridError
            If it cannot be used.
        """
        with blaming("slurm_conf"):
            return read_conf(self.slurm_conf) if self.slurm_conf else Conf()


class SlurmScheduler(PlanningScheduler):
    """Slurm, by its documentation: priorities, partitions and backfilling as slurm.conf says.

    The main loop (`agents.slurm.backfill.serve_in_order`) runs when jobs land or end, but not again
    within ``batch_sched_delay``, and over the whole queue each ``sched_interval``. Backfilling runs
    each ``bf_interval``, unless nothing has changed since and nothing was planned for now.
    Priorities are worked out when a job lands, and all anew each ``PriorityCalcPeriod``.
    """

    plans_at_ends: ClassVar[bool] = True
    settings_type = SlurmSettings

    @classmethod
    def tracks(cls, model: Grid) -> bool:
        """Tell that it names the processors of each job: those of its nodes."""
        return True

    def __init__(self, model: Grid, cluster: Cluster) -> None:
        super().__init__(model, cluster)
        self.conf = self.settings.conf
        self.preempts = self.conf.preemption is not None
        self.machine = Machine(self.conf, cluster.name, cluster.size)
        if self.settings.preempts_by_qos and not self.settings.slurm_qos:
            raise GridError("slurm_conf: PreemptType: found preempt/qos; accepted: with slurm_qos")
        table = model.workload if isinstance(model.workload, Table) else None
        settings, qualities = self.settings, self.settings.qualities
        self.filing = Filing(self.conf, table, settings.slurm_partitions, qualities)
        self._largest_qos = max((each.priority for each in qualities.values()), default=0)
        self.closed: list[Closed] = closed(self.conf, self.machine, table)
        self._openings = sorted(each.end for each in self.closed)
        self._waiting: dict[int, Entry] = {}
        self._running: dict[int, Entry] = {}
        self._usage = Usage(self.conf.priority.half_life if self.conf.priority else math.inf)
        self._factors: dict[Association, float] = {}
        self._calculated = self._last_main = self._last_full = self._last_backfill = -math.inf
        self._changed = self._deep = self._asked = self._woken = False
        self._following = self._wakes = math.inf
        self._reminders = 0  # serial of the last one

    def hindrance(self, slot: int) -> str:
        """Return why the partition or the QOS of a waiting job never lets it start, in words."""
        return self._waiting[slot].job.hindrance if slot in self._waiting else ""

    def receive(self, message: Message) -> None:
        """Take a seed schedule, or the reminder that a loop is due."""
        if message.receiver != self.name:  # it is not a reminder of its own loops
            super().receive(message)

    def act(self) -> None:
        """Run the loops that are due."""
        self._serve()

    def replan(self) -> None:
        """Run the loops that are due, since jobs have landed or ended, or processors changed."""
        world, index = self.model.world, self.cluster.index
        landed = self._look()
        running = [*world.jobs.running(index)[0].tolist(), *self._starting()]
        ended = self._usage.end_others(running, self.model.now)
        self._running = {slot: self._running[slot] for slot in running if slot in self._running}
        self._asked |= ended or not landed or not self.conf.scheduling.defer
        self._changed = self._deep = True
        self._serve()

    def _serve(self) -> None:
        """Run the loops that are due; tell MUSCLE, and be reminded of the next one.

        They wait if jobs that they have started at this instant do not yet run.
        """
        starting = self._starting()
        if self._waiting and not starting:
            self._run()
        if self.reports.seeds:
            self.reports.tell()
        else:
            self.reports.renew()
        self._remind(at_once=bool(starting))

    # Jobs ---------------------------------------------------------------------------------------

    def _starting(self) -> list[int]:
        """Return the jobs that have been started at this instant, and do not yet run."""
        jobs = self.model.world.jobs
        starting: list[int] = jobs.planned(jobs.waiting(self.cluster.index)).tolist()
        return starting

    def _look(self) -> bool:
        """Take jobs that landed among the waiting; tell whether any did."""
        jobs = self.model.world.jobs
        starting = {*self._starting()}
        waiting = jobs.waiting(self.cluster.index).tolist()
        slots = [slot for slot in waiting if slot not in starting]
        submissions = jobs["submission"][slots].tolist()
        before, self._waiting = self._waiting, {}
        for slot, submission in zip(slots, submissions, strict=True):
            known = before.get(slot)
            if known is None or known.submission != submission:
                known = self._landed(slot, submission)
            self._waiting[slot] = known
        return not before.keys() >= self._waiting.keys()

    def _landed(self, slot: int, submission: int) -> Entry:
        world = self.model.world
        jobs = world.jobs
        account, part, qos, ran_over = self.filing.of(submission)
        limit = time_limit(world, slot, self.cluster.index, min(part.max_time, qos.wall))
        user = int(jobs["user"][slot])
        size = int(jobs["size"][slot])
        mask = self.machine.mask(part.nodes)
        waiting = Waiting(slot, size, limit, user, part, mask, world.now, 0, qos)
        free, weights = np.where(mask, self.machine.cpus, 0), self.machine.weights
        lacking = lack_of_nodes(waiting, free, weights)
        waiting = waiting._replace(hindrance=hindrance(waiting, ran_over, lacking))
        entry = Entry(waiting, Association(account, user), submission)
        self._usage.know(entry.association)
        self._rank(entry)
        return entry

    # Priorities ---------------------------------------------------------------------------------

    def _rank(self, entry: Entry) -> None:
        """Give a job the priority that it has now; 0 where only the time of submission counts."""
        settings, job = self.conf.priority, entry.job
        if settings is None:
            return
        now, machine = self.model.now, self.machine
        found = priority(
            (
                age_factor(now - job.since, settings),
                self._factors.get(entry.association, 1.0),
                size_factor(job.size, job.nodes[0], job.limit, machine.sizes, settings),
                partition_factor(job.partition, machine.largest_factor, settings),
                qos_factor(job.qos, self._largest_qos),
            ),
            settings,
        )
        if settings.increases_only:
            found = max(found, job.priority)
        entry.job = job._replace(priority=found)

    def _calculate(self, settings: Priority) -> None:
        """Work all priorities out anew, once a period."""
        if not ticked(self._calculated, self.model.now, settings.calc_period):
            return
        self._calculated = self.model.now
        if settings.fair_share:
            self._usage.look(self.model.now)
            self._factors = (fair_tree if settings.fair_tree else classic)(self._usage.used)
        for entry in self._waiting.values():
            self._rank(entry)
        self._changed = True

    # Loops --------------------------------------------------------------------------------------

    def _run(self) -> None:
        """Run the loops that are due now, and have those started that they start."""
        now, options = self.model.now, self.conf.scheduling
        if self._openings and self._openings[0] <= now:
            self._openings = [each for each in self._openings if each > now]
            self._asked = self._changed = self._deep = True
        if self._wakes <= now:
            self._changed = self._deep = self._woken = True
        if self.conf.priority is not None:
            self._calculate(self.conf.priority)
        full = self._deep and ticked(self._last_full, now, options.sched_interval)
        main = full or (self._asked and now >= self._last_main + options.batch_sched_delay)
        main &= options.sched_interval < math.inf
        again = self._changed or self._following <= now
        back = options.backfilling and again
        back = back and ticked(self._last_backfill, now, options.bf_interval)
        if not (main or back):
            return
        there = self._occupied()
        in_use = InUse(entry.job.counted for entry in self._running.values())
        room = Room(self.conf.preemption, self._candidates(), there, in_use)
        queue = [entry.job for entry in in_order(self._waiting.values(), self.conf.preemption)]
        started: list[Chosen] = []
        if main:
            depth = len(queue) if full else options.default_queue_depth
            started = serve_in_order(queue, there, self._space(now), in_use, options, depth, room)
            self._last_main, self._asked = now, False
            if full:
                self._last_full, self._deep, self._woken = now, False, False
        if back:
            gone = {job.slot for job, _ in started}
            left = (job for job in queue if job.slot not in gone)
            more, self._following = backfill(left, there, self._space(now), in_use, options, room)
            self._last_backfill, self._changed = now, bool(more)
            started += more
        self._start(started, room.preempted)

    def _candidates(self) -> list[Candidate]:
        """Return the jobs that run, in order of submission."""
        starts = self.model.world.jobs["start"]
        entries = sorted(self._running.items(), key=lambda item: item[1].submission)
        return [Candidate(entry.job, starts.item(slot)) for slot, entry in entries]

    def _space(self, now: float) -> Space:
        space = Space(now, now + self.conf.scheduling.bf_window, self.machine.sizes.nodes)
        for each in self.closed:  # a job whose limit ends as it begins is not in its way
            space.reserve(math.nextafter(each.begin, math.inf), each.end, each.mask)
        return space

    def _idle(self) -> Mask:
        """Return which processors are idle."""
        processors, holders = self.model.world.jobs.holders(self.cluster.index)
        idle = np.zeros(self.machine.sizes.processors, np.bool_)
        idle[processors[holders == FREE]] = True
        return idle

    def _occupied(self) -> Occupied:
        """Return what is free and runs on each node."""
        world, machine, now = self.model.world, self.machine, self.model.now
        processors, holders = world.jobs.holders(self.cluster.index)
        slots, _, ends = self.cluster.expected_ends()
        limits = MINUTE * np.ceil(world.jobs["predicted_time"][slots] / MINUTE - 1e-9)
        ends = np.maximum(ends, world.jobs["start"][slots] + limits)
        overdue = ends <= now
        ends[overdue] = now + self.conf.scheduling.bf_resolution
        row = np.full(len(world.jobs.slots), -1)
        row[slots] = np.arange(len(slots))
        held = np.zeros((len(slots), machine.sizes.nodes), np.int64)
        busy = holders != FREE
        np.add.at(held, (row[holders[busy]], machine.node_of[processors[busy]]), 1)
        free = np.bincount(machine.node_of[processors[~busy]], minlength=machine.sizes.nodes)
        linear = self.conf.scheduling.bf_window_linear
        return Occupied(now, free, machine.weights, ends, held, linear, slots)

    def _requeue(self, slot: int, by: int) -> None:
        """Stop a job for another one; it may start again some time later."""
        preemption, now = self.conf.preemption, self.model.now
        assert preemption is not None
        self.model.world.jobs.preempt(slot, by)
        entry = self._waiting[slot] = self._running.pop(slot)
        entry.job = entry.job._replace(since=now + preemption.requeue_delay)
        if self.conf.priority is not None:  # else it keeps the priority of its first submission
            entry.submitted = now
            self._rank(entry)

    def _start(self, started: list[Chosen], preempted: Mapping[int, int]) -> None:
        """Hand the jobs that start, each with its processors, to the cluster as its plan.

        Parameters
        ----------
        started : list of Chosen
        preempted : mapping of int to int
            Those that are stopped before, and each for which one: slots.
        """
        if not started:
            return
        for slot, by in preempted.items():
            self._requeue(slot, by)
        self._usage.end_others(self._running.keys(), self.model.now)
        idle = self._idle()
        order = [job.slot for job, _ in started]
        resources = [processors_of(alloc, self.machine.first, idle) for _, alloc in started]
        for slot in order:
            entry = self._waiting.pop(slot)
            self._running[slot] = entry
            self._usage.begin(slot, entry.association, entry.job.size, self.model.now)
        self.model.world.plan(self.cluster.index, order, resources)

    # Time ---------------------------------------------------------------------------------------

    def _remind(self, at_once: bool) -> None:
        """Have itself reminded of the next loop that is due, if any is, or to look again."""
        self._reminders += 1
        self._wakes = min(self._later(), default=math.inf)
        due = min(self._due(), default=math.inf) if self._able() else math.inf
        due = self.model.now if at_once else due
        self.model.remind(self.name, due, self._reminders)

    def _later(self) -> Iterator[float]:
        """Yield when waiting jobs may start, or running ones be preempted, that may not now, s."""
        now, preemption = self.model.now, self.conf.preemption
        if preemption is None:
            return
        yield from (e.job.since for e in self._waiting.values() if e.job.since > now)
        ends = (each.exempt_until(preemption) for each in self._candidates())
        yield from (end for end in ends if end > now)

    def _due(self) -> Iterator[float]:
        """Yield when which loop is due, s."""
        now, options, settings = self.model.now, self.conf.scheduling, self.conf.priority
        if self._wakes < math.inf:
            before = math.nextafter(self._wakes, 0)
            yield next_tick(before, options.sched_interval)
            yield next_tick(before, options.bf_interval if options.backfilling else math.inf)
        if self._asked and options.sched_interval < math.inf:
            yield self._last_main + options.batch_sched_delay
        if self._deep and (self._woken or len(self._waiting) > options.default_queue_depth):
            yield next_tick(now, options.sched_interval)
        yield from self._openings[:1]
        wanted = now if self._changed else self._following
        if options.backfilling and wanted < math.inf:
            tick = next_tick(now, options.bf_interval)
            yield max(tick, next_tick(math.nextafter(wanted, 0), options.bf_interval))
        changes = settings is not None and (settings.age or settings.fair_share)
        if settings is not None and changes and (self._running or self._following < math.inf):
            yield next_tick(now, settings.calc_period)

    def _able(self) -> bool:
        """Tell whether a waiting job may start at all."""
        return any(entry.job.able for entry in self._waiting.values())
