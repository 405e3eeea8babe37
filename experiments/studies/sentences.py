"""A study in plain words: what was compared, what was found, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pandas as pd

from experiments.scenario.assignments import shown
from experiments.scenario.unread import OF_DEADLINES, OF_DRAWN_DEADLINES, OF_JOBS_AND_DEADLINES
from experiments.show.labels import (
    OF_CHOSEN,
    OWN_RATES,
    is_of_whole_run,
    label,
)
from experiments.show.numbers import counted, listed
from experiments.studies.definition import OF_ALL_JOBS, PLATFORM, SYNTHETIC
from experiments.studies.effects import effects, from_to
from experiments.studies.undefined import remarks
from experiments.studies.verdicts import NAMED, pieces, place_of, stretches, verdicts
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
            yield from effects(outcome)
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
        times = f"{from_to(often)} {stretches(outcome, often.max())}"
        runs = f"{counted(len(outcome.runs), 'run')}{_repeated(outcome)}"
        found = f"{runs}, {times} of each point"
        several = {"policies": len(study.compared), "settings": total}
        who = [name for name, often in several.items() if often > 1]
        if not who:
            yield f"{found}."
            return
        yield (
            f"{found}; in each of them all {listed(who)} have the same seed, so that differences "
            f"are of the same jobs{_of_other_jobs(outcome)}{_rejected(outcome)}{_chosen(outcome)}."
        )


def _repeated(outcome: StudyTables) -> str:
    """Return how many runs differ, where some policies do not read all that settings differ in."""
    unread, runs = outcome.provenance.get("unread", {}), outcome.runs
    told = ["workload", *outcome.study.vary, "replication"]
    different = sum(
        len(of[[name for name in told if name not in unread.get(policy, ())]].drop_duplicates())
        for policy, of in runs.groupby("policy")
    )
    if different == len(runs):
        return ""
    return f" (of which {different} differ: not all policies read all that is varied)"


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
    of_deadlines = {*OF_DEADLINES, *OF_DRAWN_DEADLINES}
    if [*outcome.provenance.get("windows", ())] != [SYNTHETIC]:  # logs are as they are
        of_deadlines.add(PLATFORM)
    of_deadlines &= {*names}
    names = [name for name in names if name != SCALE and name not in of_deadlines]
    between = ["workloads"] if len(study.workloads) > 1 else []
    between += [f"values of {listed(names)}"] if names else []
    others = f", but for those between {listed(between)}" if between else ""
    if of_deadlines:
        varied = listed([name for name in study.vary if name in of_deadlines])
        others += f"; the deadlines are others between values of {varied}"
    at_times = f"; the jobs arrive at other times between values of {SCALE}" if scaled else ""
    return others + at_times


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
        without = all_points - len(points)
        have = "has" if without == 1 else "have"
        yield f"{without} of {all_points} points {have} no finished run yet."
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
            worst = (half / mean)[loose.index].max()
            why = (
                f"at worst {worst:.2g}" if worst < math.inf else "of a mean of 0 there is no share"
            )
            yield (
                f"{_points(outcome, loose)} did not reach the precision of {precision:.3g}: {why}"
                f"{_used_up(outcome, loose)}."
            )


def _used_up(outcome: StudyTables, points: pd.DataFrame) -> str:
    """Return which of the workloads of points have no more windows than were run, if `most` is."""
    most, runs = outcome.study.replications.most, outcome.runs.groupby("workload")["replication"]
    there = {name: len(of) for name, of in outcome.provenance.get("windows", {}).items() if of}
    names = [
        str(name)
        for name in points["workload"].unique()
        if 0 < there.get(name, 0) <= runs.nunique().get(name, 0) < (most or 0)
    ]
    has = "has" if len(names) == 1 else "have"
    return f"; {listed(names)} {has} no more windows of that length" if names else ""


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
        are = "is" if outcome.missing == 1 else "are"
        runs = counted(outcome.missing, "run")
        yield f"{runs} of {outcome.planned} planned so far {are} missing."
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
