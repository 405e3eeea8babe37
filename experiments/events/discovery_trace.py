"""What brokers ask each other about a job: who was asked, who answered, and what."""

from __future__ import annotations

from collections.abc import Container

from experiments.events.message_events import Event
from experiments.events.words import Line
from experiments.show.numbers import instant


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

    def hear(self, event: Event, world: str) -> list[Line]:
        """Take a question, or the answer to the first; return what is to be told by now.

        Of questions in vain, which the job repeats at each news of clusters, only the first is.

        Parameters
        ----------
        event : Event
        world : str
            Name of the global scheduler.
        """
        if event["event"] != "discovered":
            self._questions.append(event)
            return []
        questions, self._questions = self._questions, []
        before, self._in_vain = self._in_vain, not event["offers"]
        if before and self._in_vain:
            return []
        begun = questions[0]["time"] if questions else event["time"]
        names = [event["sender"], *(each["receiver"] for each in questions), event["answered"]]
        brokers = [
            f"{name}'s broker" if name == world or name in self._clusters else f"broker {name}"
            for name in names
        ]
        lines = [Line(begun, [f"{brokers[0]} is asked which clusters can run it"])]
        if questions:
            passed = ", then ".join(brokers[1:-1])
            down = any(each.get("down") for each in questions)
            way = "and the question goes on to" if down else "and passes the question up to"
            lines[0].parts.append(f"{way} {passed}")
        if self._in_vain:
            answer = "none; the job waits for news of clusters"
        else:
            first, finish = event["cluster"], event["finish"]
            answer = f"{first}, where it expects the job to finish at {instant(finish)}"
            if event["offers"] > 1:
                answer += f", first of {event['offers']:,} offers"
        hops = [f"after {event['hops']} hops of question and answer"] if questions else []
        lines.append(Line(event["time"], [f"{brokers[-1]} answers: {answer}", *hops]))
        return lines
