"""A study in plain words: what was compared, what was found, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from experiments.scenario.assignments import shown
from experiments.scenario.unread import OF_DRAWN_DEADLINES, OF_JOBS_AND_DEADLINES
from experiments.show.labels import (
    OF_CHOSEN,
    OWN_RATES,
    is_of_whole_run,
    label,
    scale_of_difference,
)
from experiments.show.numbers import PERCENT, POINTS, counted, listed, signed_percent
from experiments.studies.definition import OF_ALL_JOBS, cell
from experiments.studies.tables import EFFECT
from experiments.studies.undefined import remarks
from experiments.studies.verdicts import NAMED, pieces, place_of, size_of, stretches, verdicts
from experiments.studies.windows import dates
from experiments.sweeps.observations import seeds_matter, why_left, words_on
from grid.metrics.stability import FEWEST, GREW

if TYPE_CHECKING:
    from experiments.studies.tables import StudyTables


def sentences(outcome: StudyTables) -> Iterator[str]:
    """Yield the sentences of a study."""
    yield from _compared(outcome)
    yield from dates(outcome)
    given, unread = outcome.provenance, outcome.provenance.get("unread", {})
    chosen = {*outcome.study.set, *outcome.study.vary, *given.get("parameters", ())}
    policies = [policy.label for policy in outcome.study.compared]
    if "speeds" in chosen and any("speeds" not in unread.get(each, ()) for each in policies):
        yield OWN_RATES
    for line in outcome.provenance.get("changes", ()):
        yield f"{line[:1].upper()}{line[1:]}."
    if outcome.runs.empty:
        yield "No run is finished yet."
    elif outcome.all_rejected:
        yield "All jobs of all runs were rejected: there is nothing to compare."
    else:
        if outcome.runs[outcome.metric].notna().any():
            yield from verdicts(outcome)
            yield from _effects(outcome)
        yield from _lacking(outcome)
        yield from remarks(outcome)
        yield from (f"{line[0].upper()}{line[1:]}." for line in words_on(outcome.runs))
    yield from _ended(outcome)


def _compared(outcome: StudyTables) -> Iterator[str]:
    study = outcome.study
    policies = counted(len(study.compared), "policy", "policies")
    varied = " x ".join(
        f"{name} {listed([shown(value) for value in values])}"
        for name, values in study.vary.items()
    )
    logs = [*study.workloads]
    if len(logs) > 1:
        varied += f"{' x ' if varied else ''}workload {listed(logs)}"
    total = len(study.settings) * max(1, len(logs))
    where = f"{counted(total, 'setting')} ({varied})" if varied else "one setting"
    jobs = f"workload {logs[0]}" if logs else "one workload"
    what = where if len(logs) > 1 else f"{where} with {jobs}"
    if len(study.compared) == 1:
        yield f"One policy at {what}: there is nothing to compare it with."
    else:
        better = f"of which {'more' if study.more_is_better else 'less'} is better"
        yield f"{policies} compared at {what}, by {label(study.metric)}, {better}."
    if len(outcome.runs):
        often = outcome.points["n"]
        times = f"{_from_to(often)} {stretches(outcome, often.max())}"
        found = f"{counted(len(outcome.runs), 'run')}, {times} of each point"
        several = {"policies": len(study.compared), "settings": total}
        who = [name for name, often in several.items() if often > 1]
        if not who:
            yield f"{found}."
            return
        yield (
            f"{found}; in each of them all {listed(who)} have the same seed, so that differences "
            f"are of the same jobs{_of_other_jobs(outcome)}{_rejected(outcome)}{_chosen(outcome)}."
        )


SCALE = "load_factor"
"""The parameter that has the jobs of a log, or of a window of it, arrive at other times."""


def _rejected(outcome: StudyTables) -> str:
    """Return that some differences are of fewer jobs, for policies rejected others."""
    metric = outcome.metric
    if not outcome.points["rejected"].sum() or metric in OF_ALL_JOBS or is_of_whole_run(metric):
        return ""
    return ", less those that policies rejected"


def _chosen(outcome: StudyTables) -> str:
    """Return that a metric is of jobs that policies choose, which need not be the same ones."""
    which = OF_CHOSEN.get(outcome.metric)
    if which is None:
        return ""
    return (
        f"; {label(outcome.metric)} is of those alone that were {which}, which need not be the "
        "same ones: what differs may be due to that"
    )


def _of_other_jobs(outcome: StudyTables) -> str:
    """Return which differences are not of the same jobs, or of the same at other times."""
    of_jobs = OF_JOBS_AND_DEADLINES | {*outcome.provenance.get("of_arrivals", ())}
    if (outcome.runs.get("drawn_deadlines", pd.Series(dtype=float)) > 0).any():
        of_jobs |= OF_DRAWN_DEADLINES
    study, unread = outcome.study, outcome.provenance.get("unread", {})
    read = [set(study.vary) - {*unread.get(policy.label, ())} for policy in study.compared]
    of_jobs &= set().union(*read)
    names = [name for name, values in study.vary.items() if len(values) > 1 and name in of_jobs]
    scaled = SCALE in names
    names = [name for name in names if name != SCALE]
    between = ["workloads"] if len(study.workloads) > 1 else []
    between += [f"values of {listed(names)}"] if names else []
    others = f", but for those between {listed(between)}" if between else ""
    return f"{others}, which arrive at other times between values of {SCALE}" if scaled else others


def _effects(outcome: StudyTables) -> Iterator[str]:
    """Yield what each parameter does from its first value to its last, by policy."""
    for parameter, values in outcome.study.vary.items():
        if len(values) < 2:
            continue
        one, other = values[0], values[-1]
        effects = outcome.effects[outcome.effects["parameter"] == parameter]
        alike: dict[str, list[str]] = {}
        for policy, of_policy in effects.groupby("policy", sort=False):
            cases = _distinct(outcome, parameter, of_policy)
            every = pd.concat(cases)
            rows = every[(every["from"] == cell(one)) & (every["to"] == cell(other))]
            if rows.empty:
                continue
            what = _change(outcome, rows) + _shared(outcome, str(policy), rows["n"]) + _grown(rows)
            what += _in_between(outcome, parameter, cases)
            alike.setdefault(what, []).append(str(policy))
        for what, policies in alike.items():
            if len(policies) > 1:  # that many of each, not of all together
                what = what.replace(" cases", " cases each").replace(" of them)", " of them each)")
            yield (
                f"From {parameter} {shown(one)} to {shown(other)}, {label(outcome.metric)} of "
                f"{listed(policies)} {what}."
            )


def _distinct(outcome: StudyTables, parameter: str, rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows of each case of a policy, those of one log with the same numbers once.

    What changes no number of the policy makes no further case of what was found.
    """
    others = [name for name in outcome.where if name != parameter]
    numbers = ["workload", "from", "to", *EFFECT]
    cases = [case for _, case in rows.groupby(others, sort=False, dropna=False)]
    return [*{case[numbers].to_csv(index=False): case for case in cases}.values()]


