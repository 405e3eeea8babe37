"""Several runs beside each other, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from experiments.show.differences import (
    all_told,
    both,
    of_electricity,
    of_one_source,
    same_deadlines,
    same_jobs,
    to_blame,
)
from experiments.show.labels import label, scale_of_difference, told
from experiments.show.numbers import (
    PERCENT,
    POINTS,
    counted,
    duration,
    listed,
    number,
    percent,
    signed_percent,
)
from experiments.show.run_data import Ran
from experiments.show.words import Sentence, found, hidden_by_windows, rates_of_jobs
from grid.platform.topology import GRID

TIMES, TOO_FAR = 3.0, 100.0
"""How many times the best a value is from which on it is told so, and from which on nothing is: of
a best near 0 even a good value is any number of times."""

NAMED = 5
"""Parameters that are named at most."""

UNTOLD = (
    "The runs had jobs of different files, alike in numbers, arrivals and sizes; how long they run "
    "on which cluster, the results do not tell: what differs may be due to that."
)

ALIKE_S, ALIKE_SHARE = 1.0, 0.01
"""How far apart two waits of a job that count as alike are at most: s, and a share of the mean wait
where that is less. Latencies of messages alone make waits differ by some milliseconds."""


def compared(runs: list[Ran]) -> list[Sentence]:
    """Return what a comparison came to."""
    same = all(same_jobs(one, other) for one, other in combinations(runs, 2))
    untold = same and not (of_one_source(runs) or all_told(runs))
    same &= not untold
    short = [ran.name for ran in runs if _stops_short(ran)]
    lines = [Sentence("The runs had different jobs: what differs may be due to that alone.", True)]
    if untold:
        lines = [Sentence(UNTOLD, warns=True)]
    if same:
        lines = [_same(runs, so_far=bool(short))]
    if other := other_platforms(runs):
        lines.append(Sentence(f"They were on different platforms: other {other}.", warns=True))
    lines += _other_parameters(runs)
    if len({ran.summary["parameters"].get("warmup") or 0 for ran in runs}) > 1:
        left = ", ".join(f"{int(ran.warm_up.sum()):,} of {ran.name}" for ran in runs)
        lines.append(
            Sentence(f"Means are not of the same jobs: warm-ups leave out {left}.", warns=True)
        )
    lines += [Sentence(own) for own in sorted({rates_of_jobs(ran.summary) for ran in runs}) if own]
    lines += [Sentence(each, warns=True) for each in hidden_by_windows(runs)]
    lines.append(
        Sentence(
            "One run of each: whether a difference is more than chance, metasched study tells."
        )
    )
    if short:
        their = "its" if len(short) == 1 else "their"
        words = f"{listed(short)} did not finish all jobs, and {their} means leave the others out"
        lines.append(Sentence(f"No run is called the best: {words}.", warns=True))
    else:
        lines += _ranked(runs)
    for ran in runs:
        lines += [Sentence(f"{ran.name}: {each.text}", True) for each in found(ran) if each.warns]
    if same:
        lines += _paired(runs)
        lines += [] if short else _by_origin(runs)
    return lines


def _same(runs: list[Ran], so_far: bool) -> Sentence:
    """Return that runs had the same jobs, and whether with the same deadlines."""
    far = ["they were finished"] if so_far else []
    far += [] if of_one_source(runs) else ["their numbers, arrivals, sizes and run times tell"]
    words = f"All runs had the same jobs{', as far as ' if far else ''}{listed(far)}"
    if all(same_deadlines(runs[0], ran) for ran in runs[1:]):
        return Sentence(f"{words}.")
    without = [ran.name for ran in runs if ran.summary.get("deadlines") is None]
    others = [ran for ran in runs if ran.name not in without]
    if not all(same_deadlines(others[0], ran) for ran in others[1:]):
        return Sentence(
            f"{words}, but not the same deadlines: what differs may be due to that.", warns=True
        )
    return Sentence(f"{words}, but those of {listed(without)} had no deadlines.")


def other_platforms(runs: list[Ran]) -> str:
    """Return in which tables of their platforms runs differ, "" if in none."""
    first, *others = (_by_place(ran.platform.to_dict()) for ran in runs)
    names = [name for name, of in first.items() if any(other.get(name) != of for other in others)]
    called = {"changes": "planned changes"}
    if all(map(_nameless(first).__eq__, map(_nameless, others))):
        called["clusters"] = "names of clusters"
    return listed([called.get(name, name) for name in names])


def _nameless(platform: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the clusters of a platform without their names."""
    return [each | {"name": ""} for each in platform["clusters"]]


