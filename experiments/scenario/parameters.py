"""The parameters that a scenario publishes: their meaning, unit, range and default."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError

from agents.pace.predictor import LARGEST_SIGMA, Predictor
from agents.registry import OWN, PREDICTORS, name_of
from experiments.scenario.dates import Moment
from grid.distributions import LARGEST_SIZE
from grid.errors import GridError
from grid.jobs import LONGEST, WIDEST
from grid.kernel.state import CAPACITIES
from grid.logs.fields import PARTITION
from grid.names import meant
from grid.platform.brokers import SHORTEST, Advertising
from grid.platform.topology import NARROWEST
from grid.settings import Setting, called, declared, listed, whole

Positive = Annotated[float, Field(gt=0, le=LONGEST, strict=True)]
NonNegative = Annotated[float, Field(ge=0, le=LONGEST, strict=True)]
Capacity = Annotated[float, Field(ge=NARROWEST, le=WIDEST, strict=True)]
Bandwidth = Annotated[float, Field(ge=0, le=WIDEST, strict=True)]
Factor = Annotated[float, Field(ge=1e-6, le=1e6, strict=True)]
Ratio = Annotated[float, Field(ge=0, le=1e6, strict=True)]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]
Several = Annotated[int, BeforeValidator(whole), Field(strict=True, ge=2, le=1_000_000_000)]
Whole = Annotated[int, BeforeValidator(whole), Field(strict=True, ge=1, le=1_000_000_000)]
Count = Annotated[int, BeforeValidator(whole), Field(strict=True, ge=0, le=1_000_000_000)]
Size = Annotated[int, BeforeValidator(whole), Field(strict=True, ge=1, le=LARGEST_SIZE)]
ClusterCount = Annotated[int, BeforeValidator(whole), Field(strict=True, ge=1, le=CAPACITIES[-1])]
Auto = Literal["auto"]
Sigma = Annotated[float, Field(ge=0, le=LARGEST_SIGMA, strict=True)]


def _listed(value: Any) -> Any:
    """Return numbers between commas, or a single one, as a list; all else as it is."""
    if isinstance(value, int | float | str) and "," not in str(value):
        with suppress(ValueError):
            return [float(value)]
    return listed(value)


def _predictor(given: Any) -> Any:
    """Return what names a predictor, or is one."""
    own = isinstance(given, type) and issubclass(given, Predictor)
    if own or (isinstance(given, str) and (given in PREDICTORS or ":" in given)):
        return given
    raise PydanticCustomError("predictor", "{told}", {"told": meant(given, PREDICTORS, OWN)})


Predicting = Annotated[Any, AfterValidator(_predictor), PlainSerializer(name_of)]


def _sum_to_100(percents: tuple[float, ...], of: ValidationInfo) -> tuple[float, ...]:
    if percents and abs(math.fsum(percents) - 100) > 1e-9:
        each = ", by one percentage for each cluster" if of.field_name == "queue_shares" else ""
        raise PydanticCustomError("sum", f"sum is {math.fsum(percents):g}; accepted: 100{each}")
    return percents


Percents = Annotated[
    tuple[Annotated[float, Field(ge=0, le=100)], ...],
    BeforeValidator(_listed),
    AfterValidator(_sum_to_100),
]
Triple = Annotated[tuple[Ratio, Ratio, Ratio], BeforeValidator(listed)]


class ServiceClassTable(BaseModel):
    """A service class: its share of the jobs and its range of deadline ratios."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    share: Share
    min_ratio: Ratio
    max_ratio: Ratio


