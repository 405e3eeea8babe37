"""What the charts of a page are drawn from, as its scripts take it."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from datetime import UTC
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from experiments.show.run_data import Floats, Ran, common_start

LEVELS = np.linspace(0.0, 1.0, 401)
"""Shares of jobs whose quantiles the curves are drawn of."""
OWN_CURVE = 8
"""Clusters at most that get a curve of waits each."""


def pack(values: npt.ArrayLike) -> dict[str, str]:
    """Return an array in little-endian bytes, compressed, as base64; the same for the same data.

    Integers get as few bytes as they need.
    """
    array = np.asarray(values)
    kind = "f8"
    if array.dtype.kind in "iub":
        low, high = int(array.min(initial=0)), int(array.max(initial=0))
        small = [("u1", 2**8), ("u2", 2**16)] if low >= 0 else []
        kind = next((name for name, limit in small if high < limit), "i4")
        if not -(2**31) <= low <= high < 2**31:
            kind = "f8"
    data = gzip.compress(array.astype("<" + kind).tobytes(), 6, mtime=0)
    return {"kind": kind, "data": base64.b64encode(data).decode("ascii")}


def embedded(data: Any) -> Markup:
    """Return JSON that may stand in a script element: no text in it can end that."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=True)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def carries(ran: Ran) -> bool:
    """Return whether a run had jobs that used links."""
    return any(link["mean_demand"] > 0 for link in ran.links)


def data_of(
    ran: Ran,
    place: str,
    used: dict[str, tuple[list[str], Any]],
    unequal: tuple[Floats, dict[str, dict[str, Floats]]],
) -> dict[str, Any]:
    """Return the jobs of a run, some completed, where they ran, and what there was over time.

    Parameters
    ----------
    ran : Ran
    place : str
        Of its schedule on the page.
    used : dict of str to tuple
        `experiments.show.run_data.shares` of it.
    unequal : tuple
        `experiments.show.run_data.ginis` of it.
    """
    start, finish = (ran.jobs[name].to_numpy(np.float64) for name in ("start", "finish"))
    arrival = ran.jobs["arrival"].to_numpy(np.float64)
    arrays = {
        "number": ran.jobs["job"].to_numpy(),
        "arrival": arrival,
        "start": start,
        "finish": finish,
        "size": ran.jobs["size"].to_numpy(),
        "split": ran.split,
        "job": ran.chart.job,
        "cluster": ran.chart.cluster,
        "first": ran.chart.first,
        "count": ran.chart.rows,
    }
    names = ran.link_names if carries(ran) else []
    if names or ran.restarted:
        arrays["bounds"] = ran.bounds
    if ran.restarted:  # between its starts, a job did not wait all the time
        arrays["waiting"] = ran.timeline["waiting"].to_numpy(np.float64)
    for index, name in enumerate(names):
        for kind in ("demand", "saturated"):
            arrays[f"{kind}{index}"] = ran.timeline[f"{kind} {name}"].to_numpy()
    clusters = [{"name": each.name, "size": each.size} for each in ran.platform.clusters]
    rates = ran.rates
    if rates:
        ends = ran.electricity["to"].iloc[-1:]
        arrays["steps"] = np.append(ran.electricity["from"], ends)
    for name, of_clusters in rates.items():
        for index, values in of_clusters.items():
            arrays[f"{name}{index}"] = values
    for name, (_, codes) in used.items():
        arrays[f"of_{name}"] = codes
    stretches, of_columns = unequal
    if of_columns:
        arrays["stretches"] = stretches
    for name, curves in of_columns.items():
        for kind, values in curves.items():
            arrays[f"{kind}_{name}"] = values
    return {
        "name": ran.name,
        "place": place,
        "shares": {name: names for name, (names, _) in used.items()},
        "unequal": [*of_columns],
        "from": float(arrival.min()),
        "to": float(np.nanmax(finish)),
        "clusters": clusters,
        "links": names,
        "arrays": {name: pack(values) for name, values in arrays.items()},
    }


def clock(runs: Sequence[Ran]) -> dict[str, float]:
    """Return what the clock of all runs showed at time 0, s after 1970, if that is known."""
    start = common_start(runs)
    return {} if start is None else {"zero": start[0].replace(tzinfo=UTC).timestamp()}


def distributions(runs: list[Ran]) -> list[dict[str, Any]]:
    """Return the curves of waits and slowdowns: of each run, or of one by where its jobs ran."""

    def series(values: Callable[[Ran], Floats]) -> list[dict[str, Any]]:
        if len(runs) > 1:
            found = {ran.name: values(ran) for ran in runs}
        else:
            [ran] = runs
            found = {"all jobs": values(ran)}
            groups = _groups(ran)
            found |= {name: values(ran)[chosen] for name, chosen in groups.items()}
        return [
            {"name": name, "quantiles": pack(_quantiles(of))}
            for name, of in found.items()
            if len(of)
        ]

    waits, slowdowns = series(lambda ran: ran.waits), series(lambda ran: ran.slowdowns)
    return [
        {"place": "waits", "series": waits, "least": 1.0, "unit": "s"},
        {"place": "slowdowns", "series": slowdowns, "least": 1.0, "unit": ""},
    ]


def _groups(ran: Ran) -> dict[str, Any]:
    """Return which of the jobs that count ran on each cluster, or split."""
    clusters = ran.platform.clusters
    if not 2 <= len(clusters) <= OWN_CURVE:
        return {}
    found = {}
    for index, cluster in enumerate(clusters):
        here = np.zeros(len(ran.jobs), bool)
        here[ran.parts.job[ran.parts.cluster == index]] = True
        found[f"whole on {cluster.name}"] = (here & ~ran.split)[ran.counted]
    return found | {"split": ran.split[ran.counted]}


def _quantiles(values: Floats) -> Floats:
    """Return the quantiles at `LEVELS`; each is a value that there is."""
    return np.quantile(values, LEVELS, method="inverted_cdf")
