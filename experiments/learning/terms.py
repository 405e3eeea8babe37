"""Terms of what may be chosen, from what an agent saw: of clusters, or of waiting jobs."""

from __future__ import annotations

import math

import numpy as np

from agents.learned import choices, ranks
from agents.learned.formula import Floats
from experiments.environments.agents import Observation
from experiments.environments.observing import LONG, MANY

ROUNDING = 1e-5
"""Shares of processors that differ by no more are the same, for observations are of 32 bits."""


def of_clusters(seen: Observation) -> Floats:
    """Return the terms of the score of each cluster (`choices.TERMS`), as they were observed."""
    told = seen["clusters"].astype(np.float64)
    size, free, _, waiting, load, _, time = told.T
    share = float(seen["job"][0]) / size
    time, load = time * math.log1p(LONG), load * math.log1p(LONG)
    terms = {
        "time": time,
        "load": load,
        "time-load": np.log1p(np.expm1(time) + np.expm1(load)),
        "waiting": waiting * math.log1p(MANY),
        "free": free,
        "fits": (share <= free + ROUNDING).astype(np.float64),
        "share": share,
    }
    return np.stack([terms[name] for name in choices.TERMS], axis=1)


def of_jobs(seen: Observation, processors: int, now: float) -> Floats:
    """Return the terms of the rank of each waiting job (`ranks.TERMS`), as they were observed.

    Parameters
    ----------
    seen : dict
        By a local scheduler.
    processors : int
        Of its cluster.
    now : float
        s.
    """
    told = seen["jobs"].astype(np.float64)
    size, time, waited = told.T[:3]
    there = np.maximum(1.0, np.round(size * processors))
    arrival = now - np.expm1(waited * math.log1p(LONG))
    return ranks.terms_of(np.expm1(time * math.log1p(LONG)), there, arrival)
