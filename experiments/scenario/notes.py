"""What of a scenario deserves a word though it is no error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agents.slurm.controller import SlurmScheduler, SlurmSettings
from experiments.scenario.assignments import shown
from experiments.scenario.held_out import not_held_out
from experiments.scenario.jobs import ORIGINS
from experiments.scenario.policy_notes import of_policies
from experiments.scenario.scenario import Scenario
from experiments.scenario.unread import (
    go_by_predictions,
    idle,
    without_origin,
)
from experiments.show.numbers import counted, duration, instant, listed, percent
from grid.foreign import plain
from grid.logs.calendar import clock_at, read, written
from grid.named_files import texts
from grid.platform.energy import SERIES, read_series
from grid.workloads.table import NOTHING, Stated

NOT_YET = (
    "processors that are to join count as idle as long as they have not, in utilization, "
    "idle-times and electricity"
)
IDLE_OF_OTHERS = (
    "idle-time, and CP of the whole run if it has one, count what jobs that it leaves out hold as "
    "idle"
)


DRAWN_ORIGINS = f"drawn, as the jobs bring none ({', '.join(ORIGINS)})"
BESIDE_OTHERS = (
    "recorded, in a window of a log: jobs from before and after it held processors, too, and count "
    "for no utilization, energy or cost; simulated runs begin with empty clusters, so that their "
    "first jobs wait less (parameter warmup leaves those out)"
)


def told(named: Mapping[str, str]) -> list[str]:
    """Return in a line which parameters mean nothing, given why of each; no line for none."""
    of_why: dict[str, list[str]] = {}
    for name, why in named.items():
        of_why.setdefault(why, []).append(name)
    reasons = [f"{', '.join(names)} ({why})" for why, names in of_why.items()]
    return [f"parameters without effect: {'; '.join(reasons)}"] if reasons else []


def clock_of_changes(given: Mapping[str, Any]) -> str:
    """Return on which clock planned changes are, "" if on that of the log or of its jobs.

    Parameters
    ----------
    given : mapping
        Of a run: its ``platform``, ``workload`` and ``parameters``, as `Scenario.to_dict` has them.
    """
    parameters = given["parameters"]
    if not given["platform"].get("changes") or given["workload"] is None:
        return ""
    return clock_among([parameters])


def beside_others(given: Mapping[str, Any], window: bool = False) -> str:
    """Return what a window of a log hides of how it was in truth; "" where nothing is hidden.

    Parameters
    ----------
    given : mapping
        Of a run: its ``local``, ``workload`` and ``parameters``, as `Scenario.to_dict` has them.
    window : bool
        It is of a window, whatever its parameters say.
    """
    parameters = given["parameters"]
    begin, end = parameters.get("window_start", 0), parameters.get("window_end")
    window |= begin != 0 or end is not None
    recorded = given["local"] == "recorded" and given["workload"] is not None
    return BESIDE_OTHERS if recorded and window else ""


def clock_among(several: Sequence[Mapping[str, Any]], window: str = "") -> str:
    """Return on which clock planned changes are in replays of some parameters, as above.

    Parameters
    ----------
    several : sequence of mapping
    window : str
        What each replay is cut to, "" if that is up to the parameters.
    """
    if any(each["window_start"] != 0 or each["window_end"] is not None for each in several):
        window = window or "the window"
    scaled = any(each["load_factor"] != 1 for each in several)
    clocks = [f"count from the start of {window}, not of the log"] if window else []
    clocks += ["are not scaled by load_factor"] if scaled else []
    return f"changes of the platform: at and until {', and '.join(clocks)}" if clocks else ""


def unscaled_series(several: Sequence[Mapping[str, Any]]) -> str:
    """Return which series stay as they are though arrivals of a log are scaled; "" if none do.

    >>> unscaled_series([{"price": {"A": "a.csv"}, "carbon": 300, "load_factor": 2.0}])
    'price: the times of its series are not scaled by load_factor'
    """
    scaled = [each for each in several if each["load_factor"] != 1]
    names = [name for name in SERIES if any([*texts(each[name])] for each in scaled)]
    whose = "its" if len(names) == 1 else "their"
    times = f"the times of {whose} series are not scaled by load_factor"
    return f"{listed(names)}: {times}" if names else ""


def before_joining(changes: Sequence[Mapping[str, Any]], platform: str = "") -> str:
    """Return in words how processors count until they join, if changes say that some do.

    The changes are of a run's platform, or of one of those that vary, by its name.

    >>> before_joining([{"at": 5.0, "what": "fail"}]), before_joining([])
    ('', '')
    """
    joins = any(change.get("what") == "join" for change in changes)
    return f"{f'platform {platform}'.rstrip()}: {NOT_YET}" if joins else ""


def not_reached(
    changes: Sequence[Mapping[str, Any]], all_left_at: float, several: bool = False
) -> str:
    """Return in words which planned changes found no jobs, which all left by then (s); "" if none.

    Those of several runs were the last to leave.

    >>> not_reached([{"at": 5.0}, {"at": 9000.0, "what": "drain"}], 60.0)
    '1 of 2 changes of the platform never came: planned after the last job ended, at 60 s'
    """
    late = [change for change in changes if change["at"] > all_left_at]
    if not late:
        return ""
    never = f"{len(late):,} of {counted(len(changes), 'change')} of the platform never came"
    absent = never_there(change.get("what") for change in late)
    ended = f"{instant(all_left_at)}{' at the latest' if several else ''}"
    return f"{never}: planned after the last job ended, at {ended}{absent}"


def never_there(kinds: Iterable[str | None]) -> str:
    """Return in words what it means for processors that changes of some kinds never came.

    >>> never_there(["join"])
    '; processors that were to join were never there'
    """
    return "; processors that were to join were never there" if "join" in {*kinds} else ""


def _unmet_reservations(scenario: Scenario, start: str, all_left_at: float) -> Iterator[str]:
    """Yield which of Slurm's reservations met no job of a run that began at a date, if it did."""
    given: Any = scenario.parameters
    if not (start and issubclass(scenario.local_policy, SlurmScheduler)):
        return
    for each in given.of(SlurmSettings).conf.reservations:
        begin, end = each.span(read(start))
        if end <= 0 or begin >= all_left_at:
            yield f"slurm_conf: {each.where}: reservation {plain(each.name)} met no job"


