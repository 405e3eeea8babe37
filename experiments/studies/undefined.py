"""Numbers that runs of a study do not have, and deadlines that are not the jobs' own."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from experiments.run.own_metrics import FAILED
from experiments.run.totals import deadlines_from
from experiments.scenario.assignments import shown
from experiments.scenario.notes import (
    never_there,
)
from experiments.show.labels import (
    ELECTRIC,
    OF_CHOSEN,
    OF_DEADLINES,
    WAITS_OF_RESTARTED,
    drawn_words,
    label,
    why_none,
)
from experiments.show.numbers import counted, instant, listed
from experiments.studies.tables import StudyTables
from experiments.studies.workloads import WINDOW
from experiments.sweeps.observations import (
    GIVEN,
    LEFT,
    OF_PB,
    PB_REPEATS_MCP,
    pb_repeats_mcp,
)

if TYPE_CHECKING:
    import pandas as pd

_OF_JOBS = {
    "migrated": "no job has an origin",
    **{name: f"no job was {done}" for name, done in OF_CHOSEN.items()},
}
"""Why all runs may lack a metric of some jobs alone."""


def remarks(outcome: StudyTables) -> Iterator[str]:
    """Yield which policies lack a metric of the study, and where deadlines are from."""
    runs = outcome.runs
    yield from failures(outcome)
    yield from late_changes(outcome)
    yield from _given_more(outcome)
    for name in outcome.study.reported:
        if _failed(runs, name).any():
            continue
        yield from _lacking(outcome, name)
    names = [name for name in ELECTRIC if name in outcome.study.reported]
    if used := listed([label(name) for name in names if runs[name].notna().any()]):
        yield (
            f"{used[0].upper()}{used[1:]}: of each run for as long as it took; the sooner its last "
            "job ended, the shorter processors were idle."
        )
    waits = any(name.endswith("_wait") for name in outcome.study.reported)
    if waits and "restarts" in runs and (runs["restarts"] > 0).any():
        yield f"{WAITS_OF_RESTARTED[0].upper()}{WAITS_OF_RESTARTED[1:]}."
    for name in [name for name in OF_PB if name in outcome.study.reported]:
        of_policies = runs.groupby("policy", sort=False)
        alone = [str(policy) for policy, of in of_policies if pb_repeats_mcp(of, name)]
        if alone:
            yield f"{label(name)} of {listed(alone)} {PB_REPEATS_MCP}."
    if "drawn_deadlines" in runs:
        drawn = drawn_words(deadlines_from(runs["drawn_deadlines"].mean()))
        if drawn:
            yield f"{drawn[0].upper()}{drawn[1:]}."
        yield from _without_deadlines(outcome)


def _lacking(outcome: StudyTables, name: str) -> Iterator[str]:
    """Yield which policies lack a metric in all runs, and which in some, and why."""
    none, whose = outcome.accepted_none, outcome.runs["policy"]
    missing = outcome.runs[name].isna()
    lacks = dict(iter(missing.groupby(whose, sort=False)))
    nowhere = [str(policy) for policy, of in lacks.items() if of.all()]
    rejecting = [policy for policy in nowhere if none[lacks[policy].index].all()]
    for policies in (rejecting, [policy for policy in nowhere if policy not in rejecting]):
        if policies:
            why = _why(outcome, name, whose.isin(policies))
            because, where = (f": {why}", "") if why else ("", " in any run")
            told = f"{_whose(policies)} no value of {label(name)}{where}"
            if len(policies) == len(lacks):
                told = f"No run has a value of {label(name)}"
            yield f"{told}{because}."
    some = {policy: of for policy, of in lacks.items() if of.any() and not of.all()}
    if some:
        why = _why(outcome, name, missing & whose.isin([*some]))
        often = listed([f"{of.sum()} of {len(of)} runs of {each}" for each, of in some.items()])
        because = f", as {why}" if why else ""
        yield f"No value of {label(name)} in {often}{because}{_others(outcome, name)}."


def _why(outcome: StudyTables, name: str, lacks: pd.Series) -> str:
    """Return why these runs lack a metric, "" if nothing tells."""
    runs, none = outcome.runs, outcome.accepted_none[lacks]
    if none.any():
        return "all jobs were rejected" if none.all() else ""
    of_jobs = name in (*OF_DEADLINES, "migrated")  # which all policies of a setting share
    places = [runs[each] for each in (*outcome.where, *([] if of_jobs else ["policy"]))]
    there = runs[name].notna().groupby(places).transform("any")
    return "" if there[lacks].any() else why_none(name) or _OF_JOBS.get(name, "")


def _without_deadlines(outcome: StudyTables) -> Iterator[str]:
    """Yield in how many runs MUSCLE had no deadlines to go by."""
    platform = outcome.provenance.get("platform")
    if platform is not None and len(platform["clusters"]) == 1:
        return
    runs = outcome.runs
    runs = runs[runs["policy"].isin(outcome.provenance.get("of_muscle", ()))]
    without = runs[runs["drawn_deadlines"].isna() & ~outcome.accepted_none[runs.index]]
    if len(without):
        whose = listed(list(dict.fromkeys(without["policy"])))
        yield (
            f"In {len(without)} of {counted(len(runs), 'run')} of {whose} no job has a deadline: "
            "the workload levels that MUSCLE goes by are all 0, and it sends jobs that one "
            "cluster can hold to the largest cluster (or domain) on which they can run, of equal "
            "ones to one by chance."
        )


def failures(outcome: StudyTables) -> Iterator[str]:
    """Yield in which runs a metric of the user's own failed."""
    runs = outcome.runs
    for column in [name for name in runs if str(name).startswith(FAILED)]:
        failed = runs[runs[column] == 1.0]
        all_ = runs.groupby("policy", sort=False).size()
        often = [
            f"{len(of)} of {all_[policy]} runs of {policy} ({_one(outcome, of.iloc[0])})"
            for policy, of in failed.groupby("policy", sort=False)
        ]
        name = column.removeprefix(FAILED)
        yield f"Metric {name} failed in {listed(often)}{_others(outcome, name)}."


