"""How much of a multicluster can be used at all: the formulas of `maxutil`, and the truth.

Jobs are served first come, first served, and one more is always waiting.

====================  ==============================================================
`ordered_capacity`    eqs. 2 and 3, exact: independent components, of size 0 as well
`joint_capacity`      the same for dependent components
`total_capacity`      the same for the sum of the components on one cluster
`unordered_capacity`  eqs. 5 and 3, approximate: Worst Fit on equal clusters
`true_capacity`       what that approximates, and with overtaking, for tiny systems
====================  ==============================================================

The first four also compute eq. 4, for jobs that all start and end in step. All return a `Capacity`.

With F^(i)(N) the probability that the first i of a row of jobs fit together on clusters of N
processors, the mean number M of jobs in service and the maximal utilization are::

    M           = 1 / (1 - sum over i >= 2 of F^(i)(N) / (i (i - 1)))       (eq. 2)
    utilization = M x mean job size / processors                            (eq. 3)
    M           = sum over i >= 1 of F^(i)(N)                               (eq. 4)

Of ordered and total requests F^(i) is the i-fold convolution of the law of a job, summed up to N in
each cluster; of unordered ones the WF-convolution, which re-sorts what is held on the clusters
after each job and adds the next one's largest component to the least of it (eq. 5).

What has no equation is simulated, by the policies themselves and therefore not here, where nothing
is decided: `experiments.maxutil.simulate.simulated`, for other policies, placements and laws of
service times.

Examples
--------
>>> from grid.workloads.component_sizes import parse_sizes
>>> law = parse_sizes("U[1,14]", 32).density()
>>> ordered, total = ordered_capacity([law] * 4, [32] * 4), total_capacity([law] * 4, 128)
>>> unordered = unordered_capacity(Requests.independent(law, clusters=4, size=32))
>>> [round(found.capacity_loss, 3) for found in (ordered, unordered, total)]
[0.363, 0.201, 0.13]
"""

from __future__ import annotations

from grid.capacity.chain import true_capacity
from grid.capacity.level import Capacity
from grid.capacity.ordered import joint_capacity, ordered_capacity
from grid.capacity.requests import Requests
from grid.capacity.total import total_capacity
from grid.capacity.unordered import unordered_capacity

__all__ = [
    "Capacity",
    "Requests",
    "joint_capacity",
    "ordered_capacity",
    "total_capacity",
    "true_capacity",
    "unordered_capacity",
]
