"""A cluster as Slurm sees it: nodes of several processors, and the partitions that jobs are in."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agents.slurm.conf import Conf, Node, Partition
from agents.slurm.nodes import Counts, Mask
from agents.slurm.priority import Sizes
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
        self.sizes = Sizes(len(nodes), processors)
        self.first = [0, *np.cumsum(counts).tolist()]
        self.node_of: Counts = np.repeat(np.arange(len(nodes)), counts)
        self.weights: Counts = np.array([node.weight for node in nodes])
        self.largest_factor = max(each.job_factor for each in conf.partitions)
        self._places = {node.name: place for place, node in enumerate(nodes)}
        self._masks: dict[tuple[str, ...], Mask] = {}

    def mask(self, names: tuple[str, ...]) -> Mask:
        """Return which nodes have these names; all of them if there are none."""
        if names not in self._masks:
            mask = np.full(self.sizes.nodes, not names)
            mask[[self._places[name] for name in names]] = True
            self._masks[names] = mask
        return self._masks[names]


class Filing:
    """Where jobs are filed: their accounts, and their partitions.

    A job of several partitions, as sacct lists them, is in the first one that there is; a job of
    none in the default one.

    Parameters
    ----------
    conf : Conf
    table : Table or None
        The jobs, in order of submission; None: they are synthetic.
    renamed : mapping of str to str
        Partition of the configuration for those that the table names otherwise.

    Raises
    ------
    GridError
        If there is no such partition.
    """

    def __init__(self, conf: Conf, table: Table | None, renamed: Mapping[str, str]) -> None:
        self._table = table
        partitions = {each.name: each for each in conf.partitions}
        for name, target in renamed.items():
            if target not in partitions:
                raise GridError(
                    f"slurm_partitions: {plain(name)}: found {quoted(target)}; "
                    f"{meant(target, partitions)}"
                )
        names = table.filed.get("partition", ()) if table else ()
        in_use = set(table.jobs["partition"].tolist()) if table else {UNKNOWN}
        default = next((each for each in conf.partitions if each.is_default), None)
        self._partitions: dict[int, Partition] = {}
        for number in sorted(in_use):
            listed = names[number].split(",") if number != UNKNOWN and conf.named else []
            known = (partitions.get(renamed.get(each, each)) for each in listed)
            found = next(filter(None, known), None if listed else default)
            if found is None and listed:
                raise GridError(
                    f"slurm_conf: partition {quoted(names[number])} of the workload is none of its "
                    f"own; accepted: {', '.join(map(plain, partitions))}, or slurm_partitions"
                )
            if found is None:
                raise GridError(
                    "slurm_conf: jobs without a partition, and no partition with Default=YES; "
                    "accepted: one"
                )
            self._partitions[number] = found

    def of(self, submission: int) -> tuple[int, Partition]:
        """Return the account of a job, by its place in order of submission, and its partition."""
        if self._table is None:
            return UNKNOWN, self._partitions[UNKNOWN]
        job = self._table.jobs[submission - 1]
        return int(job["account"]), self._partitions[int(job["partition"])]
