"""What all agents are, and what they need of the grid that they are in and of each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import mesa
import numpy as np
import numpy.typing as npt

from agents.messages import Message
from grid.platform.energy import Power
from grid.streams import Stream
from grid.world.world import World

S = TypeVar("S")
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class NamedAgent(mesa.Agent):  # type: ignore[misc]
    """An agent of Mesa that is printed by its class and, if that tells more, its ``name``."""

    def __repr__(self) -> str:
        kind = type(self).__name__
        name = getattr(self, "name", kind)  # which an unfinished one lacks
        return f"<{kind}>" if name == kind else f"<{kind} {name}>"


class Broker(Protocol):
    """What others need of a broker (`agents.a4`)."""

    name: str
    cluster: int
    """Index of the cluster that it speaks for, or -1."""
    latency: float
    """Time that a message takes to the global scheduler's, s."""

    def send(self, kind: type[Message], to: Any, **content: Any) -> Message:
        """Send a message to the scheduler of another broker."""


class Pace(Protocol):
    """What others need of PACE (`agents.pace`)."""

    def predict(self, slots: npt.ArrayLike) -> Floats:
        """Return the execution times of jobs on every cluster, s."""


class Global(Protocol):
    """What others need of the global scheduler."""

    name: str

    @property
    def collects(self) -> bool:
        """Whether it works in rounds."""


class Cluster(Protocol):
    """What schedulers need of a cluster (`agents.cluster`)."""

    index: int
    name: str
    size: int

    @property
    def model(self) -> Grid:
        """The grid that it is in."""

    reports_to: Any
    """The broker to which it tells how far it is booked."""

    @property
    def broker(self) -> Broker:
        """Its own."""

    def expected_ends(self) -> tuple[Indices, Indices, Floats]:
        """Return the slots of running jobs, their processors here and expected ends, s."""

    def released_at(self) -> Floats:
        """Return when each processor that remains will be free, s, in increasing order."""

    def release_times(self) -> Floats:
        """Return when each processor that remains will be free, seconds from now, increasing."""

    def processors(self) -> Indices:
        """Return the processors that remain, 0-based, in the order of `released_at`."""


class Grid(Protocol):
    """What agents need of the model (`agents.model`)."""

    world: World
    seed: int
    energy: Sequence[Power] | None
    """The electricity of each cluster; None if no watts are given."""
    round_threshold: float
    loss_stream: Stream
    messages_posted: int
    discovery_messages: int
    lost_between: int

    @property
    def now(self) -> float:
        """Simulated time, s."""

    @property
    def workload(self) -> object:
        """Jobs that arrive, or batches."""

    @property
    def broker(self) -> Broker:
        """The global scheduler's."""

    @property
    def brokers(self) -> Sequence[Any]:
        """Those between it and the clusters' own, in the order of the platform."""

    @property
    def clusters(self) -> Sequence[Cluster]:
        """Of the grid, in their order."""

    @property
    def scheduler(self) -> Global:
        """The global scheduler."""

    @property
    def pace(self) -> Pace:
        """PACE."""

    def told_by(self, scheduler: Any, call: Callable[..., Any], *given: Any) -> Any:
        """Call a function of a scheduler; say in any exception whose it was, and when."""

    def settings(self, kind: type[S]) -> S:
        """Return the settings of a kind that the model was given, or that kind's defaults."""

    def post(self, message: Message) -> None:
        """Take a message to be delivered when it is due."""

    def transfer(
        self, slots: Indices, clusters: Indices, as_of: Floats, after: float = 0.0
    ) -> None:
        """Have brokers send jobs of the global queue to clusters, in the order given."""

    def remind(self, name: str, time: float, booking: int) -> None:
        """Have who is called so reminded of the last booking at a time, s; infinity: never."""