class OwnJobsTable(BaseModel):
    """What the jobs of one cluster differ in from those of the others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    interarrival: Positive | None = None
    min_size: Size | None = None
    max_size: Size | None = None
    mean_runtime: Positive | None = None


TABLES: dict[str, type[BaseModel]] = {
    "service_classes": ServiceClassTable,
    "own_jobs": OwnJobsTable,
}
"""Parameters that are made of tables."""

ALIASES = {
    "size_low": "min_size",
    "size_high": "max_size",
    "runtime": "mean_runtime",
    "utilization": "load",
    "processors": "nodes",
}
"""Further names of parameters, as `beosim`, `queues` and logs have them."""


def names_of_one(names: Iterable[str]) -> str:
    """Return in words which two names are of one parameter; empty if none are.

    >>> names_of_one(["load", "nodes", "processors"])
    'found nodes and processors, names of one parameter; accepted: one of them'
    """
    found: dict[str, str] = {}
    for name in names:
        other = found.setdefault(ALIASES.get(name, name), name)
        if other != name:
            return f"found {other} and {name}, names of one parameter; accepted: one of them"
    return ""


RANGES = (
    ("min_size", "max_size"),
    ("min_runtime", "max_runtime"),
    ("min_deadline_ratio", "max_deadline_ratio"),
)
"""Parameters of which the second must not be below the first."""


class Parameters(BaseModel):
    """Everything that can be set in a scenario, and changed by ``--set name=value``.

    Here stand those of workload, platform, brokers and failures; what policies declare is beside
    them in the classes that `with_settings` makes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    step: Positive | Literal["auto"] = "auto"
    """Observation interval, simulated seconds; auto: a few hundred a run. Changes no result."""

    mode: Literal["batch", "open", "per-cluster"] = "batch"
    """batch: rounds of jobs, each dispatched when the last has ended; open: jobs arrive;
    per-cluster: jobs arrive at each cluster by a Poisson process of its own."""
    jobs: Whole = 1000
    """Synthetic jobs, beside those of the warm-up."""
    warmup: Count = 0
    """Jobs that come first and count for nothing: clusters begin empty. Of jobs_per_cluster and of
    a log they are a part. Those that come at one instant with the first that counts, as in a round,
    count too."""
    queue: Factor = 40.0
    """Mean number of jobs in the queue, N: in mode batch a round dispatches Poisson(N) jobs."""
    load: Factor = 0.7
    """Offered load in mode open, from which the arrival rate follows; 1 is all the clusters do;
    also called utilization."""
    jobs_per_cluster: Whole = 1000
    """Synthetic jobs of each cluster in mode per-cluster."""
    interarrival: Positive = 150.0
    """Mean time between two jobs of a cluster in mode per-cluster, s."""
    own_jobs: dict[str, OwnJobsTable] = {}
    """Of clusters by name, what their jobs differ in in mode per-cluster, such as
    {C1 = {interarrival = 75, max_size = 20}}: interarrival, min_size, max_size, mean_runtime. Each
    cluster has as many of all jobs as its rate says."""

    clusters: ClusterCount | Auto = "auto"
    """So many clusters in a star, as the scenario's first one and its link; auto: its platform."""
    nodes: Size | Auto | Literal["log"] = "auto"
    """Processors of every cluster; auto: as the platform says; log: as the log says (of several,
    each cluster's own), or those of its largest job; also called processors."""
    link_mbps: Capacity | Auto = "auto"
    """Capacity of every link, Mbit/s; auto: as the platform says."""

    workload_model: Literal["laws", "lublin-feitelson"] = "laws"
    """What synthetic jobs of mode open follow: the laws below; or the model of Lublin and Feitelson
    of machines of max_size processors, from 32, with arrivals over the day, scaled to the load."""
    sizes: Literal["uniform", "normal", "log-uniform", "powers-of-two"] = "uniform"
    """Distribution of the sizes of jobs, or of their components; powers-of-two: D(q), under which
    size i has weight q^i, and three times that if it is 2, 4, 8, ..."""
    q: Annotated[float, Field(gt=0, le=1, strict=True)] = 0.9
    """q of D(q)."""
    composition: Percents = ()
    """Percent of synthetic jobs with 1, 2, ... components, such as 25,25,25,25; none, as always in
    mode per-cluster: jobs name no components."""
    request: Literal["unordered", "ordered", "total"] = "unordered"
    """How synthetic jobs name components: unordered, for any clusters; ordered, the first for the
    first cluster, the second for the second and so on, so that jobs of few components use the first
    clusters alone; total, only their sum, as a single component."""
    min_size: Size = 1
    """Smallest job, processors; also called size_low."""
    max_size: Size = 10
    """Largest job, processors; also called size_high."""
    runtimes: Literal["bounded-pareto", "exponential", "deterministic", "hyperexponential"] = (
        "bounded-pareto"
    )
    """Distribution of run times on a cluster of rate 1."""
    min_runtime: Positive = 5.0
    """Lower limit of the bounded Pareto distribution, s."""
    max_runtime: Positive = 100.0
    """Upper limit of the bounded Pareto distribution, s."""
    pareto_exponent: Factor = 1.0
    """Exponent of the bounded Pareto distribution."""
    mean_runtime: Positive = 16.0
    """Mean of the exponential and the hyperexponential distribution, or the deterministic run time,
    s; also called runtime."""
    runtime_cv: Annotated[float, Field(ge=1, lt=1e6, strict=True)] = 2.0
    """Coefficient of variation of the hyperexponential distribution, of two phases with balanced
    means."""
    computation_fraction: Share = 1.0
    """Share of the run time that is computation where links are not shared, of jobs of which no
    column of a log tells that."""
    bsbw: Bandwidth = 0.0
    """Bisection bandwidth of jobs, likewise, Mbit/s: what one half of a job tells the other."""

    min_deadline_ratio: Ratio = 0.0
    """Deadline = arrival + slowest execution time x (1 + dr): least dr."""
    max_deadline_ratio: Ratio = 5.0
    """Greatest dr."""
    service_classes: tuple[ServiceClassTable, ...] = ()
    """Classes of service instead of one range of dr for all jobs: a list of tables of name, share
    (of the jobs), min_ratio and max_ratio (of dr)."""
    assign_deadlines: bool | Auto = "auto"
    """Give jobs without a deadline (of a log, or synthetic) one by the range or the classes;
    "auto": if a scheduler reads deadlines, or in mode batch, whose rounds are judged by them."""

    local_share: Share = 0.0
    """Share of the jobs that users submit through the local schedulers, equally among clusters."""
    queue_shares: Percents = ()
    """Percentages, one for each cluster, of the jobs that users submit through its local scheduler,
    but for mode per-cluster; none: by local_share."""
    latency: NonNegative = 0.0
    """Time of a message from one broker to the next, beside the latency of the links, s."""
    loss: Annotated[float, Field(ge=0, lt=1, strict=True)] = 0.0
    """Probability that a message is lost from one broker to the next; all but advertisements are
    sent again."""
    advertise: Literal["change", "periodic", "both"] = "change"
    """When brokers advertise their clusters: at each change, periodically, or both."""
    period: Annotated[float, Field(ge=SHORTEST, le=LONGEST, strict=True)] = 60.0
    """Time between two periodic advertisements of a cluster, s."""
    knowledge: Literal["brokers", "truth"] = "brokers"
    """What global schedulers know of clusters: what brokers told, or the truth at once."""
    mean_up_time: NonNegative = 0.0
    """Processors fail after exponential times of this mean, s; 0: they never do."""
    mean_down_time: Positive = 3600.0
    """Mean of the exponential time until a failed processor is repaired, s."""
    weights: Triple | tuple[Triple, ...] = (4.0, 3.0, 1.0)
    """(Wo, Wm, Wi) of over-deadline, makespan and idle-time, such as 4,3,1; or a list of such
    lists, as [[4,3,1],[1,1,1]], one for each cluster."""
    idle: Literal["mean", "total"] = "mean"
    """Idle-time per processor, or summed over a cluster's processors."""
    round_threshold: NonNegative | Literal["auto"] = "auto"
    """MUSCLE may start a round when some cluster has at most this makespan left, s; auto: 0 in mode
    batch; in mode open jobs are allocated as they come."""

    prediction: Predicting = "exact"
    """PACE: what predicts run times: exact, they themselves; requested, the times that users
    requested; learned, the last jobs of the same user and application that ended; pace, models of
    applications and hardware, where jobs name problem sizes; or module:Class."""
    prediction_error: Sigma | Annotated[tuple[Factor, ...], BeforeValidator(listed)] = 0.0
    """PACE: standard deviation of the logarithm of a log-normal factor on run times; or a list of
    factors, such as 2,1,1,1, one for the execution times on each cluster."""

    partitions: dict[str, str] = {}
    """Logs: clusters that jobs are submitted through, by the partition, or site, that the log has,
    such as {1 = "C1", "2-9" = "C2"}; jobs of other partitions have no origin."""
    partition_field: Whole = PARTITION
    """Logs in SWF and GWF: the field that names the partition, counted from 1."""
    load_factor: Factor = 1.0
    """Logs: arrivals come this many times as fast; planned changes of the platform do not."""
    window_start: Moment = 0.0
    """Logs: leave out what was submitted before, s after the first submission, also as in 4w, or a
    date by the log's clock, such as 2003-02-03 or 2003-02-03T08:00; from then on time counts, that
    of planned changes of the platform too."""
    window_end: Moment | None = None
    """Logs: leave out what was submitted from then on, likewise."""
    speeds: dict[str, dict[str, Ratio]] = {}
    """Logs: rates of clusters for the jobs submitted at one, such as {C1 = {C2 = 0.5}}, where they
    are not the platform's; 0: these jobs cannot run there."""
    kill_at_request: bool = False
    """Logs: jobs end when they have run for as long as was requested, instead of running on."""
    only_recorded: bool = False
    """Logs: leave out jobs of which the log does not tell how long they waited; always so where
    local scheduler recorded takes part."""

    kinds: ClassVar[tuple[Any, ...]] = ()
    """Settings of which there are parameters beside those above."""
    _given: dict[str, str] = PrivateAttr(default_factory=dict)
    """Further names, by parameter, by which some were given: messages use them."""

    @classmethod
    def by_any_name(cls, values: Mapping[str, Any]) -> Parameters:
        """Return parameters of values by name, further names included.

        Raises
        ------
        pydantic.ValidationError
            For a value that is not accepted, by the parameter's own name.
        """
        parameters = cls(**{ALIASES.get(key, key): value for key, value in values.items()})
        parameters._given = {ALIASES[key]: key for key in values if key in ALIASES}
        return parameters

    def called(self, name: str) -> str:
        """Return the name by which a parameter was given, its own or a further one."""
        return self._given.get(name, name)

    def given(self) -> dict[str, Any]:
        """Return the values that were given, by the names by which they were."""
        return {self.called(key): of for key, of in self.model_dump(exclude_unset=True).items()}

    @property
    def advertising(self) -> Advertising:
        """How brokers tell each other of their clusters."""
        truth = self.knowledge == "truth"
        return Advertising(self.advertise, self.period, self.loss, truth)

    def draws_deadlines(self, log: bool, read: bool) -> bool:
        """Tell whether jobs that bring no deadline get one; ``read``: a scheduler reads deadlines.

        ``log`` is whether a log gives the jobs.
        """
        if self.assign_deadlines != "auto":
            return self.assign_deadlines
        return read or (self.mode == "batch" and not log)

    def of(self, kind: Any) -> Any:
        """Return settings of a kind, whose fields are named as the parameters that they are."""
        return kind(**{name: getattr(self, name) for name in declared(kind)})

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.kinds, self.__getstate__())


