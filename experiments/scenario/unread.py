"""Which parameters mean nothing to a scenario, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from agents.coallocation.settings import CoallocationSettings
from agents.queueing.visiting import QueuePolicy
from agents.reads import mentions, read_deadlines, reads_predictions
from agents.registry import LOCAL, kinds_of, readers
from agents.schedulers import GlobalScheduler, LocalScheduler
from agents.selection import RESERVATIONS, JobSelection
from experiments.scenario.checked import OF_ALL
from experiments.scenario.jobs import ORIGINS, TOLD
from experiments.scenario.parameters import Parameters
from experiments.scenario.recorded import chosen
from experiments.scenario.scenario import Scenario
from grid.platform.distance import DistanceCosts
from grid.platform.topology import latencies
from grid.settings import declared
from grid.workloads.table import NOTHING, Stated

SIZES = ("sizes", "min_size", "max_size")
PARETO = ("min_runtime", "max_runtime", "pareto_exponent")
COMMUNICATION = ("computation_fraction", "bsbw", "message_rate")
RATIOS = ("min_deadline_ratio", "max_deadline_ratio")
PER_CLUSTER = ("jobs_per_cluster", "interarrival", "own_jobs")
SYNTHETIC = (
    *("jobs", "queue", "load", *SIZES, "runtimes", *PARETO, "mean_runtime", "runtime_cv"),
    *("workload_model", "q", "composition", "request", *PER_CLUSTER),
)
PREDICTIONS = "prediction", "prediction_error"
STAGING = ("staging_time", "staging_data")
PARTITIONS = ("partitions", "partition_field")
LOGS = (
    *PARTITIONS,
    "load_factor",
    "window_start",
    "window_end",
    "kill_at_request",
    "only_recorded",
)

OF_FILED = ("slurm_partitions", "slurm_qos")
"""Parameters of how Slurm files the jobs of a log."""

UNSEEN = {
    *("mode", "queue", "composition", "request", "computation_fraction", "bsbw"),
    *(*ORIGINS, *PARTITIONS),
}
"""Parameters of jobs that change what no column of ``jobs.csv`` tells."""
OF_JOBS = {*SYNTHETIC, *LOGS, *UNSEEN}
OF_DEADLINES = {"assign_deadlines", *RATIOS, "service_classes"}
OF_JOBS_AND_DEADLINES = {*OF_JOBS, "warmup", *OF_DEADLINES}
OF_ARRIVALS = {"open": {"clusters", "nodes"}, "per-cluster": {"clusters"}}
"""Parameters of the platform that synthetic arrivals follow, by mode; in rounds, none."""
OF_DRAWN_DEADLINES = {"speeds"}
"""Parameters of the platform that drawn deadlines follow."""

NO_LINKS = "the global scheduler takes no account of links"
SIZE_ALONE = "the global scheduler reads the size of a job, not its components"
NO_SPLIT = "the global scheduler splits no job"
NO_DEMAND = "bsbw is 0: no job needs links"
ALL_FIT = "no job is larger than the largest cluster"
ONE_QUEUE = "all jobs wait in one queue, whose head goes first anyway"
NO_ROUNDS = "no scheduler reads it, and there are no rounds that it judges"
UNSENT = ("below", "pull")
"""Capability tables that no broker sends to those below it."""
SILENT = "computation_fraction is 1: no job communicates"
RIGID = "no job names several sizes"
NO_OCCASION = {
    "speeds": "no job is submitted at a cluster that it names",
    "kill_at_request": "no job has a requested time",
    "slurm_partitions": "no job is in a partition that it names",
    "slurm_qos": "no job has a QOS",
    "lslt": NO_DEMAND,
    "coallocate": ALL_FIT,
    "aging": ONE_QUEUE,
    **dict.fromkeys(ORIGINS, "jobs say where they are submitted"),
    **dict.fromkeys(TOLD, "jobs say what they communicate"),
}
"""Why parameters mean nothing to the jobs of a log (`grid.workloads.table.Stated.unread`)."""
NO_ORDER = "the global scheduler takes components in any order"


def without_origin(parameters: Parameters) -> float:
    """Return the share of synthetic jobs that are submitted through no cluster."""
    of_clusters = parameters.mode == "per-cluster" or parameters.queue_shares
    return 0.0 if of_clusters else 1 - parameters.local_share


Condition = Callable[[Parameters, bool], bool]
WITHOUT_EFFECT: tuple[tuple[tuple[str, ...], str, Condition], ...] = (
    (SYNTHETIC, "a log gives the jobs", lambda p, log: log),
    (("mode",), "a log runs in mode open", lambda p, log: log and p.mode != "open"),
    ((*LOGS, "speeds", *OF_FILED), "there is no log", lambda p, log: not log),
    (
        (
            "sizes",
            "min_size",
            "q",
            "composition",
            "runtimes",
            *PARETO,
            "mean_runtime",
            "runtime_cv",
        ),
        "workload_model gives the jobs",
        lambda p, log: not log and p.workload_model != "laws",
    ),
    (("nodes",), "there is no log", lambda p, log: not log and p.nodes == "log"),
    (("queue",), "mode is open", lambda p, log: not log and p.mode == "open"),
    (("q",), "sizes is not powers-of-two", lambda p, log: not log and p.sizes != "powers-of-two"),
    (("request",), "there is no composition", lambda p, log: not log and not p.composition),
    (("local_share",), "there are queue_shares", lambda p, log: bool(p.queue_shares)),
    (("load",), "mode is batch", lambda p, log: not log and p.mode == "batch"),
    (
        ("jobs", "queue", "load", *ORIGINS, "composition", "request"),
        "mode is per-cluster",
        lambda p, log: not log and p.mode == "per-cluster",
    ),
    (
        STAGING,
        "local_share is 0: no job has an origin",
        lambda p, log: not log and without_origin(p) == 1,
    ),
    (
        ("message_rate",),
        SILENT,
        lambda p, log: not log and p.computation_fraction == 1,
    ),
    (("mean_down_time",), "mean_up_time is 0", lambda p, log: p.mean_up_time == 0),
    (("mouldable",), RIGID, lambda p, log: not log),
    (("period",), "advertise is change", lambda p, log: p.advertise == "change"),
    (
        ("advertise", "period"),
        "knowledge is truth: nothing is advertised",
        lambda p, log: (
            p.knowledge == "truth" and getattr(p, "capability_tables", "below") in UNSENT
        ),
    ),
    (PER_CLUSTER, "mode is not per-cluster", lambda p, log: not log and p.mode != "per-cluster"),
    (
        PARETO,
        "runtimes is not bounded-pareto",
        lambda p, log: not log and p.runtimes != "bounded-pareto",
    ),
    (
        ("runtime_cv",),
        "runtimes is not hyperexponential",
        lambda p, log: not log and p.runtimes != "hyperexponential",
    ),
    (
        ("mean_runtime",),
        "runtimes is bounded-pareto",
        lambda p, log: not log and p.runtimes == "bounded-pareto",
    ),
)
"""Parameters that mean nothing, why, and when: by all parameters and whether there is a log."""


def without_effect(scenario: Scenario) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield parameters that mean nothing to a scenario, and why."""
    parameters = scenario.parameters
    log = scenario.workload is not None
    costs, clusters = parameters.of(DistanceCosts), len(scenario.platform.clusters)
    late = latencies(scenario.platform.graph).any()
    ours = scenario.policy.__module__.startswith("agents.")  # another may read what it likes
    if not late:
        yield ("message_rate",), "no link has a latency"
    if clusters == 1:
        yield STAGING, "there is one cluster: no job moves"
    if ours and not log and not parameters.bsbw:
        yield ("lslt",), NO_DEMAND
        yield (() if costs.staging_data else ("link_mbps",)), NO_DEMAND
        yield (() if late and costs.message_rate else ("computation_fraction",)), NO_DEMAND
    homeless = None if log else without_origin(parameters)
    if ours and (homeless == 1 or (clusters == 1 and homeless == 0)):
        yield ("aging",), ONE_QUEUE
    fit = parameters.max_size <= scenario.platform.sizes.max() and not parameters.own_jobs
    if fit and not log and not parameters.composition:
        yield from _without_large(scenario)
    whole = not (parameters.mean_up_time or parameters.loss or scenario.platform.changes)
    if scenario.policy.collects and scenario.policy.paper == "muscle" and whole:
        yield ("start",), "TITAN starts from the seed schedules of each round"
    if not go_by_predictions(scenario):
        yield PREDICTIONS, "no scheduler goes by predictions: they change no schedule"
    yield from of_no_effect(parameters, log, scenario.policy, scenario.local_policy)


