"""A scenario as a Python script: a year of a world-wide grid of sites of unequal size."""

from dataclasses import replace

from experiments.scenario.scenario import Scenario
from grid.platform.brokers import Broker
from grid.platform.multicluster import Platform

SITES, REGIONS = 200, 10

flat = Platform.star([306 + 12 * site for site in range(SITES)])  # 300,000 processors
regions = [Broker(f"region {number}") for number in range(REGIONS)]
clusters = [
    replace(cluster, broker=regions[index % REGIONS].name)
    for index, cluster in enumerate(flat.clusters)
]

scenario = Scenario(
    name="worldwide",
    title="A year of a world-wide grid, most of whose jobs need one processor (docs: worldwide.md)",
    platform=Platform(tuple(clusters), flat.graph, tuple(regions)),
    parameters={
        "mode": "open",
        "jobs": 730_000_000,
        "load": 0.85,
        "sizes": "powers-of-two",
        "q": 0.1,  # three quarters of the jobs need one processor
        "max_size": 8,
        "runtimes": "hyperexponential",
        "mean_runtime": 8800.0,  # so that 2 million jobs a day are this load
        "local_share": 1.0,
        "latency": 0.05,
        "loss": 0.01,
        "advertise": "periodic",
        "period": 60.0,
    },
    global_scheduler="dll",
    local_scheduler="fcfs",
)
