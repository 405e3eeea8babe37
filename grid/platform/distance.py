"""What it costs a job to run far from its data, or far from itself; by default nothing."""

from __future__ import annotations

from dataclasses import dataclass

from grid.jobs import LONGEST
from grid.settings import Checked, setting


@dataclass(frozen=True)
class DistanceCosts(Checked):
    """What `beosim` leaves to future work: the cost of migration and staging, and latency.

    **Staging.** A job that was submitted through a cluster and runs on others, wholly or in part,
    first waits for its data::

        staging = staging_time + 8 staging_data / (capacity of the narrowest link on the path)

    s, the path being that from its origin; of several clusters the one that gets its data last
    counts. It holds its processors meanwhile, so that nobody who plans has to know of a start that
    is promised but not made; and, if it is split, its share of the links, though it only begins to
    compute and to communicate afterwards. Staging is part of its execution time there, which
    schedulers know. It loads no link: data go at the full capacity of the path. A job that a
    failure threw back is staged again.

    **Latency.** A job that is split waits `message_rate` times in each second of communication for
    the latency L of the longest path between two of its clusters. No bandwidth shortens that, so
    that with an execution time T, a computation fraction f and a ratio r of allotted to required
    bandwidth (eq. 5) it takes::

        f T + (1 - f) T (1 / r + message_rate L)

    A policy that has splitting cost a fixed factor knows no links, and so no latency.

    Raises
    ------
    GridError
        If a value is negative, not a number or too large.
    """

    group = "distance"

    message_rate: float = setting(
        0.0,
        "Messages that a split job waits for in a second of communication, each for the latency "
        "of the longest path between its clusters; 0: latency slows no job.",
        unit="1/s",
        least=0,
        most=LONGEST,
    )
    staging_time: float = setting(
        0.0,
        "What it takes a job, once it has processors elsewhere than where it was submitted, to "
        "have its data staged, beside the transfer of staging_data.",
        unit="s",
        least=0,
        most=LONGEST,
    )
    staging_data: float = setting(
        0.0,
        "What is staged for such a job, at the capacity of the narrowest link on the path.",
        unit="Mbyte",
        least=0,
        most=LONGEST,
    )
