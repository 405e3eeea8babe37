"""What a scheduler sees: a job, and the clusters as the brokers know them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from grid.errors import GridError
from grid.kernel.policies.fields import CLUSTERS, INSTEAD, JOBS, LINKS, Field, meaning
from grid.kernel.state import ARRIVED, DEPARTED, NONE, REFUSED, STARTED
from grid.names import meant
from grid.world.world import World


def _no_field(what: str, of: object, name: str) -> AttributeError:
    """Return what to raise for a field that something does not have, with what may be meant."""
    known = [each for each in dir(type(of)) if not each.startswith("_")]
    likely = "" if name.startswith("_") else f"; {meant(name, known)}"
    return AttributeError(f"{what}.{name}: no field of a {what}{likely}", name=name, obj=of)


def _job(name: str) -> Any:
    def read(self: Job) -> Any:
        if self._columns["number"].item(self.slot) != self._number:
            raise GridError(
                f"job.{name}: job {self._number} has left, and another is where it was; accepted: "
                "what was kept of it while it was there, as its number"
            )
        return self._columns[name].item(self.slot)

    read.__doc__ = meaning(JOBS, name)
    return property(read)


class Job:
    """A job in the grid, read where the world keeps it, for as long as it is there; never set.

    Its fields are those of `grid.kernel.policies.fields`.

    Attributes
    ----------
    slot : int
        Where the world keeps it; once it has left, others.
    size : int
        Processors; read at once, for schedulers compare it with every cluster.
    """

    __slots__ = ("_columns", "_number", "size", "slot")
    _columns: Mapping[str, Any]
    _number: int
    slot: int
    size: int

    def __init__(self, world: World, slot: int) -> None:
        columns = world.jobs.columns
        _keep_columns(self, columns)
        _keep_slot(self, slot)
        _keep_number(self, columns["number"].item(slot))
        _keep_size(self, columns["size"].item(slot))

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: a job is what it is, and none of its fields can be set, as in compiled code."""
        raise AttributeError(f"job.{name} cannot be set: a scheduler reads jobs, and decides")

    def __getattr__(self, name: str) -> Any:
        """Refuse what no scheduler knows."""
        if name in INSTEAD:
            raise AttributeError(f"job.{name}: no scheduler knows it; accepted: {INSTEAD[name]}")
        raise _no_field("job", self, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _copy_of, (self._columns, self.slot, self._number, self.size)

    number = _job("number")
    arrival = _job("arrival")
    predicted_runtime = _job("predicted_runtime")
    predicted_time = _job("predicted_time")
    deadline = _job("deadline")
    requested_time = _job("requested_time")
    origin = _job("origin")
    cluster = _job("cluster")
    restarts = _job("restarts")
    computation_fraction = _job("computation_fraction")
    ppbw = _job("ppbw")
    user = _job("user")
    application = _job("application")
    recorded_wait = _job("recorded_wait")

    def __repr__(self) -> str:
        left = self._columns["number"].item(self.slot) != self._number
        more = "left" if left else f"predicted_runtime={self.predicted_runtime}"
        return f"Job({self._number}, size={self.size}, {more})"


# Past `__setattr__`, and twice as fast as by `object`'s: a job is made for each decision in Python.
_keep_columns, _keep_slot, _keep_number, _keep_size = (
    vars(Job)[name].__set__ for name in ("_columns", "slot", "_number", "size")
)


def _copy_of(columns: Mapping[str, Any], slot: int, number: int, size: int) -> Job:
    """Return a job as it was pickled."""
    job = Job.__new__(Job)
    _keep_columns(job, columns)
    _keep_slot(job, slot)
    _keep_number(job, number)
    _keep_size(job, size)
    return job


def _told(fields: tuple[Field, ...], name: str, read: Callable[[Any], Any]) -> Any:
    return property(read, doc=meaning(fields, name))


class _Told:
    """What reads columns of the world: as memoryviews, by which Python is quickest."""

    __slots__: tuple[str, ...] = ()
    _WHAT: ClassVar[str]
    _COLUMNS: ClassVar[tuple[str, ...]]
    _world: World

    def __getattr__(self, name: str) -> Any:
        """Refuse what is not known of it."""
        raise _no_field(self._WHAT, self, name)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: what a scheduler knows of it changes with the news alone."""
        raise AttributeError(f"{self._WHAT}.{name} cannot be set: a scheduler reads, and decides")

    def _keep(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _read(self, columns: Mapping[str, Any]) -> None:
        self._keep(**{f"_{name}": columns[name].data for name in self._COLUMNS})

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return attributes, and the columns themselves, which a pickle can hold."""
        columns = {name: self._world.known[name] for name in self._COLUMNS}
        own = {*self.__slots__} - {f"_{name}" for name in columns}
        return {name: getattr(self, name) for name in sorted(own)}, columns

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
        """Take them again; the world may not be whole yet."""
        self._keep(**state[0])
        self._read(state[1])


class KnownLink(_Told):
    """A link, of which every scheduler knows the truth.

    Attributes
    ----------
    index : int
        Its place in every array over links.
    capacity : float
        Mbit/s; infinite without a limit.
    parent : KnownLink or None
        The next link on the way to the central switch; None for the last.
    """

    __slots__ = ("_demand", "_world", "capacity", "index", "parent")
    index: int
    capacity: float
    parent: KnownLink | None
    _WHAT, _COLUMNS = "link", ("demand",)

    def __init__(self, world: World, index: int) -> None:
        above = world.known["parent"].item(index)
        parent = None if above == NONE else KnownLink(world, above)
        capacity = world.known["capacity"].item(index)
        self._keep(_world=world, index=index, capacity=capacity, parent=parent)
        self._read(world.known)

    def __repr__(self) -> str:
        return f"KnownLink({self.index}, capacity={self.capacity})"

    demand = _told(LINKS, "demand", lambda link: link._demand[link.index])


def _way(link: KnownLink | None) -> Iterator[KnownLink]:
    """Yield the links from one on to the central switch."""
    while link is not None:
        yield link
        link = link.parent


class KnownCluster(_Told):
    """A cluster, as far as the global scheduler's broker knows it.

    Its fields are those of `grid.kernel.policies.fields`.

    Attributes
    ----------
    index : int
        Its place in every array over clusters.
    name : str
    links : tuple of KnownLink
        Those on its way to the central switch, its own first.
    """

    __slots__ = (
        "_free", "_load", "_rate", "_size", "_unfinished", "_up", "_waiting", "_work", "_world",
        "index", "links", "name",
    )  # fmt: skip
    index: int
    name: str
    links: tuple[KnownLink, ...]
    _WHAT = "cluster"
    _COLUMNS = ("size", "rate", "free", "up", "waiting", "unfinished", "work", "load")

    def __init__(self, world: World, index: int) -> None:
        cluster = world.platform.clusters[index]
        links = tuple(_way(KnownLink(world, index)))
        self._keep(_world=world, index=index, name=cluster.name, links=links)
        self._read(world.known)

    def __repr__(self) -> str:
        return f"KnownCluster({self.name!r}, size={self.size}, rate={self.rate})"

    def is_of(self, world: World) -> bool:
        """Tell whether the cluster is one of a world."""
        return self._world is world

    size = _told(CLUSTERS, "size", lambda cluster: cluster._size[cluster.index])
    rate = _told(CLUSTERS, "rate", lambda cluster: cluster._rate[cluster.index])
    free = _told(CLUSTERS, "free", lambda cluster: cluster._free[cluster.index])
    up = _told(CLUSTERS, "up", lambda cluster: cluster._up[cluster.index])
    waiting = _told(CLUSTERS, "waiting", lambda cluster: cluster._waiting[cluster.index])
    unfinished = _told(CLUSTERS, "unfinished", lambda cluster: cluster._unfinished[cluster.index])
    work = _told(CLUSTERS, "work", lambda cluster: cluster._work[cluster.index])
    load = _told(CLUSTERS, "load", lambda cluster: cluster._load[cluster.index])

    @property
    def age(self) -> float:
        """How old the latest news of it is, s; 0 where news takes no time."""
        if self._world.state.at_once.item(self.index):
            return 0.0
        return float(self._world.now - self._world.known["at"].item(self.index))


class KnownQueues:
    """The queues that a global scheduler visits: one of each cluster, then the global one.

    Attributes
    ----------
    event : str
        What has happened: a job has ``"arrived"`` or ``"departed"``, or the head that was tried has
        ``"started"`` or was ``"refused"``.
    queue : int
        The queue that the job arrived in, or whose head was tried.
    released : list of int
        Clusters that the departed job held, its largest component first.
    jobs : list of int
        Jobs in each queue.
    head_arrival : list of float
        Arrival of the first job of each, s; infinite without one.
    """

    _EVENTS: ClassVar[Mapping[int, str]] = {
        ARRIVED: "arrived",
        DEPARTED: "departed",
        STARTED: "started",
        REFUSED: "refused",
    }

    def __init__(self, world: World) -> None:
        told = world.state.known
        count = world.clusters + 1
        released = told["released"].tolist()
        self.event = self._EVENTS[int(told["event"])]
        self.queue = int(told["queue"])
        self.released = released[: released.index(NONE)] if NONE in released else released
        self.jobs: list[int] = told["queued"][:count].tolist()
        self.head_arrival: list[float] = told["head_arrival"][:count].tolist()