def _in_between(outcome: StudyTables, parameter: str, cases: list[pd.DataFrame]) -> str:
    """Return what the first and the last value of a parameter hide: cases are of all two values."""
    names = {cell(value): shown(value) for value in outcome.study.vary[parameter]}
    turns = [found for case in cases if (found := _turns(names, case))]
    if not turns:
        rows = pd.concat(cases)
        first, *_, last = names
        ends = (rows["from"] == first) & (rows["to"] == last)
        differ = rows[["lower", "higher"]].any(axis=1)
        return ", but not in between" if differ.any() and not differ[ends].any() else ""
    what = turns[0] if len({*turns}) == 1 else "it goes up or down in between"
    return f", but {what}{'' if len(cases) == 1 else f' in {len(turns)} of {len(cases)} cases'}"


def _turns(names: dict[Any, str], rows: pd.DataFrame) -> str:
    """Return between which values the metric surely goes another way than from first to last."""
    place = {value: index for index, value in enumerate(names)}
    sure = rows[rows["surely_changes"]]
    ways = {
        (place[one], place[other]): difference
        for one, other, difference in sure[["from", "to", "difference"]].to_numpy()
    }
    ends = rows[(rows["from"] == next(iter(names))) & (rows["to"] == next(reversed(names)))]
    changes = ends[ends["difference"].abs() > ends["half_width"]]["difference"]  # or may change
    whole = np.sign(ways.get((0, len(names) - 1), changes.sum()))
    hidden = {ends: change for ends, change in ways.items() if np.sign(change) != whole}
    if not hidden:
        return ""
    steps = {ends: change for ends, change in sorted(ways.items()) if ends[1] == ends[0] + 1}
    if hidden.keys().isdisjoint(steps):  # the most that does not show between neighbours
        steps = dict([max(hidden.items(), key=lambda item: abs(item[1]))])
    runs: list[tuple[str, int, int]] = []
    for (begin, end), change in steps.items():
        way = "falls" if change < 0 else "rises"
        if runs and runs[-1][0] == way and runs[-1][2] == begin:
            begin = runs.pop()[1]
        runs.append((way, begin, end))
    if len(runs) > NAMED:
        return "rises and falls in between"
    shown_as = [*names.values()]
    return listed([f"{way} from {shown_as[one]} to {shown_as[two]}" for way, one, two in runs])


