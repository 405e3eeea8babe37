"""The shape of each event of a log (docs/events.md): checked when the log is read back."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from experiments.events.job_events import (
    ADVERTISED,
    FINISHED,
    KNOWN,
    LANDED,
    PREEMPTED,
    REJECTED,
    RESOURCES,
    RESTARTED,
    RETURNED,
    SENT,
    STARTED,
    SUBMITTED,
)
from experiments.events.log import BEGUN, ENDED, OF_REAL_JOBS, PLANNED
from experiments.events.message_events import MESSAGE, TRANSFER, Event
from experiments.run.shapes import Count, Known, NonNegative, Several, Shape, Whole, check_shape

Processors = Annotated[dict[str, Several], Field(min_length=1)]


class _Event(Shape):
    serial: Several
    time: NonNegative
    event: str


class _Begun(_Event):
    scenario: str
    seed: Annotated[int, Field(strict=True, ge=0)]


class _Ended(_Event):
    interrupted: bool


class _OfRealJobs(_Event):
    words: str
    job: Whole | None = None
    site: str | None = None
    state: str | None = None
    at: NonNegative | None = None
    ran: NonNegative | None = None


class _OfJob(_Event):
    job: Whole
    which: Count = 0


class _OfJobs(Shape):
    jobs: list[Whole]
    which: list[Count] | None = None
    sizes: list[Several] | None = None

    @field_validator("which", "sizes")
    @classmethod
    def _one_each(cls, told: list[int] | None, others: ValidationInfo) -> list[int] | None:
        if told is not None and len(told) != len(others.data.get("jobs", told)):
            raise ValueError("accepted: one for each of the jobs")
        return told


class _Told(_OfJob):
    sender: str
    receiver: str


class _Submitted(_Told):
    size: Several
    deadline: Known
    arrival: float | None = None
    clusters: list[str] | None = None
    sizes: list[Several] | None = None


class _Transfer(_Told):
    sent: NonNegative
    due: NonNegative


class _Placed(_OfJob):
    placement: Processors


class _Started(_Placed):
    staging: NonNegative = 0.0


class _Finished(_Placed):
    dedicated: Known = None


class _Rejected(_OfJob):
    reason: str


class _Restarted(_OfJob):
    restarts: Several


class _Preempted(_Restarted):
    by: int
    by_which: Several | None = None


class _Planned(_Event, _OfJobs):
    sender: str
    receiver: str
    cp: Known


class _Resources(_Event):
    cluster: str
    up: Count


class _Advertised(_Event):
    sender: str
    receiver: str
    sent: NonNegative
    free: Count
    waiting: Count


class _Discovered(_OfJob):
    sender: str
    answered: str
    hops: Count
    offers: Count
    cluster: str | None = None
    finish: Known = None


class _Message(_Event):
    kind: str
    sender: str
    receiver: str


class _ScheduleReport(_Message):
    sent: NonNegative
    due: NonNegative
    makespan: NonNegative
    unfinished: Count
    cp: Known


class _Space(_OfJobs):
    start: NonNegative
    processors: Several
    level: Known
    tied: Several = 1
    drawn: Several = 1


class _SeedSchedule(_Message, _OfJobs):
    sent: NonNegative
    due: NonNegative
    round: Several
    starts: list[NonNegative]
    finishes: list[NonNegative]
    resources: list[list[Count]]
    spaces: list[_Space]


_SHAPES: dict[str, type[_Event]] = {
    BEGUN: _Begun,
    ENDED: _Ended,
    SUBMITTED: _Submitted,
    KNOWN: _Told,
    SENT: _Told,
    LANDED: _Told,
    STARTED: _Started,
    FINISHED: _Finished,
    REJECTED: _Rejected,
    RESTARTED: _Restarted,
    PREEMPTED: _Preempted,
    RETURNED: _OfJob,
    RESOURCES: _Resources,
    ADVERTISED: _Advertised,
    PLANNED: _Planned,
    "discovered": _Discovered,
    MESSAGE: _Message,
    **dict.fromkeys(OF_REAL_JOBS, _OfRealJobs),
}
_OF_KIND: dict[str, type[_Event]] = {
    TRANSFER: _Transfer,
    "ScheduleReport": _ScheduleReport,
    "SeedSchedule": _SeedSchedule,
}
"""Messages that somebody reads on; of others, a user's own too, only who they are between."""


def check_event(event: Event, where: str) -> None:
    """Refuse what is no event of a run; one of a kind that is not known here may hold anything.

    Raises
    ------
    GridError
        Naming the key.
    """
    shape = _Event
    if isinstance(event, dict) and isinstance(kind := event.get("event"), str):
        shape = _SHAPES.get(kind, _Event)
        if kind == MESSAGE and isinstance(message := event.get("kind"), str):
            shape = _OF_KIND.get(message, _Message)
    check_shape(shape, event, where)
