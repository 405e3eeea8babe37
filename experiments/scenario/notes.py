"""What of a scenario deserves a word though it is no error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from agents.registry import GLOBAL, LOCAL
from agents.schedulers import GlobalScheduler
from experiments.scenario.parameters import Parameters
from experiments.scenario.scenario import Scenario

SIZES = ("sizes", "min_size", "max_size")
PARETO = ("min_runtime", "max_runtime", "pareto_exponent")
RATIOS = ("min_deadline_ratio", "max_deadline_ratio")
PER_CLUSTER = ("jobs_per_cluster", "interarrival")
SYNTHETIC = (
    *("jobs", "queue", "load", *SIZES, "runtimes", *PARETO, "mean_runtime", "runtime_cv"),
    *("workload_model", "q", "composition", "request", *PER_CLUSTER),
)
STAGING = ("staging_time", "staging_data")
PARTITIONS = ("partitions", "partition_field")
LOGS = (*PARTITIONS, "load_factor", "window_start", "window_end", "kill_at_request")

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
    (
        ("request",),
        "there is no composition",
        lambda p, log: not log and not p.composition,
    ),
    (
        ("local_share",),
        "there are queue_shares",
        lambda p, log: bool(p.queue_shares),
    ),
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
    (
        (*RATIOS, "service_classes"),
        "assign_deadlines is false",
        lambda p, log: not p.assign_deadlines,
    ),
    (
        RATIOS,
        "there are service_classes",
        lambda p, log: p.assign_deadlines and bool(p.service_classes),
    ),
)
"""Parameters that mean nothing, why, and when: by all parameters and whether there is a log."""

READ_BY = {
    ("half_life", "shares"): "fair-share",
    ("local_max_jumps",): "fpfs",
    ("coding", "population", "patience", "threshold", "start"): "titan",
    ("coallocate",): "muscle",
    ("solution",): "a1",
    ("chunk",): "b3",
    ("penalty",): "fixed-penalty",
    ("round_jobs", "round_time", "round_clock"): "oas",
}
"""Parameters that a single one of the built-in schedulers reads, and which; one of the user's own
may read any."""


def without_effect(scenario: Scenario) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield parameters that mean nothing to a scenario, and why."""
    parameters, given = scenario.parameters, scenario.to_dict()
    assert isinstance(parameters, Parameters)
    for names, why, applies in WITHOUT_EFFECT:
        if applies(parameters, scenario.workload is not None):
            yield names, why
    for names, reader in READ_BY.items():
        level, built_in = ("local", LOCAL) if reader in LOCAL else ("global", GLOBAL)
        if given[level] in built_in and given[level] != reader:
            yield names, f"the {level} scheduler is not {reader}"
    if given["global"] in GLOBAL and not scenario.policy.queues:
        yield ("aging",), "the global scheduler visits no queues"


def _own_selection(policy: type[GlobalScheduler]) -> str:
    """Return why a policy does not select jobs as the parameter says; "" if it does."""
    if policy.collects:
        return "works in rounds"
    if policy.queues:
        return "visits queues"
    return "selects jobs itself" if policy.selection else ""


def idle(scenario: Scenario) -> dict[str, str]:
    """Return the parameters that were chosen for a scenario and mean nothing to it, and why."""
    parameters = scenario.parameters
    assert isinstance(parameters, Parameters)
    chosen = parameters.model_fields_set - scenario.packaged
    found = {
        name: why for names, why in without_effect(scenario) for name in names if name in chosen
    }
    if "selection" in chosen and (why := _own_selection(scenario.policy)):
        found["selection"] = f"the global scheduler {why}"
    if not isinstance(scenario.workload, str | Path | None):
        of_sites = [name for name in ("local_share", *PARTITIONS) if name in chosen]
        found |= dict.fromkeys(of_sites, "each log is that of a site")
    return found


def told(named: Mapping[str, str]) -> list[str]:
    """Return in a line which parameters mean nothing, given why of each; no line for none."""
    of_why: dict[str, list[str]] = {}
    for name, why in named.items():
        of_why.setdefault(why, []).append(name)
    reasons = [f"{', '.join(names)} ({why})" for why, names in of_why.items()]
    return [f"parameters without effect: {'; '.join(reasons)}"] if reasons else []


def notes(scenario: Scenario) -> list[str]:
    """Return what the user of a scenario may want to know before trusting its results, a line each.

    Examples
    --------
    >>> from grid.platform import Platform
    >>> notes(Scenario("mine", Platform.star([8]), {"mode": "open", "queue": 5}))
    ['parameters without effect: queue (mode is open)', \
'max_size: 10 processors; jobs larger than 8 are rejected, for no cluster can hold them']
    """
    parameters = scenario.parameters
    assert isinstance(parameters, Parameters)
    lines = told({parameters.called(name): why for name, why in idle(scenario).items()})
    lines += [f"platform: {note}" for note in scenario.platform.notes]
    if scenario.workload is None and parameters.max_size > scenario.largest_job:
        lines.append(
            f"{parameters.called('max_size')}: {parameters.max_size} processors; jobs larger than "
            f"{scenario.largest_job} are rejected, for no cluster can hold them"
        )
    if scenario.workload is None and parameters.mode == "open" and parameters.load >= 1:
        lines.append(
            f"{parameters.called('load')}: {parameters.load:g}; the clusters can do no more than "
            "1, and the queue grows for as long as jobs arrive"
        )
    return lines
