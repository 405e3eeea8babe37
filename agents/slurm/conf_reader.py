"""Reading a configuration of Slurm: which keys have a meaning here, and which values they have."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

from agents.slurm.conf import Conf, Node, Partition, Priority, Reservation, Scheduling
from agents.slurm.preemption_reader import PARAMETERS, PreemptionReading
from agents.slurm.records import Record, in_force, records_of
from agents.slurm.values import WITHOUT_END, node_names, seconds, whole, yes
from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant, nearest

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
    "priorityweightqos": ("qos", _limits(0)),
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
_RECURRING = {"HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"}
"""Flags of reservations that come again."""

_PLUGINS: dict[str, tuple[str, ...]] = {
    "schedulertype": ("sched/backfill", "sched/builtin"),
    "prioritytype": ("priority/basic", "priority/multifactor"),
    "selecttype": ("select/cons_tres", "select/cons_res", "select/linear"),
}
"""Plugins that are known; what the first of a kind does is the default of most sites."""

CPUS = ("cpus", "procs", "cputot")
PARTS = ("boards", "sockets", "socketsperboard", "corespersocket", "threadspercore")
"""Keys that tell how many processors a node has, and those that do so together."""

_NOTHING = ("(null)", "", "n/a", "none")


def _up(where: str, text: str) -> bool:
    if text.lower() not in ("up", "down", "drain", "inactive"):
        raise GridError(f"{where}: found {quoted(text)}; accepted: UP, DOWN, DRAIN, INACTIVE")
    return text.lower() == "up"


_NO_NODES = ("(null)", "")

_PARTITION: dict[str, tuple[str, Reader]] = {
    "default": ("is_default", yes),
    "maxtime": ("max_time", seconds),
    "minnodes": ("min_nodes", _limits(0)),
    "maxnodes": (
        "max_nodes",
        lambda where, text: math.inf if text.lower() in WITHOUT_END else whole(where, text),
    ),
    "prioritytier": ("tier", _limits(0, 65533)),
    "priorityjobfactor": ("job_factor", _limits(0, 65533)),
    "nodes": ("nodes", lambda where, text: _nodes(where, text)),
    "state": ("up", _up),
    "preemptmode": ("preempt_mode", lambda _, text: text.lower()),
}


_KEYS = (
    *("schedulerparameters", "priorityflags", "selecttypeparameters", "defer"),
    *(*_PLUGINS, *_PRIORITY, *_FLAGS, *_SCHEDULING, *_PARTITION, *PARAMETERS),
)
_MISSPELT = 0.9
"""Likeness from which on a key may be one of these, misspelt: Slurm has others that are like them.
"""


def _noted(key: str) -> str:
    """Return a key without meaning here, with the one that may have been meant.

    >>> _noted("SchedulerParmeters"), _noted("PriorityWeightTRES"), _noted("PreemptMode")
    ('SchedulerParmeters (schedulerparameters?)', 'PriorityWeightTRES', 'PreemptMode')
    """
    near = nearest(key, _KEYS, 1, _MISSPELT)
    return f"{key} ({near[0]}?)" if near and near[0] != key.lower() else key


_IDLE = ("no", "n/a", "none", "(null)", "", "unlimited", "infinite", "all", "0", "off", "unknown")
"""Values of keys without a meaning that say nothing either."""

_KNOWN = {
    "partitionname": {*_PARTITION},
    "nodename": {*CPUS, *PARTS, "weight", "nodehostname", "nodeaddr", "port", "state"},
}
"""Keys of partitions and nodes that are used, or tell nothing of scheduling."""


def _nodes(where: str, text: str) -> tuple[str, ...] | None:
    if text.lower() in _NO_NODES:
        return ()
    return None if text.lower() == "all" else tuple(node_names(where, text))


def read_conf(path: str | os.PathLike[str]) -> Conf:
    """Read a ``slurm.conf``, also one with what ``scontrol show`` prints behind it.

    Raises
    ------
    GridError
        If it cannot be read, or says what cannot be had here: one line with its file and line.
    """
    reading = _Reading()
    records = in_force([*records_of(path)])
    if not records:
        raise GridError(f"{path}: found no keys; accepted: such as SchedulerType=sched/backfill")
    for record in records:
        match record.kind:
            case "nodename":
                reading.take_nodes(record)
            case "partitionname":
                reading.take_partition(record)
            case "nodeset":
                reading.take_set(record)
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
        self.sets: dict[str, tuple[str, ...] | None] = {}
        self.partitions: dict[str, Partition] = {}
        self.places: dict[str, str] = {}
        self.without_nodes: list[str] = []
        self.reservations: list[Reservation] = []
        self.ignored: dict[str, None] = {}
        self.node_defaults: dict[str, str] = {}
        self.partition_defaults: dict[str, Any] = {}
        self.preemption = PreemptionReading()

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
        elif key in PARAMETERS:
            self.preemption.take(record)
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
        elif key == "selecttypeparameters":
            self._take_selection(where, text)
        elif not record.printed:
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

    def _take_selection(self, where: str, text: str) -> None:
        """Take by what jobs are given processors: by CPUs or, which is the same here, by cores."""
        for option in text.split(","):
            what, _, _ = option.lower().removeprefix("cr_").partition("_memory")
            if what.startswith(("socket", "board")):
                accepted = "CR_CPU, CR_Core, alone or with _Memory"
                raise GridError(f"{where}: found {quoted(option)}; accepted: {accepted}")
            if what not in ("cpu", "core") or "memory" in option.lower():
                self.ignored[option] = None

    def _take_options(self, where: str, text: str) -> None:
        for option in filter(None, text.replace(" ", "").split(",")):
            spelt, _, value = option.partition("=")
            name = spelt.lower()
            if name in _SCHEDULING:
                self.scheduling[name] = _SCHEDULING[name](f"{where}: {spelt}", value)
            elif name == "defer":
                self.scheduling["defer"] = True
            elif name.startswith("preempt_"):
                self.preemption.take_option(where, name.removeprefix("preempt_"), spelt, value)
            else:
                self.ignored[spelt] = None

    def _ignore(self, record: Record) -> None:
        """Note which keys of a partition or of nodes have no meaning here."""
        if record.dumped:
            return
        for key, value in record.values.items():
            known = key == record.kind or key in _KNOWN[record.kind]
            if not known and value.lower() not in _IDLE:
                self.ignored[record.names[key]] = None

    def take_nodes(self, record: Record) -> None:
        """Take nodes that are alike."""
        self._ignore(record)
        values = self.node_defaults | record.values
        if record.values["nodename"].upper() == "DEFAULT":
            self.node_defaults = {k: v for k, v in values.items() if k != "nodename"}
            return
        where = record.where
        # Parts of its own go before CPUs of the defaults, and combine with parts of these.
        said = record.values if any(key in record.values for key in (*CPUS, *PARTS)) else values
        cpus = next((said[key] for key in CPUS if key in said), None)
        if cpus is None:
            parts = [whole(f"{where}: {key}", values[key], 1) for key in PARTS if key in values]
            cpus = str(math.prod(parts))
        count = whole(f"{where}: CPUs", cpus, 1, 1_000_000)
        weight = whole(f"{where}: Weight", values.get("weight", "1"), 0)
        for name in node_names(f"{where}: NodeName", record.values["nodename"]):
            self.nodes[name] = Node(name, count, weight)

    def take_set(self, record: Record) -> None:
        """Take a set of nodes, which partitions may name."""
        where, values = record.where, record.values
        if "feature" in values:
            raise GridError(
                f"{where}: {record.names['feature']}: found {quoted(values['feature'])}, and "
                "features of nodes are not read; accepted: Nodes"
            )
        self.sets[values["nodeset"]] = _nodes(f"{where}: Nodes", values.get("nodes", ""))

    def _expanded(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return the names of nodes, each once, of what may be sets."""
        if names is None:
            return None
        found: list[str] = []
        for name in names:
            of = self.sets.get(name, (name,))
            found += self.nodes if of is None else of
        return tuple(dict.fromkeys(found))

    def take_partition(self, record: Record) -> None:
        """Take a partition, or what those that follow have in common."""
        self._ignore(record)
        values = {
            name: read(f"{record.where}: {record.names[key]}", record.values[key])
            for key, (name, read) in _PARTITION.items()
            if key in record.values
            and (key == "nodes" or record.values[key].lower() not in _NOTHING)
        }
        name = record.values["partitionname"]
        if name.upper() == "DEFAULT":
            self.partition_defaults |= values
            return
        values = self.partition_defaults | values
        if "nodes" not in values:
            self.without_nodes.append(name)
        self.partitions[name] = Partition(name, **values)
        self.places[name] = record.where

    def take_reservation(self, record: Record) -> None:
        """Take a reservation, as ``scontrol show reservations`` prints it."""
        values = record.values
        for key in ("StartTime", "EndTime"):
            if key.lower() not in values:
                raise GridError(f"{record.where}: found no {key}; accepted: StartTime and EndTime")
        nodes = _nodes(f"{record.where}: Nodes", values.get("nodes", "ALL"))
        if nodes == ():  # as of licences only
            return
        name = values["reservationname"]
        for flag in values.get("flags", "").upper().split(","):
            if flag in _RECURRING:  # only what is printed is taken: the next time
                self.ignored[f"{flag} of reservation {name}"] = None
        begin, end = values["starttime"], values["endtime"]
        self.reservations.append(Reservation(name, begin, end, nodes, record.where))

    def conf(self, path: str) -> Conf:
        """Return what has been read as a whole."""
        for name in self.without_nodes if self.nodes else ():
            self.partitions[name] = self.partitions[name]._replace(nodes=())
        for name, each in self.partitions.items():
            nodes = self._expanded(each.nodes)
            self._check_nodes(f"{self.places[name]}: Nodes", nodes)
            self.partitions[name] = each._replace(nodes=nodes)
        for reservation in self.reservations:
            self._check_nodes(f"{reservation.where}: Nodes", reservation.nodes)
        if self.linear and any(node.cpus > 1 for node in self.nodes.values()):
            raise GridError(
                f"{path}: SelectType: found 'select/linear' with nodes of several CPUs, which jobs "
                "would hold whole; accepted: select/cons_tres"
            )
        preemption = self.preemption.found(self.partitions, self.places)
        return Conf(
            Scheduling(**self.scheduling),
            Priority(**self.priority) if self.multifactor else None,
            tuple(self.nodes.values()),
            tuple(self.partitions.values()) or Conf.partitions,
            tuple(self.reservations),
            preemption,
            tuple(map(_noted, {**self.ignored, **self.preemption.ignored})),
            bool(self.partitions),
        )

    def _check_nodes(self, where: str, names: tuple[str, ...] | None) -> None:
        if names and not self.nodes:
            raise GridError(
                f"{where}: found {quoted(names[0])}, and no nodes in the file; accepted: ALL, or "
                "also lines of NodeName"
            )
        for name in names or ():
            if name not in self.nodes:
                raise GridError(f"{where}: found {quoted(name)}; {meant(name, self.nodes)}")
