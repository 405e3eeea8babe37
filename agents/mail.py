"""Messages on their way between schedulers."""

from __future__ import annotations

import heapq

from agents.messages import Message, Reminder


class Mail:
    """Messages on their way, first due first; those of one instant in order of posting.

    Attributes
    ----------
    sent : int
        Messages posted so far; reminders, which no broker carries, are not counted.
    in_flight : int
        Messages on their way.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Message]] = []
        self._serial = 0
        self.sent = 0
        self.in_flight = 0

    def post(self, message: Message) -> None:
        """Take a message to be delivered when it is due."""
        self._serial += 1
        heapq.heappush(self._heap, (message.due, self._serial, message))
        if not isinstance(message, Reminder):
            self.sent += 1
            self.in_flight += 1

    def next_due(self) -> float:
        """Return when the next message is due, s; infinity if none is on its way."""
        return self._heap[0][0] if self._heap else float("inf")

    def deliver(self, now: float) -> list[Message]:
        """Return, and forget, the messages that are due."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            due.append(heapq.heappop(self._heap)[2])
        self.in_flight -= sum(not isinstance(message, Reminder) for message in due)
        return due
