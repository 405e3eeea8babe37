"""What the parameters of a study do to its metric, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from experiments.scenario.assignments import shown
from experiments.show.labels import label
from experiments.show.numbers import PERCENT, POINTS, Scale, listed, signed_percent
from experiments.studies.definition import cell
from experiments.studies.ranking import firsts_alike
from experiments.studies.tables import COUNTS
from experiments.studies.verdicts import NAMED, pieces, size_of

if TYPE_CHECKING:
    from experiments.studies.tables import StudyTables


FEW = 4
"""So many differences are of one sign too often by chance to tell of it."""


def effects(outcome: StudyTables) -> Iterator[str]:
    """Yield what each parameter does from its first value to its last, by policy.

    Values that are no numbers have no order: from the first to each of the others.
    """
    for parameter, values in outcome.study.vary.items():
        ordered = all(isinstance(each, int | float) for each in values)
        for other in values[-1:] if ordered and len(values) > 1 else values[1:]:
            yield from _effect(outcome, parameter, values[0], other, ordered)


def _effect(
    outcome: StudyTables, parameter: str, one: Any, other: Any, ordered: bool
) -> Iterator[str]:
    """Yield what a parameter does from one value to another, by policy."""
    effects = outcome.effects[outcome.effects["parameter"] == parameter]
    alike: dict[str, list[str]] = {}
    for policy, of_policy in effects.groupby("policy", sort=False):
        cases = _distinct(outcome, parameter, of_policy)
        every = pd.concat(cases)
        rows = every[(every["from"] == cell(one)) & (every["to"] == cell(other))]
        rows = rows[rows["n"] > 0]  # of no pair there is nothing to tell
        if rows.empty:
            continue
        what = _change(outcome, rows) + _shared(outcome, str(policy), rows["n"]) + _grown(rows)
        what += _in_between(outcome, parameter, cases) if ordered else ""
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
    others = [name for name in outcome.where if name != parameter and rows[name].notna().all()]
    runs = outcome.read_in(parameter)
    runs = runs[runs["policy"] == rows["policy"].iloc[0]]
    told = ["workload", parameter, "replication"]
    firsts = firsts_alike(runs, others, told, [outcome.metric, *COUNTS])
    cases: dict[Any, pd.DataFrame] = {}
    for place, case in rows.groupby(others, sort=False):
        cases.setdefault((firsts[place], case[["from", "to"]].to_csv(index=False)), case)
    return [*cases.values()]


def _in_between(outcome: StudyTables, parameter: str, cases: list[pd.DataFrame]) -> str:
    """Return what the first and the last value of a parameter hide: cases are of all two values."""
    names = {cell(value): shown(value) for value in outcome.study.vary[parameter]}
    told = [_turns(names, case) for case in cases]
    if not (turns := [found for found in told if found]):
        rows = pd.concat(cases)
        first, *_, last = names
        ends = (rows["from"] == first) & (rows["to"] == last)
        differ = rows[["lower", "higher"]].any(axis=1)
        if differ.any() and not differ[ends].any():
            return ", but not in between"
        return _may_in_between(outcome, names, rows, ends)
    what = turns[0] if len({*turns}) == 1 else "it goes up or down in between"
    if len(cases) == 1:
        return f", but {what}"
    firsts = pd.concat([case.iloc[:1] for case in cases])
    return f", but {what} {_in_cases(outcome, firsts, np.array([*map(bool, told)]))}"


def _may_in_between(
    outcome: StudyTables, names: dict[Any, str], rows: pd.DataFrame, ends: pd.Series
) -> str:
    """Return between which values the metric may change, if it does not from first to last."""
    alone = rows["difference"].abs() > rows["half_width"]
    if alone[ends].any() or not alone.any():
        return ""
    found = rows[alone]
    most = found.loc[(found["difference"].abs() / found["half_width"]).idxmax()]
    pair = rows[(rows["from"] == most["from"]) & (rows["to"] == most["to"])]
    where = "" if len(pair) == 1 else f" {_in_cases(outcome, pair, alone[pair.index])}"
    return f", but may from {names[most['from']]} to {names[most['to']]}{where}"


def _in_cases(outcome: StudyTables, rows: pd.DataFrame, those: Any) -> str:
    """Return in how many of several cases something is so, of which there is a row each."""
    told = f"in {those.sum()} of {len(rows)} cases"
    if those.sum() > 1:
        return told
    one, where = rows[those].iloc[0], []
    for name in (name for name in outcome.where if rows[name].nunique() > 1):
        values = {cell(value): shown(value) for value in outcome.study.vary.get(name, ())}
        value = values.get(one[name], str(one[name]))
        where.append(f"{name} {value}" if values else value)
    return f"{told} ({', '.join(where)})"


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
    return f", of the {from_to(pairs)} {pieces(outcome, pairs.max())} that both have"


def _grown(rows: pd.DataFrame) -> str:
    """Return that differences may depend on the length of runs, if the queues of some grew."""
    grew = rows["unstable"].sum()
    return f", in runs of this length (the queue grew in {grew} of them)" if grew else ""


def from_to(counts: pd.Series) -> str:
    """Return between what counts are, or what all are."""
    low, high = counts.min(), counts.max()
    return f"{low}" if low == high else f"{low} to {high}"


def _change(outcome: StudyTables, rows: pd.DataFrame) -> str:
    """Return what a parameter does to a policy in words; a row for each setting of the others."""
    if not rows[["lower", "higher"]].any(axis=None):
        return "stays the same"
    scale, sure, verb, but = outcome.scale(outcome.metric), rows["surely_changes"], "changes", ""
    alone = rows["difference"].abs() > rows["half_width"]
    if not sure.any() and alone.any():
        sure, verb = alone, "may change"
        but = ", which is not sure beside the other comparisons of this parameter"
    if not sure.any():
        where = "" if len(rows) == 1 else f" in any of {len(rows)} cases"
        many = f"{from_to(rows['n'])} {pieces(outcome, rows['n'].max())}"
        enough = rows["n"].min() > FEW
        ways = [way for way in ("higher", "lower") if enough and (rows[way] == rows["n"]).all()]
        though = f", though it is {ways[0]} in all of them" if ways else ""
        return f"does not change as far as {many} can tell{where}{though}"
    if len(rows) == 1:
        row = rows.iloc[0]
        side = "lower" if row["difference"] < 0 else "higher"
        size = size_of(scale, row["difference"], row["mean"], row["half_width"])
        often = f"{side} in {row[side]} of {row['n']} {pieces(outcome, row['n'])}"
        return f"{verb} by {size} ({often}){but}"
    if verb == "changes" and (others := alone & ~sure).any():
        some = f"{others.sum()} more" if others.sum() + sure.sum() < len(rows) else "the others"
        if others.sum() == 1 and some == "the others":
            some = "the other"
        but = f", and may change in {some}, by {_range(scale, rows[others])}"
    return f"{verb} by {_range(scale, rows[sure])} {_in_cases(outcome, rows, sure)}{but}"


def _range(scale: Scale, rows: pd.DataFrame) -> str:
    """Return between what changes are: shares of means, else in the metric's own unit."""
    if scale is not PERCENT and (rows["mean"] <= 0.0).any():  # of what there is no share
        changes = rows["difference"]
        ends = [size_of(scale, each, 0.0, math.nan) for each in (changes.min(), changes.max())]
        return " to ".join(dict.fromkeys(ends))
    changes = rows["difference"] / (1.0 if scale is PERCENT else rows["mean"])
    ends = [signed_percent(each) for each in (changes.min(), changes.max())]
    return f"{' to '.join(dict.fromkeys(ends))} {POINTS.unit if scale is PERCENT else '%'}"
