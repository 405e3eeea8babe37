"""What brokers ask each other about a job: who was asked, who answered, and what."""

from __future__ import annotations

from collections.abc import Container

from experiments.events.carried import Event
from experiments.events.words import Line


class Asking:
    """Hears of the discovery of resources for one job.

    Parameters
    ----------
    clusters : container of str
        Their names.
    """

    def __init__(self, clusters: Container[str]) -> None:
        self._clusters = clusters
        self._questions: list[Event] = []
        self._in_vain = False

    def hear(self, event: Event) -> list[Line]:
        """Take a question, or the answer to the first; return what is to be told by now.

        Of questions in vain, which the job repeats at each news of clusters, only the first is.
        """
        if event["event"] != "discovered":
            self._questions.append(event)
            return []
        questions, self._questions = self._questions, []
        before, self._in_vain = self._in_vain, not event["offers"]
        if before and self._in_vain:
            return []
        begun = questions[0]["time"] if questions else event["time"]
        asked = f"{self._broker(event['sender'])} is asked which clusters can run it"
        lines = [Line(begun, [asked])]
        if questions:
            passed = ", then ".join(self._broker(each["receiver"]) for each in questions)
            lines[0].parts.append(f"and passes the question on to {passed}")
        answer = f"{self._broker(event['answered'])} answers"
        if event["hops"]:
            answer += f", {event['hops']} messages in all"
        if self._in_vain:
            offer = "none of those that it knows of; the job waits for news of clusters"
        else:
            first, finish = event["cluster"], event["finish"]
            offer = f"{first}, where it is expected to finish at {finish:,.1f} s"
            if event["offers"] > 1:
                offer += f", sooner than on {event['offers'] - 1} others"
        lines.append(Line(event["time"], [f"{answer}: {offer}"]))
        return lines

    def _broker(self, name: str) -> str:
        return f"{name}'s broker" if name in self._clusters else f"broker {name}"
