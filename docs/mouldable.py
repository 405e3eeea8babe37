"""Print the table of docs/predictions.md: what it gains that MUSCLE and TITAN choose the sizes."""

import csv
import itertools
import math
import random
import statistics
import tempfile
from pathlib import Path

from agents.pace import predict
from experiments.run.results import Result
from experiments.scenario import Scenario
from experiments.sweeps.statistics import mean_interval
from grid.platform import Platform
from grid.platform.multicluster import Cluster

JOBS, SEEDS = 400, range(10)
SIZES = (1, 2, 4, 8, 16)
APPLICATIONS = {  # problem sizes from and to, of which all are as likely in the logarithm
    "closure": (2000, 6000),
    "cpi": (5e9, 5e10),
    "fft": (1e8, 1e9),
    "jacobi": (4000, 16000),
    "memsort": (3e8, 3e9),
    "sweep": (100, 400),
}
CLUSTERS = {"C1": (32, "workstations"), "C2": (16, "workstations"), "C3": (16, "shared-memory")}
PROCESSORS = sum(size for size, _ in CLUSTERS.values())
POLICIES = {
    "MUSCLE over TITAN": ("muscle", "titan"),
    "MUSCLE over FCFS": ("muscle", "fcfs"),
    "DLL over TITAN": ("dll", "titan"),
}
LOADS = (0.3, 0.8)
SHOWN = {"mean_turnaround": "mean turnaround, s", "deadlines_met": "deadlines met, %"}


def time(application: str, size: int, n: int) -> float:
    """Return the execution time on the mean of the clusters, weighted by processors, s."""
    times = [predict(application, kind, size, n) * width for width, kind in CLUSTERS.values()]
    return sum(times) / PROCESSORS


def efficient(application: str, n: int) -> int:
    """Return the largest size of which a processor does at least half of what a single one does."""
    alone = time(application, 1, n)
    return max(size for size in SIZES if alone >= 0.5 * size * time(application, size, n))


def jobs(load: float, seed: int, asked: str) -> list[dict[str, object]]:
    """Draw jobs that would load the clusters so with their efficient sizes."""
    draws = random.Random(seed)
    rows: list[dict[str, object]] = []
    work = 0.0
    for number in range(1, JOBS + 1):
        name = draws.choice([*APPLICATIONS])
        least, most = map(math.log, APPLICATIONS[name])
        n, size = round(math.exp(draws.uniform(least, most))), draws.choice(SIZES)
        best = efficient(name, n)
        work += best * time(name, best, n)
        size = best if asked == "efficient" else size
        rows.append({"job": number, "size": size, "application": name, "problem_size": n})
    arrivals = sorted(draws.uniform(0, work / PROCESSORS / load) for _ in rows)
    for row, arrival in zip(rows, arrivals, strict=True):
        row |= {"arrival": round(arrival, 3), "sizes": "|".join(map(str, SIZES))}
    return rows


def run(path: Path, policies: tuple[str, str], mouldable: bool, seed: int) -> dict[str, float]:
    """Return the metrics of a run."""
    star = Platform.star([size for size, _ in CLUSTERS.values()])
    clusters = tuple(Cluster(name, size, hardware=kind) for name, (size, kind) in CLUSTERS.items())
    scenario = Scenario(
        "mouldable",
        Platform(clusters, star.graph),
        {"mode": "open", "assign_deadlines": True, "mouldable": mouldable},
        *policies,
        workload=path,
    )
    model = scenario.model(seed)
    model.run()
    metrics: dict[str, float] = Result.of(model, scenario, 0.0).summary()["metrics"]
    return metrics


def main() -> None:
    """Run each pair of policies at each load on the same jobs, as they are and moulded."""
    print("| load | size | policies |" + "".join(f" {each} | moulded |" for each in SHOWN.values()))
    print("|---|---|---|" + "---|---|" * len(SHOWN))
    with tempfile.TemporaryDirectory() as folder:
        for load, asked in itertools.product(LOADS, ("any", "efficient")):
            paths = []
            for seed in SEEDS:
                paths.append(Path(folder) / f"{load}-{asked}-{seed}.csv")
                with paths[-1].open("w", newline="") as file:
                    rows = jobs(load, seed, asked)
                    writer = csv.DictWriter(file, rows[0])
                    writer.writeheader()
                    writer.writerows(rows)
            for label, policies in POLICIES.items():
                runs = [
                    [run(path, policies, moulds, seed) for seed, path in enumerate(paths)]
                    for moulds in (False, True)
                ]
                cells = []
                for name in SHOWN:
                    scale = 100.0 if name == "deadlines_met" else 1.0
                    rigid, moulded = ([scale * each[name] for each in of] for of in runs)
                    more = mean_interval([b - a for a, b in zip(rigid, moulded, strict=True)])
                    cells += [
                        f"{statistics.fmean(rigid):.3g}",
                        f"{more.mean:+.3g} ± {more.half_width:.2g}",
                    ]
                print(f"| {load:g} | {asked} | {label} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
