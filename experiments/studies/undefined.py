"""Numbers that runs of a study do not have, and deadlines that are not the jobs' own."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.run.own_metrics import FAILED
from experiments.run.totals import deadlines_from
from experiments.scenario.assignments import shown
from experiments.scenario.notes import (
    KNOWN_BEFORE,
    beside_others,
    clock_among,
    knows_run_times,
    never_there,
    of_local,
    told,
    without_request,
)
from experiments.scenario.unread import PREDICTIONS, idle
from experiments.show.labels import (
    METRICS,
    OF_CHOSEN,
    WAITS_OF_RESTARTED,
    drawn_words,
    label,
    why_none,
)
from experiments.show.numbers import counted, instant, listed
from experiments.studies.definition import Definition
from experiments.studies.tables import StudyTables
from experiments.studies.workloads import WINDOW
from experiments.sweeps.observations import (
    GIVEN,
    LEFT,
    OF_PB,
    PB_REPEATS_MCP,
    pb_repeats_mcp,
)
from grid.logs.calendar import written
from grid.workloads.table import NOTHING, Stated

if TYPE_CHECKING:
    import pandas as pd

    from experiments.scenario.scenario import Scenario
    from experiments.studies.workloads import StudyWorkload


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
        lacks = runs[name].isna().groupby(runs["policy"], sort=False)
        lacking = [str(policy) for policy, of in lacks if of.all()]
        if lacking:
            why = why_none(name) or _OF_JOBS.get(name)
            yield f"{_whose(lacking)} no {label(name)}{f': {why}' if why else ' in any run'}."
        some = [f"{of.sum()} of {len(of)} runs of {p}" for p, of in lacks if 0 < of.sum() < len(of)]
        if some:
            yield f"No {label(name)} in {listed(some)}{_others(outcome, name)}."
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


def _without_deadlines(outcome: StudyTables) -> Iterator[str]:
    """Yield in how many runs MUSCLE had no deadlines to go by."""
    platform = outcome.provenance.get("platform")
    if platform is not None and len(platform["clusters"]) == 1:
        return
    runs = outcome.runs
    runs = runs[runs["policy"].isin(outcome.provenance.get("of_muscle", ()))]
    without = runs[runs["drawn_deadlines"].isna()]
    if len(without):
        whose = listed(list(dict.fromkeys(without["policy"])))
        yield (
            f"In {len(without)} of {counted(len(runs), 'run')} of {whose} no job has a deadline: "
            "the workload levels that MUSCLE goes by are all 0, and it sends the jobs to the "
            "largest cluster (or domain) on which they can run, of equal ones to one by chance."
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
    """Return what is of the other runs where some lack a metric, "" if all do."""
    metric = name.rpartition(":")[2]
    if metric in outcome.runs and outcome.runs[metric].isna().all():
        return ""
    if metric == outcome.metric:
        return ": its means and all ranks are of the others"
    return ": its means are of the others" if metric in outcome.study.reported else ""


def _failed(runs: pd.DataFrame, metric: str) -> pd.Series:
    """Return for each run whether a metric of the user's own failed in it."""
    columns = [
        name
        for name in runs
        if str(name).startswith(FAILED) and str(name).rpartition(":")[2] == metric
    ]
    return runs[columns].eq(1.0).any(axis=1)


def without_effect(
    study: Definition, scenarios: Mapping[tuple[str, Any], Scenario], stated: Stated
) -> list[str]:
    """Return which parameters of a study mean nothing, a line for each table that has some.

    Those of a policy mean nothing to it in any setting, those of all policies to none.

    Parameters
    ----------
    study : Definition
    scenarios : mapping
        What is run, by policy and setting.
    stated : Stated
        What the jobs of all its logs say.
    """
    idle_in = _idle_in(scenarios, stated)
    tables: list[tuple[str, Iterable[str], str | None]] = [
        *((f"policies: {each.label}", each.set, each.label) for each in study.compared),
        ("set", study.set, None),
        ("vary", study.vary, None),
    ]
    lines = []
    for table, names, of in tables:
        found = [each for (policy, _), each in idle_in.items() if of in (None, policy)]
        nowhere = {name: found[0][name] for name in names if all(name in each for each in found)}
        lines += [f"{table}: {line}" for line in told(nowhere)]
    return lines