def begun_anew(
    scenario: Scenario, start: str, all_left_at: float
) -> Iterator[tuple[str, str, float]]:
    """Yield series of dates that end before a run does: parameter, file and when, s.

    Parameters
    ----------
    scenario : Scenario
    start : str
        The date of time 0, "" if there is none.
    all_left_at : float
        When the last job of the run ended, s; infinity if that is not known.
    """
    given: Any = scenario.parameters
    for name in SERIES if start and all_left_at < math.inf else ():
        for path in dict.fromkeys(texts(getattr(given, name))):
            series = read_series(path, name, start)
            if series.dated and series.length - series.ahead < all_left_at:
                yield name, path, series.length - series.ahead


def drawn_failures(scenario: Scenario) -> str:
    """Return in a line that failures are drawn though jobs are recorded; nothing if none are."""
    parameters = scenario.parameters
    if scenario.workload is None or not parameters.mean_up_time:
        return ""
    up, away = duration(parameters.mean_up_time), duration(parameters.mean_down_time)
    which = f"failures with mean_up_time {shown(parameters.mean_up_time)}"
    return f"{which}: drawn; on average, a processor is up for {up}, and then away for {away}"


def without_request(jobs: int, of: str = "") -> str:
    """Return in a line of how many jobs, perhaps of a log, prediction by requests knows none.

    >>> without_request(1, of=" of mine.swf")
    'prediction requested: 1 job of mine.swf without a requested time: expected to take the mean \
of all jobs that had ended by then, 1 h before the first had'
    """
    why = "expected to take the mean of all jobs that had ended by then, 1 h before the first had"
    return f"prediction requested: {counted(jobs, 'job')}{of} without a requested time: {why}"


