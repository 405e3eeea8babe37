"""Parts of logs, as long as each other, which are replayed instead of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.pace.predicting import told_of
from agents.pace.predictor import Predictor
from experiments.scenario.held_out import learned_from, overlap
from experiments.scenario.jobs import READ
from experiments.scenario.parameters import Parameters
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import countdown, listed
from grid.errors import GridError
from grid.logs.files import LARGEST_WHOLE
from grid.platform.multicluster import Platform
from grid.workloads.table import Table

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

Reading = Callable[[Platform, Parameters], Table]
"""Returns a log, as parameters say."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of a log that are as long as each other.

    Attributes
    ----------
    length, of : float
        Of each, and of the whole log, s.
    there : float array, shape (2, parts)
        When those with jobs begin and end, s after the first job.
    without : dict of str to bool array
        Why some of them cannot be used, in words, and which.
    """

    length: float
    of: float
    there: Floats
    without: dict[str, Bools]

    @property
    def fit(self) -> tuple[tuple[float, float], ...]:
        """When those begin and end that can be used."""
        bad = np.zeros(self.there.shape[1], np.bool_)
        for each in self.without.values():
            bad |= each
        return tuple(zip(*self.there[:, ~bad].tolist(), strict=True))

    def told(self, name: str) -> str:
        """Return in words how many there are of a log."""
        bad = (f", {each.sum():,} of them {why}" for why, each in self.without.items())
        return (
            f"{countdown(self.length)}, of which {name} has {self.there.shape[1]} with jobs in "
            f"{countdown(self.of)}{''.join(bad)}"
        )

    @classmethod
    def of_log(
        cls,
        arrivals: Floats,
        length: float,
        scenarios: Iterable[Scenario],
        read: Reading,
        digests: Mapping[str, str],
    ) -> Parts:
        """Return those of a log, but for what is left at its end.

        Parameters
        ----------
        arrivals : float array
            Of its jobs, s after the first.
        length : float
            s.
        scenarios : iterable of Scenario
            All of which have to be able to run on a part.
        read : callable
        digests : mapping of str to str
            SHA-256 of each of its files.

        Raises
        ------
        GridError
            If parts are so short that they cannot be counted.
        """
        whole = float(arrivals[-1])
        if whole / length > LARGEST_WHOLE:
            raise GridError(
                f"found {length} s; accepted: a longer one, for the log lasts for "
                f"{countdown(whole)}"
            )
        parts = np.unique(arrivals // length)  # there may be far more without a job
        starts = length * parts[:-1]
        first, last = np.searchsorted(arrivals, starts), np.searchsorted(arrivals, starts + length)
        there = np.stack([starts, starts + length])[:, last > first]
        return cls(length, whole, there, _unfit(there, scenarios, read, digests))


def since_the_first(table: Table) -> Floats:
    """Return when the jobs of a log arrive, s after the first."""
    arrivals: Floats = table.jobs["arrival"] - table.jobs["arrival"][0]
    return arrivals


def readings_of(scenarios: Iterable[Scenario]) -> list[tuple[Platform, Parameters]]:
    """Return what says how runs read logs, once for each way."""
    readings: dict[tuple[object, ...], tuple[Platform, Parameters]] = {}
    for each in scenarios:
        given = each.parameters
        of_platform = (*each.platform.names, each.platform.speed)
        how = (*of_platform, *(repr(getattr(given, name)) for name in READ))
        readings.setdefault(how, (each.platform, given))
    return [*readings.values()]


def _unfit(
    there: Floats,
    scenarios: Iterable[Scenario],
    read: Reading,
    digests: Mapping[str, str],
) -> dict[str, Bools]:
    """Return why some parts of a log are none that all scenarios can be run on, and which.

    Parameters
    ----------
    there : array
        As `Parts.there`.
    scenarios : iterable of Scenario
    read : Reading
    digests : mapping of str to str

    Returns
    -------
    dict of str to bool array
        By the reason, in words, the parts that are left out for it; each for one only.
    """
    warmup = 0
    lessons: dict[str, Bools] = {}  # of what was learned, by its name
    predictors: dict[type[Predictor], None] = {}
    for each in scenarios:
        warmup = max(warmup, each.parameters.warmup)
        if "prediction" not in each.packaged:  # that of the product is exact where jobs tell none
            predictors[each.predictor] = None
        for name, windows in learned_from(each, digests.values()).items():
            if (of_one := overlap(there, windows)).any():
                lessons[name] = of_one
    learned = {}
    if lessons:  # together: parts of several would be counted for the first one only
        why = f"that {listed([*lessons], 'or')} was learned from"
        learned[why] = np.any([*lessons.values()], axis=0)
    fit = np.ones(there.shape[1], np.bool_)
    without: dict[str, Bools] = {}
    for reading in readings_of(scenarios):
        table = read(*reading)
        first, last = np.searchsorted(since_the_first(table), there)
        bad = learned | {f"with no more jobs than warmup, {warmup}": last - first <= warmup}
        for kind in predictors:
            told = np.concatenate(([0], told_of(kind, table.jobs).cumsum()))
            if kind.needs and told[-1]:  # what no job tells at all is refused
                bad[f"whose jobs do not {kind.needs}"] = told[first] == told[last]
        for why, of in bad.items():
            without[why] = without.get(why, np.zeros_like(fit)) | (of & fit)
            fit &= ~of
    return {why: of for why, of in without.items() if of.any()}