def _restored(kinds: tuple[Any, ...], state: dict[Any, Any]) -> Parameters:
    """Return parameters that were pickled, of the class that this process has for their kinds."""
    made = with_settings(kinds)
    found = made.__new__(made)
    found.__setstate__(state)
    return found


@cache
def with_settings(kinds: tuple[Any, ...]) -> type[Parameters]:
    """Return the class of all parameters where policies can be set to these kinds.

    Raises
    ------
    GridError
        If a kind is not declared as it must be, or two parameters have the same name.
    """
    if not kinds:
        return Parameters
    owners: dict[str, tuple[Any, Setting]] = {}
    fields: dict[str, Any] = {}
    annotations = {}
    for kind in kinds:
        for name, each in declared(kind).items():
            owner, said = owners.setdefault(name, (kind, each.setting))
            if hasattr(Parameters, name) or name in _TAKEN:
                raise GridError(_twice(kind, name, "a parameter of scenarios"))
            if said is not each.setting:  # which a kind that inherits from another shares with it
                raise GridError(_twice(kind, name, f"{called(owner)}.{name}"))
            group = getattr(kind, "group", "") or kind.__name__
            annotations[name] = each.kind
            fields[name] = Field(
                each.default,
                description=each.setting.description,
                json_schema_extra={"group": group},
            )
    inside = {"__module__": __name__, "__annotations__": annotations}
    metaclass: Any = type(Parameters)
    of_all: type[Parameters] = metaclass("Parameters", (Parameters,), inside | fields)
    of_all.kinds = kinds
    return of_all


_TAKEN = {*Parameters.model_fields, *ALIASES}


def _twice(kind: Any, name: str, other: str) -> str:
    return f"{called(kind)}.{name}: found the name of {other}; accepted: another name"
