"""What is observed of a run among many: numbers, why it left jobs, and whether seeds matter."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from agents.model import GridModel
from experiments.run.observed import Observed
from experiments.run.own_metrics import FAILED, tell_failures
from experiments.run.results import Result
from experiments.run.setbacks import setbacks, why_unfinished
from experiments.scenario.notes import begun_anew
from experiments.scenario.scenario import Scenario
from experiments.show.labels import WITHIN
from experiments.show.numbers import counted
from experiments.sweeps.sweep import Observation

LEFT = "all_left_at"
"""When the last job of a run ended, s, which is no metric."""
WHY = ("thrown_back", "never_heard", "too_large")
"""Of a run that left jobs, what `why_unfinished` goes by; no metrics either."""
AWAY = "away/"
"""Begins what it goes by, too: of clusters by name, how many processors are away, if any are."""
IDLE = "idle/"
"""Begins what an idle policy answered, likewise."""
DREW = "drew"
"""Of a run, 1 if random numbers were drawn for it, so that another seed may come to another result
even where all came to the same so far, else 0; no metric either."""
ANEW = "anew/"
"""Likewise, of a parameter whose series of dates ended before the run, so that it began anew."""
GIVEN = "given/"
"""Likewise, of a cluster that is given more processors than it has (`Table.raised`), how many."""
SHORT = "short_warm_up/"
"""Likewise, before the jobs of its warm-up, of a run that leaves out fewer, how many."""
ALONE = "alone/"
"""Of a run before a name of PB, 1 if rounds are of one job, or on one cluster each."""
OF_PB = ("pb", "pb_overall", "pb_planned")
PB_REPEATS_MCP = "says no more than MCP: each round, or the run, is of one job or on one cluster"
NOT_RANDOM = (
    "all runs came to the same to the last bit: nothing is random here, so that intervals mean "
    "nothing and more runs would tell no more; other weeks of a log need a window (docs/studies.md)"
)

SAME_IN_ALL = "± 0: all runs came to the same there to the last bit, which is no sign of precision"


def observe_run(scenario: Scenario, model: GridModel, steps: Iterable[None]) -> Observation:
    """Carry a run of a scenario to its end, and return the numbers among its metrics.

    Also how many jobs it ``completed``, ``rejected`` and left ``unfinished``, and whether it is
    ``stable``: 1, 0, or NaN if nothing tells; a number for each metric of the user's own that
    failed; `WHY`, `AWAY` and `IDLE`, if jobs are left; and, where changes of the platform are
    planned, `LEFT`, when the last job ended, s, NaN if jobs are left. And what `is_reason` names.
    """
    observed, before = Observed(model), _random_state(model)
    if scenario.own_metrics:
        model.world.log.consumers.append(observed.add)
    else:
        model.world.log.stream(observed.add)
    for _ in steps:
        pass
    model.world.log.flush()
    observed.finish()
    result = Result.of(model, scenario, 0.0, observed=observed)
    metrics = result.summary()["metrics"]
    del metrics["cp_basis"]  # a word, if there is one
    numbers = dict(_numbers(metrics))
    told = math.nan if result.stable is None else float(result.stable)
    if multiprocessing.parent_process() is None:  # workers would say it again and again
        tell_failures(result.failed_metrics, ", in a short trial run")
    failed = {f"{FAILED}{name}": [1.0] for name in result.failed_metrics}
    state = model.world.state
    counts = {
        "completed": state.completed,
        "rejected": state.rejected,
        "unfinished": result.unfinished,
    }
    counted = {name: [float(count)] for name, count in counts.items()}
    left = result.all_left_at if result.all_left_at < math.inf else math.nan
    changes = {LEFT: [left]} if scenario.platform.changes else {}
    why = {name: getattr(result, name) for name in WHY}
    why |= {f"{AWAY}{name}": count for name, count in result.away.items()}
    why |= {f"{IDLE}{result.idle}": 1} if result.idle else {}
    reasons = {name: [float(each)] for name, each in why.items()} if result.unfinished else {}
    drew = _drew_before(scenario, model) or _random_state(model) != before
    reasons[DREW] = [float(drew)]
    reasons |= {f"{GIVEN}{name}": [float(of[-1])] for name, of in result.stated.raised.items()}
    anew = begun_anew(scenario, result.stated.start, result.all_left_at)
    reasons |= {f"{ANEW}{name}": [1.0] for name, *_ in anew}
    if result.short_warm_up:
        reasons[f"{SHORT}{result.warmup}"] = [float(result.tally.left_out)]
    whole = result.overall
    of_pb = zip(OF_PB, (result.rounds or whole, whole, result.planned), strict=True)
    reasons |= {f"{ALONE}{name}": [1.0] for name, each in of_pb if result.in_rounds and each.alone}
    return {**counted, **numbers, "stable": [told], **failed, **changes, **reasons}


def _numbers(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, list[float]]]:
    """Yield the numbers among values, NaN for none; of tables in them, by their paths."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{above}{name}{WITHIN}")
        elif value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            yield above + name, [math.nan if value is None else float(value)]