def _stated(workloads: Sequence[StudyWorkload]) -> Stated:
    """Return what the jobs of all workloads say."""
    unread = set.intersection(*({*each.unread} for each in workloads)) if workloads else set()
    return NOTHING._replace(
        silent=all(each.stated.silent for each in workloads),
        rigid=all(each.stated.rigid for each in workloads),
        unread=tuple(sorted(unread)),
    )


def _idle_in(
    scenarios: Mapping[tuple[str, Any], Scenario], stated: Stated
) -> dict[tuple[str, Any], dict[str, str]]:
    """Return the parameters that mean nothing in what is run, and why."""
    return {which: idle(scenario, stated) for which, scenario in scenarios.items()}


def _unread(
    study: Definition, scenarios: Mapping[tuple[str, Any], Scenario], stated: Stated
) -> dict[str, list[str]]:
    """Return the parameters that vary and mean nothing to a policy in any setting."""
    idle_in = _idle_in(scenarios, stated)
    if study.metric not in METRICS or "prediction" in study.metric:  # which needs no schedule
        idle_in = {
            which: {name: why for name, why in each.items() if name not in PREDICTIONS}
            for which, each in idle_in.items()
        }
    found = {}
    for policy in study.compared:
        of = [each for (label, _), each in idle_in.items() if label == policy.label]
        found[policy.label] = [name for name in study.vary if all(name in each for each in of)]
    return {label: names for label, names in found.items() if names}


def notes_of(
    study: Definition,
    scenarios: Mapping[tuple[str, Any], Scenario],
    workloads: Sequence[StudyWorkload],
) -> list[str]:
    """Return what the user of a study may want to know of what is run, in lines."""
    of_locals = (note for scenario in scenarios.values() for note in of_local(scenario))
    return [
        *without_effect(study, scenarios, _stated(workloads)),
        *dict.fromkeys(of_locals),
        *of_windows(study, scenarios.values(), workloads),
    ]


def of_windows(
    study: Definition, scenarios: Iterable[Scenario], workloads: Iterable[StudyWorkload]
) -> list[str]:
    """Return in lines what platforms lack, what windows of logs do to planned changes and lack."""
    workloads, scenarios = [*workloads], [*scenarios]
    left_out = [
        f"left out: {counted(often, 'window')} of {each.name} {why}"
        for each in workloads
        for why, often in each.left_out.items()
    ]
    if any(each.to_dict()["parameters"]["prediction"] == "requested" for each in scenarios):
        unknown = [each for each in workloads if each.unrequested]
        left_out += [without_request(each.unrequested, f" of {each.name}") for each in unknown]
    if any(each.policy.stays_home and len(each.platform.clusters) > 1 for each in scenarios):
        left_out += [
            f"{each.name}: {counted(each.stated.homeless, 'job')} submitted through no cluster: no "
            "home to stay at"
            for each in workloads
            if each.stated.homeless
        ]
    if any(each.stated.requested for each in workloads) and any(map(knows_run_times, scenarios)):
        left_out.append(KNOWN_BEFORE)
    window = study.replications.window is not None
    hidden = {beside_others(each.to_dict(), window) for each in scenarios} - {""}
    changes = [*hidden, *changes_in_windows(study, scenarios)]
    of_sites = idle_sites(study, workloads)
    return _of_platforms(scenarios) + changes + left_out + of_sites + cleaned(workloads)


