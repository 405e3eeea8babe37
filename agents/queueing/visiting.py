"""What the policies share: the list of enabled queues, visited in rounds, and aging.

In a round each enabled queue is visited in turn and its head tried once. A queue is disabled when
its head does not fit, or it is empty; rounds follow until none is enabled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.queueing.notes import NOTES
from agents.queueing.placement import at_home, is_local, refusal, worst_fit
from agents.schedulers import GlobalScheduler
from grid.jobs import LONGEST
from grid.kernel.compile import compiled, inlined
from grid.kernel.state import ARRIVED, DEPARTED, NONE, REJECT, START, STARTED, WAIT
from grid.settings import Checked, setting
from grid.streams import below


@dataclass(frozen=True)
class QueueSettings(Checked):
    """Of policies that visit queues."""

    group = "order of jobs"

    aging: float = setting(
        0.0,
        "Time after which the head of a queue goes first, at the next departure; none starts "
        "before it. 0: never.",
        unit="s",
        least=0,
        most=LONGEST,
    )


UNDER_WAY, AGED_FIRST, OPENS = range(3)
LOCAL_FIRST, GLOBAL_FIRST, RANDOM_FIRST = range(3)


class QueuePolicy(GlobalScheduler):
    """A policy of `queues`: single-component jobs run at home, others anywhere by Worst Fit.

    With `aging`, whoever heads a queue for longer than that since its arrival, the oldest first,
    goes before all others when the next job departs, and nobody starts before it does: it waits for
    jobs that run, and for no others. Whoever makes that happen often pays for it with processors
    that stand idle.
    """

    starts_jobs = True
    paper = "queues"
    spans = True
    penalty = 1.0
    reads_components, orders_components = True, False
    reads_predictions = False
    settings_type = QueueSettings
    version: ClassVar[int] = 0

    def memory(self) -> npt.NDArray[np.float64]:
        """Return what the policy is set to, and no queue listed."""
        notes = np.zeros(1, NOTES)
        notes["aging"] = self.settings.aging
        notes["version"] = self.version
        return notes.view(np.float64)

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the head of a queue, let it wait, or reject it."""
        if is_local(job):
            if job.size > known.size[job.origin]:
                return REJECT
            return START if at_home(known, job) else WAIT
        return START if worst_fit(known, job) else refusal(known, job)


@inlined
def listed(known: Any, notes: Any, count: int, queue: int) -> int:
    """List a queue behind so many, if there are jobs in it; return how many are listed then.

    It is written either way and counts only then, for who is to guess whether it is empty?
    """
    notes.listed[count] = queue
    return int(count + (known.queued[queue] > 0))


@inlined
def listed_local(known: Any, notes: Any, count: int, first: int) -> int:
    """List all local queues in cyclic order."""
    for queue in range(first, known.clusters):
        count = listed(known, notes, count, queue)
    for queue in range(first):
        count = listed(known, notes, count, queue)
    return count


@inlined
def enable(known: Any, notes: Any, queue: int) -> None:
    """Have a queue visited after those that are enabled, if there are jobs in it."""
    notes.count = listed(known, notes, notes.count, queue)


@inlined
def enable_local(known: Any, notes: Any, first: int) -> None:
    """Enable all local queues in cyclic order."""
    notes.count = listed_local(known, notes, notes.count, first)


@inlined
def enable_all(known: Any, notes: Any) -> None:
    """Enable the global queue and the local ones, as the version of the policy says."""
    first = notes.version == GLOBAL_FIRST
    if notes.version == RANDOM_FIRST:
        first = below(known.stream, 2) == 0
    count = 0
    if first:
        count = listed(known, notes, count, known.clusters)
    count = listed_local(known, notes, count, 0)
    if not first:
        count = listed(known, notes, count, known.clusters)
    notes.count = count


@inlined
def _oldest(known: Any) -> int:
    oldest = 0
    for queue in range(1, known.clusters + 1):
        if known.head_arrival[queue] < known.head_arrival[oldest]:
            oldest = queue
    return oldest


@inlined
def is_aged(known: Any, notes: Any) -> bool:
    """Tell whether the head of some queue has waited for longer than `aging`."""
    return bool(notes.aging > 0.0 and known.now - known.head_arrival[_oldest(known)] > notes.aging)


@inlined
def opening(known: Any, notes: Any) -> int:
    """Return whether a visit begins: ``OPENS`` if the policy shall enable queues afresh.

    That is so when a job has departed, unless some head is aged: then the oldest one's queue alone
    is enabled (``AGED_FIRST``), and the others once it has started. Otherwise a visit is
    ``UNDER_WAY``.
    """
    if known.event == STARTED and notes.only_aged == 0:
        return UNDER_WAY
    if known.event != STARTED and known.event != DEPARTED:
        return UNDER_WAY
    disable_all(notes)
    if is_aged(known, notes):
        notes.only_aged = 1
        enable(known, notes, _oldest(known))
        return AGED_FIRST
    return OPENS


@inlined
def disable_all(notes: Any) -> None:
    """Begin with no queue enabled."""
    notes.count = notes.at = notes.kept = notes.only_aged = notes.joining = 0


@inlined
def go_on(known: Any, notes: Any, permitted: bool) -> None:
    """Note what has happened during a visit, or a job that arrived.

    One that arrives is tried at once if it is alone in its queue and that is `permitted`.
    """
    if known.event == ARRIVED:
        disable_all(notes)
        if permitted and known.queued[known.queue] == 1 and not is_aged(known, notes):
            enable(known, notes, known.queue)
    else:
        if known.event == STARTED and known.queued[known.queue] > 0:
            notes.listed[notes.kept] = known.queue
            notes.kept += 1
        notes.at += 1


@inlined
def next_enabled(notes: Any) -> int:
    """Return the queue to visit next, or NONE; behind the last one a new round begins."""
    if notes.at >= notes.count:
        notes.count = notes.kept
        notes.at = notes.kept = 0
        if notes.count == 0:
            return NONE
    return int(notes.listed[notes.at])
