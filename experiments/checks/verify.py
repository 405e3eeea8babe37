"""Checks of a result against its platform and its workload, written to be read.

Nothing here comes from the kernel that made the result, nor from what worked out its metrics: a
result that passes was made right, or wrong twice in the same way. The workload is read, or drawn,
again.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from experiments.checks.distance import Distances
from experiments.checks.electricity import electricity, electricity_verdicts
from experiments.checks.failures import used_while_away, wrong_losses
from experiments.checks.input_jobs import (
    RELATIVE,
    Given,
    Pair,
    class_names,
    counted_from,
    jobs_given,
    matched,
)
from experiments.checks.intervals import intervals_verdict
from experiments.checks.recomputed import Done, classes_of, metrics_of, origins_of
from experiments.checks.unchecked import unchecked
from experiments.checks.users import numbers_of_users, users_of, wrong_count, wrong_users
from experiments.checks.verdicts import Verdict
from experiments.run.files import USERS
from experiments.run.result_files import ResultFiles, Row, read_users
from experiments.show.numbers import counted, first_of
from grid.platform.distance import DistanceCosts
from grid.world.validation import IMPOSSIBLE

OF_ROUNDS = re.compile("/(mcp|pb|cp)(_overall)?$")
"""Numbers that a run without rounds does not have."""

OF_THE_JOB = re.compile(
    "bounded_slowdown|deadline|migrated|staging|penalty|/gini_|^users/|origins/|/(mcp|pb|cp)(_overall)?$"
)
"""Numbers that need to know which job of the workload a row is of."""

Problems = Iterator[str]


def verify(
    folder: str | os.PathLike[str], workload: str | Sequence[str] | None = None
) -> list[Verdict]:
    """Check a result.

    Parameters
    ----------
    folder : path
        That ``metasched run --out`` wrote.
    workload : path, or sequence of ``name=path``, optional
        Where the logs are now; by default as the run was given them.

    Raises
    ------
    GridError
        If the result or the workload cannot be read.
    """
    result = ResultFiles.read(folder)
    jobs = jobs_given(result, workload)
    pairs = matched(result, jobs)
    done = _done(pairs, result)
    rows = result.rows
    ran = [row for row in rows if row.start is not None or row.finish is not None]
    return [
        Verdict.of(
            "all jobs are accounted for", _counts(result, len(jobs)), counted(len(rows), "job")
        ),
        Verdict.of("jobs are those of the workload", _identity(pairs), _source(result)),
        Verdict.of("jobs are in order of arrival", _order(rows), counted(len(rows), "arrival")),
        *(
            [Verdict.of("rounds follow each other", _rounds(pairs), "arrivals of mode batch")]
            if any(job.batch is not None for job in jobs)
            else []
        ),
        Verdict.of("placements fit", _placements(rows, result), counted(len(ran), "placement")),
        Verdict.of(
            "rejected jobs did not run",
            _rejected(pairs, result),
            counted(len(rows) - len(ran), "job"),
        ),
        Verdict.of("no job starts before its arrival", _starts(ran), counted(len(ran), "start")),
        Verdict.of("durations are right", _durations(pairs, result), counted(len(ran), "duration")),
        Verdict.of("no processor is held twice", _held(ran, result), _clusters(result)),
        *_changes(ran, result),
        intervals_verdict(result),
        *electricity_verdicts(done, result),
        *_users(pairs, jobs, done, result),
        _numbers_verdict(pairs, jobs, done, result),
    ]


def _changes(ran: Sequence[Row], result: ResultFiles) -> list[Verdict]:
    if not (changes := result.platform.changes):
        return []
    of_what = counted(len(changes), "planned change")
    return [
        Verdict.of("no processor is used while it is away", used_while_away(ran, result), of_what)
    ]


def _users(
    pairs: Sequence[Pair], jobs: Sequence[Given], done: Sequence[Done], result: ResultFiles
) -> list[Verdict]:
    """Return whether the file of users is right, if there are users and it can be told."""
    written = read_users(result)
    since = counted_from(pairs, jobs, result.parameters.warmup)
    if not all(pair.sure for pair in pairs) or not (written or result.summary.get("users")):
        return []
    wrong = wrong_users(written, users_of(done, since))
    return [Verdict.of("users are right", wrong, f"{len(written):,} rows of {USERS}")]


def _clusters(result: ResultFiles) -> str:
    return first_of([f"{each.name} ({each.size})" for each in result.platform.clusters], 8)


def _source(result: ResultFiles) -> str:
    source = result.summary["workload"]
    if source is None:
        return "drawn again from the seed"
    return f"read again: {source if isinstance(source, str) else ', '.join(source)}"


# The checks: each yields what is wrong -----------------------------------------------------------


def _counts(result: ResultFiles, given: int) -> Problems:
    summary, rows = result.summary, result.rows
    counts = summary["jobs"]
    rejected = sum(row.start is None for row in rows)
    left = summary.get("unfinished", 0)
    for name, found in (
        ("submitted", len(rows) + left),
        ("completed", len(rows) - rejected),
        ("rejected", rejected),
    ):
        if counts.get(name) != found:
            yield f"{name}: the summary has {counts.get(name)}, jobs.csv makes it {found}"
    if not summary.get("interrupted") and len(rows) + left != given:
        yield f"the workload has {given} jobs, {len(rows) + left} are accounted for"
    if summary["rejected_jobs"] != [row.job for row in rows if row.start is None]:
        yield "rejected_jobs: not those without a start in jobs.csv"


def _identity(pairs: Sequence[Pair]) -> Problems:
    for row, job, sure in pairs:
        if job is None:
            yield f"job {row.job}: not in the workload, or more often than there"
        elif job.size != row.size:
            yield f"job {row.job}: size {row.size}; the workload has {job.size}"
        elif job.batch is None and job.arrival != row.arrival:
            yield f"job {row.job}: arrival {row.arrival}; the workload has {job.arrival}"
        elif sure and row.whose and row.whose != job.whose:
            yield f"job {row.job}: {_told(row.whose)}; the workload has {_told(job.whose)}"


def _told(whose: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {text or 'unknown'}" for name, text in whose.items())


def _rounds(pairs: Sequence[Pair]) -> Problems:
    """Find jobs that do not arrive with their round, and rounds before the end of the last."""
    begun: dict[int, float] = {}
    ended: dict[int, float] = {}
    for row, job, _ in pairs:
        if job is None or job.batch is None:
            continue
        arrival = begun.setdefault(job.batch, row.arrival)
        if row.arrival != arrival:
            yield f"job {row.job}: arrives at {row.arrival}, its round {job.batch + 1} at {arrival}"
        ended[job.batch] = max(ended.get(job.batch, arrival), row.finish or arrival)
    for before, batch in pairwise(sorted(begun)):
        if begun[batch] < ended[before]:
            yield f"round {batch + 1}: arrives at {begun[batch]}; the one before ends later"


def _order(rows: Sequence[Row]) -> Problems:
    for before, row in pairwise(rows):
        if (row.arrival, row.job) < (before.arrival, before.job):
            yield f"job {row.job}: belongs before job {before.job}, which is above it"


def _placements(rows: Sequence[Row], result: ResultFiles) -> Problems:
    sizes = {each.name: each.size for each in result.platform.clusters}
    for row in rows:
        for name, held in row.placement.items():
            if name not in sizes:
                yield f"job {row.job}: no cluster {name!r} in the platform"
            elif not 1 <= held <= sizes[name]:
                yield f"job {row.job}: {held} processors of {name}, which has {sizes[name]}"
        if row.placement and sum(row.placement.values()) != row.size:
            yield f"job {row.job}: size {row.size}, on {sum(row.placement.values())} processors"


def _rejected(pairs: Sequence[Pair], result: ResultFiles) -> Problems:
    sizes = {each.name: each.size for each in result.platform.clusters}
    reasons = result.summary["rejections"]
    refused = reasons.get(IMPOSSIBLE, 0)
    if (rejected := len(result.summary["rejected_jobs"])) != sum(reasons.values()):
        yield f"rejections: the summary has {sum(reasons.values())}, and {rejected} rejected_jobs"
    for row, job, _ in pairs:
        times = {} if job is None or job.times is None else job.times
        largest = max(of for name, of in sizes.items() if times.get(name, 0.0) < math.inf)
        if row.start is None and row.size <= largest and (refused := refused - 1) < 0:
            yield f"job {row.job}: size {row.size}, but a cluster has {largest} processors"


def _starts(ran: Sequence[Row]) -> Problems:
    for row in ran:
        if row.start is not None and row.start < row.arrival:
            yield f"job {row.job}: arrives at {row.arrival}, starts at {row.start}"


_SHARING = ("first-fit", "a1", "b1", "b2", "b3", "b4", "adaptive", "oas")
"""Policies whose split jobs share links; of a user's own nobody knows."""


