"""The jobs that ended in a period, and what held processors beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.scenario.scenario import Scenario
from experiments.service.forecasting.run_times import UNKNOWN_TIME
from experiments.service.shadow.look import Seen
from experiments.service.shadow.sightings import Sightings
from grid.errors import GridError
from grid.platform.multicluster import Platform

UNSEEN = 300.0
"""Time without a look after which jobs may have come and gone, s: Slurm's own MinJobAge."""
LONGEST = 7 * 86400.0
"""How long before a period a job may have come that is counted in it, s."""
SHORTEST = 1.0
"""Run time of jobs that Slurm's clock, of whole seconds, gives none, s."""


@dataclass(frozen=True)
class Period:
    """What is known of a period; times are Unix times, s.

    Attributes
    ----------
    begin, end : float
    jobs : DataFrame
        All that were there since the first that is counted had come, in order: ``site``, ``size``,
        ``arrival``, ``started``, ``ended``, whether they are ``counted``, and as they are
        simulated: ``from`` when, how long (``runtime``), as ``requested``, whether at their site
        alone (``fixed``).
    platform : Platform
        Sites have the processors that were up at most.
    left_out : dict of str to int
        Jobs that are not counted, by why.
    unseen : dict of str to (float, float)
        Of sites, how long nobody looked, for jobs to come and go, in all and at most, s.
    away, others : dict of str to float
        Of sites, the mean share of those processors that were away, or held by jobs not listed.
    """

    begin: float
    end: float
    jobs: pd.DataFrame
    platform: Platform
    left_out: Mapping[str, int]
    unseen: Mapping[str, tuple[float, float]]
    away: Mapping[str, float]
    others: Mapping[str, float]

    @property
    def count(self) -> int:
        """How many jobs are counted."""
        return int(self.jobs["counted"].sum())

    def used(self, started: pd.Series, ended: pd.Series) -> float:
        """Return the utilisation in the period if the jobs ran then; NaN: never."""
        ran = (ended.clip(upper=self.end) - started.clip(lower=self.begin)).clip(lower=0.0)
        work = float((ran.fillna(0.0) * self.jobs["size"]).sum())
        return work / (float(self.platform.sizes.sum()) * (self.end - self.begin))


def period_of(
    sightings: Sightings, scenario: Scenario, begin: float | None = None, last: float = math.inf
) -> Period:
    """Return a period up to the last look.

    Parameters
    ----------
    sightings : Sightings
    scenario : Scenario
        With the sites.
    begin : float, optional
        When it begins; by default with the first look.
    last : float
        It is so long at most, s.

    Raises
    ------
    GridError
        If nothing was seen yet.
    """
    end, first = sightings.last_look(), sightings.note("began")
    if end is None or first is None or end <= first:
        raise GridError(f"{sightings.folder}: nothing was seen yet; accepted: after two looks")
    begin = max(first if begin is None else begin, end - last)
    names = scenario.platform.names
    looks = pd.DataFrame(
        [dict(row) for row in sightings.looks(begin - LONGEST)],
        columns=["site", "time", "up", "others"],
    )
    rows = [dict(row) for row in sightings.jobs(begin - LONGEST)]
    jobs = pd.DataFrame(rows, columns=["site", *Seen._fields, "last", "known"])
    jobs = jobs[jobs["site"].isin(names)].reset_index(drop=True)
    number = ["submitted", "eligible", "started", "ended", "requested", "last", "known"]
    jobs[number] = jobs[number].astype(float)
    latest = jobs["started"].fillna(math.inf)
    jobs["arrival"] = jobs[["submitted", "eligible"]].max(axis=1).clip(upper=latest)
    jobs["there"] = jobs["last"] >= jobs["site"].map(looks.groupby("site")["time"].max())
    ran = jobs["started"].notna() & jobs["ended"].notna()
    within = jobs["known"].gt(begin) & jobs["known"].le(end)
    early, long_ago = jobs["submitted"] < first, jobs["arrival"] < begin - LONGEST
    jobs["counted"] = ran & within & ~early & ~long_ago
    live = jobs["ended"].isna() & jobs["there"]
    lost = jobs["ended"].isna() & ~jobs["there"] & jobs["last"].gt(begin)
    left_out = {
        "still running": live & jobs["started"].notna(),
        "still waiting": live & jobs["started"].isna(),
        "ended before they began": within & jobs["started"].isna() & ~jobs["ended"].lt(first),
        "there before the shadow": ran & within & early & jobs["ended"].ge(first),
        f"came more than {LONGEST / 86400:g} days before": ran & within & ~early & long_ago,
        "end not seen": lost,
    }
    come = jobs["arrival"][jobs["counted"]].min() if jobs["counted"].any() else begin
    jobs = _simulated(jobs, live, come)
    return Period(
        begin,
        end,
        jobs,
        _sized(scenario.platform, looks[looks["time"] >= min(come, begin)], jobs),
        {why: int(which.sum()) for why, which in left_out.items() if which.any()},
        {name: gaps for name in names if (gaps := _gaps(looks, name, begin, end))[0]},
        **_shares(looks[looks["time"] >= begin]),
    )


