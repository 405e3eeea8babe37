"""The jobs that are replayed through real Slurm, and what it and our schedulers make of them.

``python -m tests.agents.slurm.replays FOLDER 1 2 3`` replays the jobs of these seeds, unless
``FOLDER/SEED.json`` is there from before, and prints a table of mean waits.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

import metasched
from experiments.sweeps.statistics import mean_interval
from tests.agents.slurm.real_cluster import Ended, RealCluster, Submission

Floats = npt.NDArray[np.float64]

CONF = Path(__file__).with_name("replay.conf")
NODES = ("n1", "n2", "n3", "n4")
PROCESSORS = 32
JOBS = 200
LOAD = 0.95
"""Work that comes over what the processors can do meanwhile."""

SHORT = 30
"""Longest limit of jobs of partition short, minutes."""

LOCALS = ("slurm", "conservative", "easy", "fcfs")
"""Local schedulers of ours that are compared with it."""

PORT = 17600
FACTOR = 60


def jobs_of(seed: int, count: int = JOBS) -> list[Submission]:
    """Return jobs that arrive at random: many small, few large, limits beyond their run times."""
    random = np.random.default_rng(seed)
    shares = {1: 20, 2: 12, 4: 16, 6: 10, 8: 16, 12: 8, 16: 10, 24: 5, 32: 3}
    sizes = random.choice([*shares], count, p=[percent / 100 for percent in shares.values()])
    runtimes = np.clip(random.lognormal(np.log(400), 1.1, count), 30, 5400).round()
    minutes = np.ceil(runtimes * random.choice([1.2, 2, 4, 8], count) / 60 + 1)
    mean = float((sizes * runtimes).mean()) / (PROCESSORS * LOAD)
    arrivals = np.cumsum(random.exponential(mean, count))
    return [
        Submission(at, size, runtime, limit, "short" if limit <= SHORT else "long")
        for at, size, runtime, limit in zip(
            arrivals.tolist(), sizes.tolist(), runtimes.tolist(), minutes.astype(int).tolist(),
            strict=True,
        )
    ]  # fmt: skip


def replayed(seed: int, factor: int = FACTOR, count: int = JOBS) -> list[Ended]:
    """Return what real Slurm made of the jobs of a seed."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cluster = RealCluster(Path(folder), CONF.read_text(), NODES, PORT + 10 * seed, factor)
        with cluster:
            ended = cluster.replay(jobs_of(seed, count))
    if failed := [each for each in ended if each.state != "COMPLETED"]:
        raise RuntimeError(f"seed {seed}: {len(failed)} jobs failed: this machine is too busy")
    return ended


@dataclass(frozen=True)
class Replication:
    """What came of the jobs of a seed.

    Attributes
    ----------
    jobs : list of Submission
    ended : list of Ended
        What real Slurm made of each.
    """

    jobs: list[Submission]
    ended: list[Ended]

    @classmethod
    def of(cls, folder: Path, seed: int) -> Replication:
        """Return that of a seed, as it was kept in a folder, else of real Slurm."""
        kept = folder / f"{seed}.json"
        if not kept.exists():
            kept.write_text(json.dumps([asdict(each) for each in replayed(seed)]))
        return cls(jobs_of(seed), [Ended(**each) for each in json.loads(kept.read_text())])

    @property
    def waits(self) -> Floats:
        """How long each job waited in real Slurm, s."""
        return np.array([each.start - each.submit for each in self.ended])

    @property
    def late(self) -> Floats:
        """How much later than the first of them each job was submitted than it should, s."""
        first, since = self.jobs[0].at, self.ended[0].submit
        both = zip(self.jobs, self.ended, strict=True)
        return np.array([each.submit - since - (job.at - first) for job, each in both])

    @property
    def longer(self) -> Floats:
        """How much longer than it slept each job held its processors, s."""
        both = zip(self.jobs, self.ended, strict=True)
        return np.array([each.end - each.start - job.runtime for job, each in both])

    def accounting(self, path: Path) -> None:
        """Write the jobs as sacct would: submitted, and as long, as they were in real Slurm."""
        lines = ["JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|NCPUS|State"]
        for number, (job, each) in enumerate(zip(self.jobs, self.ended, strict=True), 1):
            dates = [
                datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%S")
                for time in (each.submit, each.start, each.end)
            ]
            facts = (each.end - each.start, job.minutes, job.size)
            told = (number, job.partition, *dates, *(f"{fact:.0f}" for fact in facts), each.state)
            lines.append("|".join(map(str, told)))
        path.write_text("\n".join(lines) + "\n")

    def simulated(self, local: str) -> Floats:
        """Return how long each job waits under a local scheduler of ours, s."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "log.sacct")
            self.accounting(path)
            more = {"slurm_conf": str(CONF)} if local == "slurm" else {}
            site = metasched.load("site").changed(
                workload=str(path), local_scheduler=local, processors=PROCESSORS, **more
            )
            waits: Floats = metasched.run(site).jobs.sort_values("job")["wait"].to_numpy()
            return waits


def table(replications: list[Replication]) -> str:
    """Return mean waits of real Slurm and of ours over some replications, as a table."""
    real = [each.waits for each in replications]
    lines = [
        "| scheduler | mean wait (s) | median wait | 90 % quantile | mean less real Slurm's | "
        "median difference of a job | rank correlation |",
        "|---|---|---|---|---|---|---|",
        f"| real Slurm | {_waits(real)} | | | |",
    ]
    for local in LOCALS:
        ours = [each.simulated(local) for each in replications]
        less = [mine.mean() - theirs.mean() for mine, theirs in zip(ours, real, strict=True)]
        apart = np.concatenate([abs(a - b) for a, b in zip(ours, real, strict=True)])
        ranks = [spearmanr(a, b).statistic for a, b in zip(ours, real, strict=True)]
        lines.append(
            f"| `{local}` | {_waits(ours)} | {_told(less)} | {np.median(apart):,.0f} | "
            f"{np.mean(ranks):.2f} |"
        )
    at_once = np.concatenate([each.waits[each.simulated("slurm") == 0] for each in replications])
    late = np.concatenate([each.late for each in replications])
    longer = np.concatenate([each.longer for each in replications])
    told = [
        f"Replications: {len(replications)}, of {len(replications[0].jobs)} jobs.",
        f"Submitted late: {late.mean():.1f} s in the mean, {late.max():.0f} s at most.",
        f"Longer than they slept: {longer.mean():.1f} s in the mean, {longer.max():.0f} s at most.",
        f"Of the {len(at_once)} jobs that ours starts at once, half wait for "
        f"{np.median(at_once):.0f} s or more in real Slurm.",
    ]
    return "\n".join([*lines, "", *told])


def _waits(of_each: list[Floats]) -> str:
    means = [waits.mean() for waits in of_each]
    quantiles = [[np.quantile(waits, share) for waits in of_each] for share in (0.5, 0.9)]
    return " | ".join(map(_told, [means, *quantiles]))


def _told(values: list[float]) -> str:
    interval = mean_interval(values)
    half = interval.half_width
    return f"{interval.mean:,.0f}" + ("" if half is None else f" \u00b1 {half:,.0f}")


if __name__ == "__main__":
    kept_in = Path(sys.argv[1])
    kept_in.mkdir(exist_ok=True)
    print(table([Replication.of(kept_in, int(seed)) for seed in sys.argv[2:]]))
