"""How far rounds were from their optima, told to people and to programs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.table import Table

from agents.oas.optimality_gap import Yardstick, measure
from experiments.oas.rounds import LeftOut, Round
from experiments.show.numbers import counted, time_scale
from experiments.sweeps.forecast import Forecast

if TYPE_CHECKING:
    from rich.console import Console

    from experiments.sweeps.progress import SweepProgress

ROUNDS_SHOWN = 40
"""Rounds that people are shown at most."""


class Gap(NamedTuple):
    """A round, and what is known of its optimum."""

    round: Round
    measured: Yardstick

    def to_dict(self) -> dict[str, Any]:
        """Return the gap, ready for JSON; `optimum` is null where it is not proven."""
        measured = self.measured
        return {
            "round": self.round.number,
            "dispatched": self.round.dispatched,
            "jobs": len(self.round.jobs),
            "beside": len(self.round.earlier),
            "makespan": measured.makespan,
            "best": measured.best,
            "optimum": measured.bound if measured.proven else None,
            "bound": measured.bound,
            "gap": measured.gap,
            "proven": measured.proven,
            "relaxed": measured.relaxed,
        }


def gaps(rounds: Sequence[Round], time_limit: float, watch: SweepProgress) -> list[Gap]:
    """Measure rounds, one after the other, and have people told how that goes on."""
    pieces = [[((), float(len(each.jobs) + len(each.earlier)))] for each in rounds]
    watch.begin(0, Forecast(pieces, known=False), unit="round")
    found = []
    for index, each in enumerate(rounds):
        began = time.monotonic()
        of = each.sizes, each.rates, each.dispatched, each.jobs, [*each.earlier, *each.away]
        found.append(Gap(each, measure(*of, each.whole, time_limit)))
        watch.advance(index, [time.monotonic() - began])
    return found


def summary(found: Sequence[Gap], left_out: LeftOut) -> dict[str, Any]:
    """Return all gaps and what they come to, ready for JSON."""
    proven = [each.measured.gap for each in found if each.measured.proven]
    every = [each.measured.gap for each in found]
    return {
        "jobs_whole": found[0].round.whole,
        "rounds": [each.to_dict() for each in found],
        "left_out": left_out.unfinished,
        "given_back": left_out.given_back,
        "warmup": left_out.warmup,
        "drained": left_out.drained,
        "proven": len(proven),
        "mean_gap": statistics.fmean(every),
        "max_gap": max(every),
        "mean_gap_proven": statistics.fmean(proven) if proven else None,
        "max_gap_proven": max(proven, default=None),
    }


def print_gaps(found: Sequence[Gap], left_out: LeftOut, console: Console) -> None:
    """Print a row for each round, and what all of them come to."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    scale = time_scale(max(each.measured.makespan for each in found[:ROUNDS_SHOWN]))
    heads = (f"{what}, {scale.unit}" for what in ("makespan", "best found", "bound"))
    for head in ("round", "jobs", "beside", *heads, "gap"):
        table.add_column(head, justify="right", no_wrap=True)
    times = (
        scale.column([getattr(each.measured, name) for each in found[:ROUNDS_SHOWN]])
        for name in ("makespan", "best", "bound")
    )
    for each, *row in zip(found[:ROUNDS_SHOWN], *times, strict=True):
        measured = each.measured
        table.add_row(
            str(each.round.number),
            str(len(each.round.jobs)),
            str(len(each.round.earlier)),
            *row,
            f"{'' if measured.proven else '<= '}{100 * measured.gap:.2f} %",
        )
    console.print(table)
    if len(found) > ROUNDS_SHOWN:
        more = counted(len(found) - ROUNDS_SHOWN, "more round")
        console.print(f"and {more}, which --json has")
    told = summary(found, left_out)
    unproven = "<= " if told["proven"] < len(found) else ""
    most = "" if told["max_gap"] == told["max_gap_proven"] else "<= "
    mean, largest = (f"{100 * told[name]:.2f} %" for name in ("mean_gap", "max_gap"))
    console.print(
        f"mean gap {unproven}{mean}, largest {most}{largest}; "
        f"optimum proven of {told['proven']:,} of {counted(len(found), 'round')}"
        + ("; <=: to the best bound" if told["proven"] < len(found) else "")
    )
    console.print("gap: share of its makespan by which a round could at most have been shorter")
    split = "whole where they fit" if told["jobs_whole"] else "split in any way, links ignored"
    console.print(
        f"optimum: the same jobs, {split}, beside what was dispatched before, none before messages "
        "can have brought it to its cluster; it is the best found where that meets the bound"
    )
    if relaxed := sum(each.measured.relaxed for each in found):
        console.print(
            f"{counted(relaxed, 'round')}: the bound ignores that jobs take longer split over "
            "links or away from their data: no optimum, and the gap is at most this"
        )
    if any(each.round.away for each in found):
        console.print("what the platform plans to be away at a time is away in the optimum too")
    for count, why in (
        (left_out.unfinished, "with jobs that never ended"),
        (left_out.given_back, "whose jobs were all given back: each counts in its last round"),
        (left_out.warmup, "of the warm-up"),
        (left_out.drained, "during which a drain began: others might have held processors longer"),
    ):
        if count:
            console.print(f"left out: {counted(count, 'round')} {why}")