def _durations(pairs: Sequence[Pair], result: ResultFiles) -> Problems:
    rates = {each.name: each.rate for each in result.platform.clusters}
    distances = Distances(result.platform, result.parameters.of(DistanceCosts))
    slowed = result.summary["global"] in _SHARING
    for row, job, sure in pairs:
        if job is None or row.start is None or row.finish is None or not row.placement or not sure:
            continue  # told by other checks, or by nothing
        found, right = row.finish - row.start, job.dedicated(row, rates)
        if slowed:
            right *= 1 + job.communication * distances.lag(row.placement)
        right += distances.staging(job.origin, row.placement)
        rounding = RELATIVE * max(abs(row.finish), right)
        if math.isnan(right):  # on a cluster that there is not, as another check tells
            continue
        if len(row.placement) == 1 and not abs(found - right) <= rounding:
            yield f"job {row.job}: runs for {found} s; its execution time is {right} s"
        elif len(row.placement) > 1 and not found >= right - rounding:
            yield f"job {row.job}: runs for {found} s; even with its links alone, {right} s"


def _held(ran: Sequence[Row], result: ResultFiles) -> Problems:
    """Find instants at which more processors of a cluster are held than it has."""
    changes: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
    for row in ran:
        if row.start is None or row.finish is None or row.finish <= row.start:
            continue
        for name, taken in row.placement.items():
            changes[name] += [(row.start, taken, row.job), (row.finish, -taken, row.job)]
    for cluster in result.platform.clusters:
        held = 0
        # At one instant processors fall free before others are taken.
        for time, change, job in sorted(changes[cluster.name]):
            held += change
            if held > cluster.size:
                yield (
                    f"{cluster.name} at {time} s: job {job} makes it {held} processors held, of "
                    f"{cluster.size}"
                )
                break


