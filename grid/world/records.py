"""Records of jobs that left the grid: their parts on clusters, and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from grid.kernel.state import NONE
from grid.kernel.statistics import SLOWDOWN_BOUND, TRACE
from grid.platform.multicluster import Platform
from grid.world.finished import Records, in_order

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def jobs_table(records: Records, platform: Platform) -> pd.DataFrame:
    """Return one row for each job that left, by arrival, job number and submission.

    Parameters
    ----------
    records : Records
        Of the run, in any order.
    platform : Platform
        Where it ran.

    Returns
    -------
    DataFrame
        job, arrival (s), size (processors), start, finish (s), placement (``C1:5``; co-allocated
        ``C1:5+C3:4``), cluster (name; empty if co-allocated), origin (name; empty if submitted
        to the global scheduler), execution_time (with staging; of a split job as if links had no
        limits and no latency), predicted_time, wait, turnaround (s), bounded_slowdown, deadline
        (s, absolute; inf without one), over_deadline (s; NaN without a deadline), restarts. A
        rejected job has NaN for its times and an empty placement.
    """
    records = records[in_order(records)]
    late = records["finish"] - records["deadline"]
    names = np.array([*platform.names, ""], object)  # index -1 means no cluster: the last
    columns = {
        "job": records["number"],
        "arrival": records["arrival"],
        "size": records["size"],
        "start": records["start"],
        "finish": records["finish"],
        "placement": placements(records, platform),
        "cluster": names[records["cluster"]],
        "origin": names[records["origin"]],
        "execution_time": records["execution_time"],
        "predicted_time": records["predicted_time"],
        "wait": records["start"] - records["arrival"],
        "turnaround": records["finish"] - records["arrival"],
        "bounded_slowdown": bounded_slowdown(records),
        "deadline": records["deadline"],
        "over_deadline": np.where(
            np.isfinite(records["deadline"]),
            np.where(late > TRACE * records["finish"], late, 0.0),
            np.nan,
        ),
        "restarts": records["restarts"],
    }
    import pandas as pd

    return pd.DataFrame(columns)


def placements(records: Records, platform: Platform) -> npt.NDArray[np.object_]:
    """Return the placement of each job in words; each different part is put into words once."""
    clusters = len(platform.clusters)
    of_jobs = parts(records)
    kinds, kind = np.unique(of_jobs.processors * clusters + of_jobs.cluster, return_inverse=True)
    names = [f"{platform.names[each % clusters]}:{each // clusters}" for each in kinds.tolist()]
    words = np.array(names, object)[kind] if names else np.empty(0, object)
    text = np.full(len(records), "", object)
    jobs, first, lengths = np.unique(of_jobs.job, return_index=True, return_counts=True)
    text[jobs] = words[first]
    for index in np.flatnonzero(lengths > 1).tolist():
        text[jobs[index]] = "+".join(words[first[index] : first[index] + lengths[index]])
    return text


def bounded_slowdown(records: Records) -> Floats:
    """Return turnaround over dedicated execution time, of at least `SLOWDOWN_BOUND`; from 1 on."""
    turnaround = records["finish"] - records["arrival"]
    dedicated = records["execution_time"] - records["staging"]
    slowdown: Floats = turnaround / np.maximum(dedicated, SLOWDOWN_BOUND)
    return np.maximum(slowdown, 1.0)


def completed(records: Records) -> Records:
    """Return the rows of the jobs that were not rejected."""
    done = ~np.isnan(records["start"])
    return records if done.all() else records[done]


class Parts(NamedTuple):
    """The parts of jobs on clusters, each of shape (parts,): whole jobs, then co-allocated ones."""

    job: Integers  # row of the job
    cluster: Integers
    processors: Integers


def parts(records: Records) -> Parts:
    """Return the parts of the completed jobs; those of one job follow each other by cluster."""
    whole = np.flatnonzero(records["cluster"] != NONE)
    split = np.flatnonzero(records["split"] != NONE)
    take = records.takes[records["split"][split]]
    row, cluster = np.nonzero(take)
    return Parts(
        np.concatenate([whole, split[row]]),
        np.concatenate([records["cluster"][whole], cluster]),
        np.concatenate([records["size"][whole], take[row, cluster]]),
    )