def _of_platforms(scenarios: Iterable[Scenario]) -> list[str]:
    """Return in lines what is noted of the platforms of runs, and where not of all, of which."""
    noted: dict[str, list[str]] = {}
    counts = []
    for each in scenarios:
        counts.append(shown(each.to_dict()["parameters"]["clusters"]))
        for note in each.platform.notes:
            noted.setdefault(note, []).append(counts[-1])
    return [
        f"platform: {note}"
        + (f" (clusters {listed([*dict.fromkeys(of)])})" if len(of) < len(counts) else "")
        for note, of in noted.items()
    ]


def noted(
    study: Definition,
    base: Scenario,
    scenarios: Mapping[tuple[str, Any], Scenario],
    workloads: Sequence[StudyWorkload],
) -> dict[str, Any]:
    """Return what the file of a study has of what is run.

    That is the platform of `base`, with its planned changes only if runs have them, `of_windows`,
    of each policy the parameters that it does not read, and of each log its windows, s after its
    first submission, and what its clock showed at that, if it is known.
    """
    platform = base.to_dict()["platform"]
    if not any(each.platform.changes for each in scenarios.values()):
        platform["changes"] = []
    machines = {each.name: each.machine for each in workloads if each.machine is not None}
    by_log = base.to_dict()["parameters"]["nodes"] == "log" and "nodes" not in study.vary
    if by_log and machines:
        for cluster in platform["clusters"]:
            cluster["size"] = next(iter(machines.values()))
    starts = {each.name: written(each.start) for each in workloads if each.start is not None}
    return {
        "windows": {each.name: each.windows(study.replications) for each in workloads},
        **({"starts": starts} if starts else {}),
        "platform": platform,
        **({"machines": machines} if by_log and len({*machines.values()}) > 1 else {}),
        "changes": of_windows(study, scenarios.values(), workloads),
        "unread": _unread(study, scenarios, _stated(workloads)),
    }


def cleaned(workloads: Iterable[StudyWorkload]) -> list[str]:
    """Return in lines what was done to the records of logs, whole, before they became jobs."""
    lines = []
    for each in workloads:
        for where, cleaning in each.cleanings.items():
            rules = "; ".join(f"{often:,}: {rule}" for rule, often in cleaning.rules.items())
            settings = f", where {where}" if where else ""
            what = f"cleaning of the whole log ({counted(cleaning.records, 'record')})"
            if rules or where:
                lines.append(f"workload {each.name}{settings}: {what}: {rules or 'nothing'}")
    return lines


def idle_sites(study: Definition, workloads: Iterable[StudyWorkload]) -> list[str]:
    """Return in lines which sites have no jobs of their own in windows of logs of several."""
    lines = []
    for each in workloads:
        if each.idle:
            without = [
                f"{often:,} {'has' if often == 1 else 'have'} no job of {site}"
                for site, often in each.idle.items()
            ]
            lines.append(
                f"of {counted(each.most(study.replications), 'window')} of {each.name}, "
                f"{listed(without)}"
            )
    return lines


def changes_in_windows(study: Definition, scenarios: Iterable[Scenario]) -> list[str]:
    """Return in lines what planned changes mean in logs, windows of them, and scaled ones."""
    of_logs = (each for each in scenarios if each.workload is not None)
    replayed = [each for each in of_logs if each.platform.changes]
    if not replayed:
        return []
    changes, window = replayed[0].platform.changes, study.replications.window
    given = [each.to_dict()["parameters"] for each in replayed]
    if window is None:
        clock = clock_among(given)
        return [clock] if clock else []
    lines = [clock_among(given, "each window")]
    factors = dict.fromkeys(each["load_factor"] for each in given)
    late = {factor: sum(change.at >= window / factor for change in changes) for factor in factors}
    differ = len({*late.values()}) > 1
    for factor in factors if differ else [*factors][:1]:
        if late[factor]:
            of_all = f"{late[factor]:,} of {counted(len(changes), 'change')} of the platform"
            at = f" at load_factor {shown(factor)}" if differ else ""
            lines.append(f"{of_all}: planned after the last arrival of a window{at}")
    return lines


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