def _without_large(scenario: Scenario) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield those of how jobs are split that are larger than any cluster, where there are none."""
    yield ("coallocate",), ALL_FIT
    kind, parameters = scenario.policy.settings_type, scenario.parameters
    if kind is not None and "coallocate" in declared(kind) and not scenario.policy.spans:
        yield (*declared(CoallocationSettings), *COMMUNICATION), ALL_FIT
        if not parameters.of(DistanceCosts).staging_data:
            yield ("link_mbps",), f"{ALL_FIT}, and jobs wait for no data"


def go_by_predictions(scenario: Scenario, homeless: bool = True) -> bool:
    """Return whether what is predicted may decide when and where a job of a scenario runs.

    Reservations of the jobs that a global scheduler is offered go by predicted ends. A policy under
    which jobs stay at home chooses only for those that are `homeless`, if there may be some.
    """
    policy, local = scenario.policy, scenario.local_policy
    given = scenario.parameters.model_dump()
    offered = not (policy.collects or policy.queues or policy.only_chooses)
    if offered and (policy.selection or given["selection"]) in RESERVATIONS:
        return True
    if not policy.starts_jobs and reads_predictions(local):
        return True
    chooses = len(scenario.platform.clusters) > 1 or not policy.only_chooses
    chooses &= homeless or not policy.stays_home
    return chooses and reads_predictions(policy)


def of_no_effect(
    parameters: Parameters,
    log: bool,
    policy: type[GlobalScheduler] | None = None,
    local_policy: type[LocalScheduler] | None = None,
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield parameters that mean nothing, and why; without policies, nothing is said of theirs."""
    for names, why, applies in WITHOUT_EFFECT:
        if applies(parameters, log):
            yield names, why
    if policy is None or local_policy is None:
        yield from _of_deadlines(parameters, log, True)
        return
    yield from _of_deadlines(parameters, log, read_deadlines(policy, local_policy))
    if policy.stays_home:
        yield STAGING, "the global scheduler moves no job"
    why = NO_LINKS if policy.penalty else "" if policy.may_split() else NO_SPLIT
    kind = policy.settings_type
    if kind is not None and "coallocate" in declared(kind) and not parameters.of(kind).coallocate:
        why = "coallocate is false: no job is split"
        yield tuple(declared(CoallocationSettings)), why
    if why:
        yield COMMUNICATION, why
        if not parameters.model_dump()["staging_data"]:
            yield ("link_mbps",), f"{why}, and jobs wait for no data"
    reads, in_order = policy.may_read_components()
    useless = not reads or (not in_order and parameters.request == "ordered")
    split = parameters.composition and parameters.mode != "per-cluster" and not log
    if useless and split:
        yield ("request",), NO_ORDER if reads else SIZE_ALONE
    if not parameters.only_recorded and chosen([(policy, local_policy)]):
        yield ("only_recorded",), "local scheduler recorded has it so"
    yield from _not_selected(parameters, policy)
    yield from _of_rounds(parameters, log, policy, local_policy)
    of_policies = kinds_of(policy, local_policy)
    read = {name for kind in (*OF_ALL, *of_policies) for name in declared(kind)}
    for kind in parameters.kinds:
        for name in declared(kind):
            if name not in read:
                own = name == "local_max_jumps" and local_policy.service == "fpfs"
                yield (name,), "the local scheduler sets max_jumps" if own else _unread(name)