# The numbers of the summary -----------------------------------------------------------------------


def _done(pairs: Sequence[Pair], result: ResultFiles) -> list[Done]:
    """Return the jobs that were completed."""
    rates = {each.name: each.rate for each in result.platform.clusters}
    distances = Distances(result.platform, result.parameters.of(DistanceCosts))
    return [
        Done(
            row.arrival,
            row.size,
            row.start,
            row.finish,
            row.placement,
            job.dedicated(row, rates),
            distances.staging(job.origin, row.placement),
            job.deadline + (0.0 if job.batch is None else row.arrival),
            job.origin,
            job.batch,
            job.service_class,
            job.user,
        )
        for row, job, _ in pairs
        if job is not None and row.start is not None and row.finish is not None and row.placement
    ]


def _numbers_verdict(
    pairs: Sequence[Pair], jobs: Sequence[Given], done: Sequence[Done], result: ResultFiles
) -> Verdict:
    """Return which numbers of the summary are wrong, of how many, and which nothing here tells."""
    there = Counter(job.batch for _, job, _ in pairs if job is not None)
    wanted = Counter(job.batch for job in jobs)
    whole = {batch for batch in there if batch is not None and there[batch] == wanted[batch]}
    since = counted_from(pairs, jobs, result.parameters.warmup)
    summary = result.summary
    gone = [
        job
        for row, job, _ in pairs
        if job is not None and row.start is None and row.arrival >= since
    ]
    due_rejected = Counter(job.service_class for job in gone if job.deadline < math.inf)
    numbers = metrics_of(done, result.platform, result.parameters, whole, since, due_rejected)
    of_gone = [(job.origin, job.deadline < math.inf) for job in gone]
    numbers |= origins_of(done, of_gone, result.platform.names, since)
    numbers |= classes_of(done, class_names(jobs, result), since, due_rejected)
    if done:
        begin = min(each.arrival for each in done) if since == -math.inf else since
        numbers |= electricity(done, result, begin, max(each.finish for each in done))
    numbers |= numbers_of_users(users_of(done, since), summary)
    if not wanted.keys() - {None} and summary["metrics"].get("cp_basis") is None:
        numbers |= {path: (None, 0.0) for path in numbers if OF_ROUNDS.search(path)}
    if not all(pair.sure for pair in pairs):
        numbers = {path: of for path, of in numbers.items() if not OF_THE_JOB.search(path)}
    problems = [*wrong_losses(result)]
    if all(pair.sure for pair in pairs):
        problems += wrong_count(users_of(done, since), summary)
    for name, (found, right, scale) in _compared(numbers, summary):
        if not _equal(found, right, scale):
            problems.append(f"{name}: the summary has {found}, jobs.csv makes it {right}")
    last = max((each.finish for each in done), default=0.0)
    if summary["simulated_s"] < last:
        problems.append(f"simulated_s: {summary['simulated_s']}; a job finishes at {last}")
    of_what = f"{len(numbers):,} numbers, worked out again"
    left = unchecked(summary, numbers)
    return Verdict.of("numbers of the summary are right", problems, of_what, left)


def _compared(
    numbers: dict[str, tuple[Any, float]], summary: dict[str, Any]
) -> Iterator[tuple[str, tuple[Any, Any, float]]]:
    """Yield the path of each number, what the summary has there, what is right, and its scale."""
    for path, (right, scale) in numbers.items():
        found: Any = summary
        for key in path.split("/"):
            if isinstance(found, list):
                found = found[int(key)] if int(key) < len(found) else None
            else:
                found = found.get(key, "nothing") if isinstance(found, dict) else "nothing"
        yield path, (found, right, scale)


def _equal(found: Any, right: Any, scale: float) -> bool:
    if isinstance(right, float) and isinstance(found, (int, float)):
        return math.isclose(found, right, rel_tol=RELATIVE, abs_tol=RELATIVE * abs(scale))
    return bool(found == right)
