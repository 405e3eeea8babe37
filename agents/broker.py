"""A4 brokers: they carry jobs, metadata and schedules between the schedulers (`muscle`, section 1).

Jobs, their metadata and resource advertisements travel inside the kernel, with the latency that
the brokers' links have there; what schedulers say to each other travels in `Mail`.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import mesa

from agents.messages import Message

if TYPE_CHECKING:
    from agents.model import GridModel


class Mail:
    """Messages on their way, first due first; those of one instant in order of sending."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Message]] = []
        self.sent = 0

    def __len__(self) -> int:
        return len(self._heap)

    def post(self, message: Message) -> None:
        """Take a message to be delivered when it is due."""
        self.sent += 1
        heapq.heappush(self._heap, (message.due, self.sent, message))

    def next_due(self) -> float:
        """Return when the next message is due, s; infinity if none is on its way."""
        return self._heap[0][0] if self._heap else float("inf")

    def deliver(self, now: float) -> list[Message]:
        """Return, and forget, the messages that are due."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            due.append(heapq.heappop(self._heap)[2])
        return due


class A4Broker(mesa.Agent):  # type: ignore[misc]
    """The broker of one scheduler.

    Attributes
    ----------
    name : str
        Name of the scheduler that it speaks for.
    latency : float
        Time that a message takes between this broker and the centre of the grid, s.
    """

    def __init__(self, model: GridModel, name: str, latency: float) -> None:
        super().__init__(model)
        self.name = name
        self.latency = latency

    def send(self, kind: type[Message], to: A4Broker, **content: Any) -> Message:
        """Send a message to the scheduler of another broker; return it."""
        now = self.model.now
        message = kind(
            sender=self.name,
            receiver=to.name,
            sent=now,
            due=now + self.latency + to.latency,
            **content,
        )
        self.model.post(message)
        return message
