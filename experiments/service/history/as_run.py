"""The history of a service as the result of a run, in which each job runs when and where it did."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.run.files import SUMMARY
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.service.store import DONE, FILE, LiveJob, Store
from experiments.show.numbers import counted, listed
from experiments.studies.outputs import write_csv
from grid.errors import GridError
from grid.jobs import LONGEST
from grid.platform.multicluster import Platform

LEAST = 1e-6
"""Time for which a job ran that began and ended between two ticks of a clock, s."""


@contextmanager
def as_run(folder: Path) -> Iterator[Path]:
    """Give a folder with the result of a run whose jobs ran as those of a service did.

    Jobs that have not begun, or not ended, are left out.

    Parameters
    ----------
    folder : Path
        Of the service.

    Raises
    ------
    GridError
        If no job has ended.
    """
    import pandas as pd

    with closing(Store(folder)) as store:
        ran = store.jobs("started IS NOT NULL AND ended IS NOT NULL")
        sites, asked, pairs = store.note("ever"), store.note("grid"), store.note("policies")
    if not ran:
        raise GridError(f"{folder}: no job has run to its end; accepted: a service whose jobs have")
    grid = asked[0]
    sites = {name: facts for name, facts in sites.items() if name in {job.site for job in ran}}
    clusters = [{"name": name, **facts} for name, facts in sites.items()]
    first = min(job.submitted for job in ran)
    table = pd.DataFrame([_row(job, [*sites], first) for job in ran]).sort_values("arrival")
    with TemporaryDirectory(prefix="metasched-") as place:
        jobs, out = Path(place) / "jobs.csv", Path(place) / folder.resolve().name
        write_csv(table, jobs)
        scenario = Scenario(
            Path(grid).stem,
            Platform.from_dict({"clusters": clusters}),
            {"mode": "open"},
            "home",  # as `recorded` takes it, where each job ran
            "recorded",
            workload=str(jobs),
        )
        run(scenario, out=out)
        summary = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
        summary["workload"] = str(folder / FILE)
        summary["served"] = served = " and ".join(" over ".join(pair) for pair in pairs)
        noted = [f"jobs as they ran in truth, served by {served}; nothing is simulated"]
        noted.append("sites are those of jobs that ran, as large as they have ever been served")
        if bad := Counter(job.state for job in ran if job.state != DONE):
            who = counted(bad.total(), "job")
            how = listed([f"{count} {state}" for state, count in sorted(bad.items())])
            noted.append(f"completed means ended: {who} did not succeed ({how})")
            if any(job.deadline is not None for job in ran if job.state != DONE):
                noted.append("deadlines met: by whoever ended in time, without success, too")
        if again := sum(job.attempt - 1 for job in ran):
            attempts = counted(again, "attempt")
            noted.append(f"left out: {attempts} before the last, of jobs that were killed")
        summary["notes"] = [*noted, *summary.get("notes", ())]
        summary["parameters"] = {"mode": "open"}  # others are of simulations
        summary.pop("origins", None)  # nobody submits jobs through a site
        summary.pop("cleaning", None)  # of the table of jobs, which is no log
        (out / SUMMARY).write_text(json.dumps(summary), encoding="utf-8")
        yield out


def _row(job: LiveJob, sites: list[str], first: float) -> dict[str, object]:
    """Return a job as a row of a table of jobs, by times since the first was submitted, s."""
    assert job.started is not None
    assert job.ended is not None
    started, limit = max(job.started, job.submitted), job.limit  # what was expected there
    return {
        "job": job.job,
        "arrival": job.submitted - first,
        "size": job.size,
        "requested_time": None if limit is None else min(limit, LONGEST),
        "origin": job.site,
        "deadline": math.nan if job.deadline is None else job.deadline - first,
        "recorded_wait": started - job.submitted,
        **{
            f"runtime@{site}": max(LEAST, job.ended - started) if site == job.site else math.nan
            for site in sites
        },
    }