def _simulated(jobs: pd.DataFrame, live: pd.Series, come: float) -> pd.DataFrame:
    """Return the jobs that are simulated, since the first that is counted has come.

    Those that run when it comes are there for what is left of them. Those that have not ended take
    the share of what they requested that the others took on the whole, else the mean of these, and
    those whose end was not seen run until they were seen last. In truth, those that ran as their
    site was last seen are taken to run on.
    """
    took = jobs["ended"] - jobs["started"]
    known = took.notna() & jobs["requested"].notna()
    share = took[known].sum() / jobs["requested"][known].sum() if known.any() else 1.0
    usual = took.mean() if took.notna().any() else UNKNOWN_TIME
    asked = (jobs["requested"] * share).fillna(usual)
    so_far = (jobs["last"] - jobs["started"]).fillna(0.0)
    runtime = took.where(jobs["ended"].notna(), so_far)
    runtime = runtime.where(~live, np.maximum(asked, so_far))
    over = jobs["started"].fillna(math.inf) + runtime
    waits = live & jobs["started"].isna() & (jobs["eligible"] <= jobs["last"])
    there = (jobs["started"].notna() & (over > come)) | waits
    jobs["fixed"] = jobs["started"] < come
    gone = (come - jobs["started"]).where(jobs["fixed"], 0.0)
    jobs["runtime"] = (runtime - gone).clip(lower=SHORTEST)
    jobs["requested"] = (jobs["requested"] - gone).clip(lower=SHORTEST)
    jobs["from"] = jobs["arrival"].clip(lower=come)
    jobs["ended"] = jobs["ended"].fillna(jobs["last"].where(~live, math.inf))
    return jobs[there].sort_values(["from", "fixed"], ascending=[True, False], kind="stable")


def _sized(platform: Platform, looks: pd.DataFrame, jobs: pd.DataFrame) -> Platform:
    """Return a platform whose sites have as many processors as were up, or a job held."""
    tables = platform.to_dict()
    up, held = (table.groupby("site")[of].max() for table, of in ((looks, "up"), (jobs, "size")))
    for each in tables["clusters"]:
        name = each["name"]
        each["size"] = int(max(up.get(name, each["size"]), held.get(name, 1)))
    return Platform.from_dict(tables)


def _gaps(looks: pd.DataFrame, site: str, begin: float, end: float) -> tuple[float, float]:
    """Return how long a site was not looked at, in all and at most, where that matters, s."""
    times = looks["time"][looks["site"] == site]
    before = times[times <= begin].max() if (times <= begin).any() else begin
    gaps = np.diff([before, *times[times > begin], end])
    gaps = gaps[gaps > UNSEEN]
    return float(gaps.sum()), float(gaps.max(initial=0.0))


def _shares(looks: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the mean shares of each site that were away, and that others held."""
    found: dict[str, dict[str, float]] = {"away": {}, "others": {}}
    for site, of in looks.groupby("site"):
        if most := float(of["up"].max()):
            found["away"][str(site)] = float(1.0 - of["up"].mean() / most)
            found["others"][str(site)] = float(of["others"].mean() / most)
    return found
