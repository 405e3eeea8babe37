"""A cluster as Slurm sees it: nodes of several processors, and the partitions that jobs are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from agents.slurm.conf import Conf, Node, Partition
from agents.slurm.nodes import Counts, Mask
from agents.slurm.priority import Sizes
from agents.slurm.qos import NONE, Qos
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.jobs import UNKNOWN
from grid.names import meant
from grid.workloads.table import Table


class Machine:
    """The nodes of a cluster.

    Parameters
    ----------
    conf : Conf
        Without nodes, each processor is one.
    cluster : str
        Its name.
    processors : int

    Attributes
    ----------
    sizes : Sizes
    cpus : int array, shape (nodes,)
        Processors of each node.
    first : list of int
        Of each node the number of its first processor, and then the number of all.
    node_of : int array, shape (processors,)
    weights : int array, shape (nodes,)
    largest_factor : int
        Largest ``PriorityJobFactor`` of a partition.

    Raises
    ------
    GridError
        If the nodes have not as many processors as the cluster.
    """

    def __init__(self, conf: Conf, cluster: str, processors: int) -> None:
        nodes = conf.nodes or tuple(Node(str(i), 1) for i in range(processors))
        counts = [node.cpus for node in nodes]
        if sum(counts) != processors:
            raise GridError(
                f"slurm_conf: found nodes of {sum(counts)} CPUs for cluster {cluster} of "
                f"{processors} processors; accepted: as many, or no nodes"
            )
        self.cpus: Counts = np.array(counts)
        self.sizes = Sizes(len(nodes), processors)
        self.first = [0, *np.cumsum(counts).tolist()]
        self.node_of: Counts = np.repeat(np.arange(len(nodes)), counts)
        self.weights: Counts = np.array([node.weight for node in nodes])
        self.largest_factor = max(each.job_factor for each in conf.partitions)
        self._places = {node.name: place for place, node in enumerate(nodes)}
        self._masks: dict[tuple[str, ...] | None, Mask] = {}

    def mask(self, names: tuple[str, ...] | None) -> Mask:
        """Return which nodes have these names; None: all."""
        if names not in self._masks:
            mask = np.full(self.sizes.nodes, names is None)
            mask[[self._places[name] for name in names or ()]] = True
            self._masks[names] = mask
        return self._masks[names]


class Filed(NamedTuple):
    """Where a job is filed: its account by number, its partition, its quality of service.

    And whether it ran, in the log, for as long as it asked for or longer: cleaning raises what it
    asked for, and its site let it start.
    """

    account: int
    partition: Partition
    qos: Qos
    ran_over: bool = False


class Filing:
    """Where jobs are filed.

    A job of several partitions, as sacct lists them, is in the first one that there is; a job of
    none in the default one.

    Parameters
    ----------
    conf : Conf
    table : Table or None
        The jobs, in order of submission; None: they are synthetic.
    renamed : mapping of str to str
        Partition of the configuration for those that the table names otherwise.
    qualities : mapping of str to Qos
        By name; none: they do not matter.

    Raises
    ------
    GridError
        If there is no such partition, or quality of service.
    """

    def __init__(
        self,
        conf: Conf,
        table: Table | None,
        renamed: Mapping[str, str],
        qualities: Mapping[str, Qos],
    ) -> None:
        self._table = table
        partitions = {each.name: each for each in conf.partitions}
        for name, target in renamed.items():
            if target not in partitions:
                raise GridError(
                    f"slurm_partitions: {plain(name)}: found {quoted(target)}; "
                    f"{meant(target, partitions)}"
                )
        self._partitions = {
            number: _partition(conf, name, renamed)
            for number, name in _in_use("partition", table).items()
        }
        self._qualities = {
            number: _quality(name, qualities) for number, name in _in_use("qos", table).items()
        }

    def of(self, submission: int) -> Filed:
        """Return where a job is filed, by its place in order of submission, from 1."""
        if self._table is None:
            return Filed(UNKNOWN, self._partitions[UNKNOWN], self._qualities[UNKNOWN])
        names = ["account", "partition", "qos", "runtime", "requested_time"]
        account, partition, qos, *times = self._table.jobs[names][submission - 1].item()
        ran_over = times[0] >= times[1]
        return Filed(account, self._partitions[partition], self._qualities[qos], ran_over)


def _in_use(column: str, table: Table | None) -> dict[int, str]:
    """Return the names of what jobs are filed under, by number; "" where that is not known."""
    if table is None:
        return {UNKNOWN: ""}
    names = table.filed.get(column, ())
    numbers = sorted(set(table.jobs[column].tolist()))
    return {number: names[number] if 0 <= number < len(names) else "" for number in numbers}


def _partition(conf: Conf, name: str, renamed: Mapping[str, str]) -> Partition:
    """Return the partition of jobs of a name."""
    partitions = {each.name: each for each in conf.partitions}
    if not name or not conf.named:
        default = next((each for each in reversed(conf.partitions) if each.is_default), None)
        if default is None:
            raise GridError(
                "slurm_conf: jobs without a partition, and no partition with Default=YES; "
                "accepted: one"
            )
        return default
    known = (partitions.get(renamed.get(each, each)) for each in name.split(","))
    found = next(filter(None, known), None)
    if found is None:
        raise GridError(
            f"slurm_conf: partition {quoted(name)} of the workload is none of its own; accepted: "
            f"{', '.join(map(plain, partitions))}, or slurm_partitions"
        )
    return found


def _quality(name: str, qualities: Mapping[str, Qos]) -> Qos:
    """Return the quality of service of jobs of a name."""
    if not name or not qualities:
        return NONE
    if name not in qualities:
        raise GridError(
            f"slurm_qos: QOS {quoted(name)} of the workload is none of its own; "
            f"{meant(name, qualities)}"
        )
    return qualities[name]
