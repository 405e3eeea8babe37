"""Reservations, as for maintenance: nodes that no job may use for a time."""

from __future__ import annotations

from typing import NamedTuple

from agents.slurm.conf import Conf
from agents.slurm.nodes import Mask
from agents.slurm.partitions import Machine
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.logs.calendar import seconds_until
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
        If nothing tells which date time 0 is, or a date is none.
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
        times = []
        for text in (each.start, each.end):
            try:
                times.append(seconds_until(text, table.start))
            except ValueError:
                raise GridError(
                    f"slurm_conf: reservation {plain(each.name)}: found {quoted(text)}; accepted: "
                    "a date such as 2024-03-01T08:00:00"
                ) from None
        found.append(Closed(times[0], times[1], machine.mask(each.nodes)))
    return found