def _of_deadlines(
    parameters: Parameters, log: bool, read: bool
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield those of how deadlines are drawn where none is, and why; or those of no class."""
    if not parameters.draws_deadlines(log, read):
        by_itself = parameters.model_copy(update={"assign_deadlines": "auto"})
        chosen = by_itself.draws_deadlines(log, read)
        why = "assign_deadlines is false" if chosen else "no scheduler reads deadlines"
        yield (*RATIOS, "service_classes"), why
    elif parameters.service_classes:
        yield RATIOS, "there are service_classes"


def _of_rounds(
    parameters: Parameters,
    log: bool,
    policy: type[GlobalScheduler],
    local_policy: type[LocalScheduler],
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield those of rounds, and of how schedules are judged, that nobody reads, and why."""
    if policy.collects:
        return
    yield ("round_threshold",), "the global scheduler is not muscle"
    if log or parameters.mode != "batch":
        for name in ("weights", "idle"):
            if not any(mentions(each, f"model.{name}") for each in (policy, local_policy)):
                yield (name,), NO_ROUNDS


def _unread(name: str) -> str:
    """Return why a parameter means nothing that no policy in use declares."""
    by = readers(name)
    if len(by) != 1:
        return "neither scheduler reads it"
    return f"the {'local' if by[0] in LOCAL else 'global'} scheduler is not {by[0]}"


def _not_selected(
    parameters: Parameters, policy: type[GlobalScheduler]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield those of `JobSelection` by which a policy is not offered jobs, and why."""
    if policy.collects or policy.queues:
        way = "works in rounds" if policy.collects else "visits queues"
        yield tuple(declared(JobSelection)), f"the global scheduler {way}"
        if policy.queues == "global" and issubclass(policy, QueuePolicy):
            yield ("aging",), ONE_QUEUE
        return
    way = "sends each job on at once" if policy.only_chooses else "selects jobs itself"
    chosen = policy.selection or parameters.model_dump()["selection"]
    has_jumps = policy.only_chooses or policy.max_jumps is not GlobalScheduler.max_jumps
    by_jumps = has_jumps and chosen not in RESERVATIONS
    if policy.selection or policy.only_chooses or by_jumps:
        yield ("selection",), f"the global scheduler {way}"
    if has_jumps:
        yield ("max_jumps",), f"the global scheduler {way}"
    elif chosen != "fpfs":
        yield ("max_jumps",), f"selection is {chosen}"


def idle(scenario: Scenario, stated: Stated = NOTHING) -> dict[str, str]:
    """Return the parameters that were chosen for a scenario and mean nothing to it, and why.

    Of the jobs of a log, that is known which is `stated`.
    """
    parameters = scenario.parameters
    chosen = parameters.model_fields_set - scenario.packaged
    if parameters.mode == "per-cluster":  # which may be the user's, and ends what the file has
        chosen |= parameters.model_fields_set & {"composition"}
    found = {
        name: why for names, why in without_effect(scenario) for name in names if name in chosen
    }
    if stated.silent and parameters.computation_fraction == 1 and "message_rate" in chosen:
        found.setdefault("message_rate", SILENT)
    why = {name: NO_OCCASION[name] for name in stated.unread}
    why |= {"mouldable": RIGID} if stated.rigid else {}
    if "coallocate" in why:
        why |= {name: said for names, said in _without_large(scenario) for name in names}
    for name in why:  # in this order, which that of a set is not in each process
        if name in chosen:
            found.setdefault(name, why[name])
    if not isinstance(scenario.workload, str | Path | None):
        of_sites = [name for name in (*ORIGINS, "partitions") if name in chosen]
        found |= dict.fromkeys(of_sites, "each log is that of a site")
    return found


def of_arrivals(scenario: Scenario) -> set[str]:
    """Return the parameters of the platform that the arrivals of a scenario's jobs follow."""
    parameters = scenario.parameters
    return OF_ARRIVALS.get(parameters.mode, set()) if scenario.workload is None else set()


def of_jobs(scenario: Scenario) -> set[str]:
    """Return the parameters that the jobs of a scenario, and their deadlines, depend on."""
    found = OF_JOBS_AND_DEADLINES | of_arrivals(scenario)
    if scenario.workload is not None:
        found = found - {"mode"} | (OF_DRAWN_DEADLINES if scenario.draws_deadlines else set())
    return found - idle(scenario).keys()
