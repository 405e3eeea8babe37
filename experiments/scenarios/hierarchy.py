"""A scenario as a Python script: 1,000 clusters under brokers of sites, regions and the grid."""

from dataclasses import replace

from experiments.scenario.scenario import Scenario
from grid.platform.brokers import Broker
from grid.platform.multicluster import Platform

REGIONS, SITES, CLUSTERS = 10, 10, 10

flat = Platform.star([16, 24, 32, 48, 64] * (REGIONS * SITES * CLUSTERS // 5))
regions = [Broker(f"region {r}") for r in range(REGIONS)]
sites = [Broker(f"site {r}.{s}", f"region {r}") for r in range(REGIONS) for s in range(SITES)]
clusters = [
    replace(cluster, broker=sites[index // CLUSTERS].name)
    for index, cluster in enumerate(flat.clusters)
]

scenario = Scenario(
    name="hierarchy",
    title="Many clusters under several levels of brokers, jobs submitted through all of them",
    paper="muscle",
    platform=Platform(tuple(clusters), flat.graph, (*regions, *sites)),
    parameters={
        "mode": "open",
        "jobs": 100_000,
        "load": 0.7,
        "sizes": "log-uniform",
        "max_size": 16,
        "local_share": 1.0,
        "latency": 0.05,
        "advertise": "both",
        "period": 30.0,
        "loss": 0.01,
    },
    global_scheduler="dll",
    local_scheduler="fcfs",
)
