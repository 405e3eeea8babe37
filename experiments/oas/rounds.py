"""The rounds of a run: which jobs were dispatched together, and how they went."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.oas.yardstick import Went
from experiments.checks.given import Pair, jobs_given, matched
from experiments.events.carried import MESSAGE
from experiments.events.log import EVENTS
from experiments.events.reading import events_of
from experiments.result_files import ResultFiles
from grid.errors import GridError


@dataclass(frozen=True)
class Round:
    """Jobs that were dispatched together.

    Attributes
    ----------
    number : int
        From 1.
    dispatched : float
        Seconds.
    jobs, earlier : list of Went
        Its jobs, and those that were dispatched before and had not all finished.
    sizes, rates : list of int, of float
        Of the clusters.
    whole : bool
        No job of the run was split that fits on a cluster.
    """

    number: int
    dispatched: float
    jobs: list[Went]
    earlier: list[Went]
    sizes: list[int]
    rates: list[float]
    whole: bool


def rounds_of(
    folder: str | os.PathLike[str],
    events: str | None = None,
    workload: str | Sequence[str] | None = None,
    first: int | None = None,
) -> tuple[list[Round], int]:
    """Return rounds of a result, and how many are left out because some of their jobs never ended.

    Parameters
    ----------
    folder : path
        That ``metasched run --out`` wrote.
    events : path, optional
        Event log of a run in mode open; by default ``events.jsonl`` in the folder.
    workload : path, or sequence of ``name=path``, optional
        Where the logs are now.
    first : int, optional
        Only so many; by default all.

    Raises
    ------
    GridError
        For what cannot be read, or a run without rounds.
    """
    result = ResultFiles.read(folder)
    given = jobs_given(result, workload)
    pairs = matched(result.rows, given)
    for row, job in pairs:
        if job is None:
            raise GridError(
                f"{folder}: job {row.job}: found in jobs.csv only; accepted: one of the workload"
            )
    if any(job.batch is not None for job in given):
        counts: Mapping[int, int] = Counter((job.batch or 0) + 1 for job in given)
        of_round = _batches(pairs)
    else:
        path = Path(folder) / EVENTS if events is None else Path(events)
        of_round, counts = _dispatched(result, pairs, path)
    names = result.platform.names
    sizes = [cluster.size for cluster in result.platform.clusters]
    rates = [cluster.rate for cluster in result.platform.clusters]
    whole = all(len(row.placement) <= 1 or row.size > max(sizes) for row, _ in pairs)
    dispatched_jobs = {id(pair) for _, members in of_round.values() for pair in members}
    others = [  # that the scheduler started itself, in no round
        _went(pair, names)
        for pair in pairs
        if pair.row.start is not None and id(pair) not in dispatched_jobs
    ]
    rounds: list[Round] = []
    before: list[Went] = []
    left_out = 0
    for number, (dispatched, members) in sorted(of_round.items())[:first]:
        went = [_went(pair, names) for pair in members if pair.row.start is not None]
        before = [each for each in before if each.finish > dispatched]
        if went and len(members) == counts[number]:
            running = [each for each in others if each.start < dispatched < each.finish]
            earlier = before + running
            rounds.append(Round(number, dispatched, went, earlier, sizes, rates, whole))
        else:
            left_out += 1
        before = before + went
    if not rounds:
        raise GridError(
            f"{folder}: no round whose jobs all ended; accepted: a run in mode batch, or one of "
            "MUSCLE in mode open with its event log"
        )
    return rounds, left_out


def _batches(pairs: Sequence[Pair]) -> dict[int, tuple[float, list[Pair]]]:
    """Return the dispatch and the jobs of each round in mode batch."""
    found: dict[int, tuple[float, list[Pair]]] = {}
    for pair in pairs:
        assert pair.given is not None
        number = (pair.given.batch or 0) + 1
        found.setdefault(number, (pair.row.arrival, []))[1].append(pair)
    return found


def _dispatched(
    result: ResultFiles, pairs: Sequence[Pair], path: Path
) -> tuple[dict[int, tuple[float, list[Pair]]], dict[int, int]]:
    """Return the dispatch and the jobs of each round of MUSCLE, and how many jobs it had.

    A job that a cluster gave back belongs to the round that it was dispatched in last.
    """
    last: dict[int, int] = {}  # round of each job
    times: dict[int, float] = {}
    for event in events_of(path, result.summary, "gap"):
        if event["event"] == MESSAGE and event.get("kind") == "SeedSchedule":
            times.setdefault(event["round"], event["sent"])
            for job in event["jobs"]:
                last[job] = event["round"]
    found: dict[int, tuple[float, list[Pair]]] = {}
    for number in last.values():
        found.setdefault(number, (times[number], []))
    for pair in pairs:
        if pair.row.job in last:
            found[last[pair.row.job]][1].append(pair)
    return found, Counter(last.values())


def _went(pair: Pair, names: Sequence[str]) -> Went:
    """Return a job as it went."""
    row, job = pair
    assert job is not None
    assert row.start is not None
    assert row.finish is not None
    return Went(
        job.runtime, row.start, row.finish, tuple(row.placement.get(name, 0) for name in names)
    )
