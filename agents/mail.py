"""Messages between schedulers: on their way, and told to whoever listens."""

from __future__ import annotations

import heapq
import logging
from collections import deque
from collections.abc import Callable

from agents.messages import Message, Reminder

_LOG = logging.getLogger("metasched.messages")
KEPT = 200
"""Last messages that are remembered."""


class Mail:
    """Messages on their way, first due first; those of one instant in order of posting.

    Attributes
    ----------
    in_flight : int
        Messages on their way; reminders, which no broker carries, are not counted.
    said : deque of Message
        The last messages, whoever carries them.
    listeners : list of callable
        Each is called with every message.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Message]] = []
        self._serial = 0
        self._booking: dict[str, int] = {}  # the last one that each scheduler is reminded of
        self.in_flight = 0
        self.said: deque[Message] = deque(maxlen=KEPT)
        self.listeners: list[Callable[[Message], None]] = []

    def note(self, message: Message) -> None:
        """Tell those who listen of a message that is carried elsewhere."""
        self.said.append(message)
        if _LOG.isEnabledFor(logging.DEBUG):
            _LOG.debug("%s", message)
        for listener in self.listeners:
            listener(message)

    def post(self, message: Message) -> None:
        """Take a message to be delivered when it is due."""
        if not isinstance(message, Reminder):
            self.note(message)
            self.in_flight += 1
        else:
            self._booking[message.receiver] = message.booking
        self._serial += 1
        heapq.heappush(self._heap, (message.due, self._serial, message))

    def next_due(self) -> float:
        """Return when the next message is due, s; infinity if none is on its way."""
        while self._heap and self._is_stale(self._heap[0][2]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else float("inf")

    def _is_stale(self, message: Message) -> bool:
        """Tell whether a message is a reminder of a booking that another one has replaced."""
        if not isinstance(message, Reminder):
            return False
        return message.booking != self._booking[message.receiver]

    def deliver(self, now: float) -> list[Message]:
        """Return, and forget, the messages that are due."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            due.append(heapq.heappop(self._heap)[2])
        self.in_flight -= sum(not isinstance(message, Reminder) for message in due)
        return due
