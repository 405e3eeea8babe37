"""What a run came to, in plain words, and what its numbers cannot tell."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.scenario.notes import beside_others, clock_of_changes, not_reached
from experiments.show.labels import (
    OWN_RATES,
    TIMES_OF_RESTARTED,
    drawn_words,
    slowed_nobody,
    told,
    warm_up_words,
)
from experiments.show.numbers import counted, duration, instant, listed, number, percent, times
from experiments.show.run_data import Ran
from grid.metrics.stability import GREW

STANDS_OUT = 0.05
"""How much more than the next a cluster must be used to be named the busiest."""
FEWEST = 10
"""Jobs of a cluster below which nothing is said of it."""
NAMED = 5
"""Links that share the first place, and planned changes, that are named at most."""


USELESS = "parameters without effect"
TOLD_ELSEWHERE = "recorded, in a window"
"""How notes begin on what windows hide (`hidden_by_windows`)."""


class Sentence(NamedTuple):
    """A sentence, and whether it warns."""

    text: str
    warns: bool = False


def found(ran: Ran) -> list[Sentence]:
    """Return what a run came to."""
    return [*_service(ran), *_clusters(ran), *_links(ran), *_troubles(ran)]


def _service(ran: Ran) -> Iterator[Sentence]:
    metrics, counts = ran.summary["metrics"], ran.summary["jobs"]
    submitted, completed = counts["submitted"], counts["completed"]
    size = sum(cluster.size for cluster in ran.platform.clusters)
    clusters = len(ran.platform.clusters)
    where = f"{clusters} clusters" if clusters > 1 else "one cluster"
    where += f" with {counted(size, 'processor')}"
    yield Sentence(
        f"{ran.policy} completed {completed:,} of {counted(submitted, 'job')} on {where}, in "
        f"{duration(ran.summary['simulated_s'])}{'' if ran.real else ' of simulated time'}."
    )
    if not len(ran.waits):
        return
    mean, slowed = duration(metrics["mean_wait"]), number(metrics["mean_bounded_slowdown"])
    if len(ran.waits) == 1:
        yield Sentence(f"The only job that counts waited {mean}. {_with_latency(ran)}".rstrip())
        yield Sentence(f"Its bounded slowdown was {slowed}.")
    else:
        yield Sentence(
            f"A job waited {mean} on average; the median was "
            f"{duration(float(np.median(ran.waits)))}, the 95th percentile "
            f"{duration(metrics['p95_wait'])}, the longest wait {duration(metrics['max_wait'])}. "
            f"{_at_once(ran)}"
        )
        yield Sentence(
            f"The mean bounded slowdown was {slowed}, the 95th percentile "
            f"{number(metrics['p95_bounded_slowdown'])}."
        )
    if metrics.get("deadlines_met") is not None:
        drawn = drawn_words(ran.summary.get("deadlines"))
        of = (
            "the deadlines, those of rejected jobs included,"
            if counts["rejected"]
            else "the deadlines"
        )
        yield Sentence(f"{percent(metrics['deadlines_met'])} of {of} were met.")
        if drawn:
            yield Sentence(f"{drawn[0].upper()}{drawn[1:]}.", warns=True)


def _at_once(ran: Ran) -> str:
    share = float(np.mean(ran.waits == 0))
    words = f"{percent(share)} of them did not wait. " if share else ""
    return f"{words}{_with_latency(ran)}".rstrip() or "All had to wait."


def _with_latency(ran: Ran) -> str:
    links = ran.summary["platform"]["links"]
    late = ran.summary["parameters"].get("latency") or any(link["latency"] for link in links)
    return "Waits include the latency of the brokers' messages." if late else ""


def rates_of_jobs(summary: dict[str, Any]) -> str:
    """Return that jobs did not run at the rates of clusters, "" if they did."""
    useless = next((each for each in summary.get("notes", ()) if each.startswith(USELESS)), "")
    if summary["parameters"].get("speeds") and not re.search(r"\bspeeds\b", useless):
        return OWN_RATES
    if summary.get("execution_times") and "served" not in summary:
        return "Jobs brought an execution time for each cluster, whatever its rate."
    return ""


def _clusters(ran: Ran) -> Iterator[Sentence]:
    if own := rates_of_jobs(ran.summary):
        yield Sentence(own)
    of_all = ran.summary["metrics"].get("utilization")
    if of_all is not None:
        lost = ran.summary["metrics"].get("lost_work")
        what = "did work that was not lost" if lost else "were in use"
        rest = f"; {ran.setbacks} threw away {told('lost_work', lost)} more" if lost else ""
        away = ", also those of processors that were away," if _goes_away(ran) else ""
        warm = ran.summary["parameters"].get("warmup")
        since = "after the warm-up" if warm else "of a job that was completed"
        yield Sentence(
            f"Processors {what} {percent(of_all)} of the time: that is the share of all "
            f"processor-seconds{away} from the first arrival {since} to the last finish{rest}."
        )
    if not ran.left_running:  # of those jobs no number tells anything
        yield from _busiest(ran)
        yield from _longest_waits(ran)


def _goes_away(ran: Ran) -> bool:
    """Return whether processors were away, or may have been, while the run lasted."""
    return _changes(ran) or bool(ran.summary["parameters"].get("mean_up_time"))


def _changes(ran: Ran) -> bool:
    """Return whether a planned change had processors be away while the run lasted."""
    changes = ran.summary["platform"].get("changes", ())
    ended = ran.summary["simulated_s"]
    return any(change.get("what") == "join" or change["at"] <= ended for change in changes)


def _busiest(ran: Ran) -> Iterator[Sentence]:
    rows = [row for row in ran.summary["clusters"] if row.get("utilization") is not None]
    used = sorted(rows, key=lambda row: row["utilization"])
    if len(used) < 2 or used[-1]["jobs"] < FEWEST or _changes(ran):
        return  # of those that were away for a while, the shares say something else
    shares = [percent(row["utilization"]) for row in used]
    if used[-1]["utilization"] - used[-2]["utilization"] >= STANDS_OUT:
        yield Sentence(
            f"{used[-1]['name']} was clearly the busiest cluster ({shares[-1]}; the next is "
            f"{used[-2]['name']} with {shares[-2]})."
        )
    else:
        yield Sentence(
            f"No cluster was clearly the busiest: their use is between {shares[0]} "
            f"({used[0]['name']}) and {shares[-1]} ({used[-1]['name']})."
        )


def _longest_waits(ran: Ran) -> Iterator[Sentence]:
    """Yield where those jobs ran that waited longest: that need not be the busiest cluster."""
    rows = [row for row in ran.summary["clusters"] if row["jobs"] > 0]
    ranked = sorted(rows, key=lambda row: -(row["mean_wait"] or 0.0))[:2]
    if len(ranked) < 2 or min(row["jobs"] for row in ranked) < FEWEST:
        return  # whose waits may be chance
    first, second = ranked
    longest, after = (told("mean_wait", row["mean_wait"]) for row in (first, second))
    if longest != after:
        yield Sentence(
            f"Jobs that ran on {first['name']} waited longest ({longest} on average; the next are "
            f"those of {second['name']} with {after})."
        )


def _links(ran: Ran) -> Iterator[Sentence]:
    metrics, links = ran.summary["metrics"], ran.links
    if metrics.get("coallocated"):
        words = f"{percent(metrics['coallocated'])} of the jobs were split across clusters"
        if (penalty := metrics["mean_penalty"]) is not None:
            data = " once their data were there" if metrics.get("mean_staging") else ""
            words += f", and took {penalty:.3f} times as long{data} as if links had no limits and "
            words += "no latency"
        yield Sentence(f"{words}.")
    most = max((link["saturated"] for link in links), default=0.0)
    if most > 0:
        names = [link["name"] for link in links if percent(link["saturated"]) == percent(most)]
        if len(names) > NAMED:
            names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1:,} others"]
        links_, of = ("links", "each") if len(names) > 1 else ("link", "it")
        yield Sentence(
            f"{listed(names)} had the most saturated {links_}: more was asked of {of} than it "
            f"carries in {percent(most)} of the time."
        )
        if why := slowed_nobody(ran.summary):
            yield Sentence(f"{why[0].upper()}{why[1:]}.", warns=True)
    elif any(link["mean_demand"] > 0 for link in links):
        since = "After the warm-up, no" if ran.summary["parameters"].get("warmup") else "No"
        yield Sentence(f"{since} link was asked for more than it carries.")


def _troubles(ran: Ran) -> Iterator[Sentence]:
    summary = ran.summary
    if rejected := summary["jobs"]["rejected"]:
        reasons = "; ".join(f"{count:,}: {why}" for why, count in summary["rejections"].items())
        were = "was" if rejected == 1 else "were"
        yield Sentence(
            f"{counted(rejected, 'job')} {were} rejected and never started ({reasons}).", True
        )
    if summary.get("interrupted"):
        yield Sentence("The run was interrupted, and the numbers are those up to then.", True)
    if unfinished := summary.get("unfinished"):
        had = "had not finished by then" if ran.left_running else "never finished"
        held = (
            ", and processors that they held count as idle in utilization, idle-times and charts"
            if ran.left_running and summary["metrics"].get("utilization") is not None
            else ""
        )
        why = f" ({told_why})" if (told_why := summary.get("why_unfinished")) else ""
        left = f"{counted(unfinished, 'job')} {had}{why}"
        yield Sentence(f"{left}; they are in no chart{held}.", True)
    if summary["metrics"].get("stable") is False:
        yield Sentence(
            f"The mean queue {GREW}: means of waits are those of a run of this length, and a "
            "longer one may have higher ones.",
            True,
        )
    if ran.restarted:
        each = "each that finished" if summary.get("unfinished") else "each"
        yield Sentence(
            f"{ran.setbacks.capitalize()} threw jobs back {times(summary['metrics']['restarts'])}; "
            f"the schedule shows the last start of {each} ({TIMES_OF_RESTARTED}).",
            True,
        )
    some = summary.get("interrupted") or summary.get("unfinished") or not len(ran.waits)
    all_left_at = math.inf if some else float(ran.jobs["finish"].max())
    reached = summary["simulated_s"] if some else all_left_at
    warmup, left_out = summary["parameters"].get("warmup") or 0, int(ran.warm_up.sum())
    if not summary.get("unfinished") and (
        short := warm_up_words(warmup, left_out, len(ran.warm_up))
    ):
        yield Sentence(f"{short[0].upper()}{short[1:]}.", True)
    changes = summary["platform"].get("changes", ())
    clock, late = clock_of_changes(summary), not_reached(changes, all_left_at)
    for note in summary.get("notes", ()):
        if note not in (clock, late) and not note.startswith(TOLD_ELSEWHERE):
            yield Sentence(f"{note[0].upper()}{note[1:]}.", not note.startswith(USELESS))
    if came := [change for change in changes if change["at"] <= reached]:
        yield Sentence(f"Planned changes of processors came: {_planned(came, reached)}.", True)
    if clock:
        yield Sentence(f"{clock[0].upper()}{clock[1:]}.", True)
    if late:
        yield Sentence(f"{late}.", True)
    for rule, count in (summary.get("cleaning") or {}).get("rules", {}).items():
        yield Sentence(f"Cleaning of the log, {counted(count, 'time')}: {rule}.")


def _planned(changes: Sequence[Mapping[str, Any]], reached: float) -> str:
    """Return planned changes in words, a few of them, of a run that reached a time, s.

    >>> _planned([{"cluster": "A", "what": "drain", "at": 5.0, "until": 9.0, "processors": 4}], 9.0)
    'drain of 4 processors of A at 5 s until 9 s'
    >>> _planned([{"cluster": "A", "what": "fail", "at": 5.0, "until": 9.0}], 8.0)
    'fail of all processors of A at 5 s (until 9 s, after the end)'
    """
    told = [
        f"{each['what']} of "
        f"{counted(each['processors'], 'processor') if 'processors' in each else 'all processors'} "
        f"of {each['cluster']} at {instant(each['at'])}" + _until(each.get("until"), reached)
        for each in changes[:NAMED]
    ]
    return "; ".join(told) + (f"; {len(changes) - NAMED} more" if len(changes) > NAMED else "")


def _until(until: float | None, reached: float) -> str:
    if until is None:
        return ""
    later = f" (until {instant(until)}, after the end)"
    return f" until {instant(until)}" if until <= reached else later


def _more(runs: list[Ran]) -> str:
    """Return what tells how much of a number is chance."""
    if all(ran.summary["workload"] is None for ran in runs):
        return (
            "Replications do (metasched run ... --replications 10), and give confidence intervals."
        )
    return (
        "Other weeks of a log do, as windows of a study (metasched study); replications of a log "
        "that is replayed whole differ only in what is random, such as deadlines that are drawn."
    )


def hidden_by_windows(runs: list[Ran]) -> list[str]:
    """Return what windows of logs hide of how it was in truth, a sentence if they do."""
    hidden = dict.fromkeys(beside_others(ran.summary) for ran in runs)
    return [f"{each[0].upper()}{each[1:]}." for each in hidden if each]


def limits(runs: list[Ran]) -> list[Sentence]:
    """Return what charts and numbers of runs cannot tell."""
    told = "as it was" if all(ran.real for ran in runs) else "as simulated"
    what, tells = "These are single runs", "they do"
    if len(runs) == 1:
        what, tells = "This is a single run", "it does"
    chance = f"{what}: how much of a number is chance, {tells} not tell. {_more(runs)}"
    if not any(ran.summary["jobs"]["completed"] for ran in runs):
        return [Sentence(chance)]  # nothing is drawn
    lines = [
        "Results count the processors of a job on each cluster and do not name them. The chart "
        "gives each job the lowest that are free, completions before starts at one instant: when "
        f"and where a job ran is {told}, on which of the processors is not.",
        "From afar a pixel of the chart stands for many jobs; it is as dark as its processors were "
        "in use.",
        chance,
    ]
    if any(len(ran.summary["platform"].get("clusters", ())) > 1 for ran in runs):
        lines.append(
            "Bounded slowdowns in the curves are over the time that a job ran, and over at least "
            "10 s; in the tables, over the time it would have run with its data there, and if "
            "links had no limits and no latency."
        )
    if any(ran.summary["parameters"].get("warmup") for ran in runs):
        lines.append(
            "Jobs that arrived in the warm-up count for no mean and no share; they are in the "
            "schedule and in the curves over time."
        )
    lines += hidden_by_windows(runs) if len(runs) == 1 else []
    if any(map(_goes_away, runs)):
        lines.append("Processors that were away are drawn like idle ones.")
    return [Sentence(line) for line in lines]
