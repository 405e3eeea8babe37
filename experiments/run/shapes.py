"""The shape of what a run wrote: checked when it is read back, as what users write is."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

import pydantic
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from grid.accepted import accepted
from grid.errors import GridError
from grid.foreign import quoted

LARGEST = 2**63 - 1
"""Whole numbers are of 64 bits."""

GREATEST = 1e100
"""Numbers are at most so large: their sums and squares are numbers too."""

Real = Annotated[float, Field(strict=True, ge=-GREATEST, le=GREATEST)]
NonNegative = Annotated[float, Field(strict=True, ge=0, le=GREATEST)]
Known: TypeAlias = Real | None
"""A number, or none where nothing defines it."""
Whole = Annotated[int, Field(strict=True, ge=-LARGEST - 1, le=LARGEST)]
Count = Annotated[int, Field(strict=True, ge=0, le=LARGEST)]
Several = Annotated[int, Field(strict=True, ge=1, le=LARGEST)]


def _logs(value: Any) -> Any:
    listed = isinstance(value, list) and all(isinstance(each, str) for each in value)
    if not (listed or value is None or isinstance(value, str)):
        raise ValueError("accepted: a path, a list of paths or null")
    return value


def date_of(value: str) -> str:
    """Return a date that a result file tells, if it is one."""
    with suppress(ValueError):
        if datetime.fromisoformat(value).year >= 1900:
            return value
    raise ValueError("accepted: a date and time, such as 2003-02-03T08:00:00")


class Shape(BaseModel):
    """A table, of which these keys are known; others may be there."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)


class Closed(Shape):
    """A table that has no other keys."""

    model_config = ConfigDict(extra="forbid")


class JobCounts(Closed):
    """Jobs of a run."""

    submitted: Count
    completed: Count
    rejected: Count
    dropped: Count = 0


class Served(Closed):
    """How jobs were served and processors used, of all or of a cluster."""

    utilization: Known
    mean_wait: Known
    max_wait: Known
    mean_bounded_slowdown: Known
    mean_turnaround: Known = None
    over_deadline: Known = None
    deadlines_met: Known = None
    mean_prediction_error: Known = None
    prediction_accuracy: Known = None
    makespan: Known = None
    work: Known = None
    idle_time_total: Known = None
    idle_time_mean: Known = None
    restarts: Count
    preemptions: Count = 0
    lost_work: NonNegative
    energy_kwh: Known = None
    cost: Known = None
    co2_kg: Known = None


class Metrics(Served):
    """Numbers of a run, and those of metrics of the user's own."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Known]

    p95_wait: Known
    p95_bounded_slowdown: Known
    mean_turnaround: Known
    makespan: Known
    coallocated: Known
    refused_starts: Count = 0
    mean_penalty: Known
    deadlines_met: Known
    mcp: Known = None
    pb: Known = None
    mcp_overall: Known = None
    pb_overall: Known = None
    mcp_planned: Known = None
    pb_planned: Known = None
    migrated: Known = None
    mean_staging: Known = None
    throughput: Known = None
    gini_wait: Known = None
    gini_slowdown: Known = None
    cp_basis: str | None = None
    rounds: Count | None = None
    drawn_deadlines: Known = None
    stable: bool | None = None
    saturated: bool | None = None
    messages: dict[str, Count] = {}
    messages_lost: Count = 0
    mean_age: dict[str, Known] = {}
    response_queues: dict[str, Known] = {}
    wait_origins: dict[str, Known] = {}
    slowdown_origins: dict[str, Known] = {}


class ClusterNumbers(Served):
    """Numbers of a cluster."""

    name: str
    size: Several
    rate: Real
    jobs: Count
    cp: Known = None
    cp_overall: Known = None
    cp_planned: Known = None
    messages: dict[str, Count] = {}


class BrokerNumbers(Closed):
    """What a broker knew and carried."""

    name: str
    level: Count
    clusters: Count
    mean_age: Known = None
    noted: Count = 0
    noted_age: Known = None
    messages: dict[str, Count]


class ClassNumbers(Closed):
    """Numbers of a service class."""

    name: str
    jobs: Count
    mean_wait: Known
    max_wait: Known
    mean_turnaround: Known
    mean_bounded_slowdown: Known
    over_deadline: Known
    deadlines_met: Known
    mean_prediction_error: Known
    prediction_accuracy: Known


class OriginNumbers(ClassNumbers):
    """Numbers of the jobs that were submitted through a cluster, "" the grid as a whole."""

    rejected: Count
    migrated: Known


class ApplicationRow(Closed):
    """How good predictions were for an application."""

    name: str
    jobs: Count
    mean_prediction_error: Known
    prediction_accuracy: Known


class ApplicationNumbers(Closed):
    """How good predictions were for those with the most jobs."""

    count: Count
    largest: list[ApplicationRow]


class LinkNumbers(Closed):
    """Numbers of a link, none where the global scheduler takes no account of links."""

    name: str
    mean_demand: NonNegative | None
    saturated: NonNegative | None


class UserRow(Closed):
    """How a user was served."""

    user: Whole
    jobs: Count
    mean_wait: Known
    mean_bounded_slowdown: Known
    work: Known


class UserNumbers(Closed):
    """Who used most."""

    count: Count
    largest: list[UserRow]


class CleaningCounts(Closed):
    """What a log lost."""

    records: Count
    rules: dict[str, Count]


class SummaryShape(Closed):
    """A summary, as `experiments.run.summary` makes it."""

    scenario: str
    seed: Annotated[int, Field(strict=True, ge=0)]
    version: str | None = None
    global_: str = Field(alias="global")
    local: str
    workload: Annotated[Any, AfterValidator(_logs)]
    parameters: dict[str, Any]
    platform: dict[str, Any]
    jobs: JobCounts
    deadlines: str | None = None
    rejected_jobs: list[Whole]
    rejections: dict[str, Count]
    metrics: Metrics
    clusters: list[ClusterNumbers]
    links: list[LinkNumbers]
    wall_s: NonNegative
    simulated_s: NonNegative
    brokers: list[BrokerNumbers] = []
    execution_times: Literal["given"] | None = None
    classes: list[ClassNumbers] = []
    origins: list[OriginNumbers] = []
    applications: ApplicationNumbers | None = None
    users: UserNumbers | None = None
    start: Annotated[str, AfterValidator(date_of)] | None = None
    cleaning: CleaningCounts | None = None
    notes: list[str] = []
    unfinished: Count = 0
    why_unfinished: str = ""
    interrupted: bool = False
    own_metrics: list[str] = []
    served: str | None = None
    seed_schedules: list[Any] = []


def check_shape(shape: type[Shape], value: Any, where: str) -> None:
    """Refuse what is not of a shape.

    Raises
    ------
    GridError
        Naming the first key that is missing, or whose value is not accepted.
    """
    try:
        shape.model_validate(value)
    except pydantic.ValidationError as failure:
        error = failure.errors(include_url=False)[0]
        place = ".".join(str(part) for part in error["loc"])
        start = f"{where}: {place}" if place else where
        if error["type"] == "missing":
            raise GridError(f"{start}: missing; accepted: what a run writes there") from None
        if error["type"] == "extra_forbidden":
            raise GridError(f"{start}: unknown key; accepted: what a run writes there") from None
        found = "null" if error["input"] is None else quoted(error["input"])
        raise GridError(f"{start}: found {found}; {accepted([error])}") from None
