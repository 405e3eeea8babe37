"""How what section 6 of `beosim` claims is judged, from made-up runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.papers.beosim.claims import CLAIMS
from experiments.papers.beosim.points import A1, LINK_MBPS, SURFACES, scenario
from experiments.papers.beosim.surfaces import (
    best_threshold,
    no_further,
    over_saturation_pays,
)
from experiments.papers.beosim.turnarounds import Outcome
from experiments.papers.judging import FAILS, HOLDS, OPEN, Measured, some_above_zero
from experiments.sweeps.statistics import Interval

NOISE = np.array([-1.0, 0.0, 1.0])


class Made(Outcome):
    """Runs that are made up: a number of each column at each point, with some noise."""

    def __init__(self, **columns):
        super().__init__(1.0, 3)
        self.columns_made = columns

    def values(self, point, column="turnaround"):
        made = self.columns_made.get(column, lambda point: 1.0)(point)
        return made + NOISE * (0.1 if column == "turnaround" else 0.0)

    def stable(self, point):
        return True

    def agree(self, point):
        return True


@pytest.mark.parametrize(("jobs", "word"), [(0.99, HOLDS), (1.0, HOLDS), (1.01, FAILS)])
def test_a_link_may_be_over_its_threshold_by_one_job(jobs, word):
    def saturation(point):
        if point.policy == A1:
            return 9.0  # of which the claim says nothing
        return point.lslt / 100 + (jobs if point.lslt == 80 else 0.5) * point.bsbw / LINK_MBPS

    verdict = no_further(Made(saturation=saturation))
    assert verdict.word == word
    assert verdict.evidence[0].value.mean == pytest.approx(jobs)


@pytest.mark.parametrize(
    ("of", "word"),
    [
        (lambda lslt: 800 + abs(lslt - 100), HOLDS),
        (lambda lslt: 900 - lslt, FAILS),  # 120 is better
        (lambda lslt: 800.0, OPEN),
    ],
)
def test_a1_is_best_where_no_other_threshold_is_as_good(of, word):
    verdict = best_threshold(Made(turnaround=lambda point: of(point.lslt)))
    assert verdict.word == word
    assert len(verdict.evidence) == 4


@pytest.mark.parametrize(
    ("better", "slowed", "word"),
    [(50.0, 1.05, HOLDS), (-50.0, 1.05, FAILS), (50.0, 1.0, OPEN), (0.0, 1.05, OPEN)],
)
def test_over_saturation_pays_where_slowed_jobs_are_out_sooner(better, slowed, word):
    """B3 with a chunk of 85 % is the only one whose jobs are slowed, at one bandwidth."""

    def is_it(point):
        return point == replace(SURFACES[20], bsbw=400.0)

    made = Made(
        turnaround=lambda point: 800.0 - (better if is_it(point) else 0.0),
        penalty=lambda point: slowed if is_it(point) else 1.0,
    )
    assert over_saturation_pays(made).word == word


def test_some_number_is_above_zero_if_one_is_by_intervals_that_hold_all():
    def numbers(*means):
        return [Measured(str(mean), Interval(mean, 1.0, 9)) for mean in means]

    assert some_above_zero(numbers(-5.0, 3.0)).word == HOLDS
    assert some_above_zero(numbers(*[-5.0] * 40, 1.01)).word == OPEN
    assert some_above_zero(numbers(-5.0, -3.0)).word == FAILS
    assert some_above_zero([]).word == OPEN


def test_links_are_as_wide_as_claims_take_them_to_be():
    graph = scenario(SURFACES[20], 10).platform.graph
    assert {capacity for *_, capacity in graph.edges.data("capacity")} == {LINK_MBPS}
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS)
