"""What is assumed where a scenario, or its jobs, lack what schedulers or numbers go by."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from agents.disciplines import FairShareScheduler, FcfsScheduler
from agents.energy.greenest import GreenestScheduler
from agents.muscle.scheduler import MuscleScheduler
from agents.queueing.visiting import QueuePolicy, QueueSettings
from agents.selection import JobSelection
from agents.slurm.controller import SlurmScheduler, SlurmSettings
from agents.slurm.qos import unread
from experiments.scenario.scenario import Scenario
from experiments.scenario.unread import (
    NO_LINKS,
    NO_ORDER,
    SIZE_ALONE,
    go_by_predictions,
    idle,
)
from experiments.show.numbers import counted, duration
from grid.foreign import plain
from grid.settings import declared
from grid.workloads.table import NOTHING, Stated


def of_policies(scenario: Scenario, due: bool = True, stated: Stated = NOTHING) -> Iterator[str]:
    """Yield in lines what schedulers do without what they go by, or otherwise than is told.

    Parameters
    ----------
    scenario : Scenario
    due : bool
        Whether a job has a deadline, as far as is known.
    stated : Stated
        What the jobs of a log say, as far as is known.
    """
    yield from _of_local(scenario, stated is NOTHING or stated.users > 0)
    yield from _of_class(scenario)
    if not due:
        yield from _all_to_the_largest(scenario, stated.partial)
    if scenario.workload is not None and scenario.policy.penalty and not stated.silent:
        yield f"workload: what split jobs communicate slows none of them: {NO_LINKS}"
    yield from _without_carbon(scenario)
    yield from _without_idle_watts(scenario)
    if "aging" not in idle(scenario, stated):
        yield from _of_aging(scenario)
    yield from _of_slurm(scenario)
    yield from _unread_components(scenario, stated.components, stated.ordered)
    yield from _known_run_times(scenario, stated)
    yield from _without_communication(scenario, stated)


def _of_local(scenario: Scenario, named: bool = True) -> Iterator[str]:
    """Yield that a local scheduler other than the plainest decides nothing, if so.

    Jobs of a log may be `named` by their users, those of a law are not.
    """
    local, policy = scenario.to_dict()["local"], scenario.to_dict()["global"]
    shares = issubclass(scenario.local_policy, FairShareScheduler)
    if scenario.policy.starts_jobs and scenario.local_policy is not FcfsScheduler:
        yield f"local scheduler {local}: without effect, for {policy} starts each job itself"
    elif shares and (scenario.workload is None or not named):
        yield f"local scheduler {local}: no job names a user; all are served in order of landing"


def _of_class(scenario: Scenario) -> Iterator[str]:
    """Yield in what a class selects jobs otherwise than parameters say that nobody chose."""
    policy, parameters = scenario.policy, scenario.parameters
    if policy.collects or policy.queues:
        return
    for name in declared(JobSelection):
        own, given = getattr(policy, name), parameters.model_dump()[name]
        if policy.only_chooses and name != "max_jumps":
            continue  # each job is sent on at once
        is_other = isinstance(own, str | float | int) and own not in ("", math.inf, given)
        if is_other and name not in parameters.model_fields_set - scenario.packaged:
            yield f"{name}: {own}, as the class of the global scheduler says; not {given}"


def _known_run_times(scenario: Scenario, stated: Stated) -> Iterator[str]:
    """Yield that schedulers know the run times of a log since nobody has said otherwise."""
    parameters = scenario.parameters
    if scenario.workload is None or not go_by_predictions(scenario, stated.homeless > 0):
        return
    ours = "prediction" in scenario.packaged  # as of scenario site, which jobs may overrule
    chosen = "prediction" in parameters.model_fields_set and not ours
    silent = "kill_at_request" in stated.unread  # none requests a time
    exact = parameters.prediction == "exact" or (ours and silent)
    if chosen or parameters.prediction_error or not exact:
        return
    known = "prediction exact: jobs are expected to take as long as they do"
    if silent and not stated.timed:  # else models or a table tell them
        yield f"{known}, for none requests a time; prediction learned goes by those that ended"
    elif stated.requested:
        yield f"{known}, whatever times users requested; prediction requested goes by those"


def _without_communication(scenario: Scenario, stated: Stated) -> Iterator[str]:
    """Yield that split jobs of a log are taken not to communicate, if nobody has said so."""
    policy, given = scenario.policy, scenario.parameters
    name = "computation_fraction"
    said = name in stated.unread or name in given.model_fields_set - scenario.packaged
    splits = policy.may_split() and not policy.penalty and len(scenario.platform.clusters) > 1
    if kind := policy.settings_type:
        splits &= "coallocate" not in declared(kind) or given.of(kind).coallocate
    if scenario.workload is not None and stated.silent and splits and not said:
        yield f"{name} 1: jobs that are split are taken not to communicate"


def _all_to_the_largest(scenario: Scenario, partial: bool) -> Iterator[str]:
    """Yield which cluster gets the jobs of MUSCLE if none has a deadline.

    `partial` is whether some job cannot run on some cluster.
    """
    sizes, names = scenario.platform.sizes, scenario.platform.names
    if len(sizes) == 1 or not issubclass(scenario.policy, MuscleScheduler):
        return
    largest = [name for name, size in zip(names, sizes, strict=True) if size == sizes.max()]
    parameters: Any = scenario.parameters
    if parameters.levels > 1 or parameters.domains:
        who = "to the largest of its clusters and domains"
    elif partial:
        who = "to the largest cluster on which they can run"
    elif len(largest) == 1:
        who = f"to the largest cluster, {largest[0]}"
    else:
        who = f"by chance, to one of the {len(largest)} largest clusters"
    if scenario.platform.changes or scenario.failures is not None:
        who += ", or whichever is the largest by what is up"
    jobs = "jobs that one cluster can hold" if parameters.coallocate else "the jobs"
    yield (
        "no job has a deadline: the workload levels that MUSCLE goes by are all 0, and it sends "
        f"{jobs} {who}"
    )


def _without_carbon(scenario: Scenario) -> Iterator[str]:
    """Yield what GREENEST goes by if nobody has said what electricity emits."""
    given: Any = scenario.parameters
    if issubclass(scenario.policy, GreenestScheduler) and given.carbon == {}:
        instead = "energy" if given.busy_watts != {} else "processor-seconds"
        yield f"no carbon intensity is given: GREENEST goes by {instead}"


def _without_idle_watts(scenario: Scenario) -> Iterator[str]:
    """Yield what idle processors draw if nobody has said that."""
    given: Any = scenario.parameters
    if given.busy_watts != {} and given.idle_watts == {}:
        yield "idle_watts: not given; processors that no job holds draw 0 W"


def _of_aging(scenario: Scenario) -> Iterator[str]:
    """Yield what it means that the head of a queue is aged."""
    given: Any = scenario.parameters
    if not issubclass(scenario.policy, QueuePolicy):
        return
    ours = scenario.policy.__module__.startswith("agents.")  # another may visit as it likes
    if ours and given.of(QueueSettings).aging > 0.0:
        yield (
            f"aging: while the head of a queue has waited for {duration(given.aging)}, no other "
            "job starts at any cluster; it is tried when a job departs"
        )


def _of_slurm(scenario: Scenario) -> Iterator[str]:
    """Yield what of Slurm's files has no meaning here."""
    given: Any = scenario.parameters
    if not issubclass(scenario.local_policy, SlurmScheduler):
        return
    conf = given.of(SlurmSettings).conf
    if given.slurm_conf and conf.note:
        yield f"slurm_conf: {given.slurm_conf}: {conf.note}"
    if given.slurm_qos and (names := unread(given.slurm_qos)):
        yield f"slurm_qos: {given.slurm_qos}: without meaning here: {', '.join(map(plain, names))}"


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