def _by_place(platform: dict[str, Any]) -> dict[str, Any]:
    """Return tables of a platform in which clusters have their places for names, but for their own.

    So that other names make no other links.
    """
    places = {each["name"]: f"{place}" for place, each in enumerate(platform["clusters"])}

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [without(each) for each in value]
        return places.get(value, value) if isinstance(value, str) else value

    return {name: of if name == "clusters" else without(of) for name, of in platform.items()}


def _other_parameters(runs: list[Ran]) -> Iterator[Sentence]:
    """Yield which parameters runs differ in: what differs is not that of policies alone."""
    names = to_blame(runs)
    if names:
        told = names if len(names) <= NAMED else [*names[: NAMED - 1], "others"]
        policies = {ran.summary["global"] + ran.summary["local"] for ran in runs}
        rather = "" if len(policies) == 1 else " rather than to the policies"
        yield Sentence(
            f"They have other values of {listed(told)} (in a table below): what differs may be "
            f"due to that{rather}.",
            warns=True,
        )
    if rates := of_electricity(runs):
        yield Sentence(
            f"They have other values of {listed(rates)} (in a table below), by which energy, cost "
            "and CO2 may differ, and nothing else.",
            warns=True,
        )


def _stops_short(ran: Ran) -> bool:
    """Return whether a run left jobs unfinished, or did not even see all of them."""
    return bool(ran.summary.get("unfinished") or ran.summary.get("interrupted"))


def _ranked(runs: list[Ran]) -> Iterator[Sentence]:
    for name, high in (
        ("mean_wait", False),
        ("mean_bounded_slowdown", False),
        *([] if hidden_by_windows(runs) else [("utilization", True)]),
    ):
        known = [(ran.summary["metrics"].get(name), ran.name) for ran in runs]
        values = sorted(((v, n) for v, n in known if v is not None), reverse=high)
        if len(values) < 2:
            continue
        best = values[0][0]
        leaders = [who for value, who in values if told(name, value) == told(name, best)]
        if len(leaders) == len(values):
            alike = "the same" if values[-1][0] == best else "about the same"
            who = "All" if len(values) == len(runs) else "All that have one"
            yield Sentence(f"{who} have {alike} {label(name)}, {told(name, best)}.")
            continue
        rest = ", ".join(
            f"{who} {told(name, value)}{_more(name, value, best)}"
            for value, who in values[len(leaders) :]
        )
        superlative = "highest" if high else "lowest"
        best_of = f"{label(name)} is that of {listed(leaders)}, {told(name, best)}"
        rejected = {ran.name: ran.summary["jobs"]["rejected"] for ran in runs}
        fewer = rejected_more(rejected, leaders)
        hedge = f", but {fewer}" if fewer else ""
        yield Sentence(f"The {superlative} {best_of}{hedge}; {rest}.", warns=bool(hedge))


def rejected_more(rejected: Mapping[str, int], leaders: Sequence[str], whole: bool = False) -> str:
    """Return in words which of the best rejected more jobs than others, "" if none did.

    Parameters
    ----------
    rejected : mapping of str to int
        Jobs that each rejected.
    leaders : sequence of str
        Who is the best.
    whole : bool
        The numbers are of whole runs, not of the jobs that were accepted.

    Examples
    --------
    >>> rejected_more({"a": 2, "b": 0}, ["a"])
    'of the jobs that it accepted: it rejected more than b did'
    >>> rejected_more({"a": 2, "b": 0, "c": 2}, ["a", "b", "c"], whole=True)
    'of which a and c rejected more jobs than b did'
    """
    fewest = min(rejected.values())
    more = [name for name in leaders if rejected[name] > fewest]
    if not more:
        return ""
    fewer = [name for name, of in rejected.items() if of < min(rejected[each] for each in more)]
    few = listed(fewer) if len(fewer) <= NAMED else f"{len(fewer)} others"
    if whole:
        whose = "which" if more == [*leaders] else f"of which {listed(more)}"
        return f"{whose} rejected more jobs than {few} did"
    of_it = "it accepted: it" if len(more) == 1 else "they accepted: they"
    whose = "" if more == [*leaders] else f"of {listed(more)} "
    return f"{whose}of the jobs that {of_it} rejected more than {few} did"


