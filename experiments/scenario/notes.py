"""What of a scenario deserves a word though it is no error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.deadlines import mentions, reads_deadlines
from agents.muscle.scheduler import MuscleScheduler
from agents.queueing.visiting import QueuePolicy
from agents.registry import LOCAL, kinds_of, readers
from agents.schedulers import GlobalScheduler, LocalScheduler
from agents.selection import RESERVATIONS, JobSelection
from experiments.scenario.checked import OF_ALL
from experiments.scenario.parameters import Parameters
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import counted, instant
from grid.platform.topology import latencies
from grid.settings import declared
from grid.workloads.table import NOTHING, Stated

SIZES = ("sizes", "min_size", "max_size")
PARETO = ("min_runtime", "max_runtime", "pareto_exponent")
COMMUNICATION = ("computation_fraction", "bsbw", "message_rate")
RATIOS = ("min_deadline_ratio", "max_deadline_ratio")
PER_CLUSTER = ("jobs_per_cluster", "interarrival")
SYNTHETIC = (
    *("jobs", "queue", "load", *SIZES, "runtimes", *PARETO, "mean_runtime", "runtime_cv"),
    *("workload_model", "q", "composition", "request", *PER_CLUSTER),
)
STAGING = ("staging_time", "staging_data")
PARTITIONS = ("partitions", "partition_field")
LOGS = (*PARTITIONS, "load_factor", "window_start", "window_end", "kill_at_request")

ORIGINS = ("local_share", "queue_shares")
UNSEEN = {
    *("mode", "queue", "composition", "request", "computation_fraction", "bsbw"),
    *(*ORIGINS, *PARTITIONS),
}
"""Parameters of jobs that change what no column of ``jobs.csv`` tells."""
OF_JOBS = {*SYNTHETIC, *LOGS, *UNSEEN}
OF_JOBS_AND_DEADLINES = {*OF_JOBS, "warmup", "assign_deadlines", *RATIOS, "service_classes"}
OF_ARRIVALS = {"clusters", "nodes"}
"""Parameters of the platform that synthetic arrivals follow, but for those in rounds."""

NO_LINKS = "the global scheduler takes no account of links"
SIZE_ALONE = "the global scheduler reads the size of a job, not its components"
NO_SPLIT = "the global scheduler splits no job"
NO_ROUNDS = "no scheduler reads it, and there are no rounds that it judges"
SILENT = "computation_fraction is 1: no job communicates"
NO_ORDER = "the global scheduler takes components in any order"

Condition = Callable[[Parameters, bool], bool]
WITHOUT_EFFECT: tuple[tuple[tuple[str, ...], str, Condition], ...] = (
    (SYNTHETIC, "a log gives the jobs", lambda p, log: log),
    (("mode",), "a log runs in mode open", lambda p, log: log and p.mode == "batch"),
    (LOGS, "there is no log", lambda p, log: not log),
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
    (("queue",), "mode is open", lambda p, log: not log and p.mode == "open"),
    (("q",), "sizes is not powers-of-two", lambda p, log: not log and p.sizes != "powers-of-two"),
    (("request",), "there is no composition", lambda p, log: not log and not p.composition),
    (("local_share",), "there are queue_shares", lambda p, log: bool(p.queue_shares)),
    (("load",), "mode is batch", lambda p, log: not log and p.mode == "batch"),
    (
        ("jobs", "queue", "load", "local_share"),
        "mode is per-cluster",
        lambda p, log: not log and p.mode == "per-cluster",
    ),
    (
        STAGING,
        "local_share is 0: no job has an origin",
        lambda p, log: (
            not log and p.mode != "per-cluster" and p.local_share == 0 and not p.queue_shares
        ),
    ),
    (
        ("message_rate",),
        SILENT,
        lambda p, log: not log and p.computation_fraction == 1,
    ),
    (("mean_down_time",), "mean_up_time is 0", lambda p, log: p.mean_up_time == 0),
    (("period",), "advertise is change", lambda p, log: p.advertise == "change"),
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
    assert isinstance(parameters, Parameters)
    log = scenario.workload is not None
    if not latencies(scenario.platform.graph).any():
        yield ("message_rate",), "no link has a latency"
    yield from of_no_effect(parameters, log, scenario.policy, scenario.local_policy)


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
    yield from _of_deadlines(parameters, log, any(map(reads_deadlines, (policy, local_policy))))
    if policy.stays_home:
        yield STAGING, "the global scheduler moves no job"
    why = NO_LINKS if policy.penalty else "" if policy.may_split() else NO_SPLIT
    if why:
        yield COMMUNICATION, why
        if not parameters.model_dump()["staging_data"]:
            yield ("link_mbps",), f"{why}, and jobs wait for no data"
    reads, in_order = policy.may_read_components()
    useless = not reads or (not in_order and parameters.request == "ordered")
    if useless and parameters.composition and not log:
        yield ("request",), NO_ORDER if reads else SIZE_ALONE
    yield from _not_selected(parameters, policy)
    yield from _of_rounds(parameters, log, policy, local_policy)
    of_policies = kinds_of(policy, local_policy)
    read = {name for kind in (*OF_ALL, *of_policies) for name in declared(kind)}
    for kind in parameters.kinds:
        for name in declared(kind):
            if name not in read:
                yield (name,), _unread(name)


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
            yield ("aging",), "all jobs wait in one queue, whose head goes first anyway"
        return
    way = "sends each job on at once" if policy.only_chooses else "selects jobs itself"
    chosen = policy.selection or parameters.model_dump()["selection"]
    has_jumps = policy.only_chooses or policy.max_jumps is not GlobalScheduler.max_jumps
    if policy.selection or (has_jumps and chosen not in RESERVATIONS):
        yield ("selection",), f"the global scheduler {way}"
    if has_jumps:
        yield ("max_jumps",), f"the global scheduler {way}"
    elif chosen != "fpfs":
        yield ("max_jumps",), f"selection is {chosen}"


def _of_class(scenario: Scenario) -> Iterator[str]:
    """Yield in what a class selects jobs otherwise than parameters say that nobody chose."""
    policy, parameters = scenario.policy, scenario.parameters
    assert isinstance(parameters, Parameters)
    if policy.collects or policy.queues:
        return
    for name in declared(JobSelection):
        own, given = getattr(policy, name), parameters.model_dump()[name]
        is_other = isinstance(own, str | float | int) and own not in ("", math.inf, given)
        if is_other and name not in parameters.model_fields_set - scenario.packaged:
            yield f"{name}: {own}, as the class of the global scheduler says; not {given}"


def idle(scenario: Scenario, silent: bool = False) -> dict[str, str]:
    """Return the parameters that were chosen for a scenario and mean nothing to it, and why.

    Nothing is known of what the jobs of a log communicate, unless they are `silent`.
    """
    parameters = scenario.parameters
    assert isinstance(parameters, Parameters)
    chosen = parameters.model_fields_set - scenario.packaged
    found = {
        name: why for names, why in without_effect(scenario) for name in names if name in chosen
    }
    if silent and parameters.computation_fraction == 1 and "message_rate" in chosen:
        found.setdefault("message_rate", SILENT)
    if not isinstance(scenario.workload, str | Path | None):
        of_sites = [name for name in ("local_share", *PARTITIONS) if name in chosen]
        found |= dict.fromkeys(of_sites, "each log is that of a site")
    return found


def of_jobs(scenario: Scenario) -> set[str]:
    """Return the parameters that the jobs of a scenario, and their deadlines, depend on."""
    parameters = scenario.parameters
    assert isinstance(parameters, Parameters)
    if scenario.workload is not None:
        found = OF_JOBS_AND_DEADLINES - {"mode"}
    elif parameters.mode == "batch":
        found = OF_JOBS_AND_DEADLINES
    else:
        found = OF_JOBS_AND_DEADLINES | OF_ARRIVALS
    return found - idle(scenario).keys()


def told(named: Mapping[str, str]) -> list[str]:
    """Return in a line which parameters mean nothing, given why of each; no line for none."""
    of_why: dict[str, list[str]] = {}
    for name, why in named.items():
        of_why.setdefault(why, []).append(name)
    reasons = [f"{', '.join(names)} ({why})" for why, names in of_why.items()]
    return [f"parameters without effect: {'; '.join(reasons)}"] if reasons else []


def clock_of_changes(given: Mapping[str, Any]) -> str:
    """Return on which clock planned changes are, "" if on that of the log or of its jobs.

    Parameters
    ----------
    given : mapping
        Of a run: its ``platform``, ``workload`` and ``parameters``, as `Scenario.to_dict` has them.
    """
    parameters = given["parameters"]
    if not given["platform"].get("changes") or given["workload"] is None:
        return ""
    return clock_among([parameters])


def clock_among(several: Sequence[Mapping[str, Any]], window: str = "") -> str:
    """Return on which clock planned changes are in replays of some parameters, as above.

    Parameters
    ----------
    several : sequence of mapping
    window : str
        What each replay is cut to, "" if that is up to the parameters.
    """
    if any(each["window_start"] > 0 or each["window_end"] is not None for each in several):
        window = window or "the window"
    scaled = any(each["load_factor"] != 1 for each in several)
    clocks = [f"count from the start of {window}, not of the log"] if window else []
    clocks += ["are not scaled by load_factor"] if scaled else []
    return f"changes of the platform: at and until {', and '.join(clocks)}" if clocks else ""


def not_reached(changes: Sequence[Mapping[str, Any]], all_left_at: float) -> str:
    """Return in words which planned changes found no jobs, which all left by then (s); "" if none.

    >>> not_reached([{"at": 5.0}, {"at": 9000.0}], 60.0)
    '1 of 2 changes of the platform never took effect: planned after the last job ended, at 60 s'
    """
    late = sum(change["at"] > all_left_at for change in changes)
    never = f"{late:,} of {counted(len(changes), 'change')} of the platform never took effect"
    return f"{never}: planned after the last job ended, at {instant(all_left_at)}" if late else ""


def _all_to_the_largest(scenario: Scenario) -> Iterator[str]:
    """Yield which cluster gets the jobs of MUSCLE if none has a deadline."""
    sizes, names = scenario.platform.sizes, scenario.platform.names
    if len(sizes) == 1 or not issubclass(scenario.policy, MuscleScheduler):
        return
    largest = [name for name, size in zip(names, sizes, strict=True) if size == sizes.max()]
    who = f"by chance, to one of the {len(largest)} largest clusters"
    if len(largest) == 1:
        who = f"to the largest cluster, {largest[0]}"
    if scenario.platform.changes or scenario.failures is not None:
        who += ", or whichever is the largest by what is up"
    yield (
        "no job has a deadline: the workload levels that MUSCLE goes by are all 0, and it sends "
        f"the jobs {who}"
    )


def _unread_components(scenario: Scenario, jobs: int, ordered: int) -> Iterator[str]:
    """Yield how many jobs of a table name components, or clusters of each, that nobody reads."""
    reads, in_order = scenario.policy.may_read_components()
    if jobs and not reads:
        asking = counted(jobs, "job") + (" names" if jobs == 1 else " name")
        also = f", {ordered:,} of them in order," if ordered else ""
        yield f"workload: {asking} components{also} without effect: {SIZE_ALONE}"
    elif ordered and not in_order:
        asking = counted(ordered, "job") + (" orders" if ordered == 1 else " order")
        yield f"workload: {asking} components by cluster without effect: {NO_ORDER}"


def notes(
    scenario: Scenario, all_left_at: float = math.inf, due: bool = True, stated: Stated = NOTHING
) -> list[str]:
    """Return what the user of a scenario may want to know before trusting its results, a line each.

    Parameters
    ----------
    scenario : Scenario
    all_left_at : float
        When the last job of its run ended, s, if there was one and no job is left.
    due : bool
        Whether a job has a deadline, as far as is known.
    stated : Stated
        What the jobs of a log say, as far as is known.

    Examples
    --------
    >>> from grid.platform import Platform
    >>> notes(Scenario("mine", Platform.star([8]), {"mode": "open", "queue": 5}))
    ['parameters without effect: queue (mode is open)', \
'max_size: 10 processors; jobs larger than 8 are rejected, for no cluster can hold them']
    """
    parameters = scenario.parameters
    assert isinstance(parameters, Parameters)
    lines = told(
        {parameters.called(name): why for name, why in idle(scenario, stated.silent).items()}
    )
    lines += [*_of_class(scenario), *(f"platform: {note}" for note in scenario.platform.notes)]
    given = scenario.to_dict()
    late = not_reached(given["platform"].get("changes", ()), all_left_at)
    lines += [line for line in (clock_of_changes(given), late) if line]
    lines += [] if due else _all_to_the_largest(scenario)
    if scenario.workload is not None and scenario.policy.penalty and not stated.silent:
        lines.append(f"workload: what split jobs communicate slows none of them: {NO_LINKS}")
    lines += _unread_components(scenario, stated.components, stated.ordered)
    if parameters.prediction == "requested" and (jobs := stated.unrequested):
        why = "expected to take the mean of all jobs that had ended by then"
        lines.append(f"prediction: {counted(jobs, 'job')} without a requested time: {why}")
    if parameters.nodes == "log" and stated.size_note:
        lines.append(f"{parameters.called('nodes')}: {stated.size_note}")
    largest = scenario.largest_job
    if scenario.workload is None and parameters.max_size > largest:
        split = largest > scenario.platform.sizes.max()
        lines.append(
            f"{parameters.called('max_size')}: {parameters.max_size} processors; jobs larger than "
            f"{largest} are rejected, for "
            + ("all clusters together have no more" if split else "no cluster can hold them")
        )
    if scenario.workload is None and parameters.mode == "open" and parameters.load >= 1:
        lines.append(
            f"{parameters.called('load')}: {parameters.load:g}; the clusters can do no more than "
            "1, and the queue grows for as long as jobs arrive"
        )
    return lines