def _one(outcome: StudyTables, run: pd.Series) -> str:
    """Return the options with which a run can be run by itself, beside its policy and logs."""
    windows = outcome.provenance.get("windows", {}).get(run["workload"], ())
    policy = next(each for each in outcome.study.compared if each.label == run["policy"])
    own = outcome.study.set | policy.set | {name: run[name] for name in outcome.study.vary}
    if windows:
        own |= dict(zip(WINDOW, windows[run["replication"]], strict=True))
    words = (
        f"{name}={shown(value) if isinstance(value, Mapping | Sequence) else value}"
        for name, value in own.items()
    )
    settings = "".join(f" --set {shlex.quote(word)}" for word in words)
    log = f" of {run['workload']}" if len(outcome.study.workloads) > 1 else ""
    return f"one{log}: --seed {run['seed']}{settings}"


def _others(outcome: StudyTables, name: str) -> str:
    """Return what is of the other runs where some of a point lack a metric, "" if none do."""
    metric = name.rpartition(":")[2]
    if metric not in outcome.study.reported:
        return ""
    number = outcome.points[f"{metric} n"]
    if not ((number > 0) & (number < outcome.points["n"])).any():
        return ""
    ranks = metric == outcome.metric and outcome.ranking["rank"].notna().any()
    return f": its means{' and all ranks' if ranks else ''} are of the others"


def _failed(runs: pd.DataFrame, metric: str) -> pd.Series:
    """Return for each run whether a metric of the user's own failed in it."""
    columns = [
        name
        for name in runs
        if str(name).startswith(FAILED) and str(name).rpartition(":")[2] == metric
    ]
    return runs[columns].eq(1.0).any(axis=1)


def late_changes(outcome: StudyTables) -> Iterator[str]:
    """Yield which planned changes came when all jobs of a run had left; windows are told apart."""
    runs, platform = outcome.runs, outcome.provenance.get("platform")
    if platform is None or LEFT not in runs or outcome.study.replications.window is not None:
        return
    runs = runs[runs[LEFT].notna() | (runs["unfinished"] > 0)]  # others have no changes
    if runs.empty:
        return
    left = runs[LEFT].to_numpy()
    late = [(left < change["at"], change.get("what")) for change in platform["changes"]]
    if never := [what for each, what in late if each.all()]:
        yield (
            f"{len(never):,} of {counted(len(late), 'change')} of the platform came in no run: "
            f"planned after the last job ended, at {instant(left.max())} at the latest"
            f"{never_there(never)}."
        )
    others = [(each, what) for each, what in late if each.any() and not each.all()]
    if some := sum(any(each[run] for each, _ in others) for run in range(len(left))):
        yield (
            f"In {some:,} of {counted(len(left), 'run')} a change of the platform did not come: "
            f"planned after the last job ended{never_there(what for _, what in others)}."
        )


def _given_more(outcome: StudyTables) -> Iterator[str]:
    """Yield where clusters are given more processors than they have, which logs say were in use."""
    for column in [name for name in outcome.runs if str(name).startswith(GIVEN)]:
        for policy, of in outcome.runs.groupby("policy", sort=False)[column]:
            if often := int(of.notna().sum()):
                yield (
                    f"In {often:,} of {counted(len(of), 'run')} of {policy}, the log has more "
                    f"processors of {column.removeprefix(GIVEN)} in use at once than there are; "
                    f"there it is given as many, at most {int(of.max()):,}."
                )


def _whose(policies: Sequence[str]) -> str:
    return f"{', '.join(policies)} {'has' if len(policies) == 1 else 'have'}"
