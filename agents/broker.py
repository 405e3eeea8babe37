"""A4 brokers: they carry jobs, metadata and schedules between the schedulers (`muscle`, section 1).

Jobs, their metadata and resource advertisements travel inside the kernel, with the latency that
the brokers' links have there; what schedulers say to each other travels in `agents.mail`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mesa

from agents.messages import Message

if TYPE_CHECKING:
    from agents.model import GridModel


class A4Broker(mesa.Agent):  # type: ignore[misc]
    """The broker of one scheduler.

    Attributes
    ----------
    name : str
        Name of the cluster, or of the global scheduler, that it speaks for.
    latency : float
        Time that a message takes between this broker and the centre of the grid, s.
    sent, received : int
        Messages of schedulers that it sent so far, and that were sent to it.
    """

    def __init__(self, model: GridModel, name: str, latency: float) -> None:
        super().__init__(model)
        self.name = name
        self.latency = latency
        self.sent = 0
        self.received = 0

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
        self.sent += 1
        to.received += 1
        self.model.post(message)
        return message