def notes(
    scenario: Scenario,
    all_left_at: float = math.inf,
    due: bool = True,
    stated: Stated = NOTHING,
    several: bool = False,
    warmed: bool = True,
) -> list[str]:
    """Return what the user of a scenario may want to know before trusting its results, a line each.

    Parameters
    ----------
    scenario : Scenario
    all_left_at : float
        When the last job of its run ended, s, if there was one and no job is left.
    due : bool
        Whether a job has a deadline, as far as is known.
    stated : Stated
        What the jobs of a log say, as far as is known.
    several : bool
        These are of several runs, the last of which ended then.
    warmed : bool
        Whether a warm-up leaves out some job, as far as is known.

    Examples
    --------
    >>> from grid.platform import Platform
    >>> notes(Scenario("mine", Platform.star([8]), {"mode": "open", "queue": 5}))
    ['parameters without effect: queue (mode is open)', \
'max_size: 10 processors; jobs larger than 8 are rejected, for no cluster can hold them']
    """
    parameters = scenario.parameters
    useless = idle(scenario, stated)
    lines = told({parameters.called(name): why for name, why in useless.items()})
    lines += [
        *of_policies(scenario, due, stated),
        *not_held_out(scenario, start=stated.start),
        *(f"platform: {note}" for note in scenario.platform.notes),
    ]
    given = scenario.to_dict()
    late = not_reached(given["platform"].get("changes", ()), all_left_at, several)
    series = unscaled_series([given["parameters"]] if scenario.workload is not None else [])
    joining = before_joining(given["platform"].get("changes", ()))
    about_times = clock_of_changes(given), late, joining, beside_others(given), series
    lines += [line for line in (*about_times, drawn_failures(scenario)) if line]
    lines += _unmet_reservations(scenario, stated.start, all_left_at)
    for name, path, ended in begun_anew(scenario, stated.start, all_left_at):
        since = written(clock_at(read(stated.start), ended))
        lines.append(f"{name}: {path}: its dates end; it begins anew at {since}")
    if stated.origins_drawn:
        lines.append(f"workload: origins of {counted(stated.origins_drawn, 'job')} {DRAWN_ORIGINS}")
    if scenario.policy.stays_home and len(scenario.platform.clusters) > 1:
        share = without_origin(parameters) if scenario.workload is None else 0.0
        some = f"{percent(share)} of the jobs" if share else counted(stated.homeless, "job")
        if share or stated.homeless:
            under = f"under {given['global']} they {scenario.policy.homeless}"
            lines.append(f"workload: {some} submitted through no cluster: {under}")
    asks = parameters.prediction == "requested" and stated.unrequested > 0
    if asks and go_by_predictions(scenario, stated.homeless > 0):
        lines.append(without_request(stated.unrequested))
    if parameters.warmup and warmed:
        lines.append(f"{parameters.called('warmup')}: {IDLE_OF_OTHERS}")
    if parameters.nodes == "log" and stated.size_note:
        lines.append(f"{parameters.called('nodes')}: {stated.size_note}")
    largest = scenario.largest_job
    if scenario.workload is None and parameters.max_size > largest:
        split = largest > scenario.platform.sizes.max()
        lines.append(
            f"{parameters.called('max_size')}: {parameters.max_size} processors; jobs larger than "
            f"{largest} are rejected, for "
            + ("all clusters together have no more" if split else "no cluster can hold them")
        )
    if scenario.workload is None and parameters.mode == "open" and parameters.load >= 1:
        lines.append(
            f"{parameters.called('load')}: {parameters.load:g}; the clusters can do no more than "
            "1, and the queue grows for as long as jobs arrive"
        )
    return lines
