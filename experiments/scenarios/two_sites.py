"""A scenario as a Python script: two sites of different speed, half of the jobs submitted locally.

Run it with ``metasched run two_sites``, or as a program of its own.
"""

from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.show.run_tables import print_result
from grid.platform.multicluster import Platform

scenario = Scenario(
    name="two_sites",
    title="Two sites of different speed; a Python script, to copy and change",
    platform=Platform.star([64, 32], rates=[1.0, 1.5], capacity=1000, latency=0.01),
    parameters={
        "mode": "open",
        "jobs": 500,
        "load": 0.8,
        "sizes": "log-uniform",
        "max_size": 32,
        "local_share": 0.5,
        "latency": 0.5,
    },
    global_scheduler="muscle",
    local_scheduler="titan",
)

if __name__ == "__main__":
    from rich.console import Console

    print_result(run(scenario, seed=1, live=None), Console())
