"""The tables of a study: its runs, means of points, ranks of policies, effects of parameters."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Self

import pandas as pd
from pydantic import ValidationError

from experiments.run.result_files import platform_of
from experiments.show.labels import may_lack, scale_of
from experiments.show.numbers import Scale
from experiments.studies.database import Contents, contents, unreadable
from experiments.studies.definition import Definition, cell
from experiments.studies.ranking import (
    common,
    differences,
    ranks,
    surely_apart,
    surely_better,
)
from experiments.sweeps.observations import seeds_matter
from experiments.sweeps.statistics import Interval, mean_interval

COUNTS = ("unfinished", "rejected", "stable")
"""Columns of runs that are no metrics."""
MOST = 1e12
"""Jobs of a run are fewer."""


@dataclass(frozen=True, eq=False, repr=False)
class StudyTables:
    """What a study came to, as far as it went, in numbers.

    Attributes
    ----------
    study : Definition
        What was asked.
    provenance : dict
        Where it comes from: ``version``, ``code digest``, ``text`` of the study file, ``inputs``
        (of each file its SHA-256), ``seed``, ``scenario``, its ``platform`` (`Scenario.to_dict`;
        None in files of earlier versions), what its planned ``changes`` mean, in lines, and all
        else the file tells.
    runs : DataFrame
        A row for each finished run: ``policy``, ``workload``, a column for each parameter that
        varies, ``replication`` (from 0), ``seed``, jobs left ``unfinished`` and ``rejected``,
        whether it is ``stable`` (1, 0, or NaN if nothing tells), then its metrics, NaN where
        nothing defines a number; ``failed/NAME`` is 1 where a metric of the user's own failed.
    planned : int
        Runs that the study asked for so far.
    ended : str or None
        Why the study ended; None: it did not, and ``--resume`` goes on.
    """

    study: Definition
    provenance: dict[str, Any]
    runs: pd.DataFrame
    planned: int
    ended: str | None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Return the outcome that a file holds, also while the study goes on.

        Raises
        ------
        GridError
            If the file is none of a study, or of one that this version cannot read.
        """
        found = contents(Path(path))
        for each in (found.told["platform"], *found.told.get("platforms", {}).values()):
            if each is not None:
                platform_of(each, f"{os.fspath(path)}: platform")
        try:
            study = Definition.model_validate(found.told["study"])
            runs = _runs(study, found)
        except ValidationError as failure:
            first = failure.errors(include_url=False)[0]
            raise unreadable(path, ".".join(map(str, first["loc"])) or first["msg"]) from None
        except ValueError as error:
            raise unreadable(path, str(error)) from None
        return cls(study, found.told, runs, len(found.tasks), found.told["ended"])

    @property
    def title(self) -> str:
        """What it is called."""
        return self.study.title

    @property
    def metric(self) -> str:
        """What ranks policies."""
        return self.study.metric

    def scale(self, name: str) -> Scale:
        """Return the one unit in which a metric is told in all tables and sentences of the study.

        It is that of the largest mean, or a smaller one that shows the smallest too.
        """
        means = [each for each in self.points.get(name, ()) if math.isfinite(each)]
        return scale_of(name, means, min((abs(each) for each in means if each), default=math.inf))

    @property
    def missing(self) -> int:
        """Runs that the study asked for and that are not finished."""
        return self.planned - len(self.runs)

    @property
    def whole_logs(self) -> bool:
        """Whether each replication replays the same logs, from their first job to their last."""
        return bool(self.provenance.get("inputs")) and self.study.replications.window is None

    @property
    def accepted_none(self) -> pd.Series:
        """Whether each run rejected all of its jobs, as far as any of them count."""
        runs = self.runs
        none = runs.get("mean_wait", pd.Series(0.0, runs.index)).isna()
        return (runs["rejected"] > 0) & (runs["unfinished"] == 0) & none

    @property
    def all_rejected(self) -> bool:
        """Whether there are runs, and they rejected all of their jobs."""
        return not self.runs.empty and bool(self.accepted_none.all())

    @property
    def where(self) -> list[str]:
        """Columns that tell settings apart: the workload, and the parameters that vary."""
        return ["workload", *self.study.vary]

    @cached_property
    def points(self) -> pd.DataFrame:
        """A row for each policy in each setting.

        Columns: workload, the parameters that vary, policy, ``n`` replications, how many of
        them had a queue that grew (``unstable``, none if that was not judged), jobs left
        ``unfinished`` and ``rejected``; and of each metric that is reported its mean by its name,
        and the half-width of its 95 % confidence interval as ``NAME half_width``. It is of the
        ``NAME n`` runs that have such a number; there is none if a run leaves jobs unfinished.
        Where queues of runs grew, it is that of runs of their length.
        """
        rows = []
        for at, runs in self._groups([*self.where, "policy"]):
            row: dict[str, Any] = {
                **at,
                "n": len(runs),
                **_troubles(runs),
                "unfinished": int(runs["unfinished"].sum()),
            }
            for name in self.study.reported:
                mean, half = _cells(mean_of(runs, name))
                number = int(runs[name].notna().sum())
                row |= {name: mean, f"{name} half_width": half, f"{name} n": number}
            rows.append(row)
        return pd.DataFrame(rows).astype({"unstable": "Int64"} if rows else {})

    @cached_property
    def ranking(self) -> pd.DataFrame:
        """A row for each policy in each setting, the best first.

        All numbers are of the replications that all policies of the setting have, but of those
        without a mean, which have no rank.

        Columns: workload, the parameters that vary, ``rank`` (`ranking.ranks`), policy, ``n``,
        ``mean`` of the metric and its ``half_width``; compared with the first policy, which has
        the best mean, the paired ``difference`` with its ``difference half_width``, in how many
        replications it is ``better`` and ``worse``, and
        whether it is ``surely_worse`` (`ranking.surely_better`); its runs whose queue grew,
        ``unstable``, and the jobs that it ``rejected``.
        """
        rows = []
        for at, runs in self._groups(self.where):
            shared = common(self._samples(runs))
            of_policies = dict(iter(runs.groupby("policy", sort=False)))
            fixed = {name for name, of in of_policies.items() if self._is_fixed(of)}
            for row in self._compared(shared, fixed):
                of = of_policies.pop(row["policy"])
                rows.append({**at, **row, **_troubles(of[of["replication"].isin(shared.index)])})
            for policy, of in of_policies.items():
                rows.append({**at, "policy": policy, "n": len(of), **_troubles(of)})
        found = pd.DataFrame(rows, columns=[*self.where, *RANKED])
        return found.astype(dict.fromkeys(COUNTED, "Int64") | {"surely_worse": "boolean"})

    def _is_fixed(self, runs: pd.DataFrame) -> bool:
        """Tell whether a policy's runs of a setting come to the same whatever the seed.

        Those of a whole log do if its jobs are served the same to the last bit, though deadlines
        that nobody heeds are drawn.
        """
        if self.study.replications.window is not None:
            return False
        served = [name for name in (self.metric, *SERVED) if name in runs]
        same = self.whole_logs and bool((runs[served].nunique(dropna=False) <= 1).all())
        return same or not seeds_matter(runs)

    def _compared(self, shared: pd.DataFrame, fixed: set[str]) -> Iterator[dict[str, Any]]:
        """Yield rows of `ranking`, from a column for each policy; none without a replication."""
        if shared.empty:
            return
        sign = -1.0 if self.study.more_is_better else 1.0
        better = surely_better(shared, self.study.more_is_better, fixed)
        rank = ranks(shared, better)
        order = sorted(  # by all numbers, so that it never depends on the names
            shared, key=lambda each: (rank[each], sign * shared[each].mean(), *sign * shared[each])
        )
        for policy in order:
            mean, half = _cells(mean_interval(shared[policy]))
            apart = differences(shared[policy], shared[order[0]])
            difference, of_difference = _cells(mean_interval(apart))
            yield {
                "rank": rank[policy],
                "policy": policy,
                "n": len(shared),
                "mean": mean,
                "half_width": half,
                "difference": difference,
                "difference half_width": of_difference,
                "better": int((sign * apart < 0).sum()),
                "worse": int((sign * apart > 0).sum()),
                "surely_worse": (order[0], policy) in better,
            }

    @cached_property
    def effects(self) -> pd.DataFrame:
        """A row for each two values of a parameter that varies, for each policy, all else equal.

        Columns: ``parameter``, ``from`` and ``to``, its values; workload, policy, the other
        parameters that vary (none for the one itself, and for those that the policy does not read:
        their runs are the same); of ``n`` pairs of runs with the same seed
        the ``mean`` of the metric at the first value, the paired ``difference`` at the second one,
        and its ``half_width``; in how many pairs the second is ``lower`` and ``higher``, and
        whether it ``surely_changes`` (`ranking.surely_apart`, of all rows of the parameter
        together, but for policies that do not read the parameter); and ``unstable``, runs of these
        pairs whose queue grew. Of a whole log, a point at which nothing is random has its number
        for each seed.
        """
        rows, samples_of_rows, facts = [], [], []
        unread = self.provenance.get("unread", {})
        for parameter, values in self.study.vary.items():
            others = [name for name in self.where if name != parameter]
            for at, runs in self._groups([*others, "policy"], self.read_in(parameter)):
                of_values = {value: runs[runs[parameter] == value] for value in map(cell, values)}
                samples = {
                    value: sample
                    for value, of in of_values.items()
                    if (sample := self._sample(of)) is not None
                }
                replications = runs["replication"].unique()
                fixed = {value for value in samples if self._is_fixed(of_values[value])}
                for value, sample in samples.items() if self.whole_logs else ():
                    if len(sample) > 1 and not seeds_matter(of_values[value]):  # whatever the seed
                        samples[value] = pd.Series(sample.iloc[0], index=replications)
                for one, other in combinations(samples, 2):
                    shared = common({"one": samples[one], "other": samples[other]})
                    apart = differences(shared["other"], shared["one"])
                    both = pd.concat([of_values[one], of_values[other]])
                    difference, half = _cells(mean_interval(apart) if len(apart) else None)
                    samples_of_rows.append(apart)
                    facts.append({one, other} <= fixed)
                    rows.append(
                        {
                            "parameter": parameter,
                            "from": one,
                            "to": other,
                            **at,
                            "n": len(shared),
                            "mean": float(shared["one"].mean()),
                            "difference": difference,
                            "half_width": half,
                            "lower": int((apart < 0).sum()),
                            "higher": int((apart > 0).sum()),
                            "surely_changes": False,
                            "unstable": _unstable(both[both["replication"].isin(shared.index)]),
                        }
                    )
        columns = ["parameter", "from", "to", *self.where, "policy", *EFFECT]
        found = pd.DataFrame(rows, columns=columns).astype({"unstable": "Int64"})
        for parameter, of in found.groupby("parameter", sort=False):
            judged = [row for row in of.index if parameter not in unread.get(of["policy"][row], ())]
            found.loc[judged, "surely_changes"] = surely_apart(
                [samples_of_rows[row] for row in judged], [facts[row] for row in judged]
            )
        return found

    def read_in(self, parameter: str) -> pd.DataFrame:
        """Return the runs in which values of a parameter are compared.

        They have no values of others that their policy does not read, and each is there once.
        """
        runs = self.runs
        for policy, names in self.provenance.get("unread", {}).items():
            others = [name for name in self.study.vary if name in names and name != parameter]
            here = runs["policy"] == policy
            runs = runs.assign(
                **{name: runs[name].astype(object).mask(here, None) for name in others}
            )
        return runs.drop_duplicates([*self.where, "policy", "replication"])

    def _groups(
        self, columns: list[str], runs: pd.DataFrame | None = None
    ) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
        """Yield the runs of each combination of values, in the order of the study."""
        all_ = self.runs if runs is None else runs
        for values, of in all_.groupby(columns, sort=False, dropna=False):
            yield dict(zip(columns, values, strict=True)), of

    def _samples(self, runs: pd.DataFrame) -> dict[str, pd.Series]:
        """Return the metric of each policy of a setting that has a mean, by replication."""
        of_policies = {str(name): each for name, each in runs.groupby("policy", sort=False)}
        found = {name: self._sample(each) for name, each in of_policies.items()}
        return {name: sample for name, sample in found.items() if sample is not None}

    def _sample(self, runs: pd.DataFrame) -> pd.Series | None:
        """Return the metric of a point by replication, None if it has no mean."""
        if mean_of(runs, self.metric) is None:
            return None
        return runs.set_index("replication")[self.metric].dropna()