def _more(name: str, value: float, best: float) -> str:
    """Return how far a value is from the best, if that says something."""
    if scale_of_difference(name, PERCENT) is POINTS:
        return f" ({signed_percent(value - best)} {POINTS.unit})"
    times = value / best if best else TOO_FAR
    if times >= TOO_FAR:
        return ""
    return (
        f" ({number(times)} times as much)"
        if times >= TIMES
        else f" ({signed_percent(times - 1)} %)"
    )


def _paired(runs: list[Ran]) -> Iterator[Sentence]:
    """Yield for how many jobs the first run was better: means may hide that."""
    first = runs[0]
    for other in runs[1:]:
        pairs = both(first, other)
        pairs = pairs[first.completed[pairs["row_x"]] & other.completed[pairs["row_y"]]]
        done = len(pairs)
        came = max(ran.summary["jobs"]["submitted"] for ran in (first, other))
        if 2 * done < came:
            yield Sentence(
                f"Only {done:,} of {counted(came, 'job')} completed under both {first.name} and "
                f"{other.name}: their waits under the two say little."
            )
            continue
        pairs = pairs[first.counted[pairs["row_x"]] & other.counted[pairs["row_y"]]]
        if pairs.empty:
            continue
        warm = ", after the warm-up" if len(pairs) < done else ""
        waits = [
            (ran.jobs["start"] - ran.jobs["arrival"]).to_numpy()[pairs[rows]]
            for ran, rows in ((first, "row_x"), (other, "row_y"))
        ]
        too = ", with other parameters too" if to_blame([first, other]) else ""
        close = min(ALIKE_S, ALIKE_SHARE * float(np.mean(waits)))
        longer_by = waits[0] - waits[1]
        less, longer = (float(np.mean(each)) for each in (longer_by < -close, longer_by > close))
        alike = float(np.mean(abs(longer_by) <= close))
        within = f", to within {duration(close)}" if close else ""
        yield Sentence(
            f"Of the {counted(len(pairs), 'job')} that both completed{warm}, {percent(less)} "
            f"waited less under {first.name} than under {other.name}, {percent(longer)} "
            f"longer{too}; {percent(alike)} waited as long under both{within}."
        )


def _by_origin(runs: list[Ran]) -> Iterator[Sentence]:
    """Yield jobs of which origins waited less under the first run, and of which longer."""
    first, *others = runs
    for other in others:
        of_runs = [
            {row["name"]: row for row in ran.summary.get("origins", ())} for ran in (first, other)
        ]
        counts = [{name: row["jobs"] for name, row in rows.items()} for rows in of_runs]
        if len(counts[0]) < 2 or counts[0] != counts[1]:  # means are not of the same jobs
            continue
        waits = {
            name or GRID: tuple(rows[name]["mean_wait"] for rows in of_runs)
            for name in counts[0]
            if counts[0][name]
        }
        less, longer = (
            _named({name: of for name, of in waits.items() if sign * (of[1] - of[0]) > 0})
            for sign in (1, -1)
        )
        differ = [f"shorter for {less}"] if less else []
        differ += [f"longer for {longer}"] if longer else []
        if differ:
            yield Sentence(
                f"By origin, mean waits under {first.name}, compared with {other.name}, are "
                f"{'; '.join(differ)}."
            )


def _named(waits: dict[str, tuple[float, ...]]) -> str:
    """Return origins with their mean waits in both runs, those that differ most first."""
    differing = {
        name: [told("mean_wait", each) for each in of]
        for name, of in sorted(waits.items(), key=lambda item: -abs(item[1][0] - item[1][1]))
    }
    words = [
        f"{name} ({one} instead of {two})" for name, (one, two) in differing.items() if one != two
    ]
    more = len(words) - NAMED
    return listed(words if more <= 0 else [*words[:NAMED], f"{counted(more, 'other')}"])
