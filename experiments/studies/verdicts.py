"""Verdicts on the policies of a study: what can be said of each setting, and of all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.scenario.assignments import shown
from experiments.show.comparing import rejected_more
from experiments.show.labels import is_of_whole_run, label, told
from experiments.show.numbers import (
    PERCENT,
    POINTS,
    Scale,
    counted,
    duration,
    first_of,
    listed,
    signed_percent,
)
from experiments.studies.definition import OF_ALL_JOBS
from experiments.studies.ranking import firsts_alike
from experiments.studies.tables import COUNTS

if TYPE_CHECKING:
    from experiments.studies.tables import StudyTables

NAMED = 6
"""Settings, or policies of a setting, that are told one by one at most."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What can be said of the policies in a setting.

    Attributes
    ----------
    outcome : StudyTables
    place : str
        The setting in words, "" if there is only one.
    rows : DataFrame
        Its rows of the ranking.
    others_alike : int
        Settings with the same numbers: as a rule, no policy reads what tells them apart.
    """

    outcome: StudyTables
    place: str
    rows: pd.DataFrame
    others_alike: int = 0

    @cached_property
    def ranked(self) -> pd.DataFrame:
        """The rows of policies with a rank."""
        return self.rows.dropna(subset=["rank"])

    @cached_property
    def leaders(self) -> list[str]:
        """The policy of the best mean, and those that came to the same in every replication."""
        same = (self.ranked["better"] == 0) & (self.ranked["worse"] == 0)
        return self.ranked.loc[same, "policy"].tolist()

    @property
    def others(self) -> pd.DataFrame:
        """The rows of the other policies with a rank."""
        return self.ranked[~self.ranked["policy"].isin(self.leaders)]

    @cached_property
    def rejected(self) -> dict[str, int]:
        """How many jobs each policy with a rank rejected; empty if that says nothing."""
        if self.outcome.metric in OF_ALL_JOBS or not self.leaders:
            return {}
        found: dict[str, int] = self.ranked.set_index("policy")["rejected"].to_dict()
        return found

    @property
    def rejected_more(self) -> str:
        """Which leaders rejected more jobs than others, in words; "" if that says nothing."""
        whole = is_of_whole_run(self.outcome.metric)
        return rejected_more(self.rejected, self.leaders, whole) if self.rejected else ""

    @property
    def surely_best(self) -> list[str]:
        """The policies that are surely better than all others; none if that is not sure.

        A policy that rejected more jobs than another is not called better: its mean is of others.
        """
        fewest = min(self.rejected.values(), default=0)
        best = [each for each in self.leaders if self.rejected.get(each, 0) == fewest]
        return best if self.beats_all else []

    @property
    def beaten(self) -> list[str]:
        """The policies that are surely worse than the leaders, if these rejected no more jobs."""
        surely = self.others["surely_worse"].astype(bool)
        return [] if self.rejected_more else self.others.loc[surely, "policy"].tolist()

    @property
    def beats_all(self) -> bool:
        """Whether the leaders are surely better than all others, of whatever jobs."""
        beaten = self.others["surely_worse"]
        return bool(len(beaten) and beaten.all())


def settings_of(outcome: StudyTables) -> list[Setting]:
    """Return the settings of a study, each with its workload; of those of the same numbers, one."""
    of_run, numbers = ["workload", "policy", "replication"], [outcome.metric, *COUNTS]
    firsts = firsts_alike(outcome.runs, outcome.where, of_run, numbers)
    found: dict[Any, Setting] = {}
    for place, rows in outcome.ranking.groupby(outcome.where, sort=False):
        ranked = frozenset(rows.dropna(subset=["rank"])["policy"])
        if (key := (firsts[place], ranked)) in found:
            found[key] = replace(found[key], others_alike=found[key].others_alike + 1)
        else:
            found[key] = Setting(outcome, place_of(outcome, place), rows)
    return [*found.values()]


def verdicts(outcome: StudyTables) -> Iterator[str]:
    """Yield which policies are surely best, in all settings and in each."""
    settings = settings_of(outcome)
    judged = [setting for setting in settings if setting.leaders]
    if several := len(outcome.study.compared) > 1:
        yield from _unranked(settings)
        yield from _alike(judged, label(outcome.metric))
    if len(judged) > 1 and several:
        yield from _of_all(outcome, judged)
    yield from map(_of_one, settings[:NAMED])
    if len(settings) > NAMED:
        yield f"The ranking tells of {counted(len(settings) - NAMED, 'more setting')}."


def _unranked(settings: Sequence[Setting]) -> Iterator[str]:
    """Yield that settings do not count, if no policy has a rank in some."""
    total = sum(setting.others_alike + 1 for setting in settings)
    without = [setting for setting in settings if not setting.leaders]
    if len(without) in (0, len(settings)):
        return
    often = sum(setting.others_alike + 1 for setting in without)
    others = "the other counts" if total - often == 1 else "the others count"
    yield f"In {often} of the {total} settings no policy has a rank: {others}."


def _alike(settings: Sequence[Setting], metric: str) -> Iterator[str]:
    """Yield that settings count once, if some do."""
    more = sum(setting.others_alike for setting in settings)
    if more and len(settings) == 1:
        all_ = "Both" if more == 1 else f"All {more + 1}"
        yield f"{all_} settings have the same {metric} in each run: they count as one."
    elif more:
        have = "has" if more == 1 else "have"
        total = more + len(settings)
        yield (
            f"{more} of the {total} settings {have} the same {metric} in each run as another: the "
            f"{len(settings)} that differ count."
        )


def _of_all(outcome: StudyTables, settings: Sequence[Setting]) -> Iterator[str]:
    best = _how_often(setting.surely_best for setting in settings)
    total = len(settings)
    all_ = "both" if total == 2 else f"all {total}"
    everywhere = [policy for policy, often in best.items() if often == total]
    if everywhere:
        yield f"{listed(everywhere)} {verb(everywhere)} surely the best in {all_} settings."
        return
    if best:
        yield f"No policy is surely the best in {all_} settings."
        for policy, often in best.items():
            yield f"{policy}: surely the best in {often} of {total}."
    else:
        of_fewer = sum(setting.beats_all for setting in settings)
        but = f", but in {of_fewer} for one that rejected more jobs" if of_fewer else ""
        yield f"In none of the {total} settings is a policy surely better than all others{but}."
    beaten = _how_often(setting.beaten for setting in settings)
    worse = [policy for policy, often in beaten.items() if often == total]
    if worse:
        than = f"{verb(worse)} surely worse than the policy of the best mean"
        yield f"In {all_} settings, {listed(worse)} {than}."
    lowest = _how_often(setting.leaders for setting in settings if len(setting.ranked) > 1)
    if lowest:
        counts = [f"{policy} in {often}" for policy, often in lowest.items()]
        yield (
            f"The {extreme(outcome)} {label(outcome.metric)}, by chance or not, is that of "
            f"{listed(counts)} of {total} settings."
        )


def _how_often(settings: Any) -> dict[str, int]:
    """Return in how many settings each policy is named, those named most often first."""
    counts: dict[str, int] = {}
    for policies in settings:
        for policy in policies:
            counts[policy] = counts.get(policy, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: -each[1]))


def _of_one(setting: Setting) -> str:
    outcome, where = setting.outcome, f"{setting.place}: " if setting.place else ""
    if setting.others_alike:
        others = counted(setting.others_alike, "other setting")
        where = f"{setting.place} ({others} alike): "
    ranked, names = setting.ranked, setting.leaders
    unranked = [str(name) for name in setting.rows["policy"] if name not in set(ranked["policy"])]
    if not names:
        here = setting.outcome.points.merge(setting.rows[setting.outcome.where].drop_duplicates())
        apart = here[outcome.metric].count() > 1
        why = f": there is no {pieces(outcome, 1)} in which all have a value" if apart else ""
        return f"{where}{'no' if where else 'No'} policy is ranked{why}."
    leader, has = ranked.iloc[0], "has" if len(names) == 1 else "have"
    several = len(ranked) > 1
    one = "an" if label(outcome.metric).startswith((*"aeio", "MCP")) else "a"
    which = f"{has} the {extreme(outcome)}" if several else f"has {one}"
    of_ranked = ""
    if unranked and several:
        of_ranked = f"{'of' if where else 'Of'} the policies with a rank, "
    elif unranked:
        which = f"alone has a rank, with {one}"
    words = f"{where}{of_ranked}{listed(names)} {which} {label(outcome.metric)}"
    words += ", " if several else " of "
    scale = outcome.scale(outcome.metric)
    words += told(outcome.metric, leader["mean"], _half(leader["half_width"]), scale)
    if several:
        words += _how_sure(setting)
    beaten = setting.others["surely_worse"].astype(bool)
    for words_of, rows in (
        (f"cannot be told from {'it' if len(names) == 1 else 'them'}", setting.others[~beaten]),
        ("surely worse", setting.others[beaten]),
    ):
        if len(rows):
            each = [_against(outcome, row, leader) for _, row in rows.iterrows()]
            words += f"; {words_of}: {first_of(each, NAMED)}"
    if unranked:
        words += f"; without a rank: {listed(unranked)}"
    return f"{words}."


def _how_sure(setting: Setting) -> str:
    best, more = setting.surely_best, setting.rejected_more
    if best:
        which = f"{listed(best)} " if more else ""
        return f"{f', {more}' if more else ''}, and {which}{verb(best)} surely the best"
    if more:
        return f", {more}"
    return "" if setting.others.empty else f", but {verb(setting.leaders)} not surely the best"


def _against(outcome: StudyTables, row: Any, leader: Any) -> str:
    """Return how far a policy is from the leader, and in how many replications it is worse."""
    half = row["difference half_width"]
    far = distance(outcome.scale(outcome.metric), row["difference"], leader["mean"], half)
    side, often = "worse", row["worse"]
    if row["better"] > row["worse"]:
        side, often = "better", row["better"]
    before = int(row["rank"]) - 1
    others = (
        "" if row["surely_worse"] or not before else f"; {counted(before, 'other')} surely better"
    )
    counts = f"{side} in {often} of {row['n']} {pieces(outcome, row['n'])}"
    return f"{row['policy']} ({far}, {counts}{others})"


# Words ------------------------------------------------------------------------------------------


def pieces(outcome: StudyTables, number: int = 2) -> str:
    """Return what the replications of a study are called, so many of them."""
    one = "replication" if outcome.study.replications.window is None else "window"
    return one if number == 1 else f"{one}s"


def stretches(outcome: StudyTables, number: int = 2) -> str:
    """Return what they are called, with the length of windows."""
    window = outcome.study.replications.window
    return pieces(outcome, number) + (f" of {duration(window)}" if window is not None else "")


def extreme(outcome: StudyTables) -> str:
    """Return which end of a metric is good."""
    return "highest" if outcome.study.more_is_better else "lowest"


def place_of(outcome: StudyTables, values: Any) -> str:
    """Return a setting in words: what there is only one of is not told."""
    study = outcome.study
    told = [str(values[0])] if len(study.workloads) > 1 else []
    varied = zip(study.vary.items(), list(values)[1:], strict=True)
    told += [f"{name} {shown(value)}" for (name, all_), value in varied if len(all_) > 1]
    return ", ".join(told)


def distance(scale: Scale, difference: float, mean: float, half: float) -> str:
    """Return a difference in words, in the unit of its metric, and which share of a mean it is.

    >>> distance(Scale(1, "s"), -180.0, 600.0, 30.0), distance(Scale(1, "s"), 300.0, 0.0, math.nan)
    ('180 ± 30 s or 30.0 % below it', '300 s above it')
    >>> distance(PERCENT, -0.2, 0.8, math.nan)
    '20 percentage points below it'
    """
    size = size_of(scale, abs(difference), mean, half, signed=False)
    return f"{size} {'above' if difference > 0 else 'below' if difference else 'from'} it"


def size_of(scale: Scale, difference: float, mean: float, half: float, signed: bool = True) -> str:
    """Return how large a change is, and which share of a mean, if that is above 0.

    It is told in the unit of its metric; of shares, as percentage points. With its signs, or of
    one above 0 without.

    >>> size_of(Scale(1, "s"), -180.0, 600.0, 30.0), size_of(PERCENT, 0.2, 0.8, 0.05)
    ('-180 ± 30 s or -30.0 %', '+20.0 ± 5.0 percentage points')
    >>> size_of(Scale(60.0, "min"), 14.0, 5400.0, 960.0)
    '+0 ± 16 min or +0.3 %'
    """
    sign = "+" if signed and difference > 0 else ""
    if scale is PERCENT:
        return f"{sign}{POINTS.with_unit(difference, _half(half) or None)}"
    size = f"{sign}{scale.with_unit(difference, _half(half) or None)}"
    if mean <= 0:
        return size
    share = signed_percent(difference / mean)
    return f"{size} or {share if signed else share.removeprefix('+')} %"


def _half(width: float) -> float | None:
    return None if math.isnan(width) else width


def verb(names: Sequence[str]) -> str:
    """Return the verb that goes with names."""
    return "is" if len(names) == 1 else "are"