SERVED = ("mean_wait", "mean_turnaround", "mean_bounded_slowdown")
"""Metrics that no two schedules of the same jobs share but by chance."""
COUNTED = ("rank", "n", "better", "worse", "unstable", "rejected")
RANKED = (
    *("rank", "policy", "n", "mean", "half_width", "difference", "difference half_width"),
    *("better", "worse", "surely_worse", "unstable", "rejected"),
)
EFFECT = (
    *("n", "mean", "difference", "half_width"),
    *("lower", "higher", "surely_changes", "unstable"),
)


def _runs(study: Definition, found: Contents) -> pd.DataFrame:
    """Return a row for each finished task, in the order of the study.

    Raises
    ------
    ValueError
        If a task is none of the study, or its result lacks a number.
    """
    rows = []
    settings = {json.dumps(setting): setting for setting in study.settings}
    policies = {policy.label for policy in study.compared}
    for task in found.tasks:
        if task.policy not in policies or task.setting not in settings or task.replication < 0:
            raise ValueError(f"task {task.policy} {task.setting} {task.replication}: is none")
        result: Mapping[str, list[float]] | None = found.results.get(task.key)
        if result is not None:
            everywhere = [name for name in study.reported if not may_lack(name)]
            for name in (*COUNTS, *everywhere):
                if name not in result or (name in COUNTS[:2] and not 0 <= result[name][0] < MOST):
                    raise ValueError(f"run {task.key}: has no {name}")
            setting = {name: cell(value) for name, value in settings[task.setting].items()}
            told = {"replication": task.replication, "seed": task.seed}
            numbers = dict.fromkeys(study.reported, math.nan)
            numbers |= {name: values[0] for name, values in result.items()}
            counts = {name: numbers.pop(name) for name in COUNTS}
            policy = {"policy": task.policy, "workload": task.workload}
            rows.append({**policy, **setting, **told, **counts, **numbers})
    names = ["policy", "workload", *study.vary, "replication", "seed", *COUNTS]
    return pd.DataFrame(rows, columns=None if rows else [*names, *study.reported])


def mean_of(runs: pd.DataFrame, metric: str) -> Interval | None:
    """Return the mean of a point over the runs that have the number, None if it has none."""
    found = runs[metric].dropna()
    return None if runs["unfinished"].any() or found.empty else mean_interval(found)


def _troubles(runs: pd.DataFrame) -> dict[str, int | None]:
    """Return what stands beside the mean of a policy that has a rank."""
    return {"unstable": _unstable(runs), "rejected": int(runs["rejected"].sum())}


def _unstable(runs: pd.DataFrame) -> int | None:
    """Return of how many runs the queue grew; None if that was judged of none."""
    return None if runs["stable"].isna().all() else int((runs["stable"] == 0).sum())


def _cells(interval: Interval | None) -> tuple[float, float]:
    """Return the mean and the half-width of an interval, NaN where it has none."""
    if interval is None:
        return math.nan, math.nan
    return interval.mean, math.nan if interval.half_width is None else interval.half_width
