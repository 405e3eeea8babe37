"""A configuration of Slurm, as far as it has a meaning here.

Names and defaults are those of the documentation of Slurm 22.05 (the page ``slurm.conf``).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agents.slurm.records import Record, records_of
from agents.slurm.values import node_names, seconds, whole, yes
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.names import meant

LISTED = 8
"""Keys without a meaning here that a note names."""


class Node(NamedTuple):
    """A node: its name, its processors, and its weight: nodes of lower weight are filled first."""

    name: str
    cpus: int
    weight: int = 1


class Partition(NamedTuple):
    """A partition.

    Attributes
    ----------
    name : str
    nodes : tuple of str
        Empty: all nodes.
    is_default : bool
        Jobs that name no partition are in it.
    up : bool
        Its jobs may start.
    max_time, default_time : float
        Longest time limit of its jobs, and that of jobs without one, s.
    min_nodes, max_nodes : float
        How many nodes its jobs may have.
    tier : int
        Jobs of a higher tier are tried first, whatever their priorities.
    job_factor : int
        What its jobs have of the partition factor, before that is divided by the largest one.
    """

    name: str
    nodes: tuple[str, ...] = ()
    is_default: bool = False
    up: bool = True
    max_time: float = math.inf
    default_time: float = math.inf
    min_nodes: float = 0
    max_nodes: float = math.inf
    tier: int = 1
    job_factor: int = 1


class Reservation(NamedTuple):
    """Nodes that no job may use from a date to another, as for maintenance; no nodes: all."""

    name: str
    start: str
    end: str
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scheduling:
    """What ``SchedulerParameters`` says; times in s."""

    backfilling: bool = True
    batch_sched_delay: float = 3
    bf_interval: float = 30
    bf_job_part_count_reserve: int = 0
    bf_max_job_part: int = 0
    bf_max_job_start: int = 0
    bf_max_job_test: int = 500
    bf_max_job_user: int = 0
    bf_max_job_user_part: int = 0
    bf_min_age_reserve: float = 0
    bf_min_prio_reserve: int = 0
    bf_resolution: float = 60
    bf_window: float = 86400
    bf_window_linear: float = 0
    default_queue_depth: int = 100
    defer: bool = False
    partition_job_depth: int = 0
    sched_interval: float = 60
    sched_max_job_start: int = 0


@dataclass(frozen=True)
class Priority:
    """What ``PriorityType=priority/multifactor`` goes by; times in s."""

    calc_period: float = 300
    half_life: float = 604_800
    max_age: float = 604_800
    favor_small: bool = False
    fair_tree: bool = True
    relative_to_time: bool = False
    normal_partitions: bool = True
    increases_only: bool = False
    age: int = 0
    fair_share: int = 0
    job_size: int = 0
    partition: int = 0


@dataclass(frozen=True)
class Conf:
    """A configuration.

    Attributes
    ----------
    scheduling : Scheduling
    priority : Priority or None
        None: jobs are served in order of submission.
    nodes : tuple of Node
        Empty: each processor of a cluster is a node.
    partitions : tuple of Partition
        At least one.
    reservations : tuple of Reservation
    ignored : tuple of str
        Keys that have no meaning here, as they are spelt.
    named : bool
        It names its partitions; else all jobs are in the only one.
    """

    scheduling: Scheduling = field(default_factory=Scheduling)
    priority: Priority | None = None
    nodes: tuple[Node, ...] = ()
    partitions: tuple[Partition, ...] = (Partition("all", is_default=True),)
    reservations: tuple[Reservation, ...] = ()
    ignored: tuple[str, ...] = ()
    named: bool = False

    @property
    def note(self) -> str:
        """In words, which of its keys have no meaning here; empty if all have."""
        names = [plain(name) for name in self.ignored[:LISTED]]
        more = [f"{len(self.ignored) - LISTED} more"] if len(self.ignored) > LISTED else []
        return f"without meaning here: {', '.join([*names, *more])}" if names else ""


Reader = Callable[[str, str], Any]


def _limits(least: int, most: int = 2**53) -> Reader:
    return lambda where, text: whole(where, text, least, most)


def _or_never(least: int, most: int = 2**53) -> Reader:
    return lambda where, text: math.inf if text == "-1" else whole(where, text, least, most)


_SCHEDULING: dict[str, Reader] = {
    "batch_sched_delay": _limits(0),
    "bf_interval": _or_never(1, 10800),
    "bf_job_part_count_reserve": _limits(0, 100_000),
    "bf_max_job_part": _limits(0),
    "bf_max_job_start": _limits(0, 10_000),
    "bf_max_job_test": _limits(1, 1_000_000),
    "bf_max_job_user": _limits(0),
    "bf_max_job_user_part": _limits(0),
    "bf_min_age_reserve": _limits(0, 2_592_000),
    "bf_min_prio_reserve": _limits(0),
    "bf_resolution": _limits(1, 3600),
    "bf_window": lambda where, text: 60 * whole(where, text, 1, 43_200),
    "bf_window_linear": _limits(0),
    "default_queue_depth": _limits(1),
    "partition_job_depth": _limits(0),
    "sched_interval": _or_never(1),
    "sched_max_job_start": _limits(0),
}
"""Options of ``SchedulerParameters`` that have a value and a meaning here."""


def _calc_period(where: str, text: str) -> float:
    found = seconds(where, text)
    if not 0 < found < math.inf:
        raise GridError(f"{where}: found {quoted(text)}; accepted: minutes, from 1")
    return found


def _half_life(where: str, text: str) -> float:
    return seconds(where, text) or math.inf


def _max_age(where: str, text: str) -> float:
    if not (found := seconds(where, text)):
        raise GridError(f"{where}: found {quoted(text)}; accepted: a time above 0")
    return found


_PRIORITY: dict[str, tuple[str, Reader]] = {
    "prioritycalcperiod": ("calc_period", _calc_period),
    "prioritydecayhalflife": ("half_life", _half_life),
    "prioritymaxage": ("max_age", _max_age),
    "priorityfavorsmall": ("favor_small", yes),
    "priorityweightage": ("age", _limits(0)),
    "priorityweightfairshare": ("fair_share", _limits(0)),
    "priorityweightjobsize": ("job_size", _limits(0)),
    "priorityweightpartition": ("partition", _limits(0)),
}
"""Parameters of ``priority/multifactor``."""

_FLAGS: dict[str, dict[str, Any]] = {
    "no_fair_tree": {"fair_tree": False},
    "small_relative_to_time": {"relative_to_time": True},
    "no_normal_part": {"normal_partitions": False},
    "no_normal_all": {"normal_partitions": False},
    "incr_only": {"increases_only": True},
}
"""Of ``PriorityFlags``, those that have a meaning here."""

_PLUGINS: dict[str, tuple[str, ...]] = {
    "schedulertype": ("sched/backfill", "sched/builtin"),
    "prioritytype": ("priority/basic", "priority/multifactor"),
    "selecttype": ("select/cons_tres", "select/cons_res", "select/linear"),
    "preempttype": ("preempt/none",),
}
"""Plugins that are known; what the first of a kind does is the default of most sites."""

CPUS = ("cpus", "procs", "cputot")
PARTS = ("boards", "sockets", "socketsperboard", "corespersocket", "threadspercore")
"""Keys that tell how many processors a node has, and those that do so together."""

_NOTHING = ("(null)", "", "n/a", "none")

_PARTITION: dict[str, tuple[str, Reader]] = {
    "default": ("is_default", yes),
    "maxtime": ("max_time", seconds),
    "defaulttime": ("default_time", seconds),
    "minnodes": ("min_nodes", _limits(0)),
    "maxnodes": (
        "max_nodes",
        lambda where, text: math.inf if seconds_less(text) else whole(where, text),
    ),
    "prioritytier": ("tier", _limits(0, 65533)),
    "priorityjobfactor": ("job_factor", _limits(0, 65533)),
    "nodes": ("nodes", lambda where, text: _nodes(where, text)),
    "state": ("up", lambda where, text: text.lower() == "up"),
}


def seconds_less(text: str) -> bool:
    """Return whether a limit is none at all."""
    return text.lower() in ("infinite", "unlimited")


def _nodes(where: str, text: str) -> tuple[str, ...]:
    return () if text.lower() == "all" else tuple(node_names(where, text))


def read_conf(path: str | os.PathLike[str]) -> Conf:
    """Read a ``slurm.conf``, also one with what ``scontrol show`` prints behind it.

    Raises
    ------
    GridError
        If it cannot be read, or says what cannot be had here: one line with its file and line.
    """
    reading = _Reading()
    for record in records_of(path):
        match record.kind:
            case "nodename":
                reading.take_nodes(record)
            case "partitionname":
                reading.take_partition(record)
            case "reservationname":
                reading.take_reservation(record)
            case _:
                reading.take_parameter(record)
    return reading.conf(str(path))


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.scheduling: dict[str, Any] = {}
        self.priority: dict[str, Any] = {}
        self.multifactor = self.linear = False
        self.nodes: dict[str, Node] = {}
        self.partitions: dict[str, Partition] = {}
        self.places: dict[str, str] = {}
        self.reservations: list[Reservation] = []
        self.ignored: dict[str, None] = {}
        self.node_defaults: dict[str, str] = {}
        self.partition_defaults: dict[str, Any] = {}

    def take_parameter(self, record: Record) -> None:
        """Take a parameter of the whole."""
        (key, text), spelt = next(iter(record.values.items())), record.names[record.kind]
        where = f"{record.where}: {spelt}"
        if text.lower() in _NOTHING:
            return
        if key in _PLUGINS:
            self._take_plugin(where, key, text.lower())
        elif key == "schedulerparameters":
            self._take_options(where, text)
        elif key in _PRIORITY:
            name, read = _PRIORITY[key]
            self.priority[name] = read(where, text)
        elif key == "priorityflags":
            for flag in text.lower().split(","):
                if flag == "depth_oblivious":
                    raise GridError(f"{where}: found DEPTH_OBLIVIOUS; accepted: others")
                self.priority.update(_FLAGS.get(flag, {}))
                if flag not in _FLAGS:
                    self.ignored[flag.upper()] = None
        elif not (key == "preemptmode" and text.lower() == "off"):
            self.ignored[spelt] = None

    def _take_plugin(self, where: str, key: str, text: str) -> None:
        if text not in _PLUGINS[key]:
            accepted = ", ".join(_PLUGINS[key])
            raise GridError(f"{where}: found {quoted(text)}; accepted: {accepted}")
        if key == "schedulertype":
            self.scheduling["backfilling"] = text == "sched/backfill"
        elif key == "prioritytype":
            self.multifactor = text == "priority/multifactor"
        elif key == "selecttype":
            self.linear = text == "select/linear"

    def _take_options(self, where: str, text: str) -> None:
        for option in filter(None, text.replace(" ", "").split(",")):
            name, _, value = option.partition("=")
            if name in _SCHEDULING:
                self.scheduling[name] = _SCHEDULING[name](f"{where}: {name}", value)
            elif name == "defer":
                self.scheduling["defer"] = True
            else:
                self.ignored[name] = None

    def take_nodes(self, record: Record) -> None:
        """Take nodes that are alike."""
        values = self.node_defaults | record.values
        if record.values["nodename"].upper() == "DEFAULT":
            self.node_defaults = {k: v for k, v in values.items() if k != "nodename"}
            return
        where = record.where
        said = record.values if any(key in record.values for key in (*CPUS, *PARTS)) else values
        cpus = next((said[key] for key in CPUS if key in said), None)
        if cpus is None:
            parts = [whole(f"{where}: {key}", said[key], 1) for key in PARTS if key in said]
            cpus = str(math.prod(parts))
        count = whole(f"{where}: CPUs", cpus, 1, 1_000_000)
        weight = whole(f"{where}: Weight", values.get("weight", "1"), 0)
        for name in node_names(f"{where}: NodeName", record.values["nodename"]):
            self.nodes[name] = Node(name, count, weight)

    def take_partition(self, record: Record) -> None:
        """Take a partition, or what those that follow have in common."""
        values = {
            name: read(f"{record.where}: {record.names[key]}", record.values[key])
            for key, (name, read) in _PARTITION.items()
            if key in record.values and record.values[key].lower() not in _NOTHING
        }
        name = record.values["partitionname"]
        if name.upper() == "DEFAULT":
            self.partition_defaults |= values
            return
        self.partitions[name] = Partition(name, **self.partition_defaults | values)
        self.places[name] = record.where

    def take_reservation(self, record: Record) -> None:
        """Take a reservation, as ``scontrol show reservations`` prints it."""
        values = record.values
        for key in ("starttime", "endtime"):
            if key not in values:
                raise GridError(f"{record.where}: found no {key}; accepted: StartTime and EndTime")
        nodes = _nodes(f"{record.where}: Nodes", values.get("nodes", "ALL"))
        name = values["reservationname"]
        self.reservations.append(Reservation(name, values["starttime"], values["endtime"], nodes))

    def conf(self, path: str) -> Conf:
        """Return what has been read as a whole."""
        for name, each in self.partitions.items():
            self._check_nodes(f"{self.places[name]}: Nodes", each.nodes)
        for reservation in self.reservations:
            self._check_nodes(f"{path}: reservation {reservation.name}: Nodes", reservation.nodes)
        if self.linear and any(node.cpus > 1 for node in self.nodes.values()):
            raise GridError(
                f"{path}: SelectType: found 'select/linear' with nodes of several CPUs, which jobs "
                "would hold whole; accepted: select/cons_tres"
            )
        return Conf(
            Scheduling(**self.scheduling),
            Priority(**self.priority) if self.multifactor else None,
            tuple(self.nodes.values()),
            tuple(self.partitions.values()) or Conf.partitions,
            tuple(self.reservations),
            tuple(self.ignored),
            bool(self.partitions),
        )

    def _check_nodes(self, where: str, names: tuple[str, ...]) -> None:
        for name in names:
            if name not in self.nodes:
                raise GridError(f"{where}: found {quoted(name)}; {meant(name, self.nodes)}")
