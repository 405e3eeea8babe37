"""A study in plain words: what was compared, what was found, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.listing import shown
from experiments.studies.definition import cell
from experiments.studies.judged import shown as shown_interval
from experiments.studies.statistics import Interval
from experiments.studies.undefined import remarks

if TYPE_CHECKING:
    from experiments.studies.outcome import StudyOutcome

NAMED = 6
"""Settings that are told one by one at most."""


def sentences(outcome: StudyOutcome) -> Iterator[str]:
    """Yield the sentences of a study."""
    yield from _compared(outcome)
    if outcome.runs.empty:
        yield "No run is finished yet."
    else:
        yield from _found(outcome)
        yield from _effects(outcome)
        yield from _lacking(outcome)
        yield from remarks(outcome)
    yield from _ended(outcome)


def _compared(outcome: StudyOutcome) -> Iterator[str]:
    study = outcome.study
    policies = counted(len(study.compared), "policy", "policies")
    varied = " x ".join(
        f"{name} {listed([shown(value) for value in values])}"
        for name, values in study.vary.items()
    )
    logs = [*study.workloads]
    many = "s" if len(logs) > 1 else ""
    jobs = f"workload{many} {listed(logs)}" if logs else "one workload"
    where = f"{counted(len(study.settings), 'setting')} ({varied})" if varied else "one setting"
    yield (
        f"{policies} compared at {where} with {jobs}, by {study.metric}, of which "
        f"{'more' if study.more_is_better else 'less'} is better."
    )
    if len(outcome.runs):
        often = outcome.points["n"]
        times = (
            f"{often.min()}" if often.min() == often.max() else f"{often.min()} to {often.max()}"
        )
        yield (
            f"{counted(len(outcome.runs), 'run')}, {times} replications of each point; in a "
            "replication all policies and settings have the same seed, so that differences are of "
            "the same jobs."
        )


def _found(outcome: StudyOutcome) -> Iterator[str]:
    """Yield which policies are best, in each setting or in all."""
    ranking = outcome.ranking
    best: dict[str, list[str]] = {}
    told = []
    for place, rows in ranking.groupby(outcome.where, sort=False):
        first = [str(policy) for policy in rows.loc[rows["rank"] == 1, "policy"]]
        for policy in first:
            best.setdefault(policy, []).append(place_of(outcome, place))
        told.append((place_of(outcome, place), first, rows))
    if len(told) > 1:
        everywhere = [policy for policy, places in best.items() if len(places) == len(told)]
        if everywhere:
            alone = all(len(first) == 1 for _, first, _ in told)
            how = "the best" if alone else "the best, alone or tied,"
            yield f"{listed(everywhere)} {verb(everywhere)} {how} in all {len(told)} settings."
        else:
            yield f"No policy is the best, alone or tied, in all {len(told)} settings."
            for policy, places in best.items():
                yield f"{policy}: the best, alone or tied, in {len(places)} of {len(told)}."
    for place, first, rows in told[:NAMED]:
        yield _of_setting(outcome, place, first, rows)
    if len(told) > NAMED:
        yield f"The ranking has the other {len(told) - NAMED} settings."


def _of_setting(outcome: StudyOutcome, place: str, first: list[str], rows: pd.DataFrame) -> str:
    where = f"{place}: " if place else ""
    ranked = rows.dropna(subset=["rank"])
    if not len(ranked):
        return f"{where}no policy has a mean."
    leader = ranked.iloc[0]
    words = f"{where}{leader['policy']} has the best {outcome.metric}, {number(leader)}"
    if tied := first[1:]:
        words += f"; {listed(tied)} cannot be told from it"
    worse = [
        f"{row['policy']} ({_far(row, leader['mean'])})"
        for _, row in ranked[ranked["rank"] > 1].iterrows()
    ]
    if worse:
        more = f" and {len(worse) - NAMED} more" if len(worse) > NAMED else ""
        words += f"; surely beaten: {', '.join(worse[:NAMED])}{more}"
    return f"{words}."


def _far(row: Any, best: float) -> str:
    return distance(row["difference"], best, row["difference half_width"])


def _effects(outcome: StudyOutcome) -> Iterator[str]:
    """Yield what each parameter that varies does from its first value to its last, by policy."""
    for parameter, values in outcome.study.vary.items():
        if len(values) < 2:
            continue
        one, other = values[0], values[-1]
        effects = outcome.effects
        ends = effects[
            (effects["parameter"] == parameter)
            & (effects["from"] == cell(one))
            & (effects["to"] == cell(other))
        ]
        alike: dict[str, list[str]] = {}
        for policy, rows in ends.groupby("policy", sort=False):
            alike.setdefault(_change(rows), []).append(str(policy))
        for what, policies in alike.items():
            yield (
                f"From {parameter} {shown(one)} to {shown(other)}, {outcome.metric} of "
                f"{listed(policies)} {what}."
            )


def _change(rows: pd.DataFrame) -> str:
    """Return what a parameter does to a policy in words; a row for each setting of the others."""
    if not rows["difference"].any():
        return "stays the same"
    sure = rows["difference"].abs() > rows["half_width"]
    if not sure.any():
        where = "" if len(rows) == 1 else f" in any of {len(rows)} cases"
        return f"does not change as far as can be told{where}"
    changes = (rows["difference"] / rows["mean"])[sure]
    low, high = changes.min(), changes.max()
    size = f"{low:+.1%}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:+.1%} to {high:+.1%}"
    of = "" if len(rows) == 1 else f" in {int(sure.sum())} of {len(rows)} cases"
    return f"changes by {size}{of}"


def _lacking(outcome: StudyOutcome) -> Iterator[str]:
    """Yield what the numbers do not say."""
    points = outcome.points
    for column, why in (
        ("unstable", "whose queue grew for as long as jobs arrived in {} of the runs"),
        ("unfinished", "that left {} jobs unfinished"),
    ):
        bad = points[points[column] > 0]
        if len(bad):
            count = why.format(int(bad[column].sum()))
            yield f"No mean is claimed of {_points(outcome, bad)}, {count}."
    if (points.groupby(outcome.where)["n"].nunique() > 1).any():
        yield (
            "Policies of a setting have different numbers of finished runs: their means are not of "
            "the same jobs, paired differences are."
        )
    study = outcome.study
    all_points = len(study.compared) * len(study.settings) * max(1, len(study.workloads))
    if all_points > len(points):
        yield f"{all_points - len(points)} of {all_points} points have no finished run yet."
    rejecting = points[points["rejected"] > 0]
    if len(rejecting):
        yield (
            f"{_points(outcome, rejecting)} rejected jobs ({int(rejecting['rejected'].sum())} in "
            "all runs): their means are of the jobs that they accepted."
        )
    constant = points[(points["n"] > 1) & (points[f"{outcome.metric} half_width"] == 0.0)]
    if len(constant):
        yield (
            f"{_points(outcome, constant)} gave the same {outcome.metric} to the last bit whatever "
            "the seed: nothing is random there, and further replications would tell nothing more. "
            "What is found holds for this very workload; other weeks need a window."
        )
    precision = outcome.study.replications.precision
    if precision is not None:
        half, mean = points[f"{outcome.metric} half_width"], points[outcome.metric].abs()
        loose = points[half > precision * mean]
        if len(loose):
            yield (
                f"{_points(outcome, loose)} did not reach the precision of {precision:.3g}: at "
                f"worst {(half / mean).max():.2g}."
            )


def _ended(outcome: StudyOutcome) -> Iterator[str]:
    if outcome.missing:
        yield f"{counted(outcome.missing, 'run')} of {outcome.planned} planned so far are missing."
    if outcome.ended is None:
        yield "The study was not carried to its end: --resume goes on."
    elif outcome.ended:
        yield f"{outcome.ended}."


def _points(outcome: StudyOutcome, rows: pd.DataFrame) -> str:
    """Return points by their names, or how many there are."""
    if len(rows) > NAMED:
        return f"{len(rows)} of {len(outcome.points)} points"
    names = []
    for _, row in rows.iterrows():
        place = place_of(outcome, [row[name] for name in outcome.where])
        names.append(f"{row['policy']} ({place})" if place else str(row["policy"]))
    return listed(names)


def place_of(outcome: StudyOutcome, values: Any) -> str:
    """Return a setting in words: what there is only one of is not told."""
    study = outcome.study
    told = [str(values[0])] if len(study.workloads) > 1 else []
    varied = zip(study.vary.items(), list(values)[1:], strict=True)
    told += [f"{name} {value}" for (name, all_), value in varied if len(all_) > 1]
    return ", ".join(told)


def number(row: Any) -> str:
    """Return a mean with its half-width in words."""
    half = row["half_width"]
    return shown_interval(Interval(row["mean"], None if math.isnan(half) else half))


def distance(difference: float, mean: float, half: float) -> str:
    """Return a difference in words, as a share of a mean if that is not 0.

    >>> distance(-3.0, 10.0, 0.5)
    '30.0% ± 5.0% below it'
    """
    side = "above it" if difference > 0 else "below it"
    if not mean:
        return f"{abs(difference):.3g} {side}"
    size = "" if math.isnan(half) else f" ± {abs(half / mean):.1%}"
    return f"{abs(difference / mean):.1%}{size} {side}"


def listed(names: Sequence[str]) -> str:
    """Return names in a row.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def counted(count: int, one: str, many: str = "") -> str:
    """Return how many there are.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def verb(names: Sequence[str]) -> str:
    """Return the verb that goes with names."""
    return "is" if len(names) == 1 else "are"