def why_left(runs: pd.DataFrame) -> str:
    """Return in words why runs left jobs, "" if they left none or that is not known.

    Parameters
    ----------
    runs : DataFrame
        A row for each, with what `observe_run` found.
    """
    if not {*WHY} <= {*runs}:
        return ""
    unfinished, back, never, large = (int(runs[name].sum()) for name in ("unfinished", *WHY))
    if not unfinished:
        return ""
    of = {name: name.removeprefix(AWAY) for name in map(str, runs) if name.startswith(AWAY)}
    away = runs.loc[runs["unfinished"] > 0, [*of]].fillna(0).rename(columns=of)
    varies = bool((away.nunique() > 1).any())
    idle = ", ".join(name.removeprefix(IDLE) for name in runs if str(name).startswith(IDLE))
    stopped = float(runs["preemptions"].sum()) if "preemptions" in runs else 0.0
    by = setbacks(float(runs["restarts"].sum()), stopped) if stopped else setbacks(1, 0)
    most = away.max().to_dict()
    return why_unfinished(unfinished, back, bool(never), most, large, varies, idle, by)


def is_reason(name: str) -> bool:
    """Return whether a number of a run is no metric, but a reason for what is said of it."""
    return name in (*WHY, DREW) or name.startswith((AWAY, IDLE, ALONE, GIVEN, ANEW, SHORT))


def words_on(runs: pd.DataFrame) -> list[str]:
    """Return what is to be said of some of the runs, and of how many, a line each.

    Series of dates end before the run, or fewer jobs are left out than the warm-up has.

    Examples
    --------
    >>> words_on(pd.DataFrame({"short_warm_up/20": [0.0, 0.0, math.nan]}))
    ['in 2 of 3 runs the warm-up of 20 jobs leaves out none of them: they come with the first \
that counts']
    """
    lines = []
    for name in [name for name in runs if str(name).startswith(SHORT)]:
        left = runs[name].dropna().astype(int)
        bounds = " to ".join(dict.fromkeys(f"{each:,}" for each in (left.min(), left.max())))
        some, rest = (bounds, "the others") if left.max() else ("none", "they")
        lines.append(
            f"in {len(left):,} of {counted(len(runs), 'run')} the warm-up of "
            f"{counted(int(name.removeprefix(SHORT)), 'job')} leaves out {some} of them: {rest} "
            "come with the first that counts"
        )
    often = {name: int(runs[name].notna().sum()) for name in runs if str(name).startswith(ANEW)}
    return lines + [
        f"in {count:,} of {counted(len(runs), 'run')} the dates of {name.removeprefix(ANEW)} end "
        "before the run does: its series begins anew there"
        for name, count in often.items()
    ]


def pb_repeats_mcp(runs: pd.DataFrame, name: str) -> bool:
    """Tell whether a PB says no more than its MCP, in all runs that have it; ``name``: which PB."""
    has = runs[runs[name].notna()] if name in runs else runs.iloc[:0]
    return bool(len(has)) and f"{ALONE}{name}" in has and bool(has[f"{ALONE}{name}"].eq(1.0).all())


def seeds_matter(runs: pd.DataFrame) -> bool:
    """Tell whether other seeds than those of runs, one a row, may come to something else.

    They may if the runs differ in more than their seeds, or drew random numbers.
    """
    if DREW in runs and (runs[DREW] != 0).any():
        return True
    numbers = runs.drop(columns=["seed", "replication"], errors="ignore")
    return bool((numbers.nunique(dropna=False) > 1).any())


def _random_state(model: GridModel) -> tuple[Any, ...]:
    """Return the state of all random numbers that a model and its agents draw from."""
    state = model.world.state
    streams = [
        value.tobytes()
        for holder in (model, model.pace, *model.agents)
        for value in vars(holder).values()
        if isinstance(value, np.ndarray) and value.dtype == np.uint64
    ]
    mesas = model.random.getstate(), model.rng.bit_generator.state
    return streams, state.loss_stream.tobytes(), state.failure_stream.tobytes(), repr(mesas)


def _drew_before(scenario: Scenario, model: GridModel) -> bool:
    """Tell whether random numbers made the jobs of a run, their deadlines or its failures."""
    parameters = scenario.parameters
    origins = parameters.local_share > 0 or bool(parameters.queue_shares)
    drawn = bool(model.workload.drawn_deadlines)
    return scenario.workload is None or origins or drawn or parameters.mean_up_time > 0