def _shared(outcome: StudyTables, policy: str, pairs: pd.Series) -> str:
    """Return of how many replications differences are, if means of the policy are of more."""
    points = outcome.points[outcome.points["policy"] == policy]
    if pairs.min() == points[f"{outcome.metric} n"].max():
        return ""
    return f", of the {_from_to(pairs)} {pieces(outcome, pairs.max())} that both have"


def _grown(rows: pd.DataFrame) -> str:
    """Return that differences may depend on the length of runs, if the queues of some grew."""
    grew = rows["unstable"].sum()
    return f", in runs of this length (the queue grew in {grew} of them)" if grew else ""


def _from_to(counts: pd.Series) -> str:
    low, high = counts.min(), counts.max()
    return f"{low}" if low == high else f"{low} to {high}"


def _change(outcome: StudyTables, rows: pd.DataFrame) -> str:
    """Return what a parameter does to a policy in words; a row for each setting of the others."""
    if not rows[["lower", "higher"]].any(axis=None):
        return "stays the same"
    metric, sure, verb, but = outcome.metric, rows["surely_changes"], "changes", ""
    alone = rows["difference"].abs() > rows["half_width"]
    if not sure.any() and alone.any():
        sure, verb = alone, "may change"
        but = ", which is not sure beside the other comparisons of this parameter"
    if not sure.any():
        where = "" if len(rows) == 1 else f" in any of {len(rows)} cases"
        many = f"{_from_to(rows['n'])} {pieces(outcome, rows['n'].max())}"
        return f"does not change as far as {many} can tell{where}"
    if len(rows) == 1:
        row = rows.iloc[0]
        side = "lower" if row["difference"] < 0 else "higher"
        size = size_of(metric, row["difference"], row["mean"], row["half_width"])
        often = f"{side} in {row[side]} of {row['n']} {pieces(outcome, row['n'])}"
        return f"{verb} by {size} ({often}){but}"
    if verb == "changes" and (others := alone & ~sure).any():
        some = f"{others.sum()} more" if others.sum() + sure.sum() < len(rows) else "the others"
        if others.sum() == 1 and some == "the others":
            some = "the other"
        but = f", and may change in {some}, by {_range(metric, rows[others])}"
    return f"{verb} by {_range(metric, rows[sure])} in {sure.sum()} of {len(rows)} cases{but}"


def _range(metric: str, rows: pd.DataFrame) -> str:
    """Return between what changes are: shares of means, else in the metric's own unit."""
    scale = scale_of_difference(metric, PERCENT)
    if scale is not POINTS and (rows["mean"] <= 0.0).any():  # of what there is no share
        changes = rows["difference"]
        ends = [size_of(metric, each, 0.0, math.nan) for each in (changes.min(), changes.max())]
        return " to ".join(dict.fromkeys(ends))
    changes = rows["difference"] / (1.0 if scale is POINTS else rows["mean"])
    ends = [signed_percent(each) for each in (changes.min(), changes.max())]
    return f"{' to '.join(dict.fromkeys(ends))} {scale.unit}"


