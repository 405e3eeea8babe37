"""A grid whose resources change, its jobs, and a policy that splits them: what is verified."""

from __future__ import annotations

JOBS = [
    "job,arrival,size,runtime,deadline,computation_fraction,ppbw",
    "1,0,4,10,30,1,0",
    "2,1,4,20,,1,0",
    "3,1,8,5,9,0.5,400",
    "4,2,99,5,,1,0",
    "4,2.5,2,6,40,1,0",
    "5,3,6,7,20,0.5,400",
]
PLATFORM = "".join(
    f'[[clusters]]\nname = "{name}"\nsize = {size}\nrate = {rate}\n'
    for name, size, rate in (("C1", 4, 1.0), ("C2", 6, 1.5))
)
CHANGES = """
[[changes]]
cluster = "C1"
what = "drain"
at = 20
until = 300
processors = 5

[[changes]]
cluster = "C2"
what = "fail"
at = 60
until = 200
processors = 6

[[changes]]
cluster = "C3"
what = "join"
at = 40
"""
SPREAD = """
from agents.schedulers import GlobalScheduler


class Spread(GlobalScheduler):
    spans = True

    def place(self, job):
        left, processors = job.size, {}
        for cluster in sorted(self.clusters, key=lambda cluster: -cluster.free):
            processors[cluster.name] = min(left, cluster.free)
            left -= processors[cluster.name]
        return processors if left == 0 else None
"""
