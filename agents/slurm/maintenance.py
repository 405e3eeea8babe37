"""Reservations, as for maintenance: nodes that no job may use for a time."""

from __future__ import annotations

from typing import NamedTuple

from agents.slurm.conf import Conf
from agents.slurm.nodes import Mask
from agents.slurm.partitions import Machine
from grid.errors import GridError
from grid.workloads.table import Table


class Closed(NamedTuple):
    """Nodes that no job may use from a time to another, s."""

    begin: float
    end: float
    mask: Mask


def closed(conf: Conf, machine: Machine, table: Table | None) -> list[Closed]:
    """Return when which nodes are reserved.

    Raises
    ------
    GridError
        If nothing tells which date time 0 is, or for dates that are not accepted.
    """
    if not conf.reservations:
        return []
    if table is None or table.start is None:
        raise GridError(
            "slurm_conf: found reservations, and no date at which the workload begins; accepted: "
            "a log with dates, or no reservations"
        )
    found = []
    for each in conf.reservations:
        found.append(Closed(*each.span(table.start), machine.mask(each.nodes)))
    return found