def _lacking(outcome: StudyTables) -> Iterator[str]:
    """Yield what the numbers do not say."""
    points = outcome.points
    unstable, unfinished = (points[points[name] > 0] for name in ("unstable", "unfinished"))
    if len(unstable):
        yield (
            f"The mean queue {GREW} in {_runs(outcome, unstable)}. Means with a * are those of "
            "runs of this length: in longer ones jobs may wait longer."
        )
    runs = outcome.runs
    unjudged = runs["stable"].isna().sum() if not outcome.provenance.get("inputs") else 0
    if unjudged:
        yield (
            f"Whether the queue grew was not judged in {unjudged} of {counted(len(runs), 'run')}, "
            f"which {'is' if unjudged == 1 else 'are'} of fewer than {FEWEST:,} jobs, or in rounds."
        )
    if len(unfinished):
        why = why_left(outcome.runs)
        yield (
            f"No mean is claimed of {_points(outcome, unfinished)}, that left "
            f"{counted(int(unfinished['unfinished'].sum()), 'job')} unfinished{': ' if why else ''}"
            f"{why}."
        )
    if (points.groupby(outcome.where)["n"].nunique() > 1).any():
        yield (
            "Policies of a setting have different numbers of finished runs: its ranking is of the "
            f"{pieces(outcome)} that all of them have."
        )
    study = outcome.study
    all_points = len(study.compared) * len(study.settings) * max(1, len(study.workloads))
    if all_points > len(points):
        yield f"{all_points - len(points)} of {all_points} points have no finished run yet."
    empty = _accepted_none(outcome)
    if len(empty):
        lack = ": there is no mean of them" if empty[outcome.metric].isna().all() else ""
        yield f"{_points(outcome, empty)} rejected all jobs of all runs{lack}."
    rejecting = points[points["rejected"] > 0].drop(empty.index)
    if len(rejecting):
        yield (
            f"{_points(outcome, rejecting)} rejected jobs ({int(rejecting['rejected'].sum()):,} in "
            f"all runs together): their means are of the jobs that they accepted{_but(outcome)}."
        )
    constant = _constant(outcome, lambda each: not seeds_matter(each))
    constant = constant.drop(empty.index, errors="ignore")
    if len(constant):
        yield (
            f"{_points(outcome, constant)}: all replications of the point came to the same to the "
            "last bit, whatever the seed: "
            "nothing is random there, and further replications would tell no more. What is found "
            "holds for this very workload; other weeks need a window."
        )
    still = _constant(outcome, lambda each: each[outcome.metric].nunique() == 1)
    still = still.drop([*empty.index, *constant.index], errors="ignore")
    if len(still):
        yield (
            f"{_points(outcome, still)}: {label(outcome.metric)} came to the same to the last bit "
            "in all replications of the point, whatever was drawn for them: they tell no more of "
            "it than one. What is found holds for this very workload; other weeks need a window."
        )
    precision = outcome.study.replications.precision
    if precision is not None:
        half, mean = points[f"{outcome.metric} half_width"], points[outcome.metric].abs()
        loose = points[half > precision * mean]
        if len(loose):
            yield (
                f"{_points(outcome, loose)} did not reach the precision of {precision:.3g}: at "
                f"worst {(half / mean)[loose.index].max():.2g}."
            )


def _but(outcome: StudyTables) -> str:
    """Return which means are of rejected jobs too."""
    there = outcome.runs.notna().any()
    of_all = [label(name) for name in outcome.study.reported if name in OF_ALL_JOBS and there[name]]
    whole = [label(name) for name in outcome.study.reported if is_of_whole_run(name)]
    but = [f"{listed(of_all)}: they missed those of the others"] if of_all else []
    but += [f"{listed(whole)}: of the whole run"] if whole else []
    return f", but for {'; and for '.join(but)}" if but else ""


def _accepted_none(outcome: StudyTables) -> pd.DataFrame:
    """Return the points whose runs rejected all of their jobs."""
    none = outcome.accepted_none
    return outcome.points[[bool(none[each.index].all()) for each in _runs_of_points(outcome)]]


def _constant(outcome: StudyTables, is_same: Callable[[pd.DataFrame], bool]) -> pd.DataFrame:
    """Return the points of logs that are replayed whole of which all runs are the same."""
    several = (each if len(each) > 1 else None for each in _runs_of_points(outcome))
    same = [outcome.whole_logs and each is not None and is_same(each) for each in several]
    return outcome.points[same]


def _runs_of_points(outcome: StudyTables) -> Iterator[pd.DataFrame]:
    """Yield the runs of each point, in the order of points."""
    for _, runs in outcome.runs.groupby([*outcome.where, "policy"], sort=False):
        yield runs


def _ended(outcome: StudyTables) -> Iterator[str]:
    if outcome.missing:
        yield f"{counted(outcome.missing, 'run')} of {outcome.planned} planned so far are missing."
    if outcome.ended is None:
        yield "The study was not carried to its end: --resume goes on."
    elif outcome.ended:
        yield f"{outcome.ended}."


def _runs(outcome: StudyTables, rows: pd.DataFrame) -> str:
    """Return in how many runs of points the queue grew, one by one if they are few."""
    if len(rows) > NAMED:
        return f"{rows['unstable'].sum()} of {rows['n'].sum()} runs of {_points(outcome, rows)}"
    counts = [f"{grew} of {n}" for grew, n in rows[["unstable", "n"]].to_numpy()]
    counts[0] += " runs"
    names = _names(outcome, rows)
    return listed([f"{often} of {name}" for often, name in zip(counts, names, strict=True)])


def _points(outcome: StudyTables, rows: pd.DataFrame) -> str:
    """Return points by their names, or how many there are."""
    if len(rows) > NAMED:
        return f"{len(rows)} of {len(outcome.points)} points"
    return listed(_names(outcome, rows))


def _names(outcome: StudyTables, rows: pd.DataFrame) -> list[str]:
    """Return the names of points."""
    names = []
    for _, row in rows.iterrows():
        place = place_of(outcome, [row[name] for name in outcome.where])
        names.append(f"{row['policy']} ({place})" if place else str(row["policy"]))
    return names
