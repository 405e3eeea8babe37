"""Forecasts of the past: how well they would have held as the jobs of a log were submitted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agents.slurm.controller import SlurmScheduler
from experiments.run.results import Result
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.service.forecasting.forecast import LEARNED
from experiments.service.forecasting.foretelling import forecast
from experiments.service.grid_file import LiveGrid, check_foretold
from experiments.service.store import DONE, RUNNING, WAITING, LiveJob
from experiments.sweeps.progress import SweepProgress
from grid.errors import GridError
from grid.foreign import quoted
from grid.workloads.table import Table

if TYPE_CHECKING:
    import pandas as pd

BEFORE = 0.25
"""Share of the jobs, the first, that are not forecast: of them run times are learned."""
JOBS = 100
"""So many jobs are forecast at most, if nobody says how many."""
LEAST_WAIT = 60.0
"""Jobs are forecast that waited for so long, s: of others there is nothing to say."""


@dataclass(frozen=True)
class Hindcast:
    """How forecasts of some jobs held.

    Attributes
    ----------
    jobs : DataFrame
        A row for each: ``job``, what its ``start`` and ``end`` were, s after its submission, and of
        each the quantiles that were forecast, as ``start 5`` to ``end 95``.
    waited : int
        Jobs that waited, of which these were drawn.
    asked : int or None
        Of how many jobs there were to be forecasts, if somebody said so.
    run : Result
        What came.
    """

    jobs: pd.DataFrame
    waited: int
    asked: int | None
    run: Result

    @property
    def notes(self) -> list[str]:
        """What the user may want to know before trusting it, a line each."""
        changes = "changes of the platform: forecasts do not know of them, the run does"
        notes = [*self.run.notes, *([changes] if self.run.platform.changes else [])]
        if self.asked is not None and self.waited < self.asked:
            waited = f"{self.waited:,} waited {LEAST_WAIT:.0f} s or longer"
            notes.append(f"jobs: {self.asked:,} asked for; {waited}")
        return notes

    def within(self, what: str, low: int, high: int) -> float:
        """Return in how many cases of all a ``start`` or ``end`` was between two quantiles."""
        of, known = self.jobs, self.jobs[f"{what} {low}"].notna()
        inside = (of[what] >= of[f"{what} {low}"]) & (of[what] <= of[f"{what} {high}"])
        return float((inside & known).mean())

    def summary(self) -> dict[str, Any]:
        """Return it in numbers, ready for JSON.

        Of ``start`` and ``end`` the shares of the jobs that were in the 50 and 90 % intervals
        (``within_50``, ``within_90``) and before and after the latter (``before``, ``after``), and
        the median of how far the medians were off (``off_s``). ``deadlines`` and ``cleaning`` are
        as in the summary of a run.
        """
        told: dict[str, Any] = {"jobs": len(self.jobs), "waited": self.waited}
        came = self.run.summary()
        told |= {name: came[name] for name in ("deadlines", "cleaning")}
        for what in ("start", "end"):
            of = self.jobs
            told[what] = {
                "within_50": self.within(what, 25, 75),
                "within_90": self.within(what, 5, 95),
                "before": float((of[what] < of[f"{what} 5"]).mean()),
                "after": float((of[what] > of[f"{what} 95"]).mean()),
                "off_s": float((of[f"{what} 50"] - of[what]).abs().median()),
            }
        return told


def hindcast(
    scenario: Scenario, seed: int, jobs: int | None, futures: int, progress: SweepProgress
) -> Hindcast:
    """Forecast jobs of a log at the moments of their submission, and compare with what came.

    What came is a run of the scenario, in which others come later, of which a forecast knows
    nothing. It knows what ran and waited then, with deadlines, and the jobs that had ended, each by
    its user.

    Parameters
    ----------
    scenario : Scenario
        Of a log with users' requests; predictions are not exact.
    seed : int
        Of the run, and of which jobs are forecast.
    jobs : int or None
        So many at most; None: `JOBS`.
    futures : int
    progress : SweepProgress
        Is told of each job.

    Raises
    ------
    GridError
        For another scenario, or a run in which nobody waits.
    """
    import pandas as pd

    parameters = scenario.parameters
    if scenario.workload is None:
        raise GridError(f"{scenario.name}: workload: found synthetic jobs; accepted: a log")
    check_foretold(scenario, scenario.name)
    _check_known(scenario)
    if parameters.mean_up_time:
        raise GridError(
            f"{scenario.name}: mean_up_time: found {parameters.mean_up_time:g}; accepted: 0, for "
            "forecasts know of no failures"
        )
    made = scenario.model(seed).workload
    assert isinstance(made, Table)
    if made.times is not None:
        raise GridError(
            f"{scenario.name}: workload: found run times of each cluster; accepted: one of each "
            "job, for forecasts know no others"
        )
    done = run(scenario, seed=seed)
    frame = done.jobs.sort_values("arrival", kind="stable")
    asked = pd.DataFrame(made.jobs[["number", "requested_time"]]).rename(columns={"number": "job"})
    for each in (frame, asked):
        each["again"] = each.groupby("job").cumcount()  # several may have one number
    frame = frame.merge(asked, on=["job", "again"])
    frame = frame[frame["start"].notna()].reset_index(drop=True)
    later = frame.iloc[int(BEFORE * len(frame)) :]
    waited = later[later["start"] - later["arrival"] >= LEAST_WAIT]
    if waited.empty:
        raise GridError(f"{scenario.name}: found no job that waits; accepted: a run with some")
    given = {name: getattr(parameters, name) for name in parameters.model_fields_set}
    for name in ("window_start", "window_end", "load_factor"):
        given.pop(name, None)
    platform = replace(done.platform, changes=())
    bare = Scenario(
        scenario.name, platform, given, scenario.global_scheduler, scenario.local_scheduler
    )
    grid = LiveGrid(bare, (), ())
    drawn = waited.sample(min(jobs or JOBS, len(waited)), random_state=seed).sort_index()
    each = (_forecast_at(grid, frame, int(number), futures, seed) for number in drawn.index)
    rows = [*progress.one_by_one(each, len(drawn), "job")]
    return Hindcast(pd.DataFrame(rows), len(waited), jobs, done)


def _check_known(scenario: Scenario) -> None:
    """Raise `GridError` if a policy goes by what a service does not know of real jobs."""
    found = scenario.to_dict()
    for level, goes, what in (
        ("global", scenario.policy.stays_home, "where jobs are submitted"),
        ("local", scenario.local_policy.half_life != 0, "what users have used"),
        ("local", issubclass(scenario.local_policy, SlurmScheduler), "users and partitions"),
    ):
        if goes:
            raise GridError(
                f"{scenario.name}: {level}: found {quoted(found[level])}, which goes by {what}, of "
                "which forecasts do not know; accepted: another"
            )


def _forecast_at(
    grid: LiveGrid, frame: pd.DataFrame, row: int, futures: int, seed: int
) -> dict[str, float]:
    """Return what came of a job, and what was to be expected of it as it was submitted."""
    now = float(frame["arrival"].iloc[row])
    known = frame.iloc[: row + 1]
    past = known[known["finish"] <= now].nlargest(LEARNED, "finish")
    live = known[known["finish"] > now]
    jobs = [*_jobs(past, now), *_jobs(live, now)]
    found = forecast(grid, sorted(jobs, key=lambda each: each.job), {}, 0.0, now, futures, seed)
    (told,) = [each for each in found.rows() if each["job"] == row]
    ours: dict[str, float] = {"job": float(frame["job"].iloc[row])}
    for what, column in (("start", "start"), ("end", "finish")):
        ours[what] = float(frame[column].iloc[row]) - now
        quantiles = told[what] or {}
        for name in ("5", "25", "50", "75", "95"):
            ours[f"{what} {name}"] = quantiles.get(name, math.nan) - now
    return ours


def _jobs(frame: pd.DataFrame, now: float) -> Iterator[LiveJob]:
    """Yield jobs of a run as a service has them at a moment."""
    users: Sequence[Any] = frame["user"].tolist() if "user" in frame else [""] * len(frame)
    names = "arrival", "size", "deadline", "start", "finish", "requested_time", "cluster"
    columns = [frame[name].tolist() for name in names]
    for number, user, arrival, size, deadline, start, finish, asked, cluster in zip(
        frame.index.tolist(), users, *columns, strict=True
    ):
        state = DONE if finish <= now else RUNNING if start <= now else WAITING
        begun = state != WAITING
        yield LiveJob(
            number,
            str(user),
            (),
            "",
            {},
            int(size),
            float(asked) if math.isfinite(asked) else None,
            float(deadline) if deadline < math.inf else None,
            float(arrival),
            state,
            str(cluster) if begun else None,
            float(start) if begun else None,
            float(finish) if state == DONE else None,
            0 if state == DONE else None,
            "",
            0,
            None,
            0,
            0,
            1,
        )
