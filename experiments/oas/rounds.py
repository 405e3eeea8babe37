"""The rounds of a run: which jobs were dispatched together, and how they went."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.oas.optimality_gap import Went
from experiments.checks.input_jobs import RELATIVE, Given, Pair, counted_from, jobs_given, matched
from experiments.events.identity import Identity, identities, identity
from experiments.events.job_events import (
    FINISHED,
    PREEMPTED,
    REJECTED,
    RESTARTED,
    STARTED,
    SUBMITTED,
)
from experiments.events.log import EVENTS
from experiments.events.message_events import kind_of
from experiments.events.reading import events_of, fared_otherwise, submitted
from experiments.oas.away import away
from experiments.run.files import SUMMARY
from experiments.run.result_files import ResultFiles
from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant
from grid.platform.changes import DRAIN
from grid.platform.distance import DistanceCosts
from grid.world.layout import latencies


@dataclass(frozen=True)
class Round:
    """Jobs that were dispatched together.

    Attributes
    ----------
    number : int
        From 1, those of the warm-up included, as in the run.
    dispatched : float
        Seconds.
    jobs, earlier : list of Went
        Its jobs, and those that were dispatched before and had not all finished.
    away : list of Went
        Processors that were away during the run, or that jobs dispatched before held in vain until
        failures threw them back, as if jobs held them.
    sizes, rates : list of int, of float
        Of the clusters.
    whole : bool
        No job of the run was split that fits on a cluster.
    """

    number: int
    dispatched: float
    jobs: list[Went]
    earlier: list[Went]
    away: list[Went]
    sizes: list[int]
    rates: list[float]
    whole: bool


@dataclass
class LeftOut:
    """How many rounds of a run are compared with no optimum.

    Attributes
    ----------
    unfinished : int
        Some of their jobs never ended.
    given_back : int
        All their jobs were given back, and belong to the later rounds that dispatched them again.
    warmup : int
        Those of the warm-up.
    drained : int
        A drain began meanwhile: how long processors stay is a matter of who is on them.
    """

    unfinished: int = 0
    given_back: int = 0
    warmup: int = 0
    drained: int = 0


def rounds_of(
    folder: str | os.PathLike[str],
    events: str | None = None,
    workload: str | Sequence[str] | None = None,
    first: int | None = None,
) -> tuple[list[Round], LeftOut]:
    """Return rounds of a result, and how many are left out.

    Parameters
    ----------
    folder : path
        That ``metasched run --out`` wrote.
    events : path, optional
        Event log of a run in mode open; by default ``events.jsonl`` in the folder.
    workload : path, or sequence of ``name=path``, optional
        Where the logs are now.
    first : int, optional
        Only so many, after the warm-up; by default all.

    Raises
    ------
    GridError
        For what cannot be read, or a run without rounds.
    """
    result = ResultFiles.read(folder)
    _check_rounds(result)
    given = jobs_given(result, workload)
    if any(job.times is not None for job in given):
        raise GridError(
            f"{folder}: found jobs with execution times on each cluster, as of PACE; accepted: run "
            "times over the rates of clusters, for the optimum counts on one power for each"
        )
    pairs = matched(result, given)
    for row, job, _ in pairs:
        if job is None:
            raise GridError(
                f"{folder}: job {row.job}: found in jobs.csv only; accepted: one of the workload"
            )
        for name in row.placement:
            if name not in result.platform.names:
                known = meant(name, result.platform.names)
                raise GridError(f"{folder}: job {row.job}: no cluster {quoted(name)}; {known}")
    if any(job.batch is not None for job in given):
        if events is not None:
            raise GridError("--events: found for a run in mode batch; accepted: for one in open")
        of_round, counts = _batches(pairs, given)
        others, lost = list[tuple[int, Pair]](), list[tuple[int, Went]]()
    else:
        path = Path(folder) / EVENTS if events is None else Path(events)
        of_round, counts, others, lost = _dispatched(result, pairs, path)
    names = result.platform.names
    sizes = [cluster.size for cluster in result.platform.clusters]
    rates = [cluster.rate for cluster in result.platform.clusters]
    whole = all(len(row.placement) <= 1 or row.size > max(sizes) for row, _, _ in pairs)
    costs = _Costs.of(result, pairs)
    ways = _Ways.of(result, of_round)
    alone = [(after, _went(pair, names, costs)) for after, pair in others]
    gone, drains = away(result), [x.at for x in result.platform.changes if x.what == DRAIN]
    rounds: list[Round] = []
    before: list[Went] = []
    since = counted_from(pairs, given, result.parameters.warmup)
    warmup = sum(at < since for at, _ in of_round.values())
    left_out = LeftOut(warmup=warmup)
    for number, (dispatched, members) in sorted(of_round.items())[: first and warmup + first]:
        started = (pair for pair in members if pair.row.start is not None)
        went = [_went(pair, names, costs, ways.of_job(pair)) for pair in started]
        before = [each for each in before if each.finish > dispatched]
        if dispatched < since:
            pass
        elif went and any(dispatched < at < max(each.finish for each in went) for at in drains):
            left_out.drained += 1
        elif went and len(members) == counts[number]:
            running = [each for after, each in alone if after < number and dispatched < each.finish]
            earlier = before + running
            in_vain = [each for of, each in lost if of < number and dispatched < each.finish]
            taken = gone + in_vain
            rounds.append(Round(number, dispatched, went, earlier, taken, sizes, rates, whole))
        elif counts[number]:
            left_out.unfinished += 1
        else:
            left_out.given_back += 1
        before = before + went
    if not rounds:
        among = "" if first is None else f" among the first {first:,}"
        undrained = ", with no drain meanwhile" if left_out.drained else ""
        raise GridError(
            f"{folder}: found no round{among} whose jobs all ended{undrained}; accepted: a run "
            "with such a one"
        )
    return rounds, left_out


def _check_rounds(result: ResultFiles) -> None:
    """Refuse a run without rounds, or one of which nobody knows what was up during them."""
    where, parameters = result.folder / SUMMARY, result.parameters
    if parameters.mode != "batch" and result.summary["metrics"].get("rounds", 0) is None:
        raise GridError(
            f"{where}: metrics.rounds: found none; accepted: a run in mode batch, or one of MUSCLE "
            "in mode open"
        )
    for key, alone in (("levels", 1), ("domains", ())):
        if getattr(parameters, key, alone) != alone:
            raise GridError(
                f"{where}: parameters.{key}: found several MUSCLEs; accepted: one, for of what "
                "each of several dispatches, the optimum does not know the ways of the orders"
            )
    if parameters.mean_up_time > 0:
        raise GridError(
            f"{where}: parameters.mean_up_time: found {parameters.mean_up_time:g}; accepted: 0, "
            "since which processors had failed by chance is nowhere written"
        )


def _batches(
    pairs: Sequence[Pair], given: Sequence[Given]
) -> tuple[dict[int, tuple[float, list[Pair]]], dict[int, int]]:
    """Return the dispatch and the jobs of each round in mode batch, and how many jobs it had.

    Jobs that were all rejected are no round, for nobody dispatched them.
    """
    had = Counter(job.batch or 0 for job in given)
    of_batch: dict[int, tuple[float, list[Pair]]] = {}
    for pair in pairs:
        assert pair.given is not None
        of_batch.setdefault(pair.given.batch or 0, (pair.row.arrival, []))[1].append(pair)
    dispatched = [
        batch
        for batch, (_, members) in sorted(of_batch.items())
        if len(members) < had[batch] or any(pair.row.start is not None for pair in members)
    ]
    found = {number: of_batch[batch] for number, batch in enumerate(dispatched, 1)}
    return found, {number: had[batch] for number, batch in enumerate(dispatched, 1)}


def _dispatched(
    result: ResultFiles, pairs: Sequence[Pair], path: Path
) -> tuple[
    dict[int, tuple[float, list[Pair]]],
    dict[int, int],
    list[tuple[int, Pair]],
    list[tuple[int, Went]],
]:
    """Return the dispatch and the jobs of each round of MUSCLE, and how many jobs it had.

    A job that a cluster gave back belongs to the round that it was dispatched in last. Those that
    are in no round, since the scheduler started them itself, come then, each with the number of the
    round before; and last, with that of the round that it was of, what jobs held in vain until a
    failure threw them back.
    """
    last: dict[Identity, int] = {}  # round of each job; 0 for none
    times: dict[int, float] = {}
    started: dict[Identity, tuple[float, int]] = {}  # when, and after which round
    held: dict[Identity, Mapping[str, int]] = {}
    lost: list[tuple[int, Went]] = []
    ended: defaultdict[tuple[int, float, float], list[Identity]] = defaultdict(list)
    number, clusters = 0, {*result.platform.names}
    for event in events_of(path, result.summary, "gap"):
        kind = kind_of(event)
        if kind == "SeedSchedule" and event["receiver"] in clusters:
            number = event["round"]
            times.setdefault(number, event["sent"])
            last.update((job, number) for job in identities(event))
        elif kind == SUBMITTED:
            last[submitted(event, last, path)] = 0
        elif kind == STARTED:
            job = identity(event)
            started[job], held[job] = (event["time"], number), event["placement"]
        elif kind in (RESTARTED, PREEMPTED) and (job := identity(event)) in started:
            begun, after = started.pop(job)
            nodes = tuple(held[job].get(name, 0) for name in result.platform.names)
            went = Went(event["time"] - begun, begun, event["time"], nodes)
            lost.append((last.get(job) or after, went))
        elif kind == FINISHED and (job := identity(event)) in started:
            ended[job.number, started[job][0], event["time"]].append(job)
        elif kind == REJECTED:
            last.pop(identity(event), None)
    found: dict[int, tuple[float, list[Pair]]] = {of: (at, []) for of, at in times.items()}
    others = []
    for pair in pairs:
        row = pair.row
        if row.start is None or row.finish is None:
            continue
        if not (jobs := ended[row.job, row.start, row.finish]) or (job := jobs.pop()) not in last:
            raise GridError(f"{path}: {fared_otherwise(row.job, result.folder)}")
        if last[job]:
            found[last[job]][1].append(pair)
        else:
            others.append((started[job][1], pair))
    counts = Counter(last.values())
    return found, counts, others, lost


@dataclass(frozen=True)
class _Costs:
    """What makes jobs of a run last longer than its clusters are slow.

    Attributes
    ----------
    split : bool
        Some that do not communicate did when they were split, as by a fixed penalty.
    staging : bool
        Jobs wait for their data elsewhere than where they were submitted.
    """

    split: bool
    staging: bool

    @classmethod
    def of(cls, result: ResultFiles, pairs: Sequence[Pair]) -> _Costs:
        rates = {each.name: each.rate for each in result.platform.clusters}
        costs = result.parameters.of(DistanceCosts)
        longer = False
        for row, job, _ in pairs:
            if job is not None and row.start is not None and row.finish and len(row.placement) > 1:
                needs = job.runtime / min(rates.get(name, 1.0) for name in row.placement)
                longer |= row.finish - row.start > needs + RELATIVE * row.finish
        return cls(longer, costs.staging_time > 0 or costs.staging_data > 0)


@dataclass(frozen=True)
class _Ways:
    """How long messages are on their way before a job can start.

    Attributes
    ----------
    names : sequence of str
        Of the clusters.
    delays : list of float
        Seconds of a message between each cluster and the global broker.
    told : bool
        The scheduler is told of jobs that were submitted through clusters after the dispatch.
    sent : bool
        Jobs are sent to clusters; a scheduler that starts them itself does so at once.
    """

    names: Sequence[str]
    delays: list[float]
    told: bool = False
    sent: bool = False

    @classmethod
    def of(cls, result: ResultFiles, of_round: Mapping[int, tuple[float, Sequence[Pair]]]) -> _Ways:
        """Return the longest ways that no job of the run was faster than."""
        platform, parameters = result.platform, result.parameters
        delays = latencies(platform, parameters.latency).tolist()
        batch = parameters.mode == "batch"
        for told, sent in ((batch, True), (batch, False)):
            ways = cls(platform.names, delays, told, sent)
            if all(ways.kept_by(pair, at) for at, pairs in of_round.values() for pair in pairs):
                return ways
        return cls(platform.names, delays)

    def kept_by(self, pair: Pair, dispatched: float) -> bool:
        """Tell whether a job of a round was no faster, but for what clocks round."""
        row = pair.row
        if row.start is None:
            return True
        ways = self.of_job(pair)
        way = max(ways[self.names.index(name)] for name in row.placement)
        return dispatched + way <= row.start * (1 + RELATIVE)

    def of_job(self, pair: Pair) -> tuple[float, ...]:
        """Return how long it takes at least from the dispatch to each cluster, s.

        One that was submitted through a cluster is there: the order goes to that.
        """
        origin = None if pair.given is None else pair.given.origin
        home = None if origin is None else self.names.index(origin)
        back = 0.0 if home is None else self.delays[home]
        return tuple(
            back * self.told + (delay + 2 * back * (cluster != home)) * self.sent
            for cluster, delay in enumerate(self.delays)
        )


def _went(pair: Pair, names: Sequence[str], costs: _Costs, delays: tuple[float, ...] = ()) -> Went:
    """Return a job as it went."""
    row, job, _ = pair
    assert job is not None
    assert row.start is not None
    assert row.finish is not None
    return Went(
        job.runtime,
        row.start,
        row.finish,
        tuple(row.placement.get(name, 0) for name in names),
        slowed=costs.split or job.communication > 0,
        home=names.index(job.origin) if costs.staging and job.origin is not None else None,
        delays=delays,
    )
