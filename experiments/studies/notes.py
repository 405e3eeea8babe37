"""What a study says before it runs, and what its file has of what is run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.scenario.assignments import shown
from experiments.scenario.held_out import not_held_out
from experiments.scenario.notes import (
    DRAWN_ORIGINS,
    IDLE_OF_OTHERS,
    before_joining,
    beside_others,
    clock_among,
    drawn_failures,
    told,
    unscaled_series,
    without_request,
)
from experiments.scenario.policy_notes import of_policies
from experiments.scenario.unread import PREDICTIONS, go_by_predictions, idle, of_arrivals
from experiments.scenario.unread import without_effect as useless_in
from experiments.show.labels import METRICS
from experiments.show.numbers import counted, listed
from experiments.studies.definition import PLATFORM, Definition
from experiments.studies.platforms import (
    by_platform,
    differ_in_links_alone,
    have_other_jobs,
    notes_of_platforms,
    why_unread,
)
from grid.logs.calendar import written
from grid.workloads.table import NOTHING, Stated

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario
    from experiments.studies.workloads import StudyWorkload


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
        if table == "vary" and PLATFORM in names and differ_in_links_alone(scenarios.values()):
            why = why_unread(scenarios.values(), stated)
            nowhere |= {PLATFORM: f"the files differ in links alone: {why}"} if why else {}
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
    study: Definition,
    bases: Mapping[str | None, Scenario],
    scenarios: Mapping[tuple[str, Any], Scenario],
    stated: Stated,
) -> dict[str, list[str]]:
    """Return the parameters that vary and mean nothing to a policy in any setting.

    Platforms that differ in links alone mean nothing to one that takes no account of these.
    """
    idle_in = _idle_in(scenarios, stated)
    if study.metric not in METRICS or "prediction" in study.metric:  # which needs no schedule
        idle_in = {
            which: {name: why for name, why in each.items() if name not in PREDICTIONS}
            for which, each in idle_in.items()
        }
    of_links, found = PLATFORM in study.vary and differ_in_links_alone(bases.values()), {}
    for policy in study.compared:
        of = [each for (label, _), each in idle_in.items() if label == policy.label]
        found[policy.label] = [name for name in study.vary if all(name in each for each in of)]
        its = [each for (label, _), each in scenarios.items() if label == policy.label]
        if of_links and why_unread(its, stated):
            found[policy.label].append(PLATFORM)
    return {label: names for label, names in found.items() if names}


def notes_of(
    study: Definition,
    scenarios: Mapping[tuple[str, Any], Scenario],
    workloads: Sequence[StudyWorkload],
) -> list[str]:
    """Return what the user of a study may want to know of what is run, in lines."""
    unread = without_effect(study, scenarios, _stated(workloads))
    return [*unread, *of_runs(study, scenarios, workloads)]


def of_runs(
    study: Definition,
    run: Mapping[tuple[str, Any], Scenario],
    workloads: Sequence[StudyWorkload],
) -> list[str]:
    """Return in lines what policies and platforms lack, and windows of logs.

    Also what these do to planned changes.
    """
    scenarios = [*run.values()]
    left_out = [
        f"left out: {counted(often, 'window')} of {each.name} {why}"
        for each in workloads
        for why, often in each.left_out.items()
    ]
    whole = (each for each in workloads if each.whole_log)
    told = (
        note
        for each in whole
        for scenario in scenarios
        for note in not_held_out(scenario, each.digests.values(), log=each.name)
    )
    left_out += dict.fromkeys(told)
    homeless = any(each.stated.homeless for each in workloads)
    measured = any("prediction" in name for name in study.reported)  # whoever goes by them
    read = [each for each in scenarios if measured or go_by_predictions(each, homeless)]
    if any(each.to_dict()["parameters"]["prediction"] == "requested" for each in read):
        left_out += map(_known_in_windows, (each for each in workloads if each.none_requested))
        unknown = [each for each in workloads if each.unrequested]
        of = [f" {each.told(study.replications)}" for each in unknown]
        left_out += map(without_request, (each.unrequested for each in unknown), of)
    left_out += _of_origins(study, run, workloads)
    failures = dict.fromkeys(filter(None, (drawn_failures(each) for each in scenarios)))
    left_out += failures
    window = study.replications.window is not None
    hidden = {beside_others(each.to_dict(), window) for each in scenarios} - {""}
    joining = [
        before_joining(each[0].to_dict()["platform"].get("changes", ()), platform or "")
        for platform, each in by_platform(run).items()
    ]
    changes = [*hidden, *filter(None, joining), *times_in_logs(study, run)]
    of_sites = idle_sites(study, workloads) + _of_warm_ups(study, scenarios)
    of_platforms = notes_of_platforms(run)
    return [*_of_policies(run, workloads), *of_platforms, *changes, *left_out, *of_sites]


def _of_policies(
    run: Mapping[tuple[str, Any], Scenario], workloads: Sequence[StudyWorkload]
) -> Iterator[str]:
    """Yield what schedulers lack, and with which workloads, unless that is with all of them.

    Of MUSCLE without deadlines the runs tell.
    """
    by_name = {each.name: each.stated._replace(unread=each.unread) for each in workloads}
    of: dict[str, dict[str, None]] = {}
    for (_, (name, _)), scenario in run.items():
        for note in of_policies(scenario, stated=by_name[name]):
            of.setdefault(note, {})[name] = None
    for note, names in of.items():
        jobs = note.removeprefix("workload: ")
        everywhere = len(names) == len(workloads) and jobs == note
        yield note if everywhere else f"workload {listed([*names])}: {jobs}"


def _known_in_windows(workload: StudyWorkload) -> str:
    """Return in a line in how many windows predictions are exact, as no job requests a time.

    That only a packaged scenario takes, whose jobs may overrule what it predicts.
    """
    windows = counted(workload.none_requested, "window")
    return (
        f"prediction exact in {windows} of {workload.name}, where no job has a requested time: "
        "jobs are expected to take as long as they do"
    )


def _of_origins(
    study: Definition,
    run: Mapping[tuple[str, Any], Scenario],
    workloads: Iterable[StudyWorkload],
) -> Iterator[str]:
    """Yield of which logs origins are drawn, and of which else jobs have none though some stay.

    Those of policies under which jobs stay go by what each says (`GlobalScheduler.homeless`).
    """
    given = [each.to_dict()["parameters"] for each in run.values()]
    draws = any(each["local_share"] > 0 or each["queue_shares"] for each in given)
    stay: dict[str, list[str]] = {}
    for (policy, _), scenario in run.items():
        of = stay.setdefault(scenario.policy.homeless, [])
        if scenario.policy.stays_home and len(scenario.platform.clusters) > 1 and policy not in of:
            of.append(policy)
    under = [f"under {listed(of)} they {what}" for what, of in stay.items() if of]
    for each in workloads:
        if draws and 0 < each.stated.homeless == len(each.arrivals):
            yield f"workload {each.name}: origins {DRAWN_ORIGINS}"
        elif under and each.homeless:
            of_runs = each.told(study.replications).removesuffix(f"of {each.name}")
            those = f"{counted(each.homeless, 'job')} {of_runs}submitted through no cluster"
            yield f"workload {each.name}: {those}: {'; '.join(under)}"


def _of_warm_ups(study: Definition, scenarios: Iterable[Scenario]) -> list[str]:
    """Return in a line which jobs means leave out, and what counts them all the same."""
    warmups = {int(each.to_dict()["parameters"]["warmup"]) for each in scenarios}
    if not any(warmups):
        return []
    many = listed([f"{each:,}" for each in sorted(warmups)], "or")
    told = f"warmup: means leave out the first {many} of the jobs of each run"
    reads = any(name.startswith(("idle_time", "cp", "mcp")) for name in study.reported)
    return [f"{told}; {IDLE_OF_OTHERS}" if reads else told]


def noted(
    study: Definition,
    bases: Mapping[str | None, Scenario],
    scenarios: Mapping[tuple[str, Any], Scenario],
    workloads: Sequence[StudyWorkload],
) -> dict[str, Any]:
    """Return what the file of a study has of what is run.

    That is the platform of `bases`, with its planned changes only if runs have them, or those that
    vary, by their files; `of_runs`, of each policy the parameters that it does not read, and of
    each log how it was cleaned, its windows, s after its first submission (all that there are: the
    file may have runs of more than are asked for now), and what its clock showed at that, if it is
    known. Also the parameters of `bases` that are neither defaults nor the study's.
    """
    platforms = {name: base.to_dict()["platform"] for name, base in bases.items()}
    base = next(iter(bases.values()))
    if not any(each.platform.changes for each in scenarios.values()):
        for platform in platforms.values():
            platform["changes"] = []
    machines = {each.name: each.machine for each in workloads if each.machine is not None}
    by_log = base.to_dict()["parameters"]["nodes"] == "log" and "nodes" not in study.vary
    if by_log and machines:
        (first, size), *_ = machines.items()
        own = next(each.machines for each in workloads if each.name == first)
        for cluster in (each for platform in platforms.values() for each in platform["clusters"]):
            cluster["size"] = own.get(cluster["name"], size)
    arrivals = set().union(*map(of_arrivals, scenarios.values()))
    if have_other_jobs(bases.values(), scenarios.values()):
        arrivals.add(PLATFORM)
    starts = {each.name: written(each.start) for each in workloads if each.start is not None}
    return {
        "windows": {each.name: each.stretches for each in workloads},
        **({"starts": starts} if starts else {}),
        "platform": platforms.get(None),
        **({} if None in platforms else {"platforms": platforms}),
        "parameters": _of_base(study, base, scenarios.values()),
        **({"machines": machines} if by_log and len({*machines.values()}) > 1 else {}),
        "changes": of_runs(study, scenarios, workloads),
        "cleaning": cleaned(workloads),
        "unread": _unread(study, bases, scenarios, _stated(workloads)),
        "of_arrivals": sorted(arrivals),
    }


def _of_base(study: Definition, base: Scenario, scenarios: Iterable[Scenario]) -> dict[str, Any]:
    """Return the parameters that a study's scenario sets, and the study does not.

    Those that mean nothing in all that is run are left out.
    """
    given: Any = base.parameters
    useless = [{name for names, _ in useless_in(each) for name in names} for each in scenarios]
    ours = given.model_fields_set - {*study.set, *study.vary} - set.intersection(*useless)
    return {name: value for name, value in base.to_dict()["parameters"].items() if name in ours}


def cleaned(workloads: Iterable[StudyWorkload]) -> list[dict[str, Any]]:
    """Return what was done to the records of logs, whole, before they became jobs, rule by rule.

    A rule has the parameters ``where`` it applied so often, "" if whatever runs set.
    """
    rows = []
    for each in workloads:
        ways: dict[tuple[int, int, str], list[str]] = {}
        for where, cleaning in each.cleanings.items():
            for rule, often in cleaning.rules.items():
                ways.setdefault((cleaning.records, often, rule), []).append(where)
        for (records, often, rule), of in ways.items():
            where = " or ".join(of) if len(of) < len(each.cleanings) else ""
            told = {"records": records, "times": often, "rule": rule, "where": where}
            rows.append({"workload": each.name, **told})
    return rows


def idle_sites(study: Definition, workloads: Iterable[StudyWorkload]) -> list[str]:
    """Return in lines which sites have no jobs of their own in windows of logs of several."""
    lines = []
    for each in workloads:
        if each.idle:
            without = [
                f"{often:,} {'has' if often == 1 else 'have'} no job of {site}"
                for site, often in each.idle.items()
            ]
            lines.append(f"{each.told(study.replications)}, {listed(without)}")
    return lines


def times_in_logs(study: Definition, run: Mapping[tuple[str, Any], Scenario]) -> list[str]:
    """Return in lines what times mean in logs, windows of them, and scaled ones.

    That is of planned changes, and of series.
    """
    of_logs = {which: each for which, each in run.items() if each.workload is not None}
    series = unscaled_series([each.to_dict()["parameters"] for each in of_logs.values()])
    lines = [series] if series else []
    changed = {which: each for which, each in of_logs.items() if each.platform.changes}
    on = by_platform(changed)
    window = study.replications.window
    given = [each.to_dict()["parameters"] for of in on.values() for each in of]
    if given and (clock := clock_among(given, "" if window is None else "each window")):
        lines.append(clock)
    if window is not None:
        for platform, replayed in on.items():
            lines += _late_changes(window, platform, replayed)
    return lines


def _late_changes(window: float, platform: str | None, replayed: Sequence[Scenario]) -> list[str]:
    """Return in lines how many changes of a platform come in no window of this length (s)."""
    changes = replayed[0].platform.changes
    factors = dict.fromkeys(each.parameters.load_factor for each in replayed)
    late = {factor: sum(change.at >= window / factor for change in changes) for factor in factors}
    differ = len({*late.values()}) > 1
    which, lines = "the platform" if platform is None else f"platform {platform}", []
    for factor in factors if differ else [*factors][:1]:
        if late[factor]:
            of_all = f"{late[factor]:,} of {counted(len(changes), 'change')} of {which}"
            at = f" at load_factor {shown(factor)}" if differ else ""
            lines.append(f"{of_all}: planned after the last arrival of each window{at}")
    return lines
