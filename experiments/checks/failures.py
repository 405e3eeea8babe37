"""What can be checked of processors that come and go, and of work that was lost.

Random failures leave no trace in ``jobs.csv``: only what the platform plans is held against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from experiments.checks.input_jobs import RELATIVE
from experiments.run.result_files import ResultFiles, Row
from grid.platform.changes import DRAIN, FAIL, JOIN


def used_while_away(ran: Sequence[Row], result: ResultFiles) -> Iterator[str]:
    """Find instants at which more processors of a cluster are held than a change of it leaves.

    Those that drain may be held by jobs that started before, those that fail or have not joined by
    none.
    """
    sizes = {each.name: each.size for each in result.platform.clusters}
    for number, change in enumerate(result.platform.changes, 1):
        name, size = change.cluster, sizes[change.cluster]
        begin, end = (-math.inf, change.at) if change.what == JOIN else (change.at, change.until)
        left = size - (change.processors or size)
        steps = []
        for row in ran:
            if row.start is None or row.finish is None or name not in row.placement:
                continue
            if change.what == DRAIN and row.start < begin:
                continue
            if begin < row.finish and row.start < end and row.start < row.finish:
                taken = row.placement[name]
                since = max(begin, row.start)
                steps += [(since, taken, row.job), (row.finish, -taken, row.job)]
        held = 0
        # At one instant processors fall free before others are taken.
        for time, taken, job in sorted(steps):
            held += taken
            if held > left:
                yield (
                    f"{name} at {time} s: job {job} makes it {held} processors held, of {left} "
                    f"that change {number} ({change.what}) leaves"
                )
                break


def wrong_losses(result: ResultFiles) -> Iterator[str]:
    """Find restarts and lost work of the summary that cannot be, or that do not sum up."""
    summary = result.summary
    rows = {"metrics": summary["metrics"]}
    rows |= {f"clusters/{index}": row for index, row in enumerate(summary["clusters"])}
    for place, row in rows.items():
        restarts, lost = row["restarts"], row["lost_work"]
        if lost > 0 and restarts == 0:
            yield f"{place}/lost_work: the summary has {lost}, and no restarts"
        if (stopped := row.get("preemptions", 0)) > restarts:
            yield f"{place}/preemptions: the summary has {stopped}, and {restarts} restarts"
    whole, clusters = summary["metrics"], summary["clusters"]
    times = [row["restarts"] for row in clusters]
    lost = math.fsum(row["lost_work"] for row in clusters)
    # A co-allocated job is thrown back by each of its clusters.
    if not max(times, default=0) <= whole["restarts"] <= sum(times):
        yield f"restarts: the summary has {whole['restarts']}, its clusters {sum(times)}"
    if not math.isclose(whole["lost_work"], lost, rel_tol=RELATIVE):
        yield f"lost_work: the summary has {whole['lost_work']}, its clusters {lost}"
    preempted, times = whole.get("preemptions", 0), [row.get("preemptions", 0) for row in clusters]
    if preempted != sum(times):
        yield f"preemptions: the summary has {preempted}, its clusters {sum(times)}"
    planned = any(change.what == FAIL for change in result.platform.changes)
    failed = whole["restarts"] - preempted
    if failed > 0 and not planned and result.parameters.mean_up_time == 0:
        yield f"restarts: the summary has {failed} that are no preemptions; nothing can fail"
    for cluster, row in zip(result.platform.clusters, clusters, strict=False):
        most = cluster.size * summary["simulated_s"]
        if row["lost_work"] > most * (1 + RELATIVE):
            yield f"lost_work of {cluster.name}: the summary has {row['lost_work']}, of {most}"
