"""What a run leaves behind: its jobs and numbers, for people, for programs and as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.run.observed import Observed, drawn_classes
from experiments.run.own_metrics import measured
from experiments.run.summary import summary_of
from experiments.run.totals import RunTotals
from experiments.run.whose import Whose
from experiments.scenario.notes import notes
from experiments.show.display import Shown
from experiments.show.numbers import listed
from grid.kernel.state import LANDING, LOCAL, TRANSIT, VACANT
from grid.metrics.of_rounds import Rounds, run_performance
from grid.workloads.table import stated_by
from grid.world.validation import IMPOSSIBLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from agents.cluster import ClusterAgent
    from agents.model import GridModel
    from experiments.scenario.scenario import Scenario


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Result(RunTotals, Shown):
    """A finished or interrupted run, with all that `RunTotals` has."""

    @classmethod
    def of(
        cls,
        model: GridModel,
        scenario: Scenario,
        wall_s: float,
        extras: Mapping[str, Any] | None = None,
        observed: Observed | None = None,
    ) -> Result:
        """Return the result of a model as it stands.

        Parameters
        ----------
        model : GridModel
            Run to its end, or interrupted.
        scenario : Scenario
            That the model is of.
        wall_s : float
            Time that the run took, s.
        extras : mapping, optional
            More keys of the summary, such as ``seed_schedules``; values that JSON can hold.
        observed : Observed, optional
            All jobs that left; by default those that the world has kept.
        """
        world, slots = model.world, model.world.jobs
        if observed is None:
            observed = Observed(model, classes=drawn_classes(scenario, model))
            observed.add(world.log.records())
            observed.finish()
        result = cls(
            scenario=scenario.as_run(model),
            seed=model.seed,
            wall_s=wall_s,
            simulated_s=model.now,
            interrupted=model.running,
            submitted=world.state.submitted,
            tally=observed.tally,
            energy=observed.energy,
            electricity_over_time=observed.electricity,
            whose=Whose(model.workload),
            classes=observed.classes,
            applications=observed.applications,
            statistics=world.statistics,
            records=world.log.records() if world.log.keeping else None,
            rounds=observed.rounds,
            planned=_planned(model, observed.tally.counted_from),
            overall=run_performance(observed.tally, model.weights, model.idle),
            cleaning=model.workload.cleaning,
            rejections=dict(observed.rejections),
            messages={
                **world.messages,
                "scheduling": model.messages_posted,
                "discovery": model.discovery_messages,
            },
            messages_lost=model.messages_lost,
            brokers=_brokers(model),
            cluster_messages=[cluster.messages for cluster in model.clusters],
            refused_starts=world.state.refused,
            restarts=world.state.restarted,
            thrown_back=int(((slots["status"] != VACANT) & (slots["restarts"] > 0)).sum()),
            away=_away(model),
            too_large=_too_large(model),
            idle=_idle(model, observed),
            cluster_losses=[_losses(cluster) for cluster in model.clusters],
            extras=extras or {},
            in_rounds=observed.rounds is not None or model.scheduler.collects,
            drawn_deadlines=model.workload.drawn_deadlines,
            stated=stated_by(model.workload),
        )
        due = result.deadlines is not None or not result.tally.completed
        warmed = result.unfinished > 0 or result.tally.left_out > 0
        noted = tuple(notes(scenario, result.all_left_at, due, result.stated, warmed=warmed))
        result = replace(result, notes=noted)
        if not scenario.own_metrics:
            return result
        found, failures = measured(result._apart, scenario.own_metrics)
        return replace(result, own_metrics=found, failed_metrics=failures)

    def summary(self) -> dict[str, Any]:
        """Return the run in numbers, ready for JSON (`experiments.run.summary`)."""
        return summary_of(self)

    def _apart(self) -> Result:
        """Return this result with a table of jobs that is a metric's own."""
        apart = replace(self)
        if self.records is not None:
            apart.__dict__["jobs"] = self.jobs.copy()
        return apart

    def draw(self, what: str = "gantt") -> Figure:
        """Return a picture of the run, as `metasched plot` draws it; notebooks show it.

        Parameters
        ----------
        what : str
            ``gantt``, ``utilization``, ``links`` or ``waits``.

        Raises
        ------
        GridError
            If jobs were not kept, or there is nothing of the kind.
        """
        from experiments.show.run_data import Ran
        from experiments.show.run_plots import draw

        return draw([Ran.of(self)], what)


def _brokers(model: GridModel) -> list[dict[str, Any]]:
    """Return what each broker above those of clusters knew and carried; none if that is all."""
    if model.world.state.at_once.all() and not model.brokers:
        return []
    noting = any(broker.noted for broker in model.brokers)
    return [
        {
            "name": broker.name,
            "level": broker.hops + 1,
            "clusters": broker.below,
            "mean_age": broker.mean_age,
            **({"noted": len(broker.noted), "noted_age": broker.noted_age} if noting else {}),
            "messages": {
                "sent": broker.sent + (broker.news if broker.parent else 0),
                "received": broker.received + broker.news,
            },
        }
        for broker in (model.broker, *sorted(model.brokers, key=lambda each: each.hops))
    ]


def _away(model: GridModel) -> dict[str, int]:
    platform = model.world.platform
    away = platform.sizes - model.world.state.up
    return {name: int(count) for name, count in zip(platform.names, away, strict=True) if count}


def _too_large(model: GridModel) -> int:
    """Return how many unfinished jobs what is up cannot hold, of their cluster if they are sent."""
    up, slots = model.world.state.up, model.world.jobs
    status = slots["status"]
    sent = np.isin(status, (TRANSIT, LANDING, LOCAL))
    most = up.sum() if model.scheduler.may_split() else up.max()
    larger = slots["size"] > np.where(sent, up[np.where(sent, slots["cluster"], 0)], most)
    return int((larger & (status != VACANT)).sum())


def _idle(model: GridModel, observed: Observed) -> str:
    """Return what kept waiting jobs from starting, in words, as far as schedulers tell.

    That is what `place` of the global scheduler returned if it had each job wait each time, or what
    local ones say of jobs that cannot start.
    """
    scheduler, state, sent = model.scheduler, model.world.state, model.world.messages
    decided = state.started or state.refused or sent["transfer"] or sent["order"]
    asked = not scheduler.collects and not scheduler.queues and state.waiting[-1] > 0
    if not asked or decided or observed.rejections[IMPOSSIBLE]:
        return _hindrances(model)
    answer = "WAIT" if scheduler.compiled("place") else "None"
    return f"{type(scheduler).__name__}.place returned {answer} each time"


def _hindrances(model: GridModel) -> str:
    jobs, told = model.world.jobs, set()
    for each in model.clusters:
        told |= {each.scheduler.hindrance(slot) for slot in jobs.waiting(each.index).tolist()}
    return listed(sorted(told - {""}))


def _planned(model: GridModel, counted_from: float) -> Rounds:
    rounds = model.rounds
    shape = len(rounds), len(model.clusters)
    return Rounds(
        np.array([each.dispatched for each in rounds]),
        np.array([each.jobs for each in rounds], np.int64).reshape(shape),
        np.array([each.cps for each in rounds], np.float64).reshape(shape),
    ).since(counted_from)


def _losses(cluster: ClusterAgent) -> dict[str, Any]:
    """Return how often jobs were thrown back on a cluster, and what that cost."""
    losses = {"restarts": cluster.restarts, "lost_work": cluster.lost_work}
    return losses if cluster.preemptions is None else losses | {"preemptions": cluster.preemptions}
